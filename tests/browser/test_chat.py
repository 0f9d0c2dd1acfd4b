from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from forky_core import import_file
from forky_core.forky import Forky
from forky_core.views.notebook import MORE
from tests.browser.agraph import click_node
from tests.browser.conftest import CHECKOUT, expect, menu, rarely, served
from tests.builders import talk
from tests.formats.importing.test_chatgpt import conversation, entry

pytestmark = pytest.mark.browser
_PAINTED_AT = """
(id) => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(
  () => resolve(document.querySelector(`[data-cell="${id}"]`).getBoundingClientRect().top))))
"""
_SCROLL_UP = """
(id) => {
  document.querySelector('[data-testid="stMain"]').scrollTop = 100;
  return document.querySelector(`[data-cell="${id}"]`).getBoundingClientRect().top;
}
"""
_SHRUNK = """
(id) => new Promise((resolve) => {
  const box = document.querySelector('[data-testid="stMain"]');
  box.addEventListener("scroll", () => setTimeout(() => resolve([box.scrollTop, window.__forkyPlace.reading])));
  for (const cell of [...document.querySelectorAll('[class*="st-key-cell-"]')].slice(3)) cell.style.display = "none";
})
"""
"""Most cells go, as on the way to a short path: where the page then stands, and the cell that is held in its place
while earlier messages come in."""
_LEFT_OVER = """
(paragraph) => {
  const words = document.createRange();
  words.selectNodeContents(paragraph);
  return paragraph.getBoundingClientRect().right - words.getBoundingClientRect().right;
}
"""
"""Pixels to the right of a paragraph's words."""
DRAFT = ".st-key-chat-draft textarea"
LAST = "word59"


def long(forky: Forky) -> str:
    return talk(forky.create("Long"), *(f"message number {at} " + "and on " * 60 for at in range(90))).id


def dated(forky: Forky) -> str:
    """A conversation of another program, whose message has a time."""
    with TemporaryDirectory() as folder:
        export = Path(folder, "conversations.json")
        asked = entry("q", "root", "user", "When?", create_time=1_730_501_400)
        export.write_text(json.dumps(conversation(asked)))
        return import_file(forky, export).conversations[0]


def begin(page: Any) -> None:
    page.locator(".fk-head").last.wait_for()


def new(page: Any, title: str) -> None:
    page.locator(".fk-chats-new").first.click()
    page.locator(".fk-first").wait_for()
    menu(page, "Rename this chat")
    page.locator(".st-key-rename-name input").fill(title)
    page.locator(".st-key-rename-go button").click()
    expect(page.locator(".st-key-bar h1").first).to_have_text(title)


def ask(page: Any, text: str) -> None:
    page.locator(DRAFT).fill(text)
    page.locator(DRAFT).press("Enter")


def switch(page: Any, branch: str) -> None:
    page.locator(".st-key-chat-branch input").click()
    page.keyboard.type(branch)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**b={branch}*")


def holds(page: Any, text: str) -> None:
    """The field is there and holds this, however long the page takes."""
    expect(page.locator(DRAFT)).to_have_value(text)


def messages(page: Any) -> int:
    return int(page.locator("[data-cell]").count())


def test_enter_asks_and_the_answer_survives_a_reload_in_mid_stream(slow: str, watch: Any) -> None:
    watched = watch()
    page = watched.open(slow)
    new(page, "Reload")
    ask(page, "Take your time")
    page.get_by_text("word5").first.wait_for()
    page.reload()
    page.get_by_text("word8").first.wait_for()
    page.get_by_text(LAST).first.wait_for()
    page.locator(".st-key-chat-stop").wait_for(state="detached")
    assert messages(page) == 2 and page.locator(DRAFT).input_value() == ""
    assert watched.problems == []


@pytest.mark.long
def test_a_click_elsewhere_while_it_writes_loses_nothing(slow: str, watch: Any) -> None:
    page = watch().open(slow)
    new(page, "Click")
    ask(page, "Take your time")
    page.get_by_text("word5").first.wait_for()
    cell = page.locator("[data-cell]").first
    cell.hover()
    rarely(cell, "pick")
    page.get_by_text("chosen").first.wait_for()
    page.get_by_text(LAST).first.wait_for()


def test_a_draft_stays_with_its_branch_through_switching_back_and_reload(app: str, watch: Any) -> None:
    page = watch().open(app)
    begin(page)
    switch(page, "upload")
    page.locator(DRAFT).click()
    page.keyboard.type("half a thought")
    switch(page, "main")
    holds(page, "")
    page.go_back()
    holds(page, "half a thought")
    page.reload()
    holds(page, "half a thought")


def test_a_click_on_the_graph_goes_to_that_message_and_its_branch(app: str, watch: Any) -> None:
    watched = watch()
    page = watched.open(app)
    begin(page)
    first = page.locator("[data-cell]").first.get_attribute("data-cell")
    click_node(page, first)
    page.locator(".st-key-chat-to_newest").wait_for()
    expect(page.locator("[data-cell]")).to_have_count(1)
    page.locator(".st-key-chat-to_newest button").first.click()
    page.locator(".st-key-chat-to_newest").wait_for(state="detached")
    assert watched.problems == []


@pytest.mark.long
def test_the_list_is_chosen_once_and_forks_by_key(app: str, watch: Any) -> None:
    page = watch().open(app)
    begin(page)
    page.get_by_role("radio", name="List").or_(page.get_by_role("button", name="List")).first.click()
    row = page.locator(".twin .row").first
    row.click()
    expect(row).to_have_attribute("aria-selected", "true")
    page.get_by_role("listbox").focus()
    page.keyboard.press("f")
    expect(page.locator(".st-key-line-forking")).to_be_visible()
    expect(page.locator(DRAFT)).to_be_focused()
    page.keyboard.type("By key")
    page.keyboard.press("Enter")
    page.wait_for_url("**b=key*")


@pytest.mark.long
def test_a_link_to_a_message_works_as_the_first_request_of_a_fresh_server(tmp_path: Path, watch: Any) -> None:
    with served(CHECKOUT / "app.py", tmp_path) as address:
        page = watch().open(address)
        begin(page)
        switch(page, "upload")
        cell = page.locator("[data-cell]").first.get_attribute("data-cell")
        query = page.url.split("?")[1].split("&")[0] + f"&m={cell.removeprefix('b2:')}"
    with served(CHECKOUT / "app.py", tmp_path) as address:
        page = watch().open(f"{address}/?{query}")
        begin(page)
        assert messages(page) == 1
        assert page.locator("[data-cell]").get_attribute("data-cell") == cell


@pytest.mark.parametrize("width", [1400, pytest.param(390, marks=pytest.mark.long)])
def test_earlier_messages_come_in_above_and_what_is_read_stays_where_it_is(
    begun: Any, watch: Any, width: int
) -> None:
    watched = watch(width=width, height=844)
    page = watched.open(begun(long))
    begin(page)
    expect(page.get_by_text("message number 89")).to_be_in_viewport()
    first, count = page.locator("[data-cell]").first.get_attribute("data-cell"), messages(page)
    page.mouse.move(width / 3, 300)
    page.mouse.wheel(0, 1)
    before = page.evaluate(_SCROLL_UP, first)
    expect(page.locator("[data-cell]")).to_have_count(count + MORE)
    assert abs(page.evaluate(_PAINTED_AT, first) - before) < 2
    # Without scrolling up to it, which brings earlier messages by itself.
    page.get_by_role("button", name="Show 20 earlier").evaluate("one => one.focus({ preventScroll: true })")
    page.keyboard.press("Enter")
    expect(page.locator("[data-cell]")).to_have_count(count + 2 * MORE)
    assert page.evaluate("document.activeElement.closest('.st-key-chat-earlier') !== null")
    assert watched.problems == []


@pytest.mark.long
def test_a_page_that_gets_shorter_asks_for_no_earlier_messages(begun: Any, watch: Any) -> None:
    page = watch().open(begun(long))
    begin(page)
    expect(page.get_by_text("message number 89")).to_be_in_viewport()
    page.wait_for_function("() => !window.__forkyPlace.seeking && window.__forkyPlace.last > 600")
    top, reading = page.evaluate(_SHRUNK)
    assert top < 600 and reading is None


@pytest.mark.long
def test_the_menu_of_a_cell_is_reached_and_left_by_keyboard(app: str, watch: Any) -> None:
    page = watch().open(app)
    begin(page)
    more = page.locator("[data-cell]").last.locator("[data-act=more]")
    more.focus()
    page.keyboard.press("Enter")
    page.locator(".fk-menu").wait_for()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.act") == "pick"
    page.keyboard.press("Escape")
    page.locator(".fk-menu").wait_for(state="detached")
    assert page.evaluate("document.activeElement.dataset.act") == "more"


def test_files_that_are_dropped_together_are_attached_shown_and_sent(
    app: str, watch: Any, tmp_path: Path
) -> None:
    note, other, empty = (tmp_path / name for name in ("note.txt", "other.bin", "empty.txt"))
    note.write_text("what I saw")
    other.write_bytes(bytes(range(256)) * 8)
    empty.touch()
    page = watch().open(app)
    begin(page)
    chosen = page.locator(".st-key-chat-files input[type=file]")
    chosen.set_input_files([str(note), str(empty), str(other)])
    page.locator(".st-key-chat-unfile-1").wait_for()
    page.locator(".st-key-notice").get_by_text("The file “empty.txt” is empty.").wait_for()
    ask(page, "Read these")
    for said in ("note.txt (0.1 kB)", "other.bin (2.0 kB)"):
        page.get_by_text(said).wait_for()
    page.locator(".st-key-chat-unfile-0").wait_for(state="detached")


def test_on_a_phone_the_chat_and_the_graph_take_turns(app: str, watch: Any) -> None:
    page = watch(width=390, height=844).open(app)
    begin(page)
    assert not page.locator(".st-key-chat-side").is_visible()
    page.get_by_text("Graph", exact=True).first.click()
    page.locator(".twin .row").first.wait_for()
    assert not page.locator(".st-key-chat-composer").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.long
def test_send_stays_beside_what_it_is_sent_with_and_the_graph_below_the_bar(slow: str, watch: Any) -> None:
    page = watch(height=560).open(slow)
    begin(page)
    expect(page.locator(".st-key-line-graph")).to_be_visible()
    send, files, graph, top = (
        _box(page, name) for name in ("chat-sending", "chat-more", "line-graph", "chat-top")
    )
    assert abs(send[0] - files[0]) < 10
    assert graph[0] >= top[1]


def _box(page: Any, key: str) -> tuple[float, float]:
    """Top and bottom."""
    box = page.locator(f".st-key-{key}").bounding_box()
    return box["y"], box["y"] + box["height"]


@pytest.mark.long
def test_a_tab_is_named_after_what_it_shows_and_keeps_its_icon(slow: str, watch: Any) -> None:
    page = watch().open(slow)
    new(page, "Tabs")
    expect(page).to_have_title("Tabs – Forky")
    page.get_by_role("link", name="Library").first.click()
    expect(page).to_have_title("Library – Forky")
    assert page.locator("link[rel~=icon]").first.evaluate("(icon) => icon.href") == f"{slow}/favicon.png"


@pytest.mark.long
def test_a_message_reads_from_right_to_left_where_it_is_written_so(slow: str, watch: Any) -> None:
    page = watch().open(slow)
    new(page, "Directions")
    page.locator(DRAFT).fill("שלום, מה שלומך?\n\nAnd you?")
    page.locator("[class*=st-key-chat-send-] button").first.click()
    words = page.locator('[class*="st-key-cell-user-"] p')
    expect(words).to_have_count(2)
    assert words.first.evaluate(_LEFT_OVER) < 2
    assert words.last.evaluate(_LEFT_OVER) > 100


@pytest.mark.long
@pytest.mark.parametrize(
    ("zone", "said"), [("Asia/Tokyo", "2 Nov 2024, 07:50"), ("America/New_York", "1 Nov 2024, 18:50")]
)
def test_times_are_those_of_whoever_reads(begun: Any, watch: Any, zone: str, said: str) -> None:
    page = watch(zone=zone).open(begun(dated))
    begin(page)
    expect(page.locator(".fk-head time")).to_have_text(said)
