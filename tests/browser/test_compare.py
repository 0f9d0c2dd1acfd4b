"""Compare in a real browser: heads stay, the page stays where one reads, columns are moved by hand and by keys."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.conftest import expect, menu, settled

pytestmark = pytest.mark.browser
QUESTION = "How do we keep the upload from breaking at 02:40?"
THREE = "compare?with=main,compression,upload"
PLACE = """([selector]) => {
  const surface = window.__forkyCompare, one = surface.root.querySelector(selector);
  return one ? Math.round(one.getBoundingClientRect().top - surface.board.getBoundingClientRect().top) : null;
}"""
"""How far below the top of the board an element stands."""

LEFT = """() => {
  const surface = window.__forkyCompare, left = surface.board.getBoundingClientRect().left;
  return [...surface.root.querySelectorAll(".pinned")].map((one) => Math.round(one.getBoundingClientRect().left - left));
}"""
"""How far to the right of the board's left side the pinned column and its head stand."""


def ask(page: Any, text: str) -> None:
    box = page.locator(".st-key-compare-ask textarea")
    box.fill(text)
    box.press("Enter")


def asked_all(page: Any, text: str) -> Any:
    """The question across the columns, on a wide screen."""
    return page.locator(".band .question").filter(has_text=text)


def tool(page: Any, line: str) -> None:
    """Choose a line of the menu of what can be done with the columns."""
    page.locator("[data-tool=more]").click()
    page.locator(".menu .item").filter(has_text=line).click()


def names(page: Any) -> list[str]:
    return list(page.locator(".heads .name").all_inner_texts())


def scroll(page: Any, top: int) -> None:
    page.evaluate("(top) => { window.__forkyCompare.board.scrollTop = top; }", top)


def test_one_question_is_answered_in_every_column_and_taken_back_at_once(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/{THREE}")
    expect(page.get_by_text("4 messages in common")).to_be_visible()
    ask(page, QUESTION)
    expect(asked_all(page, QUESTION)).to_be_visible()
    expect(page.locator(".entry.assistant").filter(has_text=re.compile("Offline model"))).to_have_count(3)
    expect(page.get_by_text("is writing")).to_have_count(0)
    menu(page, "Undo")
    expect(asked_all(page, QUESTION)).to_have_count(0)
    assert one.problems == []


def test_several_models_that_are_asked_become_the_columns_and_the_next_question_goes_to_them(
    app: str, watch: Any
) -> None:
    one = watch()
    page = one.open(f"{app}/compare?with=main,compression")
    page.get_by_text("Ask in new columns").click()
    expect(page.get_by_placeholder("Ask Offline: quotes, Offline: digest")).to_be_visible()
    ask(page, QUESTION)
    expect(asked_all(page, QUESTION)).to_be_visible()
    expect(page.locator(".heads .name")).to_have_text(["Offline: quotes", "Offline: digest"])
    expect(page.locator(".entry.assistant").filter(has_text="Offline model")).to_have_count(2)
    expect(page.get_by_text("is writing")).to_have_count(0)
    page.locator("[class*=st-key-compare-add] input").click()
    page.get_by_role("option", name="upload").click()
    expect(page.locator(".heads .name")).to_have_text(["Offline: quotes", "Offline: digest", "upload"])
    ask(page, "Why?")
    expect(asked_all(page, "Why?")).to_be_visible()
    assert one.problems == []


@pytest.mark.long
def test_the_page_stays_where_one_reads_whatever_arrives(slow: str, watch: Any) -> None:
    one = watch(height=700)
    page = one.open(f"{slow}/{THREE}")
    ask(page, "Formatted")
    expect(page.get_by_text("is writing").first).to_be_visible()
    scroll(page, 60)
    first = ".cell[data-row='0'] [data-b]"
    before = page.evaluate(PLACE, [first])
    expect(page.get_by_text("word59")).to_have_count(3)
    expect(page.get_by_text("is writing")).to_have_count(0)
    assert page.evaluate(PLACE, [first]) == before
    main = page.locator("[data-testid=stMain]")
    assert main.evaluate("(one) => one.scrollTop") == 0
    assert one.problems == []


@pytest.mark.long
def test_a_question_that_was_asked_stands_at_the_top_and_stays_there(slow: str, watch: Any) -> None:
    page = watch(height=700).open(f"{slow}/{THREE}")
    ask(page, "Formatted")
    expect(asked_all(page, "Formatted")).to_be_in_viewport()
    expect(page.get_by_text("is writing").first).to_be_visible()
    below = page.evaluate("() => window.__forkyCompare.heads.offsetHeight") + 30
    row = ".band[data-row='2'] .question"
    # A row that is not drawn yet has no place, and null would be less than any number.
    placed = (
        f"([selector, below]) => {{ const at = ({PLACE})([selector]); return at !== null && at < below; }}"
    )
    page.wait_for_function(placed, arg=[row, below])
    before = page.evaluate(PLACE, [row])
    expect(page.get_by_text("is writing")).to_have_count(0)
    expect(page.get_by_text("word59")).to_have_count(3)
    assert page.evaluate(PLACE, [row]) == pytest.approx(before, abs=2)


@pytest.mark.long
def test_a_reply_is_stopped_in_its_column(slow: str, watch: Any) -> None:
    page = watch().open(f"{slow}/{THREE}")
    ask(page, "Forever")
    page.get_by_role("button", name="Stop main").click()
    expect(page.get_by_text("You stopped this reply.")).to_be_visible()
    expect(page.get_by_text("is writing")).to_have_count(2)


@pytest.mark.long
def test_the_heads_stay_and_the_pinned_column_stays_sideways(app: str, watch: Any) -> None:
    page = watch(width=1000, height=700).open(f"{app}/{THREE}")
    expect(page.locator(".heads .name").first).to_be_visible()
    scroll(page, 300)
    assert page.evaluate(PLACE, [".heads"]) in (0, 1)
    page.evaluate("() => { window.__forkyCompare.board.scrollLeft = 80; }")
    assert page.evaluate(LEFT) == [1, 1], "the pinned column and its head stay"
    other = page.evaluate(
        "() => window.__forkyCompare.sections.get('compression').el.getBoundingClientRect().left"
    )
    pinned = page.locator(".col.pinned").bounding_box()
    assert other < pinned["x"] + pinned["width"], "the others go below it"


@pytest.mark.long
def test_columns_are_moved_pinned_and_collapsed_by_keys_and_the_link_keeps_it(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/{THREE}")
    expect(page.locator(".heads .name")).to_have_count(3)
    page.locator(".heads .head").first.focus()
    page.keyboard.press("Alt+ArrowRight")
    page.wait_for_function("() => window.__forkyCompare.order[1] === 'main'")
    assert names(page) == ["compression", "main", "upload"]
    expect(page.locator(".head[data-key=main]")).to_be_focused()
    page.wait_for_url(re.compile(r"with=compression(,|%2C)main"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("p")
    page.wait_for_url("**pin=upload**")
    expect(page.locator(".head[data-key=upload]")).to_be_focused()
    page.keyboard.press("c")
    expect(page.locator(".col.folded")).to_have_count(1)
    again = watch().open(page.url)
    expect(again.locator(".head.pinned .name")).to_have_text("upload")
    assert names(again) == ["compression", "main", "upload"]
    assert one.problems == []


@pytest.mark.long
def test_a_column_is_moved_by_dragging_its_head(app: str, watch: Any) -> None:
    page = watch().open(f"{app}/{THREE}")
    page.locator(".head[data-key=upload] .name").drag_to(page.locator(".head[data-key=main] .name"))
    page.wait_for_url(re.compile(r"with=upload"))
    assert names(page) == ["upload", "main", "compression"]


@pytest.mark.long
def test_columns_scroll_together_or_each_alone(app: str, watch: Any) -> None:
    page = watch(height=560).open(f"{app}/{THREE}")
    tool(page, "Scroll each column alone")
    column = page.locator(".col[data-key=main]")
    column.evaluate("(one) => { one.scrollTop = 90; }")
    tops = "() => [...window.__forkyCompare.root.querySelectorAll('.col')].map((one) => one.scrollTop)"
    assert page.evaluate(tops) == [90, 0, 0]
    expect(column.locator(".head .name")).to_be_in_viewport()
    tool(page, "Scroll each column alone")
    expect(page.locator(".board.alone")).to_have_count(0)


@pytest.mark.long
def test_the_difference_is_marked_in_the_text_and_turned_off(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/compare?with=main,upload")
    switch = page.get_by_role("button", name="What differs")
    expect(switch).to_have_attribute("aria-pressed", "false")  # They have little in common.
    expect(page.locator("mark")).to_have_count(0)
    switch.click()
    mark = page.locator("mark.only, p.only").first
    expect(mark).to_have_attribute("title", "Only this one says it")
    says = mark.evaluate("(one) => getComputedStyle(one.closest('p.only') ?? one, '::before').content")
    assert "only here" in says
    tool(page, "Mark also what is missing here")
    page.wait_for_function("() => window.__forkyCompare.root.dataset.marks === 'gone'")
    switch.click()
    expect(page.locator("mark")).to_have_count(0)
    assert one.problems == []


@pytest.mark.long
def test_a_phone_shows_one_column_and_a_swipe_the_next_at_the_same_question(app: str, watch: Any) -> None:
    one = watch(width=390, height=844, scheme="dark")
    page = one.open(f"{app}/{THREE}")
    head = page.locator(".col[data-key=main] .head .name")
    expect(head).to_be_in_viewport()
    expect(page.locator(".col[data-key=main] .entry.assistant [data-b]").first).to_be_in_viewport()
    wide = "document.querySelector('[data-testid=stMain]')"
    assert settled(page).evaluate(f"{wide}.scrollWidth <= {wide}.clientWidth")
    dots = page.locator(".dots .dot")
    expect(dots).to_have_count(3)
    dots.nth(1).click()
    expect(dots.nth(1)).to_have_attribute("aria-current", "true")
    expect(page.locator(".col[data-key=compression] .head .name")).to_be_in_viewport()
    page.evaluate("() => { const b = window.__forkyCompare.board; b.scrollLeft = 2 * b.clientWidth; }")
    expect(dots.nth(2)).to_have_attribute("aria-current", "true")
    assert one.problems == []


def test_parts_are_ticked_composed_and_landed(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/compare?with=main,upload")
    ask(page, "What is the plan?")
    expect(page.locator(".band .fuse")).to_be_visible()
    tool(page, "Make one answer of chosen parts")
    make = page.get_by_role("button", name="Make one answer", exact=True)
    expect(make).to_be_disabled()
    expect(page.locator(".col[data-key=main] .part > .tick input").first).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".col[data-key=upload] .part > .tick input").first).to_be_focused()
    page.keyboard.press("Space")
    expect(page.get_by_text("2 parts of 2 answers")).to_be_visible()
    make.click()
    expect(page.locator(".st-key-compare-fusion")).to_be_visible()
    expect(
        page.locator(".st-key-compare-fusion").get_by_text("The parts you chose", exact=True)
    ).to_be_visible()
    page.locator(".st-key-compare-fuse_land button").first.click()
    expect(page.get_by_text("Made one answer of 2 answers on").first).to_be_visible()
    assert one.problems == []


@pytest.mark.long
def test_claims_and_the_matrix_of_pairs_open_at_the_side_and_close(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/{THREE}")
    tool(page, "How much every two share")
    expect(page.locator(".panel .pairs .share")).to_have_count(6)
    tool(page, "Where they disagree")
    expect(page.get_by_role("heading", name="Where they disagree")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".panel")).to_be_hidden()
    assert one.problems == []


@pytest.mark.long
def test_hostile_answers_are_text_in_the_columns(slow: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{slow}/{THREE}")
    ask(page, "Hostile")
    expect(page.get_by_text("word59")).to_have_count(3)
    expect(page.get_by_text("<script>window.hacked=1</script> :red[red]").first).to_be_visible()
    assert page.evaluate("() => window.hacked") is None
    inside = (
        "() => window.__forkyCompare.root.querySelectorAll('img, script, iframe, object, embed, form').length"
    )
    assert page.evaluate(inside) == 0
    assert one.problems == []


@pytest.mark.long
def test_formulas_are_drawn_and_what_cannot_be_is_its_source(slow: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{slow}/{THREE}")
    ask(page, "Formulas")
    expect(page.get_by_text("word59")).to_have_count(3)
    expect(page.locator(".cell math")).to_have_count(6)
    expect(page.locator(".cell math mfrac")).to_have_count(3)
    fraction = page.locator(".cell math").first
    assert fraction.get_attribute("aria-label") == "\\frac{a}{b}"
    tall, line = (
        page.locator(where).first.bounding_box()["height"] for where in (".cell mfrac", ".cell mfrac mi")
    )
    assert tall > line  # MathML is laid out: the numerator stands above the denominator.
    expect(page.locator(".cell .fk-formula")).to_have_count(3)
    expect(page.locator(".cell .fk-formula").first).to_have_text("\\unknown{x}")
    assert one.problems == []
