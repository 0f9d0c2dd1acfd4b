"""The folder of Parquet files by workspace and month: what it says, what stays untouched, and who may ask what."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time
from pathlib import Path
from threading import Event
from typing import Any

import duckdb
import pytest

from forky_core.formats.exporting.analysis_copies import AnalysisCopy, write_copy, write_folder
from forky_core.model.errors import BadContent, NotFound, StoreError
from forky_core.private_files import POSIX
from forky_core.store.analysis.partitions import MONTH_OF
from forky_core.store.analysis.query import ask, opened
from forky_core.store.analysis.views import TABLES
from forky_core.store.contract import Partitions, Store
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.memory.store import MemoryStore
from forky_core.workspaces.nightly_tables import MARK, NightlyTables, last_written, next_time
from tests.analysis.filled import fill
from tests.builders import workspace
from tests.hangs import HANG


def rows(path: Path, question: str) -> Sequence[tuple[Any, ...]]:
    with opened(path) as connection:
        return ask(connection, question).rows


def test_a_folder_has_the_rows_of_the_database_and_a_workspace_before_them(tmp_path: Path) -> None:
    forky, store, _ = fill(tmp_path / "forky.duckdb")
    lake = tmp_path / "it's a lake"
    write_folder(store, "main", lake)
    forky.close()
    for table in TABLES:
        there = rows(tmp_path / "forky.duckdb", f"FROM {table} ORDER BY ALL")
        assert rows(lake, f"FROM {table} ORDER BY ALL") == [("main", *row) for row in there]
        files = [path.relative_to(lake).parts for path in (lake / table).rglob("*.parquet")]
        assert files
        assert {parts[1] for parts in files} == {"workspace=main"}
        assert all(parts[2].startswith("month=") == (table in MONTH_OF) for parts in files)


@pytest.mark.skipif(not POSIX, reason="permissions of the POSIX kind")
def test_nobody_else_on_the_machine_reads_a_copy(tmp_path: Path) -> None:
    forky, store, _ = fill(tmp_path / "forky.duckdb")
    lake, copy = tmp_path / "lake", tmp_path / "copy.duckdb"
    write_folder(store, "main", lake)
    write_copy(store, AnalysisCopy(), copy)
    assert [path.stat().st_mode & 0o777 for path in (lake, copy)] == [0o700, 0o600]
    for path, mode in ((lake, 0o750), (copy, 0o640)):
        path.chmod(mode)
    write_folder(store, "main", lake)
    write_copy(store, AnalysisCopy(), copy)
    assert [path.stat().st_mode & 0o777 for path in (lake, copy)] == [0o750, 0o640], (
        "its owner lets others in"
    )
    forky.close()


def test_any_duckdb_reads_it_and_a_month_is_a_folder(tmp_path: Path) -> None:
    forky, store, _ = fill(tmp_path / "forky.duckdb")
    write_folder(store, "main", tmp_path / "lake")
    months = {
        f"{datetime.fromtimestamp(message.created / 1e6, UTC):%Y-%m}"
        for line in (*forky.conversations(), *forky.conversations(trashed=True))
        for message in forky.store.messages(line.id).values()
    }
    forky.close()
    with duckdb.connect() as connection:
        files = f"{tmp_path}/lake/messages/**/*.parquet"
        asked = connection.execute("SELECT DISTINCT month, workspace FROM read_parquet($1)", [files])
        assert set(asked.fetchall()) == {(month, "main") for month in months}


def test_what_has_not_changed_stays_untouched_and_what_is_gone_goes(tmp_path: Path) -> None:
    forky, store, _ = fill(tmp_path / "forky.duckdb")
    lake = tmp_path / "lake"
    first = write_folder(store, "main", lake)
    assert first == Partitions(first.written, 0, 0)
    assert write_folder(store, "main", lake) == Partitions(0, first.written, 0)
    stray = lake / "messages" / "workspace=main" / "month=1999-01" / "part0.parquet"
    stray.parent.mkdir()
    stray.write_bytes(b"old")
    forky.create("One more").say("Hello.")
    again = write_folder(store, "main", lake)
    assert again.removed == 1
    assert again.written > 0
    assert again.unchanged > 0
    assert not stray.parent.exists()
    assert rows(lake, "SELECT count(*) FROM messages WHERE text = 'Hello.'") == [(1,)]
    assert not [path for path in lake.iterdir() if path.name.startswith(".")]
    forky.close()


def test_several_workspaces_lie_side_by_side_also_without_a_row(tmp_path: Path) -> None:
    forky, store, _ = fill(tmp_path / "forky.duckdb")
    lake = tmp_path / "lake"
    with DuckDBStore.open(tmp_path / "empty.duckdb") as empty:
        write_folder(empty, "0017", lake)
        assert rows(lake, "SELECT count(*) FROM messages") == [(0,)]
        write_folder(store, "main", lake)
        workspace(empty)[0].create("Here").say("Only here.")
        write_folder(empty, "0017", lake)
    forky.close()
    assert rows(lake, "SELECT workspace FROM messages WHERE text = 'Only here.'") == [("0017",)]
    assert rows(lake, "SELECT DISTINCT workspace FROM conversations ORDER BY ALL") == [("0017",), ("main",)]


def test_private_values_are_replaced_if_wanted(tmp_path: Path) -> None:
    forky, store, _ = fill(tmp_path / "forky.duckdb")
    write_folder(store, "main", tmp_path / "lake", redact=True)
    write_folder(store, "main", tmp_path / "open")
    forky.close()
    question = "SELECT count(*) FROM messages WHERE contains(text, 'ada@example.com')"
    assert rows(tmp_path / "lake", question) == [(0,)]
    assert rows(tmp_path / "open", question) != [(0,)]


@pytest.mark.parametrize(
    "question",
    [
        "COPY messages TO '{lake}/stolen.parquet'",
        "EXPLAIN ANALYZE COPY messages TO '{lake}/stolen.parquet'",
        "SELECT * FROM read_text('{outside}')",
        "SET enable_external_access = true",
        "SET allowed_directories = ['/']",
        "DROP VIEW messages",
        "ATTACH '{lake}/stolen.duckdb'",
        "CREATE TABLE mine AS FROM messages",
    ],
)
def test_a_question_changes_nothing_and_reaches_no_other_file(tmp_path: Path, question: str) -> None:
    forky, store, _ = fill(tmp_path / "forky.duckdb")
    lake, outside = tmp_path / "lake", tmp_path / "outside.txt"
    outside.write_text("secret", "utf-8")
    write_folder(store, "main", lake)
    forky.close()
    before = sorted(path for path in lake.rglob("*"))
    with opened(lake) as connection, pytest.raises(BadContent):
        ask(connection, question.format(lake=lake, outside=outside))
    assert sorted(path for path in lake.rglob("*")) == before


def test_what_cannot_be_written_or_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="kept in memory"):
        write_folder(MemoryStore(), "main", tmp_path / "lake")
    with pytest.raises(NotFound, match="no tables for analysis"), opened(tmp_path):
        pass
    forky, store, _ = fill(tmp_path / "forky.duckdb")
    in_the_way = tmp_path / "file"
    in_the_way.write_text("", "utf-8")
    with pytest.raises(StoreError, match="could not be written"):
        write_folder(store, "main", in_the_way / "lake")
    with pytest.raises(ValueError, match="cannot be part of a path"):
        write_folder(store, "../up", tmp_path / "lake")
    write_folder(store, "main", tmp_path / "lake")
    forky.close()
    damaged = next((tmp_path / "lake" / "messages").rglob("*.parquet"))
    damaged.write_bytes(b"no parquet")
    with pytest.raises((StoreError, BadContent)), opened(tmp_path / "lake") as connection:
        ask(connection, "FROM messages")


NIGHT = time(3)


@pytest.mark.parametrize(
    ("last", "now", "due"),
    [
        (None, "2026-11-26T12:00", "2026-11-26T12:00"),
        ("2026-11-26T03:00", "2026-11-26T12:00", "2026-11-27T03:00"),
        ("2026-11-26T02:59", "2026-11-26T12:00", "2026-11-26T12:00"),
        ("2026-11-25T03:01", "2026-11-26T02:00", "2026-11-26T03:00"),
        ("2026-11-25T02:00", "2026-11-26T02:00", "2026-11-26T02:00"),
        ("2026-11-25T03:00", "2026-11-26T03:00", "2026-11-26T03:00"),
    ],
)
def test_a_night_that_was_missed_is_made_up_for(last: str | None, now: str, due: str) -> None:
    then = datetime.fromisoformat(last) if last else None
    assert next_time(then, datetime.fromisoformat(now), NIGHT) == datetime.fromisoformat(due)


def test_every_workspace_is_written_soon_after_the_start_and_one_that_fails_stops_no_other(
    tmp_path: Path,
) -> None:
    forky, store, _ = fill(tmp_path / "forky.duckdb")
    lake, asked = tmp_path / "lake", Event()

    def refused() -> Store:
        raise StoreError("This file cannot be opened.")

    def last() -> Store:
        asked.set()
        return store

    nightly = NightlyTables(lake, NIGHT, lambda: {"broken": refused, "main": last}, soon=0.01)
    assert asked.wait(HANG)
    nightly.close()
    assert rows(lake, "SELECT DISTINCT workspace FROM messages") == [("main",)]
    written = last_written(lake)
    assert written is not None
    assert next_time(written, datetime.now(), NIGHT) > datetime.now()  # noqa: DTZ005
    forky.close()


def test_a_mark_that_says_nothing_or_of_tomorrow_does_not_hold_up_the_next_night(tmp_path: Path) -> None:
    forky, store, _ = fill(tmp_path / "forky.duckdb")
    lake = tmp_path / "lake"
    lake.mkdir()
    for mark in ("{", '{"written": "2999-01-01T00:00:00+00:00"}'):
        (lake / MARK).write_text(mark, "utf-8")
        asked = Event()

        def here(asked: Event = asked) -> Store:
            asked.set()
            return store

        nightly = NightlyTables(lake, NIGHT, lambda here=here: {"main": here}, soon=0.01)  # type: ignore[misc]
        assert asked.wait(HANG)
        nightly.close()
        written = last_written(lake)
        assert written is not None
        assert written.year < 2999
    forky.close()
