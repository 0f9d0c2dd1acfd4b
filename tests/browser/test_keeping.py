"""What people type is in their browser's keeping until the server has said that it is stored."""

from __future__ import annotations

import json
import re
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from forky_core.forky import Forky
from tests.app_server import started_at
from tests.browser.conftest import CHECKOUT, expect, free_port, menu, playwright, served, settled, told
from tests.browser.test_chat import DRAFT, LAST, ask, begin, holds, new
from tests.hangs import HANG
from tests.store.postgresql.server import TEMPLATE, running_server

pytestmark = pytest.mark.browser
LINE = ".st-key-chat-composer .waiting"
ACROSS = ".st-key-compare-ask textarea"
EARLY = ".fk-opening textarea"
SENT_AS_IT_CHANGES = """
(changed) => {
  const composing = window.__forkyComposing, { data, tell, line } = composing;
  composing.hear({ ...data, files: JSON.stringify(data.files), ...changed }, tell, line);
  composing.send();
}
"""
"""A question is sent in the moment in which the composer has heard of another place and the page is not drawn there."""


def cells(page: Any) -> Any:
    return page.locator("[data-cell]")


def answered(page: Any, count: int) -> None:
    """So many messages are shown, and the reply that is the last of them has ended."""
    expect(cells(page)).to_have_count(count)
    expect(page.locator(".st-key-chat-stop")).to_have_count(0)
    settled(page)


def all_texts(forky: Forky) -> str:
    """All that is said in a workspace."""
    messages = (forky.store.messages(line.id).values() for line in forky.conversations())
    return json.dumps([one.text for some in messages for one in some])


def asked(database: str | Path, text: str) -> int:
    """How many messages of a database say this."""
    with Forky.open(database) as forky:
        return int(json.loads(all_texts(forky)).count(text))


@pytest.mark.long
def test_a_database_that_is_away_loses_no_question_and_leaves_the_page_drawn(
    tmp_path: Path, watch: Any
) -> None:
    with running_server() as server:
        url = server.database(TEMPLATE)
        with served(CHECKOUT / "app.py", tmp_path, FORKY_DATABASE=url) as app:
            page = watch().open(app)
            begin(page)
            before = cells(page).count()
            server.stop(signal.SIGQUIT)
            ask(page, "Is this kept?")
            expect(page.locator(LINE)).to_contain_text("Is this kept?")
            expect(page.locator(".st-key-shell-away")).to_contain_text("stays")
            expect(cells(page)).to_have_count(before)
            page.locator(DRAFT).fill("And this draft?")
            page.wait_for_timeout(5000)
            expect(cells(page)).to_have_count(before)
            holds(page, "And this draft?")
            server.start()
            expect(page.locator(LINE)).to_have_count(0)
            expect(page.get_by_role("log", name="Messages")).to_contain_text("Is this kept?")
            expect(page.locator(".st-key-shell-away")).to_have_count(0)
            holds(page, "And this draft?")
        assert asked(url, "Is this kept?") == 1


@pytest.mark.long
def test_what_was_typed_outlives_a_reload_and_a_restart_of_the_server_with_which_the_field_stays_usable(
    tmp_path: Path, watch: Any
) -> None:
    app, port = CHECKOUT / "app.py", free_port()
    with started_at(port, app, tmp_path) as (address, server):
        page = watch().open(address)
        begin(page)
        page.locator(DRAFT).fill("half a thought")
        page.evaluate(
            """() => { window.dismissed = 0; document.addEventListener("click", (event) => {
                if (event.target.closest?.("[data-testid=stDialog] button[aria-label=Close]")) window.dismissed += 1;
            }, true); }"""
        )
        server.send_signal(signal.SIGKILL)
        server.wait(HANG)
        page.wait_for_timeout(1500)
        page.locator(DRAFT).press("End")
        page.keyboard.type(", and more")
        page.keyboard.press("Enter")
        expect(page.locator(LINE)).to_contain_text("half a thought, and more")
        # Streamlit says “Connection error” in a dialog after some tries.
        given_up = time.monotonic() + HANG
        while not page.evaluate("window.dismissed"):
            assert time.monotonic() < given_up
            page.wait_for_timeout(200)
        page.locator(DRAFT).fill("the next one")
    with started_at(port, app, tmp_path):
        expect(page.get_by_role("log", name="Messages")).to_contain_text("half a thought, and more")
        expect(page.locator(LINE)).to_have_count(0)
        holds(page, "the next one")
        page.reload()
        holds(page, "the next one")
    assert asked(tmp_path / "forky.duckdb", "half a thought, and more") == 1


def test_what_is_typed_and_sent_before_the_app_runs_goes_over_to_it_with_focus_and_caret(
    app: str, watch: Any
) -> None:
    watched = watch()
    page, held = watched.page, list[Any]()

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/static/js/**", hold)
    page.goto(app, wait_until="commit")
    page.locator(EARLY).click()
    page.keyboard.type("Is it asked?")
    page.keyboard.press("Enter")
    expect(page.locator(".fk-opening li")).to_have_text("Is it asked?")
    page.keyboard.type("half a tought")
    page.reload(wait_until="commit")
    expect(page.locator(EARLY)).to_have_value("half a tought")
    expect(page.locator(".fk-opening li")).to_have_text("Is it asked?")
    page.locator(EARLY).press("End")
    for _ in "ought":
        page.keyboard.press("ArrowLeft")
    page.unroute("**/static/js/**")
    for route in held:
        with suppress(playwright.Error):  # Of the page before the reload.
            route.continue_()
    expect(page.locator(".fk-opening")).to_have_count(0)
    expect(page.locator(DRAFT)).to_be_focused()
    page.keyboard.type("h")
    holds(page, "half a thought")
    expect(page.get_by_role("log", name="Messages")).to_contain_text("Is it asked?")
    expect(page.locator(LINE)).to_have_count(0)
    holds(page, "half a thought")
    assert watched.problems == []


@pytest.mark.long
def test_a_question_is_kept_and_not_sent_while_the_page_changes_to_another_place(
    app: str, watch: Any
) -> None:
    page = watch().open(app)
    begin(page)
    before = cells(page).count()
    page.locator(DRAFT).fill("Where does this go?")
    for changing in ({"place": "another/main", "c": "another", "b": "main"}, {"button": "chat-send-0"}):
        page.evaluate(SENT_AS_IT_CHANGES, changing)
        expect(page.get_by_text("Not sent, because the page was just changing.")).to_be_visible()
        page.reload()
        begin(settled(page))
        holds(page, "Where does this go?")
    expect(cells(page)).to_have_count(before)
    page.locator(DRAFT).press("Enter")
    expect(page.get_by_role("log", name="Messages")).to_contain_text("Where does this go?")


def texts_of_line(forky: Forky) -> str:
    chat = forky.conversation(next(line.id for line in forky.conversations() if line.title == "Line"))
    return json.dumps([message.text for message in chat.path()])


def test_a_question_waits_while_an_answer_is_written_and_can_be_changed_dropped_and_reloaded(
    slow: str, watch: Any
) -> None:
    page = watch().open(slow)
    new(page, "Line")
    ask(page, "Forever")
    page.get_by_text("word5").first.wait_for()
    ask(page, "Second")
    ask(page, "Third")
    ask(page, "Fourth")
    line = page.locator(LINE)
    expect(line).to_have_count(3)
    expect(line.first).to_contain_text("Waits until the answer is finished.")
    holds(page, "")
    line.nth(1).get_by_role("button", name="Drop").click()
    line.nth(1).get_by_role("button", name="Change").click()
    page.get_by_role("textbox", name="The waiting question").fill("Fourth, changed")
    page.keyboard.press("Enter")
    page.reload()
    expect(line).to_have_count(2)
    expect(line.last).to_contain_text("Fourth, changed")
    said, main = page.get_by_role("log", name="Messages"), page.url
    settled(page)
    page.locator('[data-act="fork"]').first.click()
    expect(page.locator(DRAFT)).to_have_attribute("placeholder", re.compile("branch"))
    ask(page, "Meanwhile, on a branch")
    expect(said).to_contain_text("Meanwhile, on a branch")
    page.goto(main)
    expect(line).to_have_count(2)
    page.locator(".st-key-chat-stop button").first.click()
    expect(said).to_contain_text("Second")
    expect(said).to_contain_text("Fourth, changed")
    expect(line).to_have_count(0)
    expect(page.locator(".st-key-chat-stop")).to_have_count(0)
    texts = json.loads(told(slow, texts_of_line))
    assert texts[::2] == ["Forever", "Second", "Fourth, changed"] and all(
        LAST in text for text in texts[3::2]
    )


def convert(field: Any) -> None:
    """Type a word and the Enter that ends its conversion, which in Safari is no part of it but for its number."""
    field.fill("日本")
    field.evaluate(
        """(field) => field.dispatchEvent(new KeyboardEvent("keydown",
        { key: "Enter", keyCode: 229, bubbles: true, composed: true, cancelable: true }))"""
    )
    field.page.wait_for_timeout(500)
    expect(field).to_have_value("日本")


@pytest.mark.long
def test_keys_of_the_composer_and_of_other_fields_and_the_enter_that_ends_a_conversion(
    app: str, watch: Any
) -> None:
    page = watch().open(app)
    begin(page)
    title = page.locator(".st-key-rename-name input")
    convert(page.locator(DRAFT))
    page.locator(DRAFT).press("Escape")
    expect(page.locator(DRAFT)).not_to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog").first).to_be_visible()
    page.keyboard.press("Escape")
    menu(page, "Rename this chat")
    convert(title)
    title.press("Enter")
    expect(page.locator(".st-key-bar h1").first).to_have_text("日本")
    page.goto(f"{app}/compare")
    settled(page)
    convert(page.locator(ACROSS))
    page.reload()
    expect(page.locator(ACROSS)).to_have_value("日本")
    page.locator(ACROSS).press("Enter")
    expect(page.locator(ACROSS)).to_have_value("")
    expect(page.locator(".band .question")).to_contain_text(["日本"])
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.includes('/field/'))") == []


@pytest.mark.long
def test_what_is_typed_in_a_form_comes_back_into_that_form_only_until_it_is_carried_out_or_cancelled(
    tmp_path: Path, watch: Any
) -> None:
    edit, field = '[data-act="edit"]', ".st-key-chat-form_text textarea"
    cancel, title = ".st-key-chat-form_cancel button", ".st-key-rename-name input"
    app, port = CHECKOUT / "app.py", free_port()
    with started_at(port, app, tmp_path) as (address, server):
        page = watch().open(address)
        new(page, "Forms")
        for count in (2, 4):
            ask(page, "The same words")
            answered(page, count)
        page.locator(edit).first.click()
        page.locator(field).fill("Other words")
        page.reload()
        begin(page)
        page.locator(edit).first.click()
        expect(page.locator(field)).to_have_value("Other words")
        server.send_signal(signal.SIGKILL)
        server.wait(HANG)
    with started_at(port, app, tmp_path):
        page.reload()
        begin(page)
        page.locator(edit).nth(1).click()
        page.wait_for_timeout(700)
        expect(page.locator(field)).to_have_value("The same words")
        page.locator(cancel).click()
        expect(page.locator(field)).to_have_count(0)
        page.locator(edit).first.click()
        expect(page.locator(field)).to_have_value("Other words")
        page.locator(cancel).click()
        expect(page.locator(field)).to_have_count(0)
        page.locator(edit).first.click()
        page.wait_for_timeout(700)
        expect(page.locator(field)).to_have_value("The same words")
        page.locator(field).fill("Sent words")
        page.wait_for_timeout(300)
        page.locator(".st-key-chat-form_go button").click()
        expect(page.get_by_role("log", name="Messages")).to_contain_text("Sent words")
        expect(page.locator(field)).to_have_count(0)
        answered(page, 2)
        menu(page, "Rename this chat")
        page.locator(title).fill("A new title")
        page.reload()
        begin(page)
        menu(page, "Rename this chat")
        expect(page.locator(title)).to_have_value("A new title")
        page.locator(".st-key-rename-go button").click()
        expect(page.locator(".st-key-bar h1").first).to_have_text("A new title")
        page.wait_for_function("!Object.keys(localStorage).some((key) => key.startsWith('forky.kept/'))")
    assert asked(tmp_path / "forky.duckdb", "Sent words") == 1
    assert asked(tmp_path / "forky.duckdb", "Other words") == 0


@pytest.mark.long
def test_a_long_field_of_another_page_comes_back_after_a_reload(app: str, watch: Any) -> None:
    system, text = ".st-key-new-system textarea", ".st-key-merge-text textarea"
    page = watch().open(f"{app}/library")
    page.locator(".st-key-library-new button").click()
    page.locator(system).fill("Answer like a lighthouse keeper.")
    page.reload()
    settled(page)
    page.locator(".st-key-library-new button").click()
    expect(page.locator(system)).to_have_value("Answer like a lighthouse keeper.")
    page.keyboard.press("Escape")
    page.goto(f"{app}/merge")
    settled(page)
    page.get_by_role("button", name="Details").click()
    page.get_by_text("As the model reads it").click()
    page.keyboard.press("Escape")
    page.locator(text).fill("What I would write myself.")
    page.reload()
    settled(page)
    page.get_by_role("button", name="Details").click()
    page.get_by_text("As the model reads it").click()
    page.keyboard.press("Escape")
    expect(page.locator(text)).to_have_value("What I would write myself.")


@pytest.mark.long
def test_of_two_tabs_one_hands_a_question_over_and_a_fork_is_made_once(app: str, watch: Any) -> None:
    watched = watch()
    page = watched.open(app)
    new(page, "Tabs")
    other = watched.context.new_page()
    other.goto(page.url)
    expect(other.locator(DRAFT)).to_be_visible()
    ask(page, "Once, please")
    expect(cells(page)).to_have_count(2)
    expect(cells(other)).to_have_count(2)
    expect(page.locator(LINE)).to_have_count(0)
    holds(page, "")
    holds(other, "")
    page.wait_for_timeout(5000)
    assert not page.evaluate(
        "window.__forkyPosts.timer && Object.keys(localStorage).some((key) => key.includes('/post/'))"
    )
    assert json.loads(told(app, all_texts)).count("Once, please") == 1
