"""Files dropped together: previews and ticks, one landing, a cancel in the middle, and taking back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app_server import started
from tests.browser.conftest import CHECKOUT, Watched, expect, served
from tests.formats.test_landing import chat

pytestmark = pytest.mark.browser
HALTS_AT = 40
"""Conversations after which the server's imports stand still until they are stopped (halting_app.py)."""


@pytest.fixture
def halting(tmp_path: Path) -> Iterator[str]:
    with served(CHECKOUT / "tests/browser/halting_app.py", tmp_path) as address:
        yield address


def generated(folder: Path, name: str, many: int) -> str:
    file = folder / f"{name}.json"
    talks = [chat(f"{name}-{at}", f"{name} {at} asks", "It is so.") for at in range(1, many + 1)]
    file.write_text(json.dumps(talks), "utf-8")
    return str(file)


def drop(page: Any, *files: str) -> None:
    page.locator('[class*="st-key-import-file"] input[type=file]').set_input_files(list(files))


def test_files_land_together_and_a_cancelled_drop_leaves_nothing(
    halting: str, watch: Callable[..., Watched], tmp_path: Path
) -> None:
    watched = watch()
    page = watched.open(f"{halting}/library")
    page.get_by_role("radio", name="Import").or_(page.get_by_role("button", name="Import")).first.click()
    drop(page, generated(tmp_path, "apples", 2), generated(tmp_path, "pears", 1))
    expect(page.get_by_text("3 conversations in them")).to_be_visible()
    page.get_by_text("apples 2 asks", exact=True).click()
    page.get_by_role("button", name="Import 2 conversations").click()
    expect(page.get_by_text("1 conversation imported. Of 2 entries: 2 messages.")).to_have_count(2)
    expect(page.get_by_role("link", name="apples 1 asks").filter(visible=True).first).to_be_visible()
    page.get_by_role("button", name="Done", exact=True).click()
    expect(page.locator('[class*="st-key-row-past-"]')).to_have_count(2)

    drop(page, generated(tmp_path, "plums", 3), generated(tmp_path, "many", HALTS_AT + 20))
    page.get_by_role("button", name="Import 63 conversations").click()
    expect(page.get_by_text(f"{3 + HALTS_AT} of 63 conversations")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_be_visible()
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_text("nothing of it was kept")).to_be_visible()
    page.get_by_role("button", name="Back", exact=True).click()
    expect(page.locator('[class*="st-key-row-past-"]')).to_have_count(2)

    first = page.locator('[class*="st-key-row-past-"]').filter(has_text="apples.json")
    first.get_by_role("button", name="Undo").click()
    expect(page.locator('[class*="st-key-row-past-"]')).to_have_count(1)
    page.get_by_role("radio", name="Conversations").or_(
        page.get_by_role("button", name="Conversations")
    ).first.click()
    shelf = page.locator('[class*="st-key-library-open"], [class*="st-key-row-"] a')
    expect(page.get_by_role("link", name="pears 1 asks").filter(visible=True).first).to_be_visible()
    for gone in ("apples", "plums", "many"):
        expect(shelf.filter(has_text=gone)).to_have_count(0)
    expect(page.get_by_text("Trash (1)")).to_be_visible()
    assert watched.problems == []


def broken_off(folder: Path, watch: Callable[..., Watched], file: str, **look: Any) -> None:
    """Kill the server in the middle of the import of a file that was dropped."""
    with started(CHECKOUT / "tests/browser/halting_app.py", folder, TMPDIR=str(folder)) as (address, server):
        page = watch(**look).open(f"{address}/library")
        page.get_by_role("radio", name="Import").or_(page.get_by_role("button", name="Import")).first.click()
        drop(page, file)
        page.get_by_role("button", name="Import 60 conversations").click()
        expect(page.get_by_text(f"{HALTS_AT} of 60 conversations")).to_be_visible()
        server.kill()
        server.wait()
    assert len(list(folder.glob("forky-spool-*"))) == 1, "a killed process removes nothing"


def wider_than_the_window(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))


@pytest.mark.long
def test_an_import_whose_server_was_killed_is_offered_and_finished(
    watch: Callable[..., Watched], tmp_path: Path
) -> None:
    file = generated(tmp_path, "many", 60)
    broken_off(tmp_path, watch, file)
    with served(CHECKOUT / "app.py", tmp_path, TMPDIR=str(tmp_path)) as address:
        watched = watch()
        page = watched.open(address)
        line = page.locator(".st-key-broken-off-hint")
        expect(line).to_contain_text("of 60 conversations came in")
        assert len(list(tmp_path.glob("forky-spool-*"))) <= 1, (
            "the copy of the upload is gone, or this server's own is there"
        )
        line.get_by_role("link", name="Finish or take away").click()
        offer = page.locator(".st-key-broken-off-1")
        expect(offer).to_contain_text("An import was broken off.")
        offer.get_by_role("button", name="Finish").click()
        expect(page.get_by_text("To finish the import, choose “many.json”")).to_be_visible()
        drop(page, file)
        expect(page.get_by_text("This goes on with the import of “many.json”")).to_be_visible()
        page.get_by_role("button", name="Finish the import").click()
        expect(page.get_by_text("This finished the import that was broken off")).to_be_visible()
        expect(offer).to_have_count(0)
        page.get_by_role("button", name="Done", exact=True).click()
        row = page.locator('[class*="st-key-row-past-"]')
        expect(row).to_contain_text("60 conversations · 120 messages")
        assert watched.problems == []


@pytest.mark.long
def test_an_import_whose_server_was_killed_is_taken_away_on_a_phone_in_the_dark(
    watch: Callable[..., Watched], tmp_path: Path
) -> None:
    broken_off(tmp_path, watch, generated(tmp_path, "many", 60))
    with served(CHECKOUT / "app.py", tmp_path, TMPDIR=str(tmp_path)) as address:
        watched = watch(width=390, height=844, scheme="dark")
        page = watched.open(address)
        expect(page.locator(".st-key-broken-off-hint")).to_be_visible()
        assert not wider_than_the_window(page)
        page.goto(f"{address}/library")
        offer = page.locator(".st-key-broken-off-1")
        expect(offer.get_by_role("button", name="Finish")).to_be_visible()
        assert not wider_than_the_window(page)
        offer.get_by_role("button", name="Take away all of it").click()
        expect(
            page.get_by_text("conversations of that import back; what was new is in the trash")
        ).to_be_visible()
        expect(offer).to_have_count(0)
        expect(page.get_by_role("link", name="many 1 asks")).to_have_count(0)
        assert watched.problems == []
