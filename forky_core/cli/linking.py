"""`forky link`: addresses at which others read one thing without signing in: made, listed, revoked."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.deciding import add_place, place
from forky_core.cli.opened_team import team_beside
from forky_core.cli.plain import one_line, print_outcome
from forky_core.cli.private_values import print_private_values
from forky_core.conversation.identity import now
from forky_core.formats.reports.included import EVERYTHING
from forky_core.formats.reports.registry import THINGS
from forky_core.gateway.links import PREFIX
from forky_core.model.errors import BadContent
from forky_core.people.export_audit import noted_in
from forky_core.people.links.content import LinkContent, content_of
from forky_core.people.links.link import DAYS, WITH_PATHS, Link, LinkDraft, public_fields, value_digest
from forky_core.people.links.links import Links
from forky_core.people.links.making import make_link_to
from forky_core.people.links.shared_part import WITH_PATH
from forky_core.views.shelf import count
from forky_core.views.times import stamp

if TYPE_CHECKING:
    from forky_core.conversation.conversation import Conversation
    from forky_core.forky import Forky

_WHILE_OPEN = "While the app runs, its pages make links, and its Library lists and revokes them."
_ANOTHER_NAME = {"vote": "poll", "grid": "experiment"}
"""Other names of things that the command accepts."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("link", help="let others read one thing at an address; list, revoke")
    acts = command.add_subparsers(dest="act", required=True, metavar="ACTION")
    make = acts.add_parser("make", help="make a link and print its address, this once")
    things = [*WITH_PATHS, *(thing.name for thing in THINGS)]
    make.add_argument("thing", choices=[*things, *_ANOTHER_NAME], metavar="THING", help=", ".join(things))
    make.add_argument(
        "which",
        nargs="*",
        metavar="WHICH",
        help="the name of a branch, the beginning of a message's id, or what `forky publish THING` takes",
    )
    add_place(make, "--branch", "the branch to begin at (default: the one that moved last)")
    make.add_argument(
        "--live", action="store_true", help="show what is there when it is opened, not what is there now"
    )
    make.add_argument(
        "--path",
        action="store_true",
        help="of a message: with everything that led to it, so that it can be forked",
    )
    make.add_argument(
        "--returns", action="store_true", help="whoever has it may give a fork back, as a merge request"
    )
    make.add_argument(
        "--days", type=float, default=DAYS, metavar="N", help=f"until it expires (default: {DAYS})"
    )
    make.add_argument(
        "--include",
        action="append",
        default=[],
        choices=EVERYTHING.names,
        metavar="WHAT",
        help=f"what goes along beyond the words: {', '.join(EVERYTHING.names)}; may be said more than once",
    )
    make.add_argument("--as", choices=("html",), help=argparse.SUPPRESS)
    private = make.add_mutually_exclusive_group()
    private.add_argument("--redact", action="store_true", help="put placeholders for what looks private")
    private.add_argument("--as-it-is", action="store_true", help="share what looks private, too")
    make.add_argument("--server", default="http://127.0.0.1:8501", help="where Forky listens")
    listing = acts.add_parser("list", help="list the links, how often each was opened and when last")
    revoke = acts.add_parser("revoke", help="close a link, at once and for good")
    revoke.add_argument("id", metavar="ID", help="as the list shows it")
    back = acts.add_parser("return", help="give a fork back to the conversation that a link shows")
    back.add_argument(
        "address", metavar="ADDRESS", nargs="?", default="", help="of a link (that by which it was forked)"
    )
    add_place(back, "--branch", "a branch of the fork (all come along)")
    for act, run in ((make, run_make), (listing, run_list), (revoke, run_revoke), (back, run_return)):
        act.add_argument("--json", action="store_true", help="one JSON object a line")
        act.set_defaults(run=run, makes_database=False, while_open=_WHILE_OPEN)


def run_make(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat = place(forky, options)
    thing = _ANOTHER_NAME.get(options.thing, options.thing)
    draft = LinkDraft(
        chat.id,
        thing,
        _which(thing, options, chat),
        chat.branch_name,
        live=options.live,
        returns=options.returns,
        included=tuple(options.include),
    )
    content = content_of(forky, draft)
    spared = _spared(content, options)
    with _links(forky, options) as links:
        made = make_link_to(content, spared, links=links, days=options.days)
    address = f"{options.server.rstrip('/')}{PREFIX}/{made.secret}"
    if options.json:
        print(json.dumps({**public_fields(made.link), "address": address}), file=out)
        return 0
    print(address, file=out)
    print(
        f"Whoever has this address can read it until {stamp(made.link.until)}. It is not shown again.",
        file=sys.stderr,
    )
    return 0


def run_list(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    links = Links(forky.store)
    listed = links.all()
    for link in listed:
        if options.json:
            print(json.dumps(public_fields(link)), file=out)
        else:
            live = "live, " if link.live else ""
            print(
                one_line(f"{link.id}  {link.thing}  {link.title}: {live}{_described(link, links)}"), file=out
            )
    if not listed and not options.json:
        print("There is no link. Make one: forky link make branch", file=out)
    return 0


def run_revoke(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    with _links(forky, options) as links:
        link = links.revoke(options.id)
    return print_outcome(options, public_fields(link), f"The link to “{link.title}” is revoked.", out)


def run_return(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    from forky_core.people.links.original import send_back  # noqa: PLC0415 - it loads a client for HTTP

    chat = place(forky, options)
    done = send_back(forky, chat.id, options.address)
    return print_outcome(options, asdict(done), done.sentence, out)


def _which(thing: str, options: argparse.Namespace, chat: Conversation) -> tuple[str, ...]:
    which: Sequence[str] = options.which
    if thing == "branch" and not which:
        return (chat.branch_name,)
    if thing == "message":
        head = chat.head
        if not which and head is None:
            raise BadContent("Which message is to be shared?", "Say the beginning of its id.")
        id = chat.message(which[0]).id if which or head is None else head.id
        return (id, WITH_PATH) if options.path else (id,)
    return tuple(which)


def _spared(content: LinkContent, options: argparse.Namespace) -> frozenset[str]:
    """Return the values that are shared although they look private. Raises BadContent if no option decides."""
    if not content.seen:
        return frozenset()
    if options.as_it_is:
        return frozenset(value_digest(one.value) for one in content.seen)
    print_private_values(content.seen)
    if not options.redact:
        raise BadContent(
            f"{count(len(content.seen), 'thing')} in it may be private (keys, accounts, addresses, numbers).",
            "Add --redact to put placeholders in their place, or --as-it-is.",
        )
    return frozenset()


def _described(link: Link, links: Links) -> str:
    """Describe the state of a link and how often it was opened."""
    opened = f"opened {count(link.opened, 'time')}" + (f", last {stamp(link.last)}" if link.last else "")
    if link.revoked:
        return f"revoked {stamp(link.revoked)}, {opened}"
    end = f"until {stamp(link.until)}" if link.is_open(now()) else f"expired {stamp(link.until)}"
    if links.is_in_trash(link):
        end += ", closed while its conversation is in the trash"
    return f"{end}, {opened}"


@contextmanager
def _links(forky: Forky, options: argparse.Namespace) -> Iterator[Links]:
    """The links; where the database has a team, what is done to them is noted in its audit log as the operator's."""
    with team_beside(options.database, options.in_workspace) as team:
        yield Links(forky.store, noted=noted_in(team)) if team is not None else Links(forky.store)
