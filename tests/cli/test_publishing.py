"""`forky publish`: files in every form, pages at an address, the list of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from forky_core.publishing.published_pages import PublishedPages

from forky_core.forky import Forky
from tests.builders import ScriptedModels, debugged
from tests.cli.conftest import Ended

Run = Callable[..., Ended]


@pytest.fixture
def talked(database: Path, forky: Run) -> Run:
    with Forky.open(database, models=ScriptedModels()) as opened:
        chat = debugged(opened)
        chat.say("Write to jane.doe@example.com.")
        chat.merge(chat.plan_merge("debug", strategy="squash"))
    return forky


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("x.html", "<!DOCTYPE html>"),
        ("x.slides.html", "<!DOCTYPE html>"),
        ("x.md", "# Enums"),
        ("x.ipynb", '{"metadata"'),
        ("x.csv", "\ufeffturn,column"),
    ],
)
def test_the_name_of_the_file_says_the_form(talked: Run, tmp_path: Path, name: str, begins: str) -> None:
    done = talked("publish", "comparison", "main", "debug", "-o", str(tmp_path / name))
    assert done.code == 0 and f"{name}: Enums: 2 side by side" in done.err
    assert "may be private" in done.err and "--redact" in done.err
    text = (tmp_path / name).read_text("utf-8")
    assert text.startswith(begins) and ("slide-1" in text) == (name == "x.slides.html")


def test_a_thing_is_printed_and_placeholders_are_put_in(talked: Run) -> None:
    done = talked("publish", "comparison", "main", "debug", "--as", "markdown", "--redact")
    assert "jane" not in done.out and "e-mail 1" in done.out and "jane.doe@example.com" in done.err
    assert "merged into" in talked("publish", "merge", "--as", "markdown").out
    assert "| 1 |" in talked("publish", "replay", "everything", "--as", "markdown").out
    wrong = talked("publish", "poll")
    assert (wrong.code, wrong.err) == (
        2,
        "There is no poll in this conversation. Open one on the Compare page.\n",
    )
    assert talked("publish", "merge", "--as", "diary").code == 2


def test_a_page_is_published_listed_and_revoked(talked: Run, database: Path) -> None:
    done = talked(
        "publish",
        "comparison",
        "main",
        "debug",
        "--at-address",
        "--days",
        "7",
        "--server",
        "https://f.example/",
    )
    address = done.out.strip()
    assert address.startswith("https://f.example/s/") and "It is not shown again." in done.err
    (listed,) = [json.loads(line) for line in talked("publish", "list", "--json").out.splitlines()]
    assert listed["thing"] == "comparison" and "sha256" not in listed
    with Forky.open(database, models=ScriptedModels()) as opened:
        assert b"Enums" in PublishedPages(opened.store).open(address.rpartition("/")[2]).content
    assert "is revoked" in talked("publish", "revoke", listed["id"]).out
    assert "revoked" in talked("publish", "list").out
    assert talked("publish", "revoke", listed["id"]).code == 2
    both = talked("publish", "merge", "--at-address", "-o", "x.html")
    assert (both.code, both.err) == (2, "Either a file or an address. Leave -o or --at-address out.\n")
