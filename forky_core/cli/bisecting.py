"""`forky bisect`: find the first message from which a probe fails, judged by a model or by the person
at the terminal.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.deciding import add_place, place
from forky_core.cli.plain import one_line, plain
from forky_core.conversation.merging.bisecting import contains
from forky_core.conversation.merging.pattern_check import matches
from forky_core.conversation.session import short
from forky_core.model.errors import BadContent

if TYPE_CHECKING:
    from forky_core.conversation.conversation import Conversation
    from forky_core.conversation.merging.bisecting import Bisection, Check
    from forky_core.forky import Forky

_SHOWN = 400
"""How many characters of a message are shown to a person who judges it."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("bisect", help="find the first message from which a probe fails")
    command.add_argument("question", help="what is asked at each message")
    add_place(command, "--branch", "the branch to search (default: the one that moved last)")
    check = command.add_mutually_exclusive_group()
    check.add_argument("--contains", metavar="WORDS", help="the answer passes where it has these words")
    check.add_argument("--matches", metavar="REGEX", help="the answer passes where this is found in it")
    check.add_argument("--judge", action="store_true", help="you say of each answer whether it passes")
    check.add_argument(
        "--by-hand", action="store_true", help="no model is asked: you answer the question yourself"
    )
    command.add_argument("--good", metavar="ID", help="a message known to pass (default: before the first)")
    command.add_argument("--bad", metavar="ID", help="one that fails (default: the head)")
    command.add_argument(
        "--repeats", type=int, default=1, metavar="N", help="calls a probe, odd; the majority counts"
    )
    command.add_argument("--model", help="who is asked")
    command.add_argument("--json", action="store_true", help="what was found as one JSON object")
    command.set_defaults(run=run, makes_database=False)


def run(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat = place(forky, options)
    by_person = options.judge or options.by_hand
    if not (by_person or options.contains or options.matches):
        raise BadContent("What makes an answer pass?", "Give --contains, --matches, --judge or --by-hand.")
    if by_person and not sys.stdin.isatty():
        raise BadContent("Nobody can be asked here.", "Give --contains or --matches.")
    found = _by_hand(chat, options, out) if options.by_hand else _asked(chat, options, out)
    first = found.first
    assert first is not None
    if options.json:
        entry = {
            "conversation": chat.id,
            "branch": chat.branch_name,
            "first": first.id,
            "probes": [{"message": one.message.id, "passed": one.passed} for one in found.probed],
            "calls": found.calls,
        }
        print(json.dumps(entry), file=out)
        return 0
    print(f"\nIt fails from {short(first.id)} on:\n{first.role}: {plain(first.text[:_SHOWN])}", file=out)
    return 0


def _asked(chat: Conversation, options: argparse.Namespace, out: TextIO) -> Bisection:
    def tell(search: Bisection) -> None:
        last = search.probed[-1]
        if not options.json:
            print(
                f"{short(last.message.id)}  {'passes' if last.passed else 'fails'}, "
                f"at most {search.steps} to go",
                file=out,
                flush=True,
            )

    return chat.bisections.run(
        options.question,
        _check(options),
        good=options.good,
        bad=options.bad,
        repeats=options.repeats,
        model=options.model,
        on_probe=tell,
    )


def _check(options: argparse.Namespace) -> Check:
    if options.contains:
        return contains(options.contains)
    if options.matches:
        return matches(options.matches)
    return lambda answer: _yes(f"\n{plain(answer)}\nDoes this pass? [y/N] ")


def _by_hand(chat: Conversation, options: argparse.Namespace, out: TextIO) -> Bisection:
    search = chat.bisections.start(good=options.good, bad=options.bad)
    while (here := search.at) is not None:
        print(f"\n{short(here.id)}  {here.role}: {plain(here.text[:_SHOWN])}", file=out, flush=True)
        search = search.with_result(_yes(f"{one_line(options.question)} Still so here? [y/N] "))
    chat.bisections.record(search, options.question)
    return search


def _yes(question: str) -> bool:
    return input(question).strip().lower() in ("y", "yes", "j", "ja")
