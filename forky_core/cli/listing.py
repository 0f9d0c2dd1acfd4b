"""`forky list`: the conversations, the most recently changed first."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.plain import one_line
from forky_core.formats.importing import UNFINISHED
from forky_core.process.lazy_names import import_when_used
from forky_core.views.shelf import count, title_or_placeholder
from forky_core.views.times import stamp

if TYPE_CHECKING:
    from forky_core.cli.importing import print_interrupted_imports
    from forky_core.forky import Forky
else:
    import_when_used(globals(), __spec__)

_SHORTEST = 13
"""How many characters of an id encode the millisecond in which it was made."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("list", help="list the conversations")
    command.add_argument("--trash", action="store_true", help="those in the trash")
    command.add_argument("--folder", metavar="NAME", help="those in this folder")
    command.add_argument("--json", action="store_true", help="one JSON object a line")
    command.set_defaults(run=run, makes_database=False)


def run(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    every = forky.conversations(trashed=options.trash)
    summaries = [one for one in every if options.folder in (None, one.folder)]
    if options.json:
        for summary in summaries:
            print(json.dumps(asdict(summary)), file=out)
        return 0
    everyone = (*summaries, *forky.conversations(trashed=not options.trash))
    ids = short_ids([summary.id for summary in everyone])
    for summary in summaries:
        title = one_line(title_or_placeholder(summary.title))
        print(
            f"{ids[summary.id]}  {stamp(summary.updated)}  {count(summary.messages, 'message'):>14}  {title}",
            file=out,
        )
    if every and not summaries:
        print("Nothing is in this folder.", file=out)
    elif not summaries:
        print(
            "The trash is empty." if options.trash else "No conversation yet. Begin one: forky chat", file=out
        )
    if forky.store.setting(UNFINISHED):
        print_interrupted_imports(forky)
    return 0


def short_ids(ids: Sequence[str]) -> Mapping[str, str]:
    """Return the shortest unique beginning of each id."""
    ordered = sorted(ids)
    short: dict[str, str] = {}
    for number, id in enumerate(ordered):
        neighbours = ordered[max(number - 1, 0) : number] + ordered[number + 1 : number + 2]
        shared = max((_shared(id, other) for other in neighbours), default=0)
        short[id] = id[: max(_SHORTEST, shared + 1)]
    return short


def _shared(one: str, two: str) -> int:
    return next(
        (n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two))
    )
