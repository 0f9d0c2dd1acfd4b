"""Changing a database behind Forky's back, for tests of damage."""

from __future__ import annotations

from pathlib import Path

import duckdb


def by_hand(path: Path, *statements: str, given: object = None) -> None:
    """Run them on a closed database, with the values that are given."""
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement, given or [])
