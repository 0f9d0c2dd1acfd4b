"""The team of a server, for the commands."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from forky_core.model.errors import NotFound, RequestError
from forky_core.people import people_beside, team_file
from forky_core.process.lazy_names import import_when_used
from forky_core.process.settings import Settings
from forky_core.store.opening import ONE_WORKSPACE

if TYPE_CHECKING:
    from forky_core.people.members import Member
    from forky_core.people.team import Team
else:
    import_when_used(globals(), __spec__)


@contextmanager
def opened_team(place: str | None, workspace: str | None = None) -> Iterator[Team]:
    """Open the team of a database. Raises NotFound if it has none, because a mistyped path must not create one."""
    with team_beside(place, workspace) as team:
        if team is None:
            database = settings_at(place).database
            file = team_file(database) if isinstance(database, Path) else database
            raise NotFound(
                f"There is no team at {file}.", "A server that is started with FORKY_TEAM=on makes one."
            )
        yield team


@contextmanager
def team_beside(place: str | None, workspace: str | None = None) -> Iterator[Team | None]:
    """Open the team of a database; yield None if it has none. `workspace` names a workspace of a PostgreSQL
    database.
    """
    settings = settings_at(place, workspace)
    people = people_beside(settings.database)
    team = Team(people, workspace=settings.workspace) if people is not None else None
    try:
        yield team
    finally:
        if team is not None:
            team.close()


def named_member(team: Team, handle: str, *, former: bool = False) -> Member:
    """Return the member with this handle, or with `former` also somebody who was one.

    Raises:
        NotFound: there is none.
    """
    member = team.members.by_handle(handle)
    if member is None or not (member.role or former):
        raise NotFound(f"Nobody here is “{handle[:40]}”.", "`forky admin people` lists the handles.")
    return member


def settings_at(place: str | None, workspace: str | None = None) -> Settings:
    """Return the settings of the server whose database is at `place`, or of the usual one if `place` is empty.

    Raises:
        RequestError: there is a `workspace`, but the database is a file.
    """
    options = {"FORKY_DATABASE": place, "FORKY_WORKSPACE": workspace}
    variables = {name: value for name, value in options.items() if value}
    settings = Settings.from_environment({**os.environ, **variables} if variables else None)
    if workspace and isinstance(settings.database, Path):
        raise RequestError(*ONE_WORKSPACE)
    return settings
