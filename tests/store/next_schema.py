"""Made-up schemas behind the newest one, so that migrations are tested whatever schema is the newest."""

from __future__ import annotations

import duckdb

from forky_core.store.duckdb.file.migrations import MIGRATIONS, Migration

FIRST = MIGRATIONS[0].number
NOW = MIGRATIONS[-1].number
NEXT = NOW + 1


def _add_a_column(cursor: duckdb.DuckDBPyConnection) -> None:
    cursor.execute("ALTER TABLE forky.settings ADD COLUMN made_up TEXT")


def _fill_it(cursor: duckdb.DuckDBPyConnection) -> None:
    cursor.execute("UPDATE forky.settings SET made_up = 'migrated'")


def _fail_half_way(cursor: duckdb.DuckDBPyConnection) -> None:
    cursor.execute("ALTER TABLE forky.blobs ADD COLUMN made_up TEXT")
    raise ZeroDivisionError


A_COLUMN_MORE = (*MIGRATIONS, Migration(NEXT, "a column more", _add_a_column))
FILLED = (*A_COLUMN_MORE, Migration(NEXT + 1, "its values", _fill_it))
FAILING = (*MIGRATIONS, Migration(NEXT, "a bad one", _fail_half_way))
FAILING_LATER = (*A_COLUMN_MORE, Migration(NEXT + 1, "a bad one", _fail_half_way))
