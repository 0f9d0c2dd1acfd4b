"""A server with several workspaces, for a test: real files, real people, scripted models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from forky_core.forky import Forky
from forky_core.store.postgresql.store import PostgresStore
from forky_core.team.members import Member
from forky_core.team.roles import Role
from forky_core.team.team import Team, team_file
from forky_core.team.team_workspaces import WORKSPACE
from forky_core.team.views import join_team, member_view
from forky_core.workspaces.open_workspaces import OpenWorkspaces
from forky_core.workspaces.places import WorkspaceFolder, WorkspacesOnServer
from tests.builders import ScriptedModels


@dataclass
class Building:
    """The first workspace, and the others beside it."""

    folder: Path
    team: Team
    first: Forky
    others: OpenWorkspaces

    def person(self, name: str, role: Role = Role.EDITOR, workspace: str = WORKSPACE) -> Member:
        return self.team.of(workspace).members.add(name, role)

    def join(self, workspace: str, member: Member, role: Role = Role.EDITOR) -> None:
        self.team.of(workspace).members.bring_back(member.id, role)

    def make(self, title: str, owner: Member) -> str:
        return self.team.workspaces.make(title, owner=owner.id, by=owner.id).id

    def whole(self, workspace: str) -> Forky:
        return self.first if workspace == WORKSPACE else self.others.whole(workspace)

    def seen_by(self, member: Member, workspace: str = WORKSPACE) -> Forky:
        return member_view(self.whole(workspace), self.team.of(workspace), member.id)


def on_server(forky: Forky) -> PostgresStore:
    assert isinstance(forky.store, PostgresStore)
    return forky.store


@contextmanager
def building(
    folder: Path, *, url: str | None = None, most: int = 20, just_now: float = 0.0
) -> Iterator[Building]:
    """In files of this folder, or in the PostgreSQL database at `url`."""
    database = folder / "forky.duckdb"
    team = Team(url or team_file(database))
    first = Forky.open(url or database, models=ScriptedModels())
    join_team(first, team)
    others = OpenWorkspaces(
        WorkspaceFolder(folder / "workspaces")
        if url is None
        else WorkspacesOnServer(lambda: on_server(first)),
        team,
        lambda store: Forky.over(store, models=ScriptedModels()),
        most=most,
        just_now=just_now,
    )
    try:
        yield Building(folder, team, first, others)
    finally:
        others.close()
        first.close()
        team.close()
