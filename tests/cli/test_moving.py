"""`forky move`, from one file to another."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from forky_core.cli.moving import _shown
from forky_core.cli.parser import main
from forky_core.forky import Forky
from tests.builders import debugged, texts


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "from.duckdb"
    with Forky.open(path) as forky:
        debugged(forky)
    return path


def test_it_prints_the_counts_of_both_sides(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "to.duckdb"
    assert main(["move", str(source), str(target)]) == 0
    out = capsys.readouterr().out
    rows = [line.split() for line in out.splitlines()]
    assert ["messages", "8", "8"] in rows and ["branches", "2", "2"] in rows
    assert "people" not in out
    with Forky.open(source) as old, Forky.open(target) as new:
        (chat,) = new.conversations()
        assert texts(new.conversation(chat.id, "debug")) == texts(old.conversation(chat.id, "debug"))


def test_a_second_run_copies_nothing(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = str(tmp_path / "to.duckdb")
    for copied in (8, 0):
        assert main(["move", str(source), target, "--json"]) == 0
        done = json.loads(capsys.readouterr().out)
        assert done["copied"] == copied and done["counts"]["messages"] == {"from": 8, "to": 8}


def test_a_database_that_the_app_has_open_is_refused_in_a_sentence(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "to.duckdb"
    with Forky.open(source):
        assert main(["move", str(source), str(target)]) == 1
    assert "Nothing may write to it during the move: stop the app" in capsys.readouterr().err
    assert not target.exists()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (("{from}", "{from}"), "Both names mean the same database."),
        (("{no}", "{to}"), "There is no database"),
        ((":memory:", "{to}"), "A store in memory is gone"),
        (("{from}", ":memory:"), "A store in memory is gone"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_made(
    source: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    given: tuple[str, str],
    sentence: str,
) -> None:
    names = {"from": source, "no": tmp_path / "no.duckdb", "to": tmp_path / "to.duckdb"}
    assert main(["move", *(one.format_map(names) for one in given)]) == 2
    assert sentence in capsys.readouterr().err
    assert [path.name for path in tmp_path.glob("*.duckdb")] == ["from.duckdb"]


def test_a_target_in_use_is_refused(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "to.duckdb"
    with Forky.open(target) as forky:
        forky.create("Mine")
    assert main(["move", str(source), str(target)]) == 2
    assert "is not empty, and nothing was written to it" in capsys.readouterr().err


def test_no_password_is_noted() -> None:
    assert _shown("postgresql://ada:secret@db.example:5432/forky?a=b") == (
        "postgresql://ada@db.example:5432/forky?a=b"
    )
    assert urlsplit(_shown("postgresql://db.example/forky")).netloc == "db.example"
