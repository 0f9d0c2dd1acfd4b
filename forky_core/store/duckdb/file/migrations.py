"""Numbered changes of the schema, each in one transaction with the record that it was applied.

A file that is to be migrated is copied aside first. A file with a later number than this program knows, or one from
before the first schema, is refused and left as it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from forky_core.model.errors import StoreDamaged, StoreError, StoreTooNew
from forky_core.process import events
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.file import schemas
from forky_core.store.duckdb.file.backup import copied_beside
from forky_core.store.duckdb.file.database import DatabaseFile, in_transaction
from forky_core.store.duckdb.running import insert


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    apply: Callable[[duckdb.DuckDBPyConnection], None]


def _running(statements: Sequence[str]) -> Callable[[duckdb.DuckDBPyConnection], None]:
    def apply(cursor: duckdb.DuckDBPyConnection) -> None:
        for statement in statements:
            cursor.execute(statement)

    return apply


MIGRATIONS: tuple[Migration, ...] = tuple(
    Migration(number, name, _running(statements)) for number, name, statements in schemas.STEPS
)

_TABLES = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'forky'"


def schema_number(file: DatabaseFile) -> int:
    """Number of the last migration that was applied; 0 for an empty file."""
    with file.cursor() as cursor:
        tables = {str(row[0]) for row in cursor.execute(_TABLES).fetchall()}
        if not tables:
            return 0
        if "migrations" not in tables:
            raise StoreDamaged(
                f"{file.path.name} is a DuckDB database, but not one of Forky's.",
                "Nothing was changed; use another file.",
            )
        return int(cursor.execute(sql.SCHEMA).fetchall()[0][0] or 0)


def migrate(file: DatabaseFile, steps: Sequence[Migration] = MIGRATIONS) -> Path | None:
    """Bring the file to the newest schema; the backup that was made of it, if one was.

    Raises:
        StoreTooNew: a later Forky wrote the file; it is as it was.
        StoreError: the file has a schema from before the first one; it is as it was.
    """
    number = schema_number(file)
    first, newest = steps[0].number, steps[-1].number
    if 0 < number < first:
        raise StoreError(
            f"{file.path.name} was made by a Forky from before its first release (schema {number}); this one reads schema "
            f"{first} and later.",
            "Nothing was changed. Export its conversations with the Forky that made it, and import them into a new file.",
        )
    if number > newest:
        raise StoreTooNew(
            f"{file.path.name} was written by a later Forky (schema {number}; this one knows {newest}).",
            "Update Forky to open it. Nothing was changed.",
        )
    due = [step for step in steps if step.number > number]
    backup = copied_beside(file, f"schema-{number}") if number and due else None
    for step in due:
        file.before_writing()
        with file.cursor() as cursor:
            _apply(cursor, step)
    if number and due:
        events.store_migrated(former=number, schema=newest, copied=backup is not None)
    return backup


def _apply(cursor: duckdb.DuckDBPyConnection, step: Migration) -> None:
    def work(cursor: duckdb.DuckDBPyConnection) -> None:
        step.apply(cursor)
        row = {"number": step.number, "name": step.name, "applied": time.time_ns() // 1000}
        insert(cursor, "migrations", row)

    in_transaction(cursor, work)
