"""The team of a server, for the commands of `forky admin`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forky_core.model.errors import NotFound
from forky_core.settings import Settings
from forky_core.team.team import Team, team_file


@contextmanager
def opened_team(place: str | None) -> Iterator[Team]:
    """The team of a database. Raises NotFound if it has none: a mistyped path must not make one."""
    settings = Settings.from_environment()
    database = Settings.from_environment({"FORKY_DATABASE": place}).database if place else settings.database
    file = team_file(database) if isinstance(database, Path) else None
    if file is None or not file.exists():
        raise NotFound(
            f"There is no team at {file or database}.",
            "A server that is started with FORKY_TEAM=on makes one.",
        )
    team = Team(file, key_file=settings.key_file)
    try:
        yield team
    finally:
        team.close()
