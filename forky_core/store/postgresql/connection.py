"""A connection to PostgreSQL, which is set to one workspace at a time.

The row security of the tables compares this workspace (`forky.workspace`), so that no statement can reach
another's rows.
"""

from __future__ import annotations

from typing import Any

from forky_core.process.extras import needed_for

with needed_for("Keeping conversations in PostgreSQL", "postgresql"):
    import psycopg
    from psycopg.rows import dict_row

from forky_core.store.postgresql.texts import row_said
from forky_core.store.rows import Row

Rows = list[tuple[Any, ...]]
AnyConnection = psycopg.Connection[tuple[Any, ...]]


class Connection(AnyConnection):
    """A connection that knows the workspace it is set to."""

    workspace: str | None = None


def enter(connection: Connection, workspace: str) -> None:
    """Set a connection to this workspace. No transaction may be open on it."""
    if connection.workspace != workspace:
        connection.workspace = None  # It is nobody's if this fails half-way.
        run(connection, "SELECT set_config('forky.workspace', %(workspace)s, false)", workspace=workspace)
        connection.workspace = workspace


def fetch(connection: AnyConnection, statement: str, **given: object) -> list[Row]:
    """The rows of one statement, by the names of their columns and as they were before they were stored."""
    cursor = connection.cursor(row_factory=dict_row).execute(statement, given)
    return list(map(row_said, cursor.fetchall()))


def run(connection: AnyConnection, statement: str, **given: object) -> Rows:
    """Run one statement and return its rows; [] where it has none."""
    cursor = connection.execute(statement, given or None)
    return cursor.fetchall() if cursor.description is not None else []
