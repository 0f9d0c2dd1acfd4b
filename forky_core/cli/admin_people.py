"""`forky admin export-person` and `forget`: export or forget everything that belongs to a person."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import suppress
from pathlib import Path

from forky_core.cli.opened_team import named_member, opened_team
from forky_core.cli.plain import one_line, print_outcome
from forky_core.forky import Forky
from forky_core.gateway.forgetting import forget_person
from forky_core.gateway.person_export import save_person
from forky_core.model.errors import StoreBusy
from forky_core.views.shelf import count


def add_actions(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the actions to `forky admin`."""
    export = actions.add_parser("export-person", help="write all that is somebody's to a zip")
    export.add_argument("handle", help="whose")
    export.add_argument("--to", type=Path, required=True, metavar="FILE", help="the zip to write")
    forget = actions.add_parser("forget", help="forget somebody's name and everything that is theirs alone")
    forget.add_argument("handle", help="whose")
    forget.add_argument(
        "--to", default="", metavar="HANDLE", help="who gets their conversations (default: the owners)"
    )
    forget.add_argument("--yes", action="store_true", help="do it: it cannot be undone")
    for one, run in ((export, run_export), (forget, run_forget)):
        one.add_argument("--json", action="store_true", help="the outcome as JSON")
        one.set_defaults(run=run, makes_database=None)


def run_export(options: argparse.Namespace) -> int:
    with opened_team(options.database, options.in_workspace) as team:
        member = named_member(team, options.handle, former=True)
        try:
            forky = Forky.open(options.database, workspace=options.in_workspace)
        except StoreBusy as error:
            error.hint = "Stop Forky, or let them take it themselves: People → You → Everything that is mine."
            raise
        with forky:
            size = save_person(forky, team, member, options.to)
    if options.json:
        print(json.dumps({"handle": member.handle, "file": str(options.to), "bytes": size}))
    else:
        print(f"All that is {one_line(member.name)}’s: {options.to} ({size:,} bytes).")
    return 0


def run_forget(options: argparse.Namespace) -> int:
    with opened_team(options.database, options.in_workspace) as team:
        member = named_member(team, options.handle, former=True)
        to = named_member(team, options.to, former=True).id if options.to else ""
        if not options.yes:
            print(
                f"{one_line(member.name)} would be “Somebody who left” from then on, and nothing brings the name back. "
                "Nothing was done. Add --yes to do it.",
                file=sys.stderr,
            )
            return 1
        whole: Forky | None = None
        with suppress(StoreBusy):  # The app has it open; then only a token stays, which no longer works.
            whole = Forky.open(options.database, workspace=options.in_workspace)
        try:
            handed = forget_person(team, member, by="", to=to, whole=whole)
        finally:
            if whole is not None:
                whole.close()
    whose = options.to if to else "the owners"
    sentence = f"{member.name} is forgotten; {count(handed, 'conversation')} went to {whose}."
    return print_outcome(options, {"id": member.id, "conversations": handed}, sentence)
