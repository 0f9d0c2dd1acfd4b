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
    with team_beside(place) as team:
        if team is None:
            database = _database_at(place)
            file = team_file(database) if isinstance(database, Path) else database
            raise NotFound(
                f"There is no team at {file}.", "A server that is started with FORKY_TEAM=on makes one."
            )
        yield team


@contextmanager
def team_beside(place: str | None) -> Iterator[Team | None]:
    """The team of a database; None if it has none."""
    settings = Settings.from_environment()
    people = people_beside(_database_at(place))
    team = Team(people, key_file=settings.key_file) if people is not None else None
    try:
        yield team
    finally:
        if team is not None:
            team.close()


def _database_at(place: str | None) -> Path | str:
    """The database that an option names; the usual one if it names none."""
    return Settings.from_environment({"FORKY_DATABASE": place} if place else None).database
