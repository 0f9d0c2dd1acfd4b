"""The Library, History and Settings in a real browser: links, Search, hostile text, a key that leaves no trace."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from forky_core.forky import Forky
from forky_core.gateway.tokens import Tokens
from tests.browser.conftest import PAGES, Watched, expect, told
from tests.builders import talk
from tests.hangs import HANG

pytestmark = pytest.mark.browser
Watch = Callable[..., Watched]
HOSTILE = '<img src=x onerror="alert(1)"> :red[x] $a$ and $b$ [l](javascript:alert(2))'


def two(forky: Forky) -> str:
    chat = talk(forky.create("Backups"), "why is it slow?", "measure first")
    talk(chat.fork("debug"), "the haystack has a needle", "found")
    return talk(forky.create(HOSTILE), HOSTILE + " needle").id


@pytest.fixture
def seeded(begun: Any) -> str:
    return str(begun(two))


def with_a_token(forky: Forky) -> str:
    talk(forky.create("Backups"), "why is it slow?")
    return Tokens(forky.store).make("a program").text


@pytest.mark.long
def test_what_a_program_asks_appears_as_it_happens(stories: str, watch: Watch) -> None:
    token = told(stories, with_a_token, anew=True)

    def ask(*texts: str) -> str:
        roles = ("user", "assistant")
        told = [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]
        answer = httpx.post(
            f"{stories}/v1/chat/completions",
            json={"model": "offline/quote", "messages": told},
            headers={"authorization": f"Bearer {token}"},
            timeout=HANG,
            trust_env=False,
        )
        return str(answer.json()["choices"][0]["message"]["content"])

    watched = watch()
    page = watched.open(f"{stories}/library")
    row = page.locator('[class*="st-key-row-"]').filter(has_text="How do I fork")
    expect(page.get_by_role("link", name="Backups").filter(visible=True).first).to_be_visible()
    expect(row).to_have_count(0)
    said = ask("How do I fork?")
    expect(row).to_contain_text("2 messages · 1 branch")
    page.get_by_role("button", name="Rename").filter(visible=True).last.click()
    dialog = page.locator("[data-testid=stDialog]")
    dialog.get_by_label("Title").fill("Slow backups")
    ask("How do I fork?", said, "How do I merge a branch?")
    ask("How do I fork?", said, "How do I undo?")
    expect(row).to_contain_text("2 messages")
    dialog.get_by_role("button", name="Rename").click()
    expect(row).to_contain_text("6 messages · 2 branches")
    expect(page.get_by_role("link", name="Slow backups").filter(visible=True).first).to_be_visible()
    row.get_by_role("link").filter(visible=True).first.click()
    expect(page.get_by_text("How do I undo?").filter(visible=True).first).to_be_visible()
    ask("How do I fork?", said, "How do I undo?", "By the button.", "How do I use a key?")
    expect(page.locator("[data-cell] [data-act=sibling]").last).to_be_visible()
    assert watched.problems == []


def test_a_found_word_is_one_click_from_its_message(seeded: str, watch: Watch) -> None:
    watched = watch()
    page = watched.open(f"{seeded}/library")
    page.get_by_placeholder("Search titles").fill("needle haystack")
    expect(page.locator(".found-snippet mark")).to_have_text(["haystack", "needle"])
    page.locator('[class*="st-key-found-at-"] a').first.click()
    page.wait_for_url(re.compile(r"/\?c=[^&]+&b=debug&m=[0-9a-f]{32}$"))
    expect(page.get_by_text("the haystack has a needle").first).to_be_visible()
    page.go_back()
    expect(page.locator(".found-snippet").first).to_be_visible()
    assert watched.problems == []


@pytest.mark.long
def test_search_from_any_page_finds_messages_as_one_types_and_leads_to_them(
    seeded: str, watch: Watch
) -> None:
    page = watch().open(f"{seeded}/settings")
    page.locator(".fk-chats-find").click()
    page.keyboard.type("needle")
    found = page.locator("dialog.palette .row.hit")
    expect(found.first).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**/?c=*&m=*")
    expect(page.locator('[class*="-current-"]').filter(has_text="needle").first).to_be_visible()


@pytest.mark.long
def test_enter_opens_what_was_found_first_and_the_arrows_walk_to_the_others(
    seeded: str, watch: Watch
) -> None:
    watched = watch()
    page = watched.open(f"{seeded}/library")
    search, hits = page.locator(".st-key-library-search input"), page.locator('[class*="st-key-found-at-"] a')
    search.fill("needle")
    expect(hits.first).to_be_visible()
    search.press("ArrowDown")
    expect(hits.first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(search).to_be_focused()
    search.fill("needle haystack")
    search.press("Enter")
    page.wait_for_url(re.compile(r"/\?c=[^&]+&b=debug&m=[0-9a-f]{32}$"))
    expect(page.get_by_text("the haystack has a needle").first).to_be_visible()
    assert watched.problems == []


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_hostile_titles_are_text_and_no_page_is_wider_than_the_screen(
    seeded: str, watch: Watch, width: int, scheme: str
) -> None:
    watched = watch(width=width, scheme=scheme)
    watched.page.on("dialog", lambda dialog: watched.problems.append(f"ran: {dialog.message}"))
    for place in (*PAGES, "library?q=needle"):
        page = watched.open(f"{seeded}/{place}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        expect(page.locator("img[src='x']")).to_have_count(0)
    page = watched.open(f"{seeded}/library")
    expect(page.get_by_text("<img src=x onerror").filter(visible=True).first).to_be_visible()
    assert watched.problems == []
