"""`forky completion`: the script that makes a shell complete `forky …`, and the completions for that script.

The script (argcomplete's) runs `forky` itself at each press of TAB, so that it is never out of date. It offers titles
of conversations, names of branches and ids of messages. It changes nothing, and offers nothing from a database that
cannot be opened.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from forky_core.cli.plain import one_line
from forky_core.conversation.session import short
from forky_core.formats.exporting.registry import exporters
from forky_core.merge.strategies import strategies
from forky_core.model import ConversationId
from forky_core.model.errors import ForkyError
from forky_core.process.extras import needed_for
from forky_core.process.settings import Settings
from forky_core.store.contract import Store
from forky_core.store.opening import open_store
from forky_core.views.shelf import count, title_or_placeholder
from forky_core.views.times import stamp

if TYPE_CHECKING:
    from argcomplete.completers import BaseCompleter

SHELLS = ("bash", "zsh", "fish")
_ASKED = "_ARGCOMPLETE"
"""The variable that argcomplete's script sets when it asks for completions."""
_FEW = 50
"""How many messages are offered, the newest first."""

Offered = Mapping[str, str]
"""The completions of a word, each with a description that a shell may show."""
Completer = Callable[[Store, str, argparse.Namespace, str], Offered]
"""Takes the store, the typed beginning of the word, the parsed line, and the `dest` of the argument."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "completion",
        help="print the script that completes `forky …` in a shell",
        description="Print the script that completes `forky …` in a shell. docs/command-line.md says where it goes.",
    )
    command.add_argument("shell", choices=SHELLS)
    command.set_defaults(run=run, makes_database=None)


def run(options: argparse.Namespace) -> int:
    with needed_for("Completion in the shell", "completion"):
        from argcomplete.shell_integration import shellcode  # noqa: PLC0415 - an extra that this command alone needs

    # These arguments switch off bash's own defaults, which offer files where Forky offers nothing.
    print(shellcode(["forky"], shell=options.shell, complete_arguments=("-o", "nospace")), end="")
    return 0


def complete_if_asked(parser: argparse.ArgumentParser) -> None:
    """Print the completions and end the program if a shell asks for them; otherwise return."""
    if _ASKED not in os.environ:
        return
    with needed_for("Completion in the shell", "completion"):
        from argcomplete import autocomplete  # noqa: PLC0415 - as above

    # argcomplete accepts any callable as a completer, but its annotations name a class.
    completer = cast("BaseCompleter", _offered)
    autocomplete(parser, always_complete_options=False, validator=_fits, default_completer=completer)


def _fits(word: str, prefix: str) -> bool:
    return word.casefold().startswith(prefix.casefold())


def _offered(
    *, prefix: str, action: argparse.Action, parser: argparse.ArgumentParser, parsed_args: argparse.Namespace
) -> Offered:
    """Return the completions of this argument."""
    del parser
    if action.type is Path or action.metavar == "FILE":
        return _files(prefix)
    if action.dest == "strategy":
        return {one.name: one.label for one in strategies()}
    if action.dest == "format":
        return {one.name: one.label for one in exporters()}
    completer = completer_of(action)
    if completer is None:
        return {}
    with _opened(parsed_args) as store:
        return completer(store, prefix, parsed_args, action.dest) if store is not None else {}


def completer_of(action: argparse.Action) -> Completer | None:
    """Return the completer that reads the database for this argument; None if the argument names nothing in it."""
    if action.metavar == "CONVERSATION" or action.dest in {"conversation", "pull"}:
        return _conversations
    if action.dest in {"source", "branch", "source_branch", "target", "onto"}:
        return _branches
    if action.dest in {"at", "ids", "good", "bad", "pick", "answer", "message"} and action.metavar == "ID":
        return _messages
    return None


@contextmanager
def _opened(options: argparse.Namespace) -> Iterator[Store | None]:
    """Open the store of the database that the line names; yield None if there is none, or it cannot be read now."""
    try:
        place = Path(options.database or Settings.from_environment().database).expanduser()
        store = open_store(place) if place.is_file() else None
    except (ForkyError, OSError, ValueError, RuntimeError):
        store = None
    if store is None:
        yield None
        return
    with closing(store):
        yield store


def _conversations(store: Store, prefix: str, _options: argparse.Namespace, _dest: str) -> Offered:
    """Offer conversations by their title if it is unique, otherwise by their id; by both if something is typed
    already.
    """
    summaries = store.conversations()
    many = Counter(one_line(one.title) for one in summaries)
    offered: dict[str, str] = {}
    for one in summaries:
        title = one_line(one.title)
        if title and many[title] == 1 and not title.startswith("-"):
            offered[title] = f"{count(one.messages, 'message')}, {stamp(one.updated)}"
        if prefix or title not in offered:
            offered[one.id] = one_line(title_or_placeholder(one.title))
    return offered


def _branches(store: Store, _prefix: str, options: argparse.Namespace, dest: str) -> Offered:
    """Offer the branches of the conversation that the line names, or of the one that changed last."""
    named = options.source if dest == "source_branch" else getattr(options, "conversation", None)
    if dest == "source" and getattr(options, "of", None):
        named = options.of
    id = _find_conversation(store, named)
    if id is None:
        return {}
    branches = store.view(id).branches
    return {
        one_line(name): short(branch.head) if branch.head is not None else "empty"
        for name, branch in branches.items()
    }


def _messages(store: Store, _prefix: str, options: argparse.Namespace, dest: str) -> Offered:
    """Offer the last messages of the branch that the line names, or of the one that moved last."""
    named, name = getattr(options, "conversation", None), getattr(options, "branch", None)
    if dest == "pick":  # Picked messages are of the source, not of the target.
        sources = getattr(options, "source", None)
        if isinstance(sources, str):
            named, name = sources, options.source_branch
        elif sources:
            named, name = getattr(options, "of", None) or named, sources[0]
    id = _find_conversation(store, named)
    if id is None:
        return {}
    resumed = next(one.branch for one in store.conversations() if one.id == id)
    branch = store.view(id).branches.get(name or resumed)
    path = store.path(id, branch.head) if branch is not None and branch.head is not None else ()
    return {
        short(one.id): f"{one_line(one.name or one.role)}: {one_line(one.text[:200])[:60]}"
        for one in reversed(path[-_FEW:])
    }


def _find_conversation(store: Store, named: str | None) -> ConversationId | None:
    """Return the conversation with that title or beginning of an id; the one that changed last if nothing is named."""
    summaries = store.conversations()
    if not named:
        return summaries[0].id if summaries else None
    fitting = [one.id for one in summaries if one.id.startswith(named)]
    fitting = fitting or [one.id for one in summaries if one_line(one.title) == one_line(named)]
    return fitting[0] if len(fitting) == 1 else None


def _files(prefix: str) -> Offered:
    folder, name = os.path.split(prefix)
    try:
        found = sorted(Path(folder or ".").expanduser().iterdir())
    except (OSError, RuntimeError):
        return {}
    return {
        str(Path(folder, one.name)) + "/" * one.is_dir(): "folder" if one.is_dir() else "file"
        for one in found
        if one.name.startswith(name) and (name.startswith(".") or not one.name.startswith("."))
    }
