"""A presentation and a replay in a browser: keys, fingers, the notes window, those who follow, and the way back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import expect, present_link, settled

pytestmark = pytest.mark.browser

NOW = ".step.now"


def presented(page: Any) -> Any:
    """The tab that Chat's own link opens, at its first step."""
    link = present_link(page)
    with page.context.expect_page() as opened:
        link.click()
    deck = opened.value
    expect(deck.locator(NOW)).to_have_count(1)
    deck.keyboard.press("Home")
    expect(deck.locator(NOW)).to_have_class(re.compile("title"))
    return deck


def step(deck: Any, key: str, kind: str) -> Any:
    deck.keyboard.press(key)
    expect(deck.locator(NOW)).to_have_class(re.compile(rf"\b{kind}\b"))
    return deck.locator(NOW)


def test_the_ready_conversation_is_stepped_through_by_keys(
    unchanged_app: str, watch: Any, tmp_path: Path
) -> None:
    watched = watch()
    deck = presented(watched.open(unchanged_app))
    blocked: list[str] = []
    deck.on("console", lambda message: blocked.append(message.text) if message.type == "error" else None)
    expect(deck.get_by_role("heading", name="Why is the nightly backup slow?")).to_be_visible()
    asked = step(deck, "ArrowRight", "user")
    expect(asked).to_contain_text("Our nightly backup")
    step(deck, " ", "assistant")
    step(deck, "PageDown", "user")
    answer = step(deck, "ArrowRight", "assistant")
    expect(answer.locator(".face:visible")).to_contain_text("Then it is the compression")
    deck.keyboard.press("s")
    expect(answer.locator(".face:visible")).to_contain_text("copy the data files of a replica")
    deck.keyboard.press("ArrowDown")
    expect(answer.locator(".face:visible")).to_contain_text("From PostgreSQL 16 on")
    deck.keyboard.press("ArrowDown")
    expect(answer.locator(".face:visible")).to_have_count(3)
    deck.keyboard.press("ArrowUp")
    expect(answer.locator(".face:visible")).to_have_count(1)
    expect(step(deck, "ArrowRight", "branches").locator("svg.branches")).to_be_visible()
    expect(step(deck, "ArrowRight", "block")).to_contain_text("zstd -T8 -9")
    expect(step(deck, "ArrowRight", "landed").locator("svg .dot.merge")).to_be_visible()
    step(deck, "ArrowLeft", "block")
    step(deck, "End", "assistant")
    deck.keyboard.press("m")
    expect(deck.locator("#map")).to_be_visible()
    deck.locator("#map a", has_text="Dump alone").click()
    expect(deck.locator(NOW)).to_contain_text("Dump alone: 38 min.")
    deck.keyboard.press("Escape")
    expect(deck.locator("#map")).to_be_hidden()
    deck.keyboard.press("l")
    expect(deck.locator("#pointer")).to_be_visible()
    deck.keyboard.press("t")
    expect(deck.locator("html")).to_have_attribute("data-theme", "light")
    before = deck.url
    deck.reload()
    expect(deck.locator(NOW)).to_contain_text("Dump alone: 38 min.")
    assert deck.url == before
    expect(deck.locator("html")).to_have_attribute("data-theme", "light")
    assert blocked == []
    with deck.expect_event("close"):
        deck.keyboard.down("Escape")
    expect(watched.page.locator("[data-cell]").first).to_be_attached()


def test_the_notes_window_and_whoever_follows_go_with_the_presenter(app: str, watch: Any) -> None:
    page = watch().open(app)
    deck = presented(page)
    deck.keyboard.press("v")
    link = deck.locator("#followers-link")
    expect(link).to_have_value(re.compile("/s/"))
    deck.keyboard.press("Escape")
    viewer = watch(width=390, height=844, scheme="dark").page
    viewer.goto(link.input_value())
    expect(viewer.locator(NOW)).to_have_class(re.compile("title"))
    step(deck, "ArrowRight", "user")
    expect(viewer.locator(NOW)).to_contain_text("Our nightly backup")
    with deck.expect_popup() as opened:
        deck.keyboard.press("n")
    notes = opened.value
    expect(notes.locator("#speaker h2")).to_contain_text("Our nightly backup")
    notes.locator("#speaker textarea").fill("Ask who has a backup.")
    notes.locator("#speaker textarea").blur()
    notes.keyboard.press("ArrowRight")
    expect(notes.locator("#speaker h2")).to_contain_text("Find out which stage")
    expect(deck.locator(NOW)).to_contain_text("Find out which stage")
    expect(viewer.locator(NOW)).to_contain_text("Find out which stage")
    assert viewer.get_by_text("Ask who has a backup.").count() == 0
    notes.close()
    viewer.keyboard.press("ArrowRight")
    expect(viewer.locator("#told")).to_contain_text("on your own")
    step(deck, "ArrowRight", "user")
    viewer.keyboard.press("Enter")
    expect(viewer.locator(NOW)).to_contain_text("Dump alone")
    other = watch().page
    other.goto(deck.url)
    asked: list[Any] = []
    other.route("**/stage", lambda route: asked.append(route))  # noqa: PLW0108 - Playwright marks what it is given
    other.keyboard.press("v")
    expect(other.locator("#followers")).to_contain_text("The link is being made.")
    other.keyboard.press("Escape")
    expect(other.locator("#followers")).to_be_hidden()
    step(other, "End", "assistant")
    asked.pop().continue_()
    expect(deck.locator("#told")).to_contain_text("Somebody else presents this conversation now")
    expect(viewer.locator(NOW)).to_contain_text("Pipe the stages")
    other.keyboard.press("v")
    other.get_by_role("button", name="End it for everybody").click()
    expect(viewer.locator("#told")).to_contain_text("has ended")
    viewer.reload()
    expect(viewer.locator("body")).to_contain_text("This presentation has ended")


def test_whoever_follows_asks_and_votes_on_the_page_on_which_they_follow(app: str, watch: Any) -> None:
    page = watch().open(app)
    deck = presented(page)
    deck.keyboard.press("v")
    link = deck.locator("#followers-link")
    expect(link).to_have_value(re.compile("/s/"))
    address = link.input_value()
    deck.keyboard.press("Escape")
    watched = watch(width=390, height=844, scheme="dark")
    phone = watched.page
    phone.goto(address)
    phone.get_by_role("button", name="Ask a question").click()
    phone.get_by_label("Your question").fill("Is <b>this</b> safe?")
    phone.get_by_role("button", name="Send it to the presenter").click()
    expect(phone.locator("#told")).to_contain_text("Sent.")
    expect(deck.locator("#asked")).to_have_text("1 question")
    deck.keyboard.press("q")
    expect(deck.locator("#questions")).to_contain_text("Is <b>this</b> safe?")
    deck.get_by_role("button", name="Put it to the model").click()
    deck.get_by_role("button", name="Show the answer").click()
    expect(deck.locator(NOW)).to_have_class(re.compile("assistant"))
    shown = deck.locator(NOW).get_attribute("id")
    expect(phone.locator(f"#{shown}.now")).to_be_visible()
    page.goto(f"{app}/compare?with=compression,upload")
    page.locator("[data-tool=more]").click()
    page.get_by_role("menuitem", name="Let people vote").click()
    page.get_by_label("Your name").fill("Mira")
    page.get_by_role("button", name="Open the poll").click()
    phone.get_by_role("button", name="Vote: which answer is better?").click()
    phone.get_by_role("button", name="Vote for B").click()
    expect(phone.locator("#ballot")).to_contain_text("your vote")
    expect(phone.locator("#ballot")).to_contain_text("1 person has voted.")
    assert watched.problems == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("width", "height", "scheme"), [(1400, 900, "light"), (390, 844, "dark"), (1920, 1080, "dark")]
)
def test_nothing_is_wider_than_the_screen(
    unchanged_app: str, watch: Any, width: int, height: int, scheme: str, tmp_path: Path
) -> None:
    page = watch(width=width, height=height, scheme=scheme).open(unchanged_app)
    page.goto(f"{unchanged_app}{present_link(page).get_attribute('href')}&with=main,upload")
    page.keyboard.press("Home")
    count = page.locator(".step").count()
    assert count == 13
    for _ in range(count):
        wide = page.evaluate(
            "() => { const s = document.querySelector('.step.now'); return s.scrollWidth - s.clientWidth; }"
        )
        assert wide <= 0, page.url
        size = page.evaluate(
            "() => parseFloat(getComputedStyle(document.querySelector('.step.now')).fontSize)"
        )
        assert 22.5 <= size <= 60, "1.5 to 4 times the app's 15 pixels"
        page.keyboard.press("ArrowRight")


@pytest.mark.long
def test_a_replay_grows_jumps_and_plays(unchanged_app: str, watch: Any) -> None:
    watched = watch()
    page = watched.open(f"{unchanged_app}/history")
    with page.context.expect_page() as opened:
        page.locator(".st-key-history-replay a").first.click()
    film = opened.value
    expect(film.locator("#count")).to_contain_text("operation 24 of 24")
    expect(film.locator("#svg .row")).to_have_count(17)
    film.keyboard.press("Home")
    expect(film.locator("#svg .row")).to_have_count(0)
    film.keyboard.press("ArrowRight")
    expect(film.locator("#said")).to_contain_text("Asked on “main”")
    expect(film.locator("#svg .row")).to_have_count(1)
    film.get_by_label("Operation", exact=True).last.fill("20")
    film.keyboard.press("Enter")
    expect(film.locator("#said")).to_contain_text("Merged “compression” into “main”")
    expect(film.locator("#branches .moved")).to_have_text("main")
    film.locator("#around button", has_text="Forked “upload”").click()
    expect(film.locator("#svg .row")).to_have_count(10)
    film.locator("#pace").select_option("10")
    film.locator("#play").focus()
    film.keyboard.press("Enter")
    expect(film.locator("#count")).to_contain_text("operation 24 of 24")
    expect(film.locator("#play")).to_have_attribute("aria-label", "Play")


@pytest.mark.long
def test_an_exported_presentation_and_replay_work_from_a_file(browser: Any, tmp_path: Path) -> None:
    from forky_core.formats.exporting.registry import exporter  # noqa: PLC0415 - for this test alone
    from forky_core.formats.exporting.sharing import export_value, save_as  # noqa: PLC0415 - as above
    from forky_core.welcome import make_welcome  # noqa: PLC0415 - as above
    from tests.builders import workspace  # noqa: PLC0415 - as above

    forky, _ = workspace()
    chat = export_value(forky.store, make_welcome(forky))
    context = browser.new_context(offline=True)
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    for name in ("presentation", "replay"):
        to = exporter(name)
        save_as(chat, to, tmp_path / f"chat{to.suffix}")
        page.goto((tmp_path / f"chat{to.suffix}").as_uri())
        if name == "presentation":
            page.keyboard.press("ArrowRight")
            expect(page.locator(NOW)).to_contain_text("Our nightly backup")
            page.mouse.move(300, 300)
            expect(page.get_by_role("button", name="Followers")).to_be_hidden()
        else:
            page.keyboard.press("Home")
            expect(page.locator("#count")).to_contain_text("operation 1 of 33")
    assert problems == []
    context.close()


@pytest.mark.long
def test_a_finger_steps(unchanged_app: str, browser: Any) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(unchanged_app)
    settled(page)
    page.goto(f"{unchanged_app}{present_link(page).get_attribute('href')}")
    page.keyboard.press("Home")
    expect(page.locator(NOW)).to_have_class(re.compile("title"))
    touch = """(dx) => {
      const deck = document.getElementById("deck"), at = (x) => new Touch({ identifier: 1, target: deck, clientX: x, clientY: 300 });
      deck.dispatchEvent(new TouchEvent("touchstart", { touches: [at(200)], changedTouches: [at(200)], bubbles: true }));
      deck.dispatchEvent(new TouchEvent("touchend", { touches: [], changedTouches: [at(200 + dx)], bubbles: true }));
    }"""
    page.evaluate(touch, -120)
    expect(page.locator(NOW)).to_contain_text("Our nightly backup")
    page.evaluate(touch, 120)
    expect(page.locator(NOW)).to_have_class(re.compile("title"))
    context.close()
