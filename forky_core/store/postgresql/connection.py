"""A connection to PostgreSQL, which is set to one workspace at a time.

The row security of the tables compares this workspace (`forky.workspace`), so that no statement can reach
another's rows. Texts are given and read as they are; texts.py says how they are stored.
"""

from __future__ import annotations

from typing import Any

from forky_core.process.extras import needed_for

with needed_for("Keeping conversations in PostgreSQL", "postgresql"):
    import psycopg

from forky_core.store.postgresql import statements
from forky_core.store.postgresql.texts import is_text, said_row, values_kept
from forky_core.store.rows import Row

Rows = list[tuple[Any, ...]]
AnyCursor = psycopg.Cursor[tuple[Any, ...]]
AnyConnection = psycopg.Connection[tuple[Any, ...]]
_TEXT = psycopg.adapters.types["text"].oid


class Connection(AnyConnection):
    """A connection that knows the workspace it is set to: an `EngineSession` of the base."""

    workspace: str | None = None
    sql = statements

    def rows(self, statement: str, /, **given: Any) -> Rows:
        return _read(self.send(statement, **given))[1]

    def fetch(self, statement: str, /, **given: Any) -> list[Row]:
        names, rows = _read(self.send(statement, **given))
        return [dict(zip(names, row, strict=True)) for row in rows]

    def send(self, statement: str, /, **given: Any) -> AnyCursor:
        """Run a statement about the workspace; in a pipeline, its result is not waited for."""
        return self.execute(statement, values_kept({"workspace": self.workspace, **given}))


def enter(connection: Connection, workspace: str) -> None:
    """Set a connection to this workspace. No transaction may be open on it."""
    if connection.workspace != workspace:
        connection.workspace = None  # It is nobody's if this fails half-way.
        run(connection, "SELECT set_config('forky.workspace', %(workspace)s, false)", workspace=workspace)
        connection.workspace = workspace


def run(connection: AnyConnection, statement: str, **given: Any) -> Rows:
    """Run one statement, whose parameters are all given, and return its rows; [] where it has none."""
    return _read(connection.execute(statement, values_kept(given) if given else None))[1]


def _read(cursor: AnyCursor) -> tuple[list[str], Rows]:
    if cursor.description is None:
        return [], []
    names = [column.name for column in cursor.description]
    texts = [
        at
        for at, column in enumerate(cursor.description)
        if column.type_code == _TEXT and is_text(column.name)
    ]
    return names, [said_row(row, texts) for row in cursor.fetchall()]
