"""`forky repair`: make a database with a damaged log usable again, preserving a copy of the original."""

from __future__ import annotations

import argparse
import json

from forky_core.cli.plain import one_line
from forky_core.model.errors import BadContent
from forky_core.process.settings import Settings
from forky_core.store.duckdb.file.repair import repair


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("repair", help="open a database whose log is damaged, keeping a copy")
    command.add_argument("--json", action="store_true", help="the result as one JSON object")
    command.set_defaults(run=run, makes_database=None)


def run(options: argparse.Namespace) -> int:
    place = options.database or Settings.from_environment().database
    if str(place) == ":memory:" or "://" in str(place):
        raise BadContent(f"{place} is no file that could be repaired.", "--database names one.")
    done = repair(place)
    copies = [str(copy) for copy in done.copies]
    if options.json:
        print(json.dumps({"cut": done.cut, "copies": copies}))
    elif not done.copies:
        print("Nothing to repair: the database opens.")
    else:
        print(f"{done.cut:,} bytes of the log could not be read and are left out; the database opens again.")
        print(f"As it was: {one_line(', '.join(copies))}")
    return 0
