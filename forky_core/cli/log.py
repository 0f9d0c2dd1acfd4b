"""`forky log`: the messages of a branch, or with `--graph` the whole conversation as `git log --graph` draws it."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.plain import one_line, plain
from forky_core.cli.titles import conversation_called
from forky_core.conversation.session import short
from forky_core.model.errors import NotFound
from forky_core.process.lazy_names import import_when_used
from forky_core.views.shelf import title_or_placeholder

if TYPE_CHECKING:
    from forky_core.conversation.conversation import Conversation
    from forky_core.forky import Forky
    from forky_core.views.drawing import draw
else:
    import_when_used(globals(), __spec__)


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("log", help="show a conversation")
    command.add_argument(
        "conversation",
        nargs="?",
        help="its title, or the beginning of its id (default: the one that changed last)",
    )
    command.add_argument("--branch", help="the branch to show (default: the one that moved last)")
    command.add_argument("--graph", action="store_true", help="draw every branch, newest first")
    command.add_argument("--json", action="store_true", help="one JSON object a message, oldest first")
    command.set_defaults(run=run, makes_database=False)


def run(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat = chosen(forky, options.conversation, options.branch)
    if options.json:
        _print_json(chat, everything=options.graph, out=out)
    elif options.graph:
        print_graph(chat, out)
    else:
        print(one_line(title_or_placeholder(chat.title)), file=out)
        for message in chat.path():
            who = one_line(message.name or chat.people.author_of(message.id) or message.role)
            print(f"\n{short(message.id)}  {who}\n{plain(message.text)}", file=out)
    return 0


def chosen(forky: Forky, id: str | None, branch: str | None) -> Conversation:
    """Return the conversation with this id or title, or the most recently changed one."""
    if id is None:
        summaries = forky.conversations()
        if not summaries:
            raise NotFound("There is no conversation yet.", "Begin one with: forky chat")
        return forky.conversation(summaries[0].id, branch)
    return conversation_called(forky, id, branch)


def print_graph(chat: Conversation, out: TextIO) -> None:
    if not chat.visible.messages:
        print("Nothing has been said yet.", file=out)
    drawn = draw(
        chat.visible.messages, chat.view, checked_out=chat.branch_name, author_of=chat.people.author_of
    )
    for line in drawn:
        print(_on_one_line(line), file=out)


def _on_one_line(line: str) -> str:
    """Make a line `plain` and keep it on one line, with the spaces of the drawing."""
    return plain(line).replace("\n", " ").replace("\t", " ")


def _print_json(chat: Conversation, *, everything: bool, out: TextIO) -> None:
    for message in chat.visible.messages.values() if everything else chat.path():
        entry = {
            "id": message.id,
            "parents": message.parents,
            "role": message.role,
            "parts": [part.stored() for part in message.parts],
            "created": message.created,
        }
        if message.name is not None:
            entry["name"] = message.name
        if author := chat.people.author_of(message.id):
            entry["author"] = author
        print(json.dumps(entry), file=out)
