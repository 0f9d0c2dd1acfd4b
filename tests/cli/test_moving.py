"""`forky move`, from one file to another."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from forky_core.cli.moving import _shown
from forky_core.forky import Forky
from tests.builders import debugged, texts
from tests.cli.conftest import Run


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "from.duckdb"
    with Forky.open(path) as forky:
        debugged(forky)
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "to.duckdb"


def test_it_prints_the_counts_of_both_sides(forky: Run, source: Path, target: Path) -> None:
    done = forky(f"move {source} {target}")
    rows = [line.split() for line in done.out.splitlines()]
    assert done.code == 0 and "people" not in done.out
    assert ["messages", "8", "8"] in rows and ["branches", "2", "2"] in rows
    with Forky.open(source) as old, Forky.open(target) as new:
        (chat,) = new.conversations()
        assert texts(new.conversation(chat.id, "debug")) == texts(old.conversation(chat.id, "debug"))


def test_a_second_run_copies_nothing(forky: Run, source: Path, target: Path) -> None:
    for copied in (8, 0):
        done = forky(f"move {source} {target} --json")
        assert done.code == 0 and done.json["copied"] == copied
        assert done.json["counts"]["messages"] == {"from": 8, "to": 8}


def test_a_database_that_the_app_has_open_is_refused_in_a_sentence(
    forky: Run, source: Path, target: Path
) -> None:
    with Forky.open(source):
        refused = forky(f"move {source} {target}")
    assert refused.code == 1 and not target.exists()
    assert "Nothing may write to it during the move: stop the app" in refused.err


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("{from} {from}", "Both names mean the same database."),
        ("{no} {to}", "There is no database"),
        (":memory: {to}", "A store in memory is gone"),
        ("{from} :memory:", "A store in memory is gone"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_made(
    forky: Run, source: Path, target: Path, given: str, sentence: str
) -> None:
    names = {"from": source, "no": source.with_name("no.duckdb"), "to": target}
    refused = forky(f"move {given.format_map(names)}")
    assert refused.code == 2 and sentence in refused.err
    assert list(source.parent.glob("*.duckdb")) == [source]


def test_a_target_in_use_is_refused(forky: Run, source: Path, target: Path) -> None:
    with Forky.open(target) as other:
        other.create("Mine")
    refused = forky(f"move {source} {target}")
    assert refused.code == 2 and "is not empty, and nothing was written to it" in refused.err


def test_no_password_is_noted() -> None:
    assert _shown("postgresql://ada:secret@db.example:5432/forky?a=b") == (
        "postgresql://ada@db.example:5432/forky?a=b"
    )
    assert urlsplit(_shown("postgresql://db.example/forky")).netloc == "db.example"
