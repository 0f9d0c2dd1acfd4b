"""`forky export`: a conversation as a file that somebody else can open."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.plain import one_line
from forky_core.errors import NothingToDo
from forky_core.formats.forky_file.files import save
from forky_core.formats.forky_file.writing import chat_of, part_of, written
from forky_core.views.shelf import count

if TYPE_CHECKING:
    from forky_core.forky import Forky


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("export", help="write a conversation as a Forky chat file")
    command.add_argument("conversation", metavar="ID", help="its id or the beginning of it")
    command.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="*.forky.jsonl, or *.forky.zip; default: print it"
    )
    command.add_argument("--branch", metavar="NAME", help="only the messages that lead to this branch")
    command.add_argument("--no-files", action="store_true", help="leave the attachments' bytes out")
    command.set_defaults(run=run, makes_database=False)


def run(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    found = forky.conversation(options.conversation, options.branch)
    chat = chat_of(forky.store, found.id, files=not options.no_files)
    if options.branch is not None:
        head = found.branch.head
        if head is None:
            raise NothingToDo(f"“{options.branch}” is empty.")
        chat = part_of(chat, {options.branch: head})
    if options.output is None:
        out.writelines(written(chat))
        return 0
    save(chat, options.output)
    print(f"{one_line(options.output.name)}: {count(len(chat.messages), 'message')}", file=sys.stderr)
    return 0
