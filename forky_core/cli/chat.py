"""`forky chat`: talk, fork, merge and undo in a terminal."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.log import chosen
from forky_core.cli.plain import one_line, plain
from forky_core.cli.session import ChatSession
from forky_core.cli.streaming import stream
from forky_core.model.errors import BadContent, ModelError

if TYPE_CHECKING:
    from forky_core.conversation.conversation import Conversation
    from forky_core.forky import Forky


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("chat", help="talk to a model")
    command.add_argument("conversation", nargs="?", help="go on with this one (default: a new one)")
    command.add_argument(
        "--branch", help="the branch to talk on, of the conversation that changed last where none is named"
    )
    command.add_argument("--model", help="who answers")
    command.add_argument("--system", help="the system prompt of a new conversation")
    command.add_argument("-m", "--message", help="say this (-: standard input), print the answer and leave")
    command.add_argument("--json", action="store_true", help="with --message: the answer as one JSON object")
    command.set_defaults(run=run, makes_database=True)


def run(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    if options.json and options.message is None:
        raise BadContent("--json needs a message.", "Give one with -m.")
    if (options.conversation or options.branch is not None) and options.system is not None:
        raise BadContent(
            "--system is for a new conversation.", "Leave conversation and branch out to begin one."
        )
    if options.model:
        forky.models.model(options.model)
    text = sys.stdin.read() if options.message == "-" else options.message
    if text is not None and not text.strip():
        raise BadContent("There is nothing to say.", "Give -m some text.")
    chat = _conversation(forky, options)
    if text is None:
        return ChatSession(forky, chat, options.model, out).run()
    if options.json:
        return _answer_as_json(chat, text, options.model, out)
    stream(chat, text, options.model, out)
    return 0


def _conversation(forky: Forky, options: argparse.Namespace) -> Conversation:
    """Return the conversation that the options name, or a new one if they name neither a conversation nor a branch.

    If they name only a branch, it is looked up in the most recently changed conversation, as in other commands.
    """
    if options.conversation or options.branch is not None:
        return chosen(forky, options.conversation, options.branch)
    return forky.create(system=options.system)


def _answer_as_json(chat: Conversation, text: str, model: str | None, out: TextIO) -> int:
    entry: dict[str, object] = {"conversation": chat.id, "branch": chat.branch_name}
    try:
        reply = chat.ask(text, model=model)
    except ModelError as error:
        entry["failure"] = {"kind": error.failure.kind, "sentence": error.failure.sentence}
        print(json.dumps(entry), file=out)
        print(plain(one_line(str(error))), file=sys.stderr)
        return 1
    print(json.dumps({**entry, "id": reply.id, "text": reply.text}), file=out)
    return 0
