from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core.formats.forky_file.kept_lines import KeptLines, cut, missing
from forky_core.store.contract import Store
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.memory.store import MemoryStore
from tests.store.talk import HERE, begin

LINES = [f'{{"id":"{number}","x":"{"words " * (number % 40)}"}}' for number in range(4_000)]


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    kept: Store = MemoryStore() if request.param == "memory" else DuckDBStore.open(tmp_path / "a.duckdb")
    begin(kept)
    yield kept
    kept.close()


def test_many_lines_come_back_in_their_order(store: Store) -> None:
    assert list(KeptLines(store, HERE, "origins")) == []
    pieces = cut("origins", LINES)
    store.keep_derived(HERE, pieces)
    assert len(pieces) > 256
    assert max(map(len, pieces.values())) < 4_096
    assert list(KeptLines(store, HERE, "origins")) == LINES


def test_only_new_lines_are_kept_and_behind_the_old_ones(store: Store) -> None:
    store.keep_derived(HERE, cut("origins", LINES[:1_000]))
    assert missing(store, HERE, "origins", LINES[200:900]) == {}
    store.keep_derived(HERE, missing(store, HERE, "origins", [*LINES[990:], LINES[1_000]]))
    assert list(KeptLines(store, HERE, "origins")) == LINES


def test_one_text_of_all_lines_as_it_was_once_written_is_the_first_piece(store: Store) -> None:
    store.keep_derived(HERE, {"origins": "\n".join(LINES[:50])})
    store.keep_derived(HERE, missing(store, HERE, "origins", LINES[:60]))
    assert list(KeptLines(store, HERE, "origins")) == LINES[:60]


def test_a_line_may_hold_what_elsewhere_separates_lines(store: Store) -> None:
    odd = ['{"x":"a\u2028b\u0085c\x1c"}', "x" * 10_000, "{}"]
    store.keep_derived(HERE, cut("lines", odd))
    assert list(KeptLines(store, HERE, "lines")) == odd
