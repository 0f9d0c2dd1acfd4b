"""`forky admin workspaces`, `workspace …`, `backup` and `restore`: the workspaces of a team's server."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from forky_core.cli.opened_team import opened_team, settings_at
from forky_core.cli.plain import one_line
from forky_core.model.errors import NotFound, StoreBusy
from forky_core.team.team import Team
from forky_core.team.team_workspaces import WORKSPACE, TeamWorkspace
from forky_core.workspaces.backup_desk import ask_for_backup
from forky_core.workspaces.copies import Backup, ServerFiles, back_up, read_backup, restore

_BUSY = "Stop the server, or make the backup in its Settings, under Storage."
Run = Callable[[Team, argparse.Namespace], int]
Action = Callable[[str, Run, str], argparse.ArgumentParser]


def add_workspaces(action: Action, actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands to `forky admin`; `action` adds one that is run with the team."""
    listed = action("workspaces", run_workspaces, "list the workspaces, with their members and files")
    backup = action("backup", run_backup, "copy every workspace and the people into a new folder")
    backup.add_argument("folder", type=Path, help="where the folder of the backup is made")
    backup.add_argument("--only", metavar="TITLE", help="one workspace, by its title or id")
    back = actions.add_parser(
        "restore", help="put a backup in the place of what there is; stop the server first"
    )
    back.set_defaults(run=run_restore, makes_database=None)
    back.add_argument("folder", type=Path, help="the folder of the backup")
    back.add_argument("--only", metavar="TITLE", help="one workspace, by its title or id")
    for one in (listed, backup, back):
        one.add_argument("--json", action="store_true", help="one JSON object a line")
    parts = actions.add_parser("workspace", help="make, rename, archive or open one workspace")
    verbs = parts.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name: str, run: Run, help: str) -> argparse.ArgumentParser:
        made = verbs.add_parser(name, help=help)
        made.set_defaults(run=lambda options: _with_team(run, options), makes_database=None)
        made.add_argument("title", help="its title" if name == "make" else "its title or id")
        made.add_argument("--json", action="store_true", help="one JSON object a line")
        return made

    make = verb("make", run_make, "make a shared workspace")
    make.add_argument("--owner", required=True, metavar="HANDLE", help="its first owner")
    rename = verb("rename", run_rename, "give a workspace another title")
    rename.add_argument("to", help="the new title")
    verb("archive", run_archive, "close a workspace to everybody; its file and members stay")
    verb("open", run_open, "open an archived workspace again, by its id or title")


def _with_team(run: Run, options: argparse.Namespace) -> int:
    with opened_team(options.database) as team:
        return run(team, options)


def run_workspaces(team: Team, options: argparse.Namespace) -> int:
    on_server = not isinstance(settings_at(options.database).database, Path)
    files = None if on_server else _files(options.database)
    for one in (*team.workspaces.all(), *team.workspaces.all(archived=True)):
        file = files.of(one.id) if files and (one.id == WORKSPACE or files.workspaces) else None
        size = file.stat().st_size if file is not None and file.exists() else 0
        members = _count_members(team, one)
        if options.json:
            told = {**_as_json(one), "members": members, "file": str(file or ""), "bytes": size}
            print(json.dumps(told, ensure_ascii=False))
        else:
            kind = "archived" if one.archived else "personal" if one.personal else "shared"
            many = "1 member" if members == 1 else f"{members} members"
            much = "" if on_server else f", {size / 1e6:.1f} MB"
            print(f"{one.id:<16}  {kind:<8}  {one_line(one.title)}, {many}{much}")
    return 0


def run_make(team: Team, options: argparse.Namespace) -> int:
    owner = team.members.by_handle(options.owner)
    if owner is None:
        raise NotFound(f"Nobody here is “{options.owner[:40]}”.", "`forky admin people` lists the handles.")
    if settings_at(options.database).workspaces is None:
        raise NotFound(
            "This server has one workspace.",
            "Set FORKY_WORKSPACES to the folder where others are to be kept, or to on.",
        )
    made = team.workspaces.make(options.title, owner=owner.id, by="")
    return _say(options, made, f"“{made.title}” is made, as {made.id}. {owner.name} is its owner.")


def run_rename(team: Team, options: argparse.Namespace) -> int:
    found = team.workspaces.named(options.title)
    team.workspaces.rename(found.id, options.to, by="")
    renamed = team.workspaces.get(found.id)
    return _say(options, renamed, f"It is called “{renamed.title}” from now on.")


def run_archive(team: Team, options: argparse.Namespace) -> int:
    found = team.workspaces.named(options.title)
    team.workspaces.archive(found.id, archived=True, by="")
    archived = team.workspaces.get(found.id)
    return _say(
        options, archived, f"“{archived.title}” is archived. `forky admin workspace open` opens it again."
    )


def run_open(team: Team, options: argparse.Namespace) -> int:
    wanted = options.title.strip().casefold()
    every = team.workspaces.all(archived=True)
    found = [one for one in every if one.id == options.title or one.title.casefold() == wanted]
    if len(found) != 1:
        raise NotFound(
            f"There is no single archived workspace “{options.title[:60]}”.",
            "Give the id that `workspaces` lists.",
        )
    team.workspaces.archive(found[0].id, archived=False, by="")
    return _say(options, team.workspaces.get(found[0].id), f"“{found[0].title}” is open again.")


def run_backup(team: Team, options: argparse.Namespace) -> int:
    only = None if options.only is None else [team.workspaces.named(options.only).id]
    try:
        made = back_up(options.folder, team.first, _files(options.database), only=only)
    except StoreBusy as error:
        if only is not None:
            error.hint = _BUSY
            raise
        made = read_backup(ask_for_backup(team.first, options.folder))
    else:
        team.first.audit.note("backed up")
    return _say_backup(options, made, f"The backup is in {made.folder}.")


def run_restore(options: argparse.Namespace) -> int:
    backup = read_backup(options.folder)
    only = None
    if options.only is not None:
        wanted = options.only.casefold()
        fitting = [id for id, title in backup.titles.items() if wanted in {id, title.casefold()}]
        if len(fitting) != 1:
            raise NotFound(f"This backup has no single workspace “{options.only[:60]}”.")
        only = fitting[0]
    ids = restore(backup, _files(options.database), only=only)
    many = "1 workspace is" if len(ids) == 1 else f"{len(ids)} workspaces are"
    people = (
        ""
        if only is not None
        else " Everybody signs in again; who was removed, and what was revoked, since then is as it was."
    )
    return _say_backup(
        options, backup, f"{many} as of {backup.made}. What was there is kept beside it.{people}"
    )


def _files(place: str | None) -> ServerFiles:
    settings = settings_at(place)
    if not isinstance(settings.database, Path):
        raise NotFound(
            "These workspaces are kept by a server; there are no files to copy.",
            "A server is backed up by its own means: docs/postgresql.md says how.",
        )
    folder = settings.workspaces if isinstance(settings.workspaces, Path) else None
    return ServerFiles(settings.database, folder)


def _count_members(team: Team, workspace: TeamWorkspace) -> int:
    row = team.database.row("SELECT count(*) AS n FROM members WHERE workspace = ?", workspace.id)
    return int(row["n"]) if row else 0


def _as_json(workspace: TeamWorkspace) -> dict[str, object]:
    return {
        "id": workspace.id,
        "title": workspace.title,
        "personal": workspace.personal,
        "created": workspace.created,
        "archived": workspace.archived,
    }


def _say(options: argparse.Namespace, workspace: TeamWorkspace, said: str) -> int:
    print(json.dumps(_as_json(workspace), ensure_ascii=False) if options.json else one_line(said))
    return 0


def _say_backup(options: argparse.Namespace, backup: Backup, said: str) -> int:
    told = {"folder": str(backup.folder), "made": backup.made, "files": dict(backup.files)}
    print(json.dumps(told, ensure_ascii=False) if options.json else one_line(said))
    return 0
