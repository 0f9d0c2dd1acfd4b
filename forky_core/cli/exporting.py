"""`forky export`: a conversation as a file that somebody else, or another program, can open."""

from __future__ import annotations

import argparse
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.noted_exports import note_operators_export
from forky_core.cli.plain import one_line, plain, print_pieces
from forky_core.cli.private_values import report_private_values
from forky_core.cli.titles import conversation_called
from forky_core.formats.exporting.exporting import Exporter
from forky_core.formats.exporting.redaction import findings, redacted, unread_files
from forky_core.formats.exporting.registry import EXPORTERS, exporter, exporters
from forky_core.formats.exporting.sharing import export_value, exported_part, hidden_content, save_as
from forky_core.formats.exporting.writers.forky import ForkyFile
from forky_core.formats.exporting.writers.message_arrays import DIALECTS, Messages
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.files import save
from forky_core.model.errors import BadContent
from forky_core.views.shelf import count

if TYPE_CHECKING:
    from forky_core.forky import Forky

_ZIP = ".zip"


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("export", help="write a conversation as a file: a web page, Markdown …")
    command.add_argument("conversation", metavar="CONVERSATION", help="its title, or the beginning of its id")
    command.add_argument(
        "--as",
        dest="format",
        metavar="FORMAT",
        help=f"{', '.join(one.name for one in EXPORTERS)}, or one that a package adds; default: what the file's name says, or forky",
    )
    command.add_argument(
        "--dialect",
        choices=DIALECTS,
        help=f"of {Messages.name}: whose messages they are (default: {DIALECTS[0]})",
    )
    command.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: print it")
    command.add_argument("--branch", metavar="NAME", help="only the messages that lead to this branch")
    command.add_argument(
        "--message", metavar="ID", action="append", default=[], help="only this message (may be repeated)"
    )
    command.add_argument(
        "--redact",
        action="store_true",
        help="put placeholders for keys, accounts, cards, e-mail addresses and phone numbers, in the file only",
    )
    command.add_argument("--no-files", action="store_true", help="leave the attachments' bytes out")
    command.add_argument(
        "--no-log",
        action="store_true",
        help="a Forky file or a replay with what is to be seen only: no undone messages, stashes, log and source fields",
    )
    command.set_defaults(run=run, makes_database=False)


def run(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    if options.branch and options.message:
        raise BadContent("Either a branch or messages.", "Leave --branch or --message out.")
    found = conversation_called(forky, options.conversation, options.branch)
    chat = export_value(
        forky.store,
        found,
        branch=options.branch,
        messages=options.message,
        files=not options.no_files,
    )
    path: Path | None = options.output
    to = _wanted(options)
    for sentence in to.losses(chat):
        print(plain(sentence), file=sys.stderr)
    chat = _without_secrets(exported_part(chat, to, log=not options.no_log), redact=options.redact)
    if unseen := hidden_content(chat):
        print(f"Leaving with it: {unseen}; --no-log keeps them here.", file=sys.stderr)
    part = "branch" if options.branch else "messages" if options.message else ""
    note_operators_export(forky, found.id, to.name, part)
    if path is None:
        print_pieces(to.write(chat), out)
        return 0
    if isinstance(to, ForkyFile) and path.suffix.lower() == _ZIP:
        save(chat, path)
    else:
        save_as(chat, to, path)
    print(f"{one_line(path.name)}: {count(len(chat.messages), 'message')}", file=sys.stderr)
    return 0


def _without_secrets(chat: Chat, *, redact: bool) -> Chat:
    """Print what looks private in the conversation, and replace it if `redact` is set."""
    seen = findings(chat)
    report_private_values(seen, redact=redact)
    if redact and (unread := unread_files(chat)):
        print(plain(f"Not looked into: {', '.join(map(one_line, unread))}"), file=sys.stderr)
    return redacted(chat, seen) if redact else chat


def _wanted(options: argparse.Namespace) -> Exporter:
    """Return the exporter that the options name, or the one for the suffix of the file's name."""
    if options.format or options.dialect:
        return exporter(options.format or Messages.name, options.dialect or "")
    name = options.output.name.lower() if options.output is not None else ""
    if name.endswith((".forky.jsonl", ".forky.zip")):
        return ForkyFile()
    if name.endswith(".ipynb"):
        return exporter("notebook")
    dialects = (Messages(one) for one in DIALECTS if name.endswith(f".{one}.json"))
    fitting = (one for one in exporters() if name.endswith(one.suffix))
    return next(chain(dialects, fitting), ForkyFile())
