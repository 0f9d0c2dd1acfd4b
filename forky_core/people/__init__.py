"""A team: people who sign in, the roles they have in a workspace, and what each of them may see and change.

Everything here is kept in one SQLite file beside the conversations (`database.py` says why). `guarded_store.py` is the
only place that decides what a person may read or write.
"""

from __future__ import annotations

from pathlib import Path


def team_file(database: Path) -> Path:
    """Where the people of a file of conversations are kept: beside it."""
    return database.with_name(f"{database.stem}.people.sqlite")


def people_beside(database: Path | str) -> Path | str | None:
    """Where the people of a database of conversations are stored: their file, or the URL of the database itself; None
    if it has no team. Creates nothing.

    Raises:
        StoreError: a PostgreSQL server cannot be asked.
    """
    if isinstance(database, Path):
        file = team_file(database)
        return file if file.exists() else None
    if "://" not in database:
        return None
    from forky_core.people.people_on_server import has_people  # noqa: PLC0415 - needs a package of its own

    return database if has_people(database) else None
