"""A team as an earlier version kept it: with keys of providers, models of roles, limits, balances and a ledger."""

from __future__ import annotations

import json
from pathlib import Path

from forky_core.people.team import Team

_KEPT = Path(__file__).with_name("released") / "people-with-budgets.json"


def put_back(team: Team) -> None:
    """Fill the empty tables of a team with the rows that the earlier version had written into them."""
    tables = json.loads(_KEPT.read_text("utf-8"))
    with team.database.writing() as connection:
        for table, kept in tables.items():
            marks = ", ".join("?" * len(kept["columns"]))
            rows = [
                [bytes.fromhex(value["hex"]) if isinstance(value, dict) else value for value in row]
                for row in kept["rows"]
            ]
            connection.executemany(
                f"INSERT INTO {table} ({', '.join(kept['columns'])}) VALUES ({marks})",  # noqa: S608 - a file of the tests
                rows,
            )
