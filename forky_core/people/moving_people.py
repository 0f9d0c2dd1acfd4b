"""Copies the people of a server for `forky move`: from a file to PostgreSQL, or back."""

from __future__ import annotations

from forky_core.people.database import TABLES_IN_ORDER, TeamDatabase


def copy_people(source: TeamDatabase, target: TeamDatabase) -> int:
    """Copy everything about the people into a database that has none yet; returns how many people there are.

    Tables that no version makes any more stay behind.

    All of it is copied, or nothing if it fails. Nobody changes the source meanwhile.

    Raises:
        StoreError: one of the two cannot be read or written.
    """
    columns = source.columns()
    with source.writing(renews=False), target.writing() as connection:
        for table in reversed(TABLES_IN_ORDER):
            connection.execute(f'DELETE FROM "{table}"')  # noqa: S608 - names of our tables
        for table in TABLES_IN_ORDER:
            names = ", ".join(f'"{name}"' for name in columns[table])
            places = ", ".join("?" for _ in columns[table])
            rows = source.rows(f'SELECT {names} FROM "{table}"')  # noqa: S608 - names of our tables
            connection.executemany(
                f'INSERT INTO "{table}" ({names}) VALUES ({places})',  # noqa: S608 - as above
                [tuple(row) for row in rows],
            )
        target.renumber()
        found = target.row("SELECT count(*) AS number FROM people")
    return int(found["number"]) if found is not None else 0
