"""`forky fork` and `forky branch`: make a branch at any message; list, rename and delete them."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.deciding import add_place, place
from forky_core.cli.plain import one_line, print_outcome
from forky_core.conversation.session import short

if TYPE_CHECKING:
    from forky_core.forky import Forky


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    fork = commands.add_parser("fork", help="make a branch at any message")
    fork.add_argument("name", nargs="?", help="its name (default: a free one)")
    fork.add_argument("--at", metavar="ID", help="the message (default: the head)")
    add_place(fork, "--branch", "the branch whose rules it takes (default: the one that moved last)")
    fork.add_argument("--json", action="store_true", help="one JSON object")
    fork.set_defaults(run=run_fork, makes_database=False)
    branch = commands.add_parser("branch", help="list, rename or delete branches")
    add_place(branch, "--branch", "the branch that is meant (default: the one that moved last)")
    either = branch.add_mutually_exclusive_group()
    either.add_argument("--rename", metavar="NAME", help="call it so")
    either.add_argument("--delete", action="store_true", help="remove the pointer; undo brings it back")
    branch.add_argument("--json", action="store_true", help="one JSON object a branch")
    branch.set_defaults(run=run_branch, makes_database=False)


def run_fork(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    forked = place(forky, options).fork(options.name, at=options.at)
    entry = {"conversation": forked.id, "branch": forked.branch_name, "head": forked.branch.head}
    return print_outcome(options, entry, forked.branch_name, out)


def run_branch(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat = place(forky, options)
    if options.rename:
        renamed = chat.branches.rename(options.rename)
        tip = renamed.head.id if renamed.head is not None else None
        return print_outcome(options, {"name": renamed.branch_name, "head": tip}, renamed.branch_name, out)
    if options.delete:
        summary = chat.branches.delete().summary
        return print_outcome(options, {"name": chat.branch_name, "deleted": True}, summary, out)
    for branch in chat.branches.values():
        if options.json:
            print(json.dumps({"name": branch.name, "head": branch.head}), file=out)
            continue
        here = "*" if branch.name == chat.branch_name else " "
        head = short(branch.head) if branch.head is not None else "(empty)"
        print(f"{here} {head}  {one_line(branch.name)}", file=out)
    return 0
