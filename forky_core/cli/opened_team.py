"""The team of a server, for the commands of `forky admin`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forky_core.model.errors import NotFound
from forky_core.settings import Settings
from forky_core.team.team import Team, people_beside, team_file


@contextmanager
def opened_team(place: str | None) -> Iterator[Team]:
    """The team of a database. Raises NotFound if it has none: a mistyped path must not make one."""
    settings = Settings.from_environment()
    database = Settings.from_environment({"FORKY_DATABASE": place}).database if place else settings.database
    people = people_beside(database)
    if people is None:
        file = team_file(database) if isinstance(database, Path) else database
        raise NotFound(
            f"There is no team at {file}.", "A server that is started with FORKY_TEAM=on makes one."
        )
    team = Team(people, key_file=settings.key_file)
    try:
        yield team
    finally:
        team.close()
