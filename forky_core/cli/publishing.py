"""`forky publish`: write a comparison, an experiment, a poll, a merge or a replay as a file."""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.deciding import add_place, place
from forky_core.cli.noted_exports import note_operators_export
from forky_core.cli.plain import one_line, print_pieces
from forky_core.cli.private_values import report_private_values
from forky_core.formats.forky_file.files import replacing
from forky_core.formats.reports.form import pieces
from forky_core.formats.reports.private_texts import private_values, without_private
from forky_core.formats.reports.publishing import report_of
from forky_core.formats.reports.registry import FORMS, THINGS, form_for_file, publication_form
from forky_core.formats.reports.report import Report

if TYPE_CHECKING:
    from forky_core.forky import Forky

_WHILE_OPEN = "While the app runs, its pages give things away."


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("publish", help="give away a comparison, poll, merge or replay")
    acts = command.add_subparsers(dest="act", required=True, metavar="WHAT")
    for thing in THINGS:
        act = acts.add_parser(thing.name, help=f"write the {thing.label.lower()} as a file")
        act.add_argument("which", nargs="*", metavar="WHICH", help=thing.takes)
        add_place(act, "--branch", "the branch to begin at (default: the one that moved last)")
        act.add_argument(
            "--as",
            dest="form",
            metavar="FORM",
            help=f"{', '.join(one.name for one in FORMS)} (a table, of an experiment alone); default: what the file's name says, or html",
        )
        act.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: print it")
        act.add_argument("--redact", action="store_true", help="put placeholders for what looks private")
        act.add_argument("--json", action="store_true", help="one JSON object about what was written")
        act.set_defaults(run=partial(run_publish, thing.name), makes_database=False, while_open=_WHILE_OPEN)


def run_publish(thing: str, forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    path: Path | None = options.output
    form = publication_form(options.form or form_for_file(path))
    chat = place(forky, options)
    report = _without_secrets(report_of(forky, chat, thing, options.which), redact=options.redact)
    written = pieces(report, form)
    note_operators_export(forky, chat.id, form.name, thing)
    if path is None:
        print_pieces(written, out)
        return 0
    with replacing(path) as file:
        for piece in written:
            file.write(piece)
    if options.json:
        entry = {"thing": thing, "form": form.name, "title": report.title, "file": str(path)}
        print(json.dumps(entry), file=out)
    print(f"{one_line(path.name)}: {one_line(report.title)}", file=sys.stderr)
    return 0


def _without_secrets(report: Report, *, redact: bool) -> Report:
    """Print what looks private in the report, and replace it if `redact` is set."""
    seen = private_values(report)
    report_private_values(seen, redact=redact)
    return without_private(report, seen) if redact else report
