"""`forky request`: propose a branch for merging, discuss the proposal, accept or decline it."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.deciding import add_decision, add_place, place, refuse_unasked
from forky_core.cli.merging import add_force, add_option_arguments, chosen, decide
from forky_core.cli.plain import one_line, plain
from forky_core.cli.settling import add_settling
from forky_core.cli.titles import conversation_called
from forky_core.conversation.branching import UNCHANGED
from forky_core.conversation.merging.merge_request import quoted
from forky_core.conversation.session import short
from forky_core.model.errors import NotFound
from forky_core.views.times import stamp

if TYPE_CHECKING:
    from forky_core.conversation.conversation import Conversation
    from forky_core.conversation.merging.merge_request import MergeRequest
    from forky_core.forky import Forky
    from forky_core.model import MessageId
    from forky_core.model.parts import Json

_WORDS = 100
"""How many characters of a picked message `show` prints."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    request = commands.add_parser("request", help="propose a branch for merging, and answer such proposals")
    acts = request.add_subparsers(dest="act", required=True, metavar="ACT")
    make = acts.add_parser("make", help="propose a branch, several, or messages of one")
    make.add_argument("source", nargs="+", metavar="BRANCH", help="a branch; several make an octopus")
    add_place(make, "--into", "the branch that shall receive it (default: the one that moved last)")
    make.add_argument("--note", default="", help="what it is about")
    make.add_argument(
        "--of", metavar="CONVERSATION", help="BRANCH is one of this other conversation: a graft"
    )
    add_option_arguments(make)
    add_force(make)
    add_settling(make)
    make.set_defaults(run=run_make, makes_database=False)
    listing = acts.add_parser("list", help="list the requests, the newest first")
    add_place(listing, "--branch", argparse.SUPPRESS)
    listing.add_argument("--json", action="store_true", help="one JSON object a line")
    listing.set_defaults(run=run_list, makes_database=False)
    for name, help, run in (
        ("show", "show one with its comments", run_show),
        ("comment", "say something about one", run_comment),
        ("change", "change what one proposes", run_change),
        ("decline", "close one without merging", run_decline),
        ("accept", "merge what one proposes, previewed first", run_accept),
    ):
        act = acts.add_parser(name, help=help)
        act.add_argument("number", type=int, metavar="NUMBER")
        add_place(act, "--branch", argparse.SUPPRESS)
        act.set_defaults(run=run, makes_database=False)
        if name == "comment":
            act.add_argument("text", metavar="TEXT")
        elif name == "decline":
            act.add_argument("--why", default="", help="said as a comment")
        elif name == "change":
            act.add_argument("--note", default=UNCHANGED)
            act.add_argument("--into", dest="target", metavar="BRANCH", default=UNCHANGED)
            add_option_arguments(act)
            add_settling(act)
        elif name == "accept":
            add_option_arguments(act)
            add_settling(act)
            add_decision(act)


def run_make(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    merge_options = chosen(options, sources=options.source)
    names: list[str] = options.source
    sources = (
        names if options.of is None else [conversation_called(forky, options.of, name) for name in names]
    )
    made = place(forky, options).requests.open(sources, note=options.note, **merge_options)
    print(one_line(forky.name_of(_line(made))), file=out)
    return 0


def run_list(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat = place(forky, options)
    requests = chat.requests.all
    for request in requests:
        if options.json:
            print(json.dumps(_entry(forky, chat, request)), file=out)
            continue
        reviewed = _reviewed(forky, chat, request)
        print(one_line(forky.name_of(_line(request) + (f"  {reviewed}" if reviewed else ""))), file=out)
    if not requests and not options.json:
        print("There is no merge request.", file=out)
    return 0


def run_show(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat = place(forky, options)
    request = chat.requests.get(options.number)
    print(one_line(forky.name_of(_line(request))), file=out)
    if reviewed := _reviewed(forky, chat, request):
        print(one_line(f"  {forky.name_of(reviewed)}"), file=out)
    if request.note:
        print(plain(request.note), file=out)
    for line in _options_of(request):
        print(one_line(f"  {line}"), file=out)
    home = forky.conversation(request.graft.conversation) if request.graft is not None else chat
    for pick in request.picks:
        print(f"  {short(pick)}  {_picked(home, pick)}", file=out)
    heads = chat.requests.heads(request.number)
    for review in chat.requests.reviews(request.number):
        verdict = {"changes": "asked for changes", "read": "read it"}.get(review.state, "approved")
        since, said = review.outdated(request, heads), review.told(short)
        print(
            f"\n{one_line(forky.name_of(review.by))} {verdict}, {stamp(review.at)}"
            f"{f' ({since})' if since else ''}{plain(said and chr(10) + said)}",
            file=out,
        )
    for comment in request.comments:
        print(
            f"\n{one_line(forky.name_of(comment.by))}, {stamp(comment.at)}\n{plain(comment.text)}", file=out
        )
    return 0


def run_comment(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    return _said(place(forky, options).requests.comment(options.number, options.text).summary, out)


def run_change(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat = place(forky, options)
    old = chat.requests.get(options.number)
    merge_options = chosen(options, old.strategy, old.sources)
    done = chat.requests.change(options.number, note=options.note, into=options.target, **merge_options)
    return _said(done.summary, out)


def run_decline(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    return _said(place(forky, options).requests.decline(options.number, options.why).summary, out)


def run_accept(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    refuse_unasked(options)
    here = place(forky, options)
    request = here.requests.get(options.number)
    chat: Conversation = here.checkout(request.into)
    planned = chat.requests.plan(request.number, **chosen(options, request.strategy, request.sources))
    plan = chat.requests.accepting(request.number, planned)
    return decide(chat, plan, options, out, question=f"Accept request {request.number}?")


def _said(summary: str, out: TextIO) -> int:
    print(one_line(summary), file=out)
    return 0


def _picked(chat: Conversation, pick: MessageId) -> str:
    try:
        message = chat.message(pick)
    except NotFound:
        return "(not here)"
    return one_line(f"{message.role}: {message.text[:_WORDS]}")


def _options_of(request: MergeRequest) -> list[str]:
    """Return a line for each option that the request's author chose, besides the strategy."""
    options = request.options
    lines = {
        "focus": options.focus,
        "at most": f"{options.budget} tokens" if options.budget is not None else "",
        "written by": options.model,
        "where they disagree": options.policy if options.policy != "ask" else "",
        "settled": f"{len(options.choices)} conflicts" if options.choices else "",
        "again": "as if earlier merges had brought nothing" if options.again else "",
        "words": "its author changed what the model will read" if request.words else "",
    }
    return [f"{name}: {what}" for name, what in lines.items() if what]


def _reviewed(forky: Forky, chat: Conversation, request: MergeRequest) -> str:
    """Return a sentence about the reviews of an open request; "" if there are none."""
    if request.state != "open":
        return ""
    heads = chat.requests.heads(request.number)
    reviews = chat.requests.reviews(request.number)
    approved = [one for one in reviews if one.state == "approved" and not one.outdated(request, heads)]
    changes = [f"{forky.name_of(one.by)} asks for changes." for one in reviews if one.state == "changes"]
    return " ".join(changes or [f"{forky.name_of(one.by)} approved." for one in approved])


def _entry(forky: Forky, chat: Conversation, request: MergeRequest) -> dict[str, Json]:
    heads = chat.requests.heads(request.number)
    reviews: list[Json] = [
        {
            "by": review.by,
            "name": forky.name_of(review.by),
            "state": review.state,
            "at": review.at,
            "text": review.text,
            "findings": review.stored().get("findings", []),
            "outdated": review.outdated(request, heads),
        }
        for review in chat.requests.reviews(request.number)
    ]
    entry: dict[str, Json] = {
        "number": request.number,
        **request.stored(),
        "by_name": forky.name_of(request.by),
    }
    return entry | ({"reviews": reviews} if reviews else {})


def _line(request: MergeRequest) -> str:
    answered = f" by {request.answered_by}" if request.answered_by else ""
    how = f"{request.strategy} of {len(request.picks)}" if request.picks else request.strategy
    return (
        f"{request.number}  {request.state}{answered}  {quoted(request.named)} into “{request.into}” ({how})  "
        f"{request.by}, {stamp(request.at)}"
    )
