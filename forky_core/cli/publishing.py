"""`forky publish`: a comparison, an experiment, a poll, a merge or a replay as a file, or as a page at an address."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.deciding import add_place, place
from forky_core.cli.plain import one_line, plain, print_pieces
from forky_core.conversation.identity import now
from forky_core.formats.forky_file.files import replacing
from forky_core.gateway.published import PREFIX
from forky_core.model.errors import BadContent
from forky_core.publishing.forms.form import pieces
from forky_core.publishing.private_texts import private_values, without_private
from forky_core.publishing.published_pages import DAYS, PublishedPage, PublishedPages
from forky_core.publishing.publishing import report_of
from forky_core.publishing.registry import FORMS, THINGS, publication_form, publication_forms
from forky_core.publishing.report import Report
from forky_core.views.shelf import count
from forky_core.views.times import stamp

if TYPE_CHECKING:
    from forky_core.forky import Forky
    from forky_core.model.parts import Json

_WHILE_OPEN = (
    "While the app runs, its pages export and publish, and its Settings list and revoke what is published."
)


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("publish", help="give away a comparison, poll, merge or replay")
    acts = command.add_subparsers(dest="act", required=True, metavar="WHAT")
    for thing in THINGS:
        act = acts.add_parser(thing.name, help=f"write a {thing.label.lower()} as a file, or publish it")
        act.add_argument("which", nargs="*", metavar="WHICH", help=thing.takes)
        add_place(act, "--branch", "the branch to begin at (default: the one that moved last)")
        act.add_argument(
            "--as",
            dest="form",
            metavar="FORM",
            help=f"{', '.join(one.name for one in FORMS)}, or one that a package adds; default: what the file's name says, or html",
        )
        act.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: print it")
        act.add_argument(
            "--at-address",
            action="store_true",
            help="publish the page at an address of this server, which is printed once",
        )
        act.add_argument(
            "--days",
            type=float,
            default=DAYS,
            metavar="N",
            help=f"days until that address leads nowhere (default: {DAYS})",
        )
        act.add_argument("--server", default="http://127.0.0.1:8501", help="where Forky listens")
        act.add_argument("--redact", action="store_true", help="put placeholders for what looks private")
        act.add_argument("--json", action="store_true", help="one JSON object about what was written")
        act.set_defaults(run=partial(run_publish, thing.name), makes_database=False, while_open=_WHILE_OPEN)
    listing = acts.add_parser("list", help="list the pages that are published at an address")
    revoke = acts.add_parser("revoke", help="close a published page, at once and for good")
    revoke.add_argument("id", metavar="ID", help="as the list shows it")
    for act in (listing, revoke):
        act.add_argument("--json", action="store_true", help="one JSON object a line")
    listing.set_defaults(run=run_list, makes_database=False, while_open=_WHILE_OPEN)
    revoke.set_defaults(run=run_revoke, makes_database=False, while_open=_WHILE_OPEN)


def run_publish(thing: str, forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    path: Path | None = options.output
    if options.at_address and path is not None:
        raise BadContent("Either a file or an address.", "Leave -o or --at-address out.")
    form = publication_form(options.form or _meant_by(path))
    chat = place(forky, options)
    report = _without_secrets(report_of(forky, chat, thing, options.which), redact=options.redact)
    if options.at_address:
        made = PublishedPages(forky.store).publish(report, form, chat.id, days=options.days, by=forky.actor)
        address = f"{options.server.rstrip('/')}{PREFIX}/{made.secret}"
        if options.json:
            print(json.dumps({**_as_json(made.page), "address": address}), file=out)
        else:
            print(address, file=out)
            said = (
                f"Whoever has this address can read it until {stamp(made.page.until)}. It is not shown again."
            )
            print(said, file=sys.stderr)
        return 0
    if path is None:
        print_pieces(pieces(report, form), out)
        return 0
    with replacing(path) as file:
        for piece in pieces(report, form):
            file.write(piece)
    if options.json:
        entry = {"thing": thing, "form": form.name, "title": report.title, "file": str(path)}
        print(json.dumps(entry), file=out)
    print(f"{one_line(path.name)}: {one_line(report.title)}", file=sys.stderr)
    return 0


def run_list(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    published = PublishedPages(forky.store)
    pages = published.all()
    for page in pages:
        if options.json:
            print(json.dumps(_as_json(page)), file=out)
        else:
            print(one_line(f"{page.id}  {page.thing}  {page.title}: {_described(page, published)}"), file=out)
    if not pages and not options.json:
        print("Nothing is published. Publish a page: forky publish comparison --at-address", file=out)
    return 0


def run_revoke(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    page = PublishedPages(forky.store).revoke(options.id)
    print(json.dumps(_as_json(page)) if options.json else one_line(f"“{page.title}” is revoked."), file=out)
    return 0


def _described(page: PublishedPage, published: PublishedPages) -> str:
    """What became of a page, in words."""
    if page.revoked:
        return f"revoked {stamp(page.revoked)}"
    end = f"until {stamp(page.until)}" if page.is_open(now()) else f"expired {stamp(page.until)}"
    if published.is_in_trash(page):
        end += ", closed while its conversation is in the trash"
    return f"{end}, opened {count(page.opened, 'time')}"


def _as_json(page: PublishedPage) -> dict[str, Json]:
    """The public fields of a page; the hash is left out."""
    entry = asdict(page)
    del entry["sha256"]
    return entry


def _without_secrets(report: Report, *, redact: bool) -> Report:
    """Report what looks private; replace it if `redact` is set."""
    seen = private_values(report)
    for one in seen if redact else ():
        print(plain(f"{one.placeholder}: {one_line(one.value)[:60]}, {one.places[0].where}"), file=sys.stderr)
    if seen and not redact:
        print(
            f"{count(len(seen), 'thing')} in it may be private (keys, accounts, addresses, numbers); --redact lists and "
            "replaces them.",
            file=sys.stderr,
        )
    return without_private(report, seen) if redact else report


def _meant_by(path: Path | None) -> str:
    """The form that this file name suggests: the one with the longest suffix that fits."""
    name = path.name.lower() if path is not None else ""
    fitting = [one for one in publication_forms() if name.endswith(one.suffix)]
    return max(fitting, key=lambda one: len(one.suffix)).name if fitting else "html"
