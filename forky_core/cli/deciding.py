"""Shows plans on a terminal, and lands them when the person confirms (law 8)."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.log import chosen
from forky_core.cli.plain import one_line, plain
from forky_core.model.errors import BadContent

if TYPE_CHECKING:
    from forky_core.conversation.conversation import Conversation
    from forky_core.forky import Forky


def add_place(command: argparse.ArgumentParser, branch: str, help: str) -> None:
    """Add the arguments that choose a conversation and a branch."""
    command.add_argument(
        "--conversation",
        metavar="CONVERSATION",
        help="its title, or the beginning of its id (default: the one that changed last)",
    )
    command.add_argument(branch, dest="branch", metavar="BRANCH", help=help)


def add_decision(command: argparse.ArgumentParser) -> None:
    """Add the arguments that say whether the plan lands."""
    either = command.add_mutually_exclusive_group()
    either.add_argument("--yes", action="store_true", help="land it without asking")
    either.add_argument("--dry-run", action="store_true", help="show it and write nothing")
    command.add_argument("--json", action="store_true", help="one JSON object; takes --yes or --dry-run")


def place(forky: Forky, options: argparse.Namespace) -> Conversation:
    return chosen(forky, options.conversation, options.branch)


def refuse_unasked(options: argparse.Namespace) -> None:
    """Raise BadContent if nobody can be asked and no option decides. Call this before any work is done."""
    decided = options.yes or options.dry_run
    if options.json and not decided:
        raise BadContent("--json asks nobody.", "Add --yes to land it, or --dry-run to look at it.")
    if not decided and not sys.stdin.isatty():
        raise BadContent("Nobody can be asked here.", "Add --yes to land it, or --dry-run to look at it.")


def decided(options: argparse.Namespace, out: TextIO, question: str) -> bool:
    """Whether to land the plan; asks if no option decides."""
    if options.yes or options.dry_run:
        return bool(options.yes)
    out.flush()
    try:
        answer = input(f"{question} [y/N] ")
    except EOFError:
        answer = ""
    return answer.strip().lower() in ("y", "yes", "j", "ja")


def show(out: TextIO, text: str, facts: Iterable[str], warnings: Iterable[str]) -> None:
    """Print a plan for a person: the text, its figures, and what to know first."""
    if text:
        print(f"{plain(text)}\n", file=out)
    for fact in facts:
        print(one_line(fact), file=out)
    for warning in warnings:
        print(f"! {one_line(warning)}", file=out)


def finish(
    options: argparse.Namespace,
    out: TextIO,
    *,
    entry: Mapping[str, object],
    preview: Callable[[], None],
    question: str,
    land: Callable[[], str],
    nothing: Sequence[str] = (),
) -> int:
    """Show a plan, ask, and land it; the sentences in `nothing` say why there is nothing to land.

    Returns the exit code: 0, or 1 if the person declined.
    """
    if options.json:
        summary = land() if options.yes and not nothing else None
        print(json.dumps({**entry, "landed": summary}), file=out)
        return 0
    preview()
    if nothing:
        return 0
    if not decided(options, out, question):
        print("Nothing was written.", file=out)
        return 0 if options.dry_run else 1
    print(one_line(land()), file=out)
    return 0
