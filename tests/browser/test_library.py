"""The Library, History and Settings in a real browser: links, Ctrl+K, hostile text, a key that leaves no trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from forky_core.forky import Forky
from tests.browser.conftest import CHECKOUT, Watched, served
from tests.builders import ScriptedModels, talk

pytestmark = pytest.mark.browser
Watch = Callable[..., Watched]
KEY = "sk-made-up-0123456789abcdefNEVERSHOWN"
HOSTILE = '<img src=x onerror="alert(1)"> :red[x] $a$ and $b$ [l](javascript:alert(2))'


@pytest.fixture
def seeded(tmp_path: Path) -> Iterator[str]:
    with Forky.open(tmp_path / "forky.duckdb", models=ScriptedModels()) as forky:
        chat = talk(forky.create("Backups"), "why is it slow?", "measure first")
        talk(chat.fork("debug"), "the haystack has a needle", "found")
        talk(forky.create(HOSTILE), HOSTILE + " needle")
    with served(CHECKOUT / "app.py", tmp_path) as address:
        yield address


def settled(page: Any) -> None:
    page.wait_for_timeout(300)
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=30_000)


def test_a_found_word_is_one_click_from_its_message(seeded: str, watch: Watch) -> None:
    watched = watch()
    page = watched.open(f"{seeded}/library")
    page.get_by_placeholder("Search titles").fill("needle haystack")
    page.locator(".found-snippet mark").first.wait_for()
    assert page.locator(".found-snippet mark").all_inner_texts() == ["haystack", "needle"]
    page.locator('[class*="st-key-found-at-"] a').first.click()
    page.wait_for_url(re.compile(r"/\?c=[^&]+&b=debug&m=[0-9a-f]{32}$"))
    page.get_by_text("the haystack has a needle").first.wait_for()
    page.go_back()
    page.locator(".found-snippet").first.wait_for()
    assert watched.problems == []


def test_ctrl_k_leads_to_the_search_with_the_cursor_in_it(seeded: str, watch: Watch) -> None:
    page = watch().open(f"{seeded}/settings")
    page.keyboard.press("Control+k")
    page.locator(".st-key-library-search input:focus").wait_for(timeout=10_000)
    page.keyboard.type("needle")
    page.locator(".found-snippet mark").first.wait_for()


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_hostile_titles_are_text_and_no_page_is_wider_than_the_screen(
    seeded: str, watch: Watch, width: int, scheme: str
) -> None:
    watched = watch(width=width, scheme=scheme)
    watched.page.on("dialog", lambda dialog: watched.problems.append(f"ran: {dialog.message}"))
    for place in ("library", "library?q=needle", "history", "settings"):
        page = watched.open(f"{seeded}/{place}")
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("img[src='x']").count() == 0
    page = watched.open(f"{seeded}/library")
    assert page.get_by_text("<img src=x onerror", exact=False).filter(visible=True).first.is_visible()
    assert watched.problems == []


def test_a_deleted_conversation_comes_back_with_undo(seeded: str, watch: Watch) -> None:
    page = watch().open(f"{seeded}/library")
    page.locator('[class*="st-key-library-delete"] button:visible').last.click()
    page.locator(".st-key-notice").get_by_text("to the trash").wait_for()
    page.locator(".st-key-notice-undo button:visible").click()
    page.get_by_text("Undid").wait_for()
    assert page.get_by_role("link", name="Backups").is_visible()


def test_history_shows_what_restoring_would_change_and_does_it(seeded: str, watch: Watch) -> None:
    page = watch().open(f"{seeded}/library")
    page.get_by_role("link", name="Backups").first.click()
    page.get_by_text("measure first").first.wait_for()
    page.get_by_role("link", name="History").first.click()
    page.get_by_text("Created").first.click()
    page.get_by_role("button", name="Restore to here").filter(visible=True).last.click()
    page.get_by_text("would go out of sight").wait_for()
    page.get_by_role("button", name="Restore", exact=True).click()
    page.locator(".st-key-notice").get_by_text("Restored to operation 1").wait_for()
    page.locator(".st-key-notice-undo button:visible").click()
    page.get_by_text("Undid").first.wait_for()


def test_a_typed_key_is_in_no_address_file_or_page(seeded: str, watch: Watch, tmp_path: Path) -> None:
    page = watch().open(f"{seeded}/settings")
    page.locator('[class*="st-key-settings-open-openai"] button').click()
    page.locator(".st-key-settings-key-openai input").fill(KEY)
    page.get_by_role("button", name="Use it").click()
    page.get_by_text("Key entered here").first.wait_for()
    assert KEY not in page.url and KEY not in page.content()
    page.reload()
    page.get_by_text("Key entered here").first.wait_for()
    assert KEY not in page.content()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name.startswith("server-") for path in files)
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
