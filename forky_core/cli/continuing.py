"""`forky continue`: go on with a branch in Claude Code, Codex or pi, in the folder in which the command is run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.deciding import place
from forky_core.cli.noted_exports import note_operators_export
from forky_core.cli.plain import plain, print_outcome
from forky_core.formats.exporting.agent_sessions import PROGRAMS, new_session
from forky_core.formats.importing.continuations import record_continuation

if TYPE_CHECKING:
    from forky_core.forky import Forky


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "continue",
        help="go on with a branch in another program",
        description="Write a session that another program resumes in this folder, and print the command that does it.",
        epilog="`forky import FILE` brings what was said there back to the branch, as often as you like.",
    )
    command.add_argument("branch", metavar="BRANCH", help="the branch")
    command.add_argument(
        "--conversation", metavar="CONVERSATION", help="its title or id (default: the one that changed last)"
    )
    command.add_argument(
        "--in",
        dest="program",
        required=True,
        choices=[one.name for one in PROGRAMS],
        help=", ".join(one.label for one in PROGRAMS),
    )
    command.add_argument("--json", action="store_true", help="one JSON object")
    command.set_defaults(run=run, makes_database=False)


def run(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    program = next(one for one in PROGRAMS if one.name == options.program)
    chat = place(forky, options)
    turns, left_out = program.content(chat, forky.store)
    session = new_session(Path.cwd())
    file = program.write(session, turns)
    record_continuation(forky, chat, file, program.label)
    note_operators_export(forky, chat.id, program.format, "branch")
    if not options.json:
        print(*map(plain, left_out), sep="\n", end="\n" * bool(left_out), file=sys.stderr)
    command = program.resume.format(session.id)
    made = {"session": session.id, "file": str(file), "resume": command, "left_out": left_out}
    return print_outcome(options, {"conversation": chat.id, "branch": chat.branch_name, **made}, command, out)
