"""The team of a server and where its workspaces are, for the commands."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from forky_core.model.errors import NotFound
from forky_core.settings import Settings
from forky_core.team.team import Team, people_beside, team_file
from forky_core.team.team_workspaces import WORKSPACE
from forky_core.workspaces.places import workspace_file


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
    people = people_beside(_database_at(place))
    team = Team(people) if people is not None else None
    try:
        yield team
    finally:
        if team is not None:
            team.close()


@dataclass(frozen=True, slots=True)
class WorkspaceAddress:
    """Where a workspace is kept, as `Forky.open` takes it."""

    database: Path | str
    workspace: str | None = None
    """Which one of a PostgreSQL database; None for the first."""

    @property
    def is_there(self) -> bool:
        """Whether anybody has made it yet; True where only its server knows."""
        return not isinstance(self.database, Path) or self.database.exists()


def place_of(title: str, place: str | None) -> WorkspaceAddress:
    """Where the workspace with this title or id is, on the server whose first database is at `place`.

    In a PostgreSQL database without a team it is the one that a program opened by this name; whether there is one shows
    when it is opened.

    Raises:
        NotFound: there is no such workspace, or neither a team nor a PostgreSQL database.
    """
    settings = settings_at(place)
    if "://" in str(settings.database) and people_beside(settings.database) is None:
        return WorkspaceAddress(settings.database, title)
    with opened_team(place) as team:
        id = team.workspaces.named(title).id
    if id == WORKSPACE:
        return WorkspaceAddress(settings.database)
    if not isinstance(settings.database, Path):
        return WorkspaceAddress(settings.database, id)
    if not isinstance(settings.workspaces, Path):
        raise NotFound("This server has one workspace.", "FORKY_WORKSPACES names the folder of others.")
    return WorkspaceAddress(workspace_file(settings.workspaces, id))


def settings_at(place: str | None) -> Settings:
    """The settings of the server whose first database is at `place`; of the usual one if that names none."""
    return Settings.from_environment({**os.environ, "FORKY_DATABASE": place} if place else None)


def _database_at(place: str | None) -> Path | str:
    """The database that an option names; the usual one if it names none."""
    return settings_at(place).database
