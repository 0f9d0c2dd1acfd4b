"""The branch box: by mouse and by keys, what it tells a screen reader, and names that are no harm."""

from __future__ import annotations

from typing import Any

import pytest

from forky_core.conversation.transaction import Transaction
from forky_core.forky import Forky
from forky_core.model import Rules
from tests.browser.agraph import graph_frame
from tests.browser.conftest import expect
from tests.browser.test_chat import begin
from tests.builders import talk

pytestmark = pytest.mark.browser
BOX = ".st-key-chat-branch input"
HOSTILE = (
    "<img src=x onerror=\"document.title='taken'\">",
    "**bold** $x$ :red[no]",
    "שלום עולם 12",
    "a very long name, " * 5 + "at last",
)
_INSIDE = """
(list) => {
  const { left, right, top, bottom } = list.getBoundingClientRect();
  return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight
    && document.documentElement.scrollWidth <= innerWidth;
}
"""
_CHOOSE_ONE_THAT_IS_GONE = """
(root) => {
  root.box.choose(["gone", 0]);
  return root.box.input.placeholder;
}
"""
"""A list that is older than the page: what the box says at once."""


def box(page: Any) -> Any:
    return page.locator(BOX)


def options(page: Any) -> Any:
    return page.locator(".st-key-chat-branch").get_by_role("option")


def active(page: Any) -> Any:
    """The option that the box names to a screen reader, by the id it gives."""
    return page.locator(".st-key-chat-branch .row.active")


def with_branches(forky: Forky, *names: str) -> str:
    """A conversation with these branches beside `main`, made by one operation."""
    chat = talk(forky.create("Many"), "A question?", "An answer.")
    tx = Transaction(forky.store, chat.id, chat.view, "you")
    for name in names:
        tx.create_branch(name, chat.path()[0].id, Rules())
    tx.publish("fork", "Many branches")
    return chat.id


def a_thousand(forky: Forky) -> str:
    return with_branches(forky, *(f"side {at:04}" for at in range(1000)), *HOSTILE)


def sixty(forky: Forky) -> str:
    return with_branches(forky, *HOSTILE, *(f"side {at}" for at in range(60)))


def test_a_branch_is_found_by_typing_and_the_focus_stays_in_the_box(unchanged_app: str, watch: Any) -> None:
    watched = watch()
    page = watched.open(unchanged_app)
    begin(page)
    expect(box(page)).to_have_attribute("aria-label", "Branch: main")
    expect(box(page)).to_have_attribute("aria-expanded", "false")
    box(page).click()
    expect(box(page)).to_have_attribute("aria-expanded", "true")
    expect(active(page)).to_have_attribute("aria-label", "main")
    expect(active(page)).to_have_attribute("aria-selected", "true")
    page.keyboard.type("UPL")
    expect(options(page)).to_have_count(1)
    expect(box(page)).to_have_attribute("aria-activedescendant", active(page).get_attribute("id"))
    page.keyboard.press("Enter")
    page.wait_for_url("**b=upload*")
    expect(box(page)).to_have_attribute("placeholder", "upload")
    expect(box(page)).to_be_focused()
    expect(options(page)).to_have_count(0)
    assert watched.problems == []


@pytest.mark.long
def test_keys_open_walk_and_leave_the_list_without_choosing(unchanged_app: str, watch: Any) -> None:
    page = watch().open(unchanged_app)
    begin(page)
    box(page).focus()
    page.keyboard.press("ArrowDown")
    expect(box(page)).to_have_attribute("aria-expanded", "true")
    count = options(page).count()
    assert count > 1
    for key, place in (("End", count), ("ArrowDown", count), ("ArrowUp", count - 1), ("Home", 1)):
        page.keyboard.press(key)
        expect(active(page)).to_have_attribute("aria-posinset", str(place))
    page.keyboard.type("no such name")
    expect(page.get_by_text("No branch has this name.")).to_be_visible()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(box(page)).to_have_attribute("aria-expanded", "false")
    expect(box(page)).to_have_value("")
    expect(box(page)).to_be_focused()
    expect(box(page)).to_have_attribute("placeholder", "main")


@pytest.mark.long
def test_a_click_elsewhere_closes_it_even_one_into_the_graph(unchanged_app: str, watch: Any) -> None:
    page = watch().open(unchanged_app)
    begin(page)
    graph_frame(page)
    for elsewhere in (".st-key-chat-draft textarea", ".fk-map"):
        box(page).click()
        expect(box(page)).to_have_attribute("aria-expanded", "true")
        page.locator(elsewhere).click(position={"x": 9, "y": 20})
        expect(box(page)).to_have_attribute("aria-expanded", "false")


@pytest.mark.long
def test_a_choice_that_is_refused_is_said_and_the_box_shows_where_one_is(
    unchanged_app: str, watch: Any
) -> None:
    page = watch().open(unchanged_app)
    begin(page)
    expect(box(page)).to_be_enabled()
    said = page.locator(".st-key-chat-branch .box").evaluate(_CHOOSE_ONE_THAT_IS_GONE)
    assert said == "gone"
    expect(page.locator(".st-key-notice").get_by_text("no branch “gone”")).to_be_visible()
    # While the page is drawn anew, a box that cannot be used yet stands beside this one.
    expect(page.locator(".st-key-chat-branch input[placeholder=main]:enabled")).to_have_count(1)


@pytest.mark.long
def test_a_thousand_branches_whatever_their_names_are_text(begun: Any, watch: Any) -> None:
    watched = watch()
    page = watched.open(begun(a_thousand))
    begin(page)
    box(page).click()
    expect(active(page)).to_have_attribute("aria-setsize", str(1001 + len(HOSTILE)))
    assert options(page).count() < 50
    page.keyboard.press("End")
    expect(active(page)).to_be_in_viewport()
    expect(active(page)).to_have_attribute("aria-posinset", str(1001 + len(HOSTILE)))
    for name in HOSTILE:
        box(page).fill(name)
        expect(options(page)).to_have_count(1)
        expect(options(page).locator(".name")).to_have_text(name)
    page.keyboard.press("Enter")
    expect(box(page)).to_have_attribute("placeholder", HOSTILE[-1])
    assert page.title() != "taken" and watched.problems == []


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_the_list_stays_inside_the_window(begun: Any, watch: Any, scheme: str) -> None:
    page = watch(width=390, height=700, scheme=scheme).open(begun(sixty))
    begin(page)
    box(page).click()
    expect(options(page).first).to_be_visible()
    assert page.locator(".st-key-chat-branch .popup").evaluate(_INSIDE)
