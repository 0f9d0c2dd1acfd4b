"""A reply on the screen while it is written: pages/ui/chat/live.js in a real browser."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from forky_core.conversation.replies.replies import SERVER_STOPPED
from forky_core.forky import Forky
from tests.browser.conftest import CHECKOUT, expect, served
from tests.browser.test_chat import LAST, ask, messages, new

pytestmark = pytest.mark.browser
SCRIPT = CHECKOUT / "tests/browser/slow_app.py"
LIVE = ".fk-live"
STOP = ".st-key-chat-stop"
IN_ORDER = """
(least) => {
  const said = document.querySelector(".fk-live")?.textContent.trim().split(" ") ?? [];
  return said.length > least && said.every((word, at) => word === `word${at}`);
}
"""
"""The live text has more words than that, each of them once and in its place."""

RAW = re.compile(r"\*\*|#{2,}|\|-|```|`|~~|\]\(|\$\$|\\\\")
_ELEMENTS = """
() => {
  const said = (one) => one.nodeType === 3 ? one.data.trim() : `<${one.localName}>${[...one.childNodes].map(said).join("")}`;
  return said([...document.querySelectorAll(".fk-text")].at(-1)).replace(/^<[a-z]*>/, "");
}
"""
_SAMPLE = f"""
() => {{
  window.looks = [];
  const elements = {_ELEMENTS.strip()};
  new MutationObserver(() => {{
    const live = document.querySelector(".fk-live");
    if (!live?.childElementCount) return;
    const copy = live.cloneNode(true);
    for (const code of copy.querySelectorAll("pre, code, math")) code.remove();
    window.looks.push({{ words: copy.textContent, tall: live.offsetHeight, elements: elements() }});
  }}).observe(document.body, {{ childList: true, subtree: true, characterData: true }});
}}
"""
"""Looks at the reply whenever it has changed: its words outside code, how high it is, its elements."""


def landed(page: Any) -> None:
    page.locator(STOP).wait_for(state="detached")
    page.get_by_text(LAST).first.wait_for()
    expect(page.locator(LIVE)).to_have_count(0)


def test_the_words_come_by_the_stream_and_end_as_a_cell(slow: str, watch: Any) -> None:
    watched = watch()
    page = watched.open(slow)
    new(page, "Stream")
    with page.expect_response("**/replies/*") as stream:
        ask(page, "Take your time")
    assert stream.value.status == 200
    expect(page.locator(LIVE)).to_contain_text("word5")
    page.get_by_text("writing …").wait_for()
    landed(page)
    assert messages(page) == 2
    assert watched.problems == []


@pytest.mark.long
def test_a_diagram_is_drawn_once_it_is_whole(slow: str, watch: Any) -> None:
    watched = watch()
    page = watched.open(slow)
    new(page, "Diagram")
    ask(page, "Diagram")
    expect(page.locator(LIVE)).to_contain_text("A -->")
    picture = page.locator("[data-diagram] img").last
    expect(picture).to_be_visible()
    expect(page.locator(LIVE)).to_contain_text("word")
    landed(page)
    expect(page.locator("[data-diagram] img")).to_have_count(1)
    assert watched.problems == []


@pytest.mark.long
def test_two_tabs_see_the_same_words(slow: str, watch: Any) -> None:
    one = watch().open(slow)
    new(one, "Two tabs")
    ask(one, "Forever")
    expect(one.locator(LIVE)).to_contain_text("word5")
    other = watch().open(one.url)
    for page in (one, other):
        page.wait_for_function(IN_ORDER, arg=12)
    other.locator(f"{STOP} button").first.click()
    for page in (one, other):
        page.get_by_text("You stopped this reply.").wait_for()


@pytest.mark.long
def test_the_list_of_chats_shows_what_another_tab_does(slow: str, watch: Any) -> None:
    one, other = watch().open(slow), watch().open(f"{slow}/settings")
    new(one, "Told to others")
    expect(other.get_by_role("link", name="Told to others")).to_be_visible()
    new(other, "Another one")
    expect(one.get_by_role("link", name="Another one")).to_be_visible()
    ask(other, "Forever")
    writing = one.locator(".fk-chats-row", has_text="Another one").get_by_label("An answer is being written")
    expect(writing).to_be_visible()
    other.locator(f"{STOP} button").first.click()
    expect(writing).to_have_count(0)


@pytest.mark.long
def test_a_form_keeps_its_place_and_what_is_typed_while_others_write(slow: str, watch: Any) -> None:
    one = watch().open(slow)
    new(one, "A form")
    ask(one, "What do you say?")
    landed(one)
    other = watch().open(one.url)
    first = one.locator("[data-cell]").first
    first.hover()
    first.locator("[data-act=edit]").click()
    field = one.locator(".st-key-chat-form_text textarea")
    expect(field).to_be_focused()
    one.keyboard.type(" More of")
    for number in range(3):
        ask(other, f"Question {number} " + "and on " * 600)
        other.locator(STOP).wait_for()
        landed(other)
        expect(one.get_by_text(f"Question {number} ").first).to_be_attached()
        one.keyboard.type(f" {number}")
    expect(field).to_be_focused()
    expect(field).to_have_value("What do you say? More of 0 1 2")
    assert messages(one) > messages(other), "its window reaches up to the form"


def test_a_cut_stream_is_taken_up_again_without_a_gap(slow: str, watch: Any) -> None:
    page = watch().open(slow)
    new(page, "Hiccup")
    calls: list[str] = []

    def cut_twice(route: Any) -> None:
        calls.append(route.request.url)
        if len(calls) == 1:
            route.fulfill(status=200, content_type="text/event-stream", body="event: alive\ndata:\n\n")
        elif len(calls) == 2:
            route.abort()
        else:
            route.continue_()

    page.route("**/replies/*", cut_twice)
    with page.expect_response(lambda answer: "/replies/" in answer.url and len(calls) > 2):
        ask(page, "Forever")
    seen = len(page.locator(LIVE).inner_text().split())
    page.wait_for_function(IN_ORDER, arg=seen + 20)
    page.locator(f"{STOP} button").first.click()
    page.get_by_text("You stopped this reply.").wait_for()


@pytest.mark.long
def test_without_the_stream_the_reply_is_shown_all_the_same(slow: str, watch: Any) -> None:
    page = watch().open(slow)
    new(page, "No stream")
    page.route("**/replies/*", lambda route: route.abort())
    ask(page, "Take your time")
    expect(page.locator(LIVE)).to_contain_text("word5")
    landed(page)
    assert messages(page) == 2


def test_an_answer_is_formatted_as_it_comes_and_stays_as_it_is(slow: str, watch: Any) -> None:
    watched = watch()
    page = watched.open(slow)
    new(page, "Everything")
    page.evaluate(_SAMPLE)
    ask(page, "Everything")
    page.get_by_text("The end.").first.wait_for()
    page.locator(STOP).wait_for(state="detached")
    expect(page.locator(LIVE)).to_have_count(0)
    looks = page.evaluate("window.looks")
    assert len(looks) > 4
    assert [look for look in looks if RAW.search(look["words"])] == []
    assert [
        after["tall"] - before["tall"]
        for before, after in pairwise(looks)
        if after["tall"] < before["tall"] - 40
    ] == []
    assert page.evaluate(_ELEMENTS) == looks[-1]["elements"]
    page.reload()
    page.get_by_text("The end.").wait_for()
    assert page.evaluate(_ELEMENTS) == looks[-1]["elements"]
    assert watched.problems == []


@pytest.mark.long
def test_hostile_text_stays_text(slow: str, watch: Any) -> None:
    watched = watch()
    page = watched.open(slow)
    new(page, "Hostile")
    ask(page, "Hostile")
    expect(page.locator(LIVE)).to_contain_text(
        "<script>window.hacked=1</script> :red[red] word0",
    )
    assert page.locator(f"{LIVE} :not(p)").count() == 0
    landed(page)
    assert page.evaluate("window.hacked") is None
    assert watched.problems == []


@pytest.mark.long
def test_reasoning_is_there_while_it_thinks_and_stays_open(slow: str, watch: Any) -> None:
    page = watch().open(slow)
    new(page, "Think")
    ask(page, "Think")
    page.get_by_text("thinking …").wait_for()
    reasoning = page.locator("details[data-live=reasoning]")
    reasoning.locator("summary").click()
    expect(reasoning.locator("pre")).to_have_text("Let me <b>see</b>.")
    expect(page.locator(LIVE)).to_contain_text("word30")
    expect(reasoning.locator("pre")).to_be_visible()
    landed(page)


@pytest.mark.long
def test_a_server_that_ends_while_somebody_watches_keeps_what_had_arrived(tmp_path: Path, watch: Any) -> None:
    with served(SCRIPT, tmp_path) as address:
        page = watch().open(address)
        new(page, "The end")
        ask(page, "Forever")
        expect(page.locator(LIVE)).to_contain_text("word9")
    with Forky.open(tmp_path / "forky.duckdb") as forky:
        assert forky.recovered == 0
        chat = forky.conversation(forky.conversations()[0].id)
        call = chat.calls.generations[-1]
        assert (call.status, call.failure) == ("interrupted", SERVER_STOPPED)
        assert "word9" in chat.path()[-1].text
