"""The views that a DuckDB database has for its owner's own queries, in a schema `forky_v1`.

They are defined in views.sql and described in docs/analysis.md. Forky itself reads none of them. They are made where
somebody asks for them: a file whose catalog holds them has more at its end that a truncation can cost.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Final

import duckdb

SCHEMA: Final = "forky_v1"
"""The number grows when a column is removed or means something else; one that is only added leaves it as it is."""
TABLES: Final = (
    "conversations",
    "branches",
    "messages",
    "turns",
    "generations",
    "merges",
    "citations",
    "claims",
    "conflicts",
    "operations",
    "documents",
    "tags",
    "stashes",
    "votes",
    "requests",
    "reviews",
)
"""The views that people use; those that begin with `_` are steps on the way."""
_SOURCE = Path(__file__).with_name("views.sql")
_MARK = "SELECT comment FROM duckdb_views() WHERE database_name = 'forky' AND schema_name = 'forky_v1' AND view_name = ?"


def are_made(cursor: duckdb.DuckDBPyConnection) -> bool:
    """Whether the database that is attached as `forky` has the views as this version of Forky defines them."""
    return bool(cursor.execute(_MARK, ["conversations"]).fetchall() == [(_mark(),)])


def make_views(cursor: duckdb.DuckDBPyConnection) -> None:
    """Make the views in the database that is attached as `forky`, in the place of any that are there."""
    cursor.execute("USE forky")
    cursor.execute("DROP SCHEMA IF EXISTS forky.forky_v1 CASCADE")
    cursor.execute("CREATE SCHEMA forky.forky_v1")
    cursor.execute(_SOURCE.read_text(encoding="utf-8"))
    cursor.execute(f"COMMENT ON VIEW forky.forky_v1.conversations IS '{_mark()}'")


def _mark() -> str:
    """The version of the views, and which definition of it."""
    return f"{SCHEMA}, {sha256(_SOURCE.read_bytes()).hexdigest()[:16]}"
