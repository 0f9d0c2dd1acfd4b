"""`forky polls` and `forky vote`: let people vote on answers, and see which answers they prefer."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.deciding import add_place, place
from forky_core.cli.plain import one_line, plain, print_outcome
from forky_core.conversation.session import short
from forky_core.conversation.voting.tables import votes_csv
from forky_core.conversation.voting.voting import called
from forky_core.model.errors import BadContent
from forky_core.views.shelf import count
from forky_core.views.times import stamp
from forky_core.views.voting import Ballot, PollResult, ballot_of, outcome_of

if TYPE_CHECKING:
    from forky_core.conversation.conversation import Conversation
    from forky_core.conversation.voting.poll import Poll, Vote
    from forky_core.forky import Forky
    from forky_core.model.parts import Json

_WORDS = 400
"""How many characters of an answer `polls show` prints."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    _add_polls(commands)
    vote = commands.add_parser("vote", help="vote in a poll, or change your vote")
    vote.add_argument("number", type=int, metavar="POLL")
    vote.add_argument("choice", metavar="CHOICE", help="a letter of `polls show`, a message id, tie, or bad")
    vote.add_argument("--note", default="", help="why")
    vote.add_argument(
        "--score",
        action="append",
        default=[],
        metavar="LETTER:CRITERION=1..5",
        help="score an answer by a criterion of the poll; may be repeated",
    )
    add_place(vote, "--branch", argparse.SUPPRESS)
    _add_person(vote)
    vote.add_argument("--json", action="store_true", help="one JSON object")
    vote.set_defaults(run=run_vote, makes_database=False)


def _add_polls(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    polls = commands.add_parser("polls", help="open and reveal polls, and read their votes")
    acts = polls.add_subparsers(dest="act", required=True, metavar="ACT")
    listing = acts.add_parser("list", help="list the polls, the newest first")
    opening = acts.add_parser("open", help="let people vote on two to nine answers")
    show = acts.add_parser("show", help="show a poll: its answers while it is open, its result afterwards")
    reveal = acts.add_parser("reveal", help="close a poll, and show names and votes")
    for act, run in ((listing, run_list), (opening, run_open), (show, run_show), (reveal, run_reveal)):
        add_place(
            act, "--branch", argparse.SUPPRESS if act is not opening else "whose answers, without ANSWER"
        )
        _add_person(act)
        act.add_argument("--json", action="store_true", help="one JSON object a line")
        act.set_defaults(run=run, makes_database=False)
    for act in (show, reveal):
        act.add_argument("number", type=int, metavar="POLL")
    opening.add_argument(
        "answer",
        nargs="*",
        metavar="ANSWER",
        help="branches, for their last answers, or message ids (default: the newest answer and its siblings)",
    )
    opening.add_argument("--title", default="", help="what people are asked")
    opening.add_argument(
        "--criterion",
        action="append",
        default=[],
        metavar="WORD",
        help="score answers by it; may be repeated",
    )
    opening.add_argument("--open-names", action="store_true", help="show names and counts while people vote")
    export = acts.add_parser(
        "export", help="print every vote of the revealed polls of all conversations as CSV"
    )
    export.set_defaults(run=run_export, makes_database=False)


def _add_person(command: argparse.ArgumentParser) -> None:
    command.add_argument("--as", dest="person", metavar="NAME", help="whose vote it is (default: you)")


def run_list(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat = _chat(forky, options)
    for poll in chat.polls.all:
        if options.json:
            print(json.dumps(_described(chat, poll)), file=out)
        else:
            print(one_line(_line(chat, poll)), file=out)
    if not chat.polls.all and not options.json:
        print("There is no poll. Open one: forky polls open BRANCH BRANCH", file=out)
    return 0


def run_open(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat = _chat(forky, options)
    poll = chat.polls.open(
        options.answer, title=options.title, criteria=options.criterion, blind=not options.open_names
    )
    _say(chat, poll, f"Opened {called(poll)} on {len(poll.candidates)} answers.", options, out)
    return 0


def run_show(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat = _chat(forky, options)
    poll = chat.polls.get(options.number)
    if options.json:
        print(json.dumps(_described(chat, poll)), file=out)
        return 0
    print(one_line(_line(chat, poll)), file=out)
    if poll.hidden:
        _print_ballot(ballot_of(chat, poll.number), out)
    else:
        _print_outcome(outcome_of(chat, poll.number), out)
    return 0


def run_reveal(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat = _chat(forky, options)
    done = chat.polls.reveal(options.number)
    _say(chat, chat.polls.get(options.number), done.sentence, options, out)
    if not options.json:
        _print_outcome(outcome_of(chat, options.number), out)
    return 0


def run_vote(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat = _chat(forky, options)
    scores: dict[str, dict[str, int]] = {}
    for text in options.score:
        letter, criterion, score = _score(text)
        scores.setdefault(letter, {})[criterion] = score
    done = chat.polls.vote(options.number, options.choice, note=options.note, scores=scores)
    vote = chat.polls.mine(options.number)
    assert vote is not None
    return print_outcome(options, {"poll": options.number, **_vote(vote)}, done.sentence, out)


def run_export(forky: Forky, _options: argparse.Namespace, out: TextIO) -> int:
    print(votes_csv(forky.polls), end="", file=out)
    return 0


def _chat(forky: Forky, options: argparse.Namespace) -> Conversation:
    chat = place(forky, options)
    return chat.people.as_person(options.person) if options.person is not None else chat


def _score(text: str) -> tuple[str, str, int]:
    letter, _, rest = text.partition(":")
    criterion, _, score = rest.rpartition("=")
    if not (letter and criterion and score.isdecimal()):
        raise BadContent(f"“{text[:60]}” is no score.", "Write it like this: --score A:clear=4")
    return letter, criterion, int(score)


def _say(chat: Conversation, poll: Poll, sentence: str, options: argparse.Namespace, out: TextIO) -> None:
    print_outcome(options, _described(chat, poll), sentence, out)


def _described(chat: Conversation, poll: Poll) -> dict[str, Json]:
    """Return a poll as JSON, without names and votes while they are hidden."""
    entry: dict[str, Json] = {
        "number": poll.number,
        "title": poll.title,
        "by": poll.by,
        "at": poll.at,
        "state": "open" if poll.open else "revealed",
        "blind": poll.blind,
        "criteria": list(poll.criteria),
        "question": poll.question,
        "voters": list(chat.polls.voters(poll.number)),
        "answers": [
            {
                "letter": option.letter,
                "message": option.message,
                "removed": option.removed,
                "text": option.text,
            }
            for option in ballot_of(chat, poll.number).options
        ],
    }
    if poll.revealed is not None:
        entry["revealed_by"] = poll.revealed.by
    if not poll.hidden:
        outcome = outcome_of(chat, poll.number)
        entry["result"] = [
            {
                "letter": row.option.letter,
                "message": row.option.message,
                "models": list(row.option.models),
                "branches": list(row.option.branches),
                "votes": row.votes,
                "share": round(row.share, 4),
                "scores": {name: score.mean for name, score in row.scores.items()},
            }
            for row in outcome.rows
        ]
        entry |= {"ties": outcome.ties, "bad": outcome.bad}
        entry["votes"] = [_vote(vote) for vote in chat.polls.votes(poll.number)]
    return entry


def _vote(vote: Vote) -> dict[str, Json]:
    return {"person": vote.person, **vote.stored()}


def _line(chat: Conversation, poll: Poll) -> str:
    state = "open" if poll.open else f"revealed by {poll.revealed.by if poll.revealed else ''}"
    votes = count(len(chat.polls.voters(poll.number)), "vote")
    title = f"“{poll.title}”  " if poll.title else ""
    return (
        f"{poll.number}  {state}  {title}{len(poll.candidates)} answers, {votes}  {poll.by}, {stamp(poll.at)}"
    )


def _print_ballot(ballot: Ballot, out: TextIO) -> None:
    if ballot.question is not None:
        print(f"\n{plain(ballot.question.text[:_WORDS])}", file=out)
    for option in ballot.options:
        text = "(removed meanwhile)" if option.removed else plain(option.text[:_WORDS])
        print(f"\n{option.letter}\n{text}", file=out)
    print(f"\nVote: forky vote {ballot.poll.number} {ballot.options[0].letter}", file=out)


def _print_outcome(outcome: PollResult, out: TextIO) -> None:
    for row in outcome.rows:
        named = row.option.made_by(str)
        scores = "".join(f", {name} {score.mean:.1f}" for name, score in row.scores.items())
        print(
            one_line(
                f"{row.votes:>4}  {row.share:.0%}  {row.option.letter}  {short(row.option.message)}  {named}{scores}"
            ),
            file=out,
        )
    print(f"{outcome.ties:>4}  tie\n{outcome.bad:>4}  no answer is good enough", file=out)
    for note in outcome.notes:
        print(one_line(f"{note.person} ({note.choice}): {note.text}"), file=out)
