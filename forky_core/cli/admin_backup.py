"""`forky admin backup` and `restore`: copy the files of a team's server, and put a copy back."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from forky_core.cli.opened_team import settings_at
from forky_core.cli.plain import one_line
from forky_core.model.errors import NotFound, StoreBusy
from forky_core.people.backup.backup_desk import ask_for_backup
from forky_core.people.backup.server_backup import Backup, back_up, read_backup, restore
from forky_core.people.team import Team

Run = Callable[[Team, argparse.Namespace], int]


def add_backup(
    action: Callable[[str, Run, str], argparse.ArgumentParser],
    actions: argparse._SubParsersAction[argparse.ArgumentParser],
) -> None:
    """Add the commands to `forky admin`; `action` adds an action that runs with the team open."""
    backup = action("backup", run_backup, "copy the conversations and the people into a new folder")
    backup.add_argument("folder", type=Path, help="where the folder of the backup is made")
    back = actions.add_parser(
        "restore", help="put a backup in the place of what there is; stop the server first"
    )
    back.set_defaults(run=run_restore, makes_database=None)
    back.add_argument("folder", type=Path, help="the folder of the backup")
    for one in (backup, back):
        one.add_argument("--json", action="store_true", help="one JSON object")


def run_backup(team: Team, options: argparse.Namespace) -> int:
    try:
        made = back_up(options.folder, team, _file(options))
    except StoreBusy:
        made = read_backup(ask_for_backup(team, options.folder))
    else:
        team.audit.note("backed up")
    return _say(options, made, f"The backup is in {made.folder}.")


def run_restore(options: argparse.Namespace) -> int:
    backup = read_backup(options.folder)
    others = restore(backup, _file(options), settings_at(options.database).workspace)
    left = (
        f" The backup also has {', '.join(others)}, of other workspaces, with which nothing was done: each is a database "
        "of its own."
        if others
        else ""
    )
    sentence = (
        f"Everything is as of {backup.made}. What was there is kept beside it. Everybody signs in again; who was removed, "
        f"and what was revoked, since then is as it was.{left}"
    )
    return _say(options, backup, sentence)


def _file(options: argparse.Namespace) -> Path:
    """Return the database file of the conversations."""
    database = settings_at(options.database, options.in_workspace).database
    if not isinstance(database, Path):
        raise NotFound(
            "This workspace is kept by a server; there are no files to copy.",
            "A server is backed up by its own means: docs/postgresql.md says how.",
        )
    return database


def _say(options: argparse.Namespace, backup: Backup, sentence: str) -> int:
    entry = {"folder": str(backup.folder), "made": backup.made, "files": dict(backup.files)}
    print(json.dumps(entry, ensure_ascii=False) if options.json else one_line(sentence))
    return 0
