"""A statement is parsed once and then serves everybody."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from forky_core.store.duckdb import running
from forky_core.store.duckdb.running import execute

BETWEEN = "SELECT $first + n FROM range($many) AS numbers(n) ORDER BY n"


@pytest.fixture(autouse=True)
def nothing_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_parsed", {})


def test_a_text_is_parsed_once_for_all_databases() -> None:
    for first in range(3):
        with duckdb.connect() as connection:
            rows = execute(connection, BETWEEN, first=first, many=2).fetchall()
            assert rows == [(first,), (first + 1,)]
    assert list(running._parsed) == [BETWEEN]


def test_threads_share_what_was_parsed() -> None:
    connection = duckdb.connect()

    def ask(thread: int) -> list[list[tuple[int]]]:
        cursor = connection.cursor()
        return [execute(cursor, BETWEEN, first=thread, many=many).fetchall() for many in range(50)]

    with ThreadPoolExecutor(8) as threads:
        for thread, found in enumerate(threads.map(ask, range(8))):
            assert found == [[(thread + n,) for n in range(many)] for many in range(50)]
    connection.close()


def test_a_table_that_was_made_anew_is_found(tmp_path: Path) -> None:
    """What is kept knows of no table and no type."""
    text = "SELECT * FROM kept.things WHERE one = $one"
    for number, kind in enumerate(("INTEGER", "VARCHAR")):
        with duckdb.connect() as connection:
            connection.execute(f"ATTACH '{tmp_path / str(number)}' AS kept")
            connection.execute(f"CREATE TABLE kept.things (one {kind}, two INTEGER)")
            execute(connection, "INSERT INTO kept.things VALUES ($one, $two)", one=7, two=number)
            value = 7 if kind == "INTEGER" else "7"
            assert execute(connection, text, one=value).fetchall() == [(value, number)]


def test_no_more_texts_are_kept_than_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_KEPT", 3)
    with duckdb.connect() as connection:
        for number in range(10):
            assert execute(connection, f"SELECT {number}, $x", x="x").fetchall() == [(number, "x")]
            assert len(running._parsed) <= 3
