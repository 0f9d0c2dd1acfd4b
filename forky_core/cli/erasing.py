"""`forky erase`: erase what a message says, for good, everywhere in the database."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.deciding import add_place, place
from forky_core.cli.opened_team import team_beside
from forky_core.conversation.session import short
from forky_core.views.erasing import described
from forky_core.views.shelf import count

if TYPE_CHECKING:
    from forky_core.forky import Forky


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    erase = commands.add_parser("erase", help="erase what a message says, for good")
    erase.add_argument("message", help="the id of the message, or its beginning")
    add_place(erase, "--branch", "a branch of its conversation (default: the one that moved last)")
    erase.add_argument(
        "--confirm", metavar="DIGITS", help="the first eight digits of its id, in place of typing them"
    )
    erase.add_argument("--json", action="store_true", help="the outcome as one JSON object")
    erase.set_defaults(run=run, makes_database=False)


def run(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat = place(forky, options)
    plan = chat.history.plan_erasure(options.message)
    confirm = options.confirm
    if confirm is None:
        print(described(plan), file=sys.stderr)
        if not sys.stdin.isatty():
            print(f"Nothing was erased. Add --confirm {plan.confirmation} to erase it.", file=sys.stderr)
            return 1
        confirm = input(f"Type {plan.confirmation} to erase it for good: ")
    done = chat.history.erase(plan.message, confirm=confirm)
    with team_beside(options.database, options.in_workspace) as team:
        if team is not None:
            team.erase(done.passages)
            team.audit.note("message erased", conversation=chat.id, message=plan.message)
    if options.json:
        outcome = {
            "message": plan.message,
            "operation": done.operation.number,
            "conversations": list(done.conversations),
            "messages": done.messages,
            "files": done.files,
        }
        print(json.dumps(outcome), file=out)
    else:
        print(
            f"{short(plan.message)} is erased, in {count(done.messages, 'message')} of "
            f"{count(len(done.conversations), 'conversation')}. Backups and exported files keep it.",
            file=out,
        )
    return 0
