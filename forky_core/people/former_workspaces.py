"""Workspaces that an earlier version of Forky kept on one server together with that of this team.

A server has one workspace now. The others stay untouched where they are, and a server of its own opens each. What says
which there are is the table `workspaces`, which no version makes any more.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from forky_core.people import team_file
from forky_core.people.team import Team

_SAME_DATABASE = " FORKY_DATABASE is the address of this server's database."
_FOLDER = "FORKY_WORKSPACES"
"""The variable by which earlier versions were told the folder of the files, unless they are in `workspaces` beside the
database."""


def former_workspaces(
    team: Team, database: Path | str, environment: Mapping[str, str] = os.environ
) -> str | None:
    """A text for the operator that names the other workspaces of earlier versions, with the command that opens each;
    None if there are none.

    `database` is the server's own. Of files, only those are named that are there.
    """
    if "workspaces" not in team.database.columns():
        return None
    rows = team.database.rows(
        "SELECT id, title FROM workspaces WHERE id <> ? ORDER BY created, id", team.workspace
    )
    folder = _folder(database, environment) if isinstance(database, Path) else None
    lines = [
        f"“{row['title']}”: {command}"
        for row in rows
        if (command := _command(row["id"], database, folder)) is not None
    ]
    if not lines:
        return None
    many = "Another workspace is" if len(lines) == 1 else f"{len(lines)} other workspaces are"
    where = "in this database" if folder is None else f"in {folder}"
    stopped = "" if folder is None else "with this server stopped, "
    said = (
        f"{many} {where}, where nothing was done with them: a server has one workspace, and {stopped}each of these "
        f"commands opens another one by a server of its own.{'' if folder else _SAME_DATABASE}"
    )
    return "\n".join((said, *lines))


def _folder(database: Path, environment: Mapping[str, str]) -> Path:
    """Where earlier versions kept the files of further workspaces."""
    named = environment.get(_FOLDER, "").strip()
    if named.lower() in {"", "on", "off"}:
        return database.absolute().parent / "workspaces"
    return Path(named).expanduser().absolute()


def _command(workspace: str, database: Path | str, folder: Path | None) -> str | None:
    """What opens a workspace, with its people, by a server of its own; None where it has no file."""
    if folder is None or not isinstance(database, Path):
        return f"FORKY_TEAM=on FORKY_DATABASE=… forky --workspace {shlex.quote(workspace)} serve"
    file = folder / f"{workspace}.duckdb"
    if not file.is_file():
        return None
    serve = f"FORKY_TEAM=on forky --database {shlex.quote(str(file))} serve"
    if team_file(file).exists():  # Its own server has changed it since: it must not be written over.
        return serve
    people, its_people = (
        shlex.quote(str(path)) for path in (team_file(database.absolute()), team_file(file))
    )
    return f"cp {people} {its_people} && {serve}"
