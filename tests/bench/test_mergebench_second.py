"""The sets of the second author are whole, and true of their own branches."""

from __future__ import annotations

import pytest

from bench.mergebench import __main__ as program
from bench.mergebench import conflicts, model_path, true
from bench.mergebench.case import LANGUAGES, Language, content
from bench.mergebench.sources import DATA, SECOND


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_pairs_and_branches_and_all_are_for_the_test(language: Language) -> None:
    assert conflicts.load(language, "test", SECOND) and true.load(language, "test", SECOND)
    assert not conflicts.load(language, "development", SECOND)
    assert not true.load(language, "development", SECOND)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_branch_is_in_the_sets_of_both_authors(language: Language) -> None:
    first = {
        content(item.case.side)
        for split in ("development", "test")
        for item in true.load(language, split, DATA)
    }
    assert first.isdisjoint(content(item.case.side) for item in true.load(language, "test", SECOND))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_whole_branch_tells_every_truth(language: Language) -> None:
    for item in true.load(language, "test", SECOND):
        assert true.judge(item, content(item.case.side)).kept in (None, 1.0), item.case.id


def test_notes_are_sound_or_hostile() -> None:
    notes = model_path.load("test", SECOND)
    assert {note.expected for note in notes} == {"sound", "hostile"} and len(notes) == 64


def test_the_program_measures_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["true", "--second", "--quick", "--only", "nothing"]) == 0
    assert "True: lies per 100 payloads" in capsys.readouterr().out
