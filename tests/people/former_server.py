"""A team's server with three workspaces, as earlier versions kept them: in files, or in a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from forky_core.forky import Forky
from forky_core.model import ConversationId
from forky_core.people import team_file
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.people.views import join_team, member_view
from tests.builders import ScriptedModels, talk

CLUB = "c1ab000000000001"
OWN = "0a10000000000002"
_TABLES = (
    """CREATE TABLE workspaces (
        id TEXT PRIMARY KEY, title TEXT NOT NULL, person TEXT NOT NULL DEFAULT '', made_by TEXT NOT NULL,
        created {number} NOT NULL, archived {number} NOT NULL DEFAULT 0
    )""",
    "CREATE UNIQUE INDEX workspaces_of ON workspaces (person) WHERE person <> ''",
    "INSERT INTO workspaces VALUES ('main', 'First workspace', '', '', 0, 0)",
    "CREATE TABLE workspace_tokens (digest TEXT PRIMARY KEY, workspace TEXT NOT NULL)",
)
"""What the database of the people had for several workspaces, beside the tables that it has now."""


@dataclass(frozen=True)
class FormerServer:
    """Ada is in main and the club and has a workspace of her own; Ben is in the club alone."""

    database: Path | str
    ada: Member
    ben: Member
    bens: ConversationId
    """A private conversation of Ben's in the club, with a thread."""
    folder: Path
    """The files of the further workspaces."""


@contextmanager
def opened(place: Path | str, people: Path | str, workspace: str) -> Iterator[tuple[Forky, Team]]:
    """A workspace and its team, as a server opens them."""
    team = Team(people, workspace=workspace)
    named = None if isinstance(place, Path) else workspace
    try:
        with Forky.open(place, workspace=named, models=ScriptedModels()) as forky:
            join_team(forky, team)
            yield forky, team
    finally:
        team.close()


def former_server(database: Path | str, folder: Path) -> FormerServer:
    """Make one; nothing of it is open afterwards."""
    in_files = isinstance(database, Path)
    people = team_file(database) if isinstance(database, Path) else database
    team = Team(people)
    with team.database.writing() as connection:
        for statement in _TABLES:
            connection.execute(statement.format(number="INTEGER" if in_files else "BIGINT"))
        ada = team.members.add("Ada", Role.OWNER)
        for id, title, person in ((CLUB, "The boat club", ""), (OWN, "My own", ada.id)):
            connection.execute(
                "INSERT INTO workspaces (id, title, person, made_by, created) VALUES (?, ?, ?, ?, 1)",
                (id, title, person, ada.id),
            )
    team.close()
    folder.mkdir(parents=True)
    with opened(database, people, "main") as (forky, team):
        talk(member_view(forky, team, ada.id).create("In main"), "hello")
    place = folder / f"{CLUB}.duckdb" if in_files else database
    with opened(place, people, CLUB) as (forky, team):
        team.members.bring_back(ada.id, Role.OWNER)
        ben = team.members.add("Ben", Role.EDITOR)
        chat = talk(member_view(forky, team, ben.id).create("Ben's own"), "private")
        team.threads.begin(chat.id, chat.path()[0].id, "", ben.id, "A note of mine")
    place = folder / f"{OWN}.duckdb" if in_files else database
    with opened(place, people, OWN) as (forky, team):
        team.members.bring_back(ada.id, Role.OWNER)
        talk(member_view(forky, team, ada.id).create("Ada's own"), "mine")
    return FormerServer(database, ada, ben, chat.id, folder)
