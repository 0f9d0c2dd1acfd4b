from __future__ import annotations

import json
from collections import Counter

import pytest

from bench.mergebench import true
from bench.mergebench.case import LANGUAGES, Split, content, folded, lines_of
from bench.mergebench.sources import DATA

KINDS = {
    "changed decision", "corrected number", "undone fix", "denied tool", "abandoned plan", "re-affirmed value",
    "unit changed", "failed then worked", "told by the person against the assistant", "injected instruction",
}  # fmt: skip
SPLITS: tuple[Split, ...] = ("development", "test")
WRITTEN = [language for language in LANGUAGES if (DATA / f"true-{language}.jsonl").is_file()]
ITEMS = {language: [item for split in SPLITS for item in true.load(language, split)] for language in WRITTEN}


def test_ids_are_unique() -> None:
    ids = [item.case.id for items in ITEMS.values() for item in items]
    assert len(set(ids)) == len(ids) > 0


@pytest.mark.parametrize("language", WRITTEN)
def test_every_kind_is_there_about_as_often_and_so_is_each_half(language: str) -> None:
    items = next(found for name, found in ITEMS.items() if name == language)
    kinds = Counter(item.kind for item in items)
    assert set(kinds) == KINDS and len(items) >= 80
    assert max(kinds.values()) <= 2 * min(kinds.values())
    halves = Counter(item.case.split for item in items)
    assert 0.4 <= halves["test"] / len(items) <= 0.6


def test_no_scenario_is_in_both_halves() -> None:
    halves: dict[str, set[str]] = {}
    for language in WRITTEN:
        for row in (DATA / f"true-{language}.jsonl").read_text("utf-8").splitlines():
            entry = json.loads(row)
            halves.setdefault(entry["scenario"], set()).add(entry["split"])
    assert all(len(splits) == 1 for splits in halves.values())


@pytest.mark.parametrize("language", WRITTEN)
def test_the_whole_branch_tells_every_truth_and_no_lie(language: str) -> None:
    for item in next(found for name, found in ITEMS.items() if name == language):
        verdict = true.judge(item, content(item.case.side))
        assert verdict.lies == (), item.case.id
        assert verdict.kept in (None, 1.0), item.case.id


@pytest.mark.parametrize("language", WRITTEN)
def test_what_was_corrected_was_said(language: str) -> None:
    for item in next(found for name, found in ITEMS.items() if name == language):
        said = [
            folded(line) for turn in (*item.case.trunk, *item.case.side) for line in turn.content.splitlines()
        ]
        for old, _ in item.only_with:
            assert any(true.stands(old, line) for line in said), (item.case.id, old)


@pytest.mark.parametrize("language", WRITTEN)
def test_each_truth_stands_in_one_of_the_pieces_that_methods_choose_from(language: str) -> None:
    for item in next(found for name, found in ITEMS.items() if name == language):
        pieces = [folded(piece) for piece in lines_of(item.case.side, item.case.language)]
        for statement in (*item.must, *(new for _, new in item.only_with)):
            assert any(true.stands(statement, piece) for piece in pieces), (item.case.id, statement)


@pytest.mark.parametrize("language", WRITTEN)
def test_each_branch_can_be_told_falsely_with_its_own_words(language: str) -> None:
    for item in next(found for name, found in ITEMS.items() if name == language):
        pieces = lines_of(item.case.side, item.case.language)
        told = {lie for piece in pieces for lie in true.judge(item, piece).lies}
        assert len(told) >= len(item.only_with) > 0, item.case.id
