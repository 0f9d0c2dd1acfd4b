"""The verbs of polls. Each is one operation in the log, with its author.

A vote writes only the voter's own entry and names the reveal as a condition, so that any number of people vote at once
without a conflict, and none of them after the reveal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from forky_core.conversation.identity import now, title_line
from forky_core.conversation.session import Session, short
from forky_core.conversation.transaction import with_a_free_key
from forky_core.conversation.validation import fit_text
from forky_core.conversation.voting.poll import (
    BAD,
    BEST,
    FEWEST,
    MARK,
    MOST,
    MOST_CRITERIA,
    POLLS,
    TIE,
    Poll,
    PollCandidate,
    Prompt,
    Vote,
    poll_in,
    poll_key,
    polls_in,
    reveal_key,
    vote_key,
    votes_in,
)
from forky_core.conversation.voting.shuffling import at_letter
from forky_core.conversation.voting.tally import Tally, tally
from forky_core.model import Message, MessageId, Operation
from forky_core.model.errors import BadContent, InTheWay, NotAllowed, Outdated
from forky_core.model.graph import first_parent_path, parents_in
from forky_core.model.hashing import content_hash

LONGEST_NOTE = 2_000
"""The most characters of a note on a vote."""
_LONGEST_CRITERION = 60
_PROMPT_LINE = 80
_PROMPT_DIGITS = 8
_MEMBER = "person:"
"""Begins the id of a member of a team (forky_core/people/members.py)."""


def open_poll(
    session: Session, candidates: Sequence[MessageId], title: str, criteria: Sequence[str], *, blind: bool
) -> Poll:
    """Open a poll on these answers.

    Raises:
        BadContent: too few or too many candidates, one that is no answer, or a criterion that cannot be kept.
        InTheWay: an open poll asks the same already, or one of them is not shown any more.
    """
    ids = tuple(dict.fromkeys(candidates))
    if len(ids) == 1 < len(candidates):
        raise BadContent(
            "These are one and the same answer, word by word: there is nothing to choose between.",
            "Choose answers that differ.",
        )
    line, named = title_line(title), _criteria(criteria)
    shown = session.visible.messages
    gone = next((id for id in ids if id not in shown), None)
    if gone is not None:
        raise InTheWay(f"The answer {short(gone)} was removed.", "Undo brings it back.")
    _refuse_unfit([shown[id] for id in ids])
    made_by = [_candidate(session, id) for id in ids]
    question = _question(ids, shown)

    def put() -> Poll:
        tx = session.require_not_trashed()
        known = polls_in(tx.view)
        same = next((one for one in known if one.open and set(one.messages) == set(ids)), None)
        if same is not None:
            raise InTheWay(f"Poll {same.number} asks that already.", "Vote in it, or reveal it first.")
        number = max((one.number for one in known), default=0) + 1
        poll = Poll(number, tuple(made_by), voter_of(session), now(), question, line, named, blind)
        tx.set(MARK, True)
        tx.set(poll_key(number), poll.stored())
        tx.publish("poll", f"Opened {called(poll)} on {len(ids)} answers")
        return poll

    return with_a_free_key(MARK, put)


def vote(
    session: Session,
    number: int,
    choice: str,
    note: str = "",
    scores: Mapping[str, Mapping[str, int]] | None = None,
) -> Operation:
    """Vote, or change one's vote. Each person has one vote in a poll.

    `choice` is a candidate's message id or the beginning of it, its letter or key as this person sees it, TIE or BAD;
    the keys of `scores` name candidates likewise.

    Raises:
        NotFound: there is no such poll.
        BadContent: the choice is none of its candidates, or a score or a note cannot be kept.
        InTheWay: the poll was revealed, or the chosen answer was removed meanwhile.
    """
    person = voter_of(session)
    words = fit_text(note, "A note").strip()
    if len(words) > LONGEST_NOTE:
        raise BadContent(f"A note has at most {LONGEST_NOTE:,} characters; this one has {len(words):,}.")

    def put() -> Operation:
        tx = session.require_not_trashed()
        poll = poll_in(tx.view, number)
        if poll.revealed is not None:
            raise InTheWay(
                f"{called(poll, begins=True)} was revealed by {session.name_of(poll.revealed.by)} and takes no more votes."
            )
        chosen = choice if choice in (TIE, BAD) else _find(poll, person, choice)
        if chosen not in (TIE, BAD) and chosen not in session.visible.messages:
            raise InTheWay("That answer was removed meanwhile.", "Choose another one.")
        given = _scores(poll, person, scores or {})
        key = vote_key(number, person)
        changes = key in tx.view.entries
        tx.set(key, Vote(person, chosen, now(), words, given).stored())
        tx.require(poll_key(number))
        tx.require(reveal_key(number))
        return tx.publish("vote", f"{person} {'changed a vote' if changes else 'voted'} in {called(poll)}")

    return with_a_free_key(POLLS, put)


def reveal(session: Session, number: int) -> Operation:
    """Close a poll and show names, counts and votes to everybody.

    Raises:
        NotFound: there is no such poll.
        NotAllowed: somebody else of the team opened it.
        InTheWay: somebody has revealed it already.
    """
    try:
        return _reveal(session, number)
    except Outdated:
        # Somebody revealed it in this moment, and the second look says who; or another poll of that number is here.
        return _reveal(session, number)


def _reveal(session: Session, number: int) -> Operation:
    tx = session.require_not_trashed()
    poll = poll_in(tx.view, number)
    if poll.revealed is not None:
        name = session.name_of(poll.revealed.by)
        raise InTheWay(f"{called(poll, begins=True)} was revealed by {name} already.")
    # Other names are no identity: whoever has the file itself may reveal a poll that somebody opened under one.
    if poll.by.startswith(_MEMBER) and poll.by != voter_of(session):
        raise NotAllowed(f"Only {session.name_of(poll.by)} reveals {called(poll)}, having opened it.")
    tx.set(reveal_key(number), {"by": voter_of(session), "at": now()})
    tx.require(poll_key(number))
    voted = len(votes_in(tx.view, number))
    return tx.publish("reveal", f"Revealed {called(poll)} after {voted} {'vote' if voted == 1 else 'votes'}")


def count(session: Session, number: int) -> Tally:
    """The votes so far. While a poll hides them, only the person who opened it may see the counts.

    Raises:
        NotFound: there is no such poll.
        NotAllowed: they are hidden from this person.
    """
    view = session.view
    poll, votes = poll_in(view, number), votes_in(view, number)
    if poll.hidden and voter_of(session) != poll.by:
        raise NotAllowed(
            f"The votes are hidden until {called(poll)} is revealed; {len(votes)} came in so far.",
            f"It was opened by {session.name_of(poll.by)}.",
        )
    return tally(poll, votes)


def votes(session: Session, number: int) -> tuple[Vote, ...]:
    """Everybody's votes; of a poll that hides them, only this person's own."""
    view = session.view
    poll, found = poll_in(view, number), votes_in(view, number)
    if poll.hidden:
        person = voter_of(session)
        return tuple(one for one in found if one.person == person)
    return found


def called(poll: Poll, *, begins: bool = False) -> str:
    """The name of the poll for use in a sentence."""
    name = f"poll {poll.number}" + (f", “{poll.title}”," if poll.title else "")
    return name[0].upper() + name[1:] if begins else name.rstrip(",")


def voter_of(session: Session) -> str:
    """The voter recorded with a person's votes: the name they go by here, or the actor, which in a team is their id."""
    return session.person or session.actor


def _find(poll: Poll, person: str, name: str) -> MessageId:
    """The candidate that a person names by its letter, key or id."""
    seen = at_letter(poll, person, name)
    if seen is not None:
        return seen.message
    digits = name.removeprefix("b2:")
    fitting = [id for id in poll.messages if digits and id.removeprefix("b2:").startswith(digits)]
    if len(fitting) != 1:
        letters = ", ".join("ABCDEFGHI"[: len(poll.candidates)])
        raise BadContent(
            f"“{name[:40]}” is no answer of {called(poll)}.", f"There are {letters}, and “tie” and “bad”."
        )
    return fitting[0]


def _scores(
    poll: Poll, person: str, scores: Mapping[str, Mapping[str, int]]
) -> Mapping[MessageId, Mapping[str, int]]:
    found: dict[MessageId, Mapping[str, int]] = {}
    for name, given in scores.items():
        for criterion, score in given.items():
            if criterion not in poll.criteria:
                known = f"There are: {', '.join(poll.criteria)}." if poll.criteria else "It has none."
                raise BadContent(f"“{criterion[:40]}” is no criterion of {called(poll)}.", known)
            if type(score) is not int or not 1 <= score <= BEST:
                raise BadContent(f"A score is a whole number from 1 to {BEST}.")
        if given:
            found[_find(poll, person, name)] = MappingProxyType(dict(given))
    return MappingProxyType(found)


def _criteria(criteria: Sequence[str]) -> tuple[str, ...]:
    named = tuple(dict.fromkeys(line for one in criteria if (line := title_line(one))))
    if len(named) > MOST_CRITERIA:
        raise BadContent(f"A poll has at most {MOST_CRITERIA} criteria.")
    if any(len(one) > _LONGEST_CRITERION for one in named):
        raise BadContent(
            f"A criterion has at most {_LONGEST_CRITERION} characters.", "A word or two will do."
        )
    return named


def _refuse_unfit(messages: Sequence[Message]) -> None:
    if len(messages) < FEWEST:
        raise BadContent(
            "A poll compares at least two answers.", "Ask again, or ask several models, for another one."
        )
    if len(messages) > MOST:
        raise BadContent(f"A poll compares at most {MOST} answers; these are {len(messages)}.")
    other = next((one for one in messages if one.role != "assistant"), None)
    if other is not None:
        raise BadContent(f"{short(other.id)} is no answer of a model.", "Choose answers.")


def _question(ids: Sequence[MessageId], messages: Mapping[MessageId, Message]) -> MessageId | None:
    """The last message that all candidates have in common along first parents."""
    paths = [first_parent_path(messages[id].parent, parents_in(messages)) for id in ids]
    shared = None
    for steps in zip(*paths, strict=False):
        if len(set(steps)) > 1:
            break
        shared = steps[0]
    return shared


def _candidate(session: Session, message: MessageId) -> PollCandidate:
    """An answer with what made it. Where models said the same, it stands for all of them."""
    standing = [name for name, branch in session.view.branches.items() if branch.head == message]
    found = [(session.origins(name).of(message), name) for name in standing]
    found.sort(key=lambda one: one[0].call.started if one[0].call is not None else 0)
    heads = tuple(name for _, name in found)
    origins = [origin for origin, _ in found] or [session.origins().of(message)]
    made_on = tuple(dict.fromkeys(one.call.branch for one in origins if one.call is not None)) or heads
    prompts = {_prompt(session, branch, message) for branch in made_on}
    return PollCandidate(
        message,
        tuple(dict.fromkeys(model for one in origins for model in one.models)),
        heads,
        prompts.pop() if len(prompts) == 1 else None,
    )


def _prompt(session: Session, branch: str, message: MessageId) -> Prompt | None:
    """The system prompt of a branch at the moment when an answer landed there; None if the branch is not known."""
    rules: Mapping[str, object] = {}
    known = False
    for operation in session.store.operations(session.id):
        landed = False
        for change in operation.changes:
            if change.key == f"rules/{branch}":
                rules = change.after or {}
            elif change.key == f"heads/{branch}" and change.after is not None:
                known = True
                landed = landed or change.after["at"] == message
            landed = landed or (change.key == f"kept/{message}" and change.after is not None)
        if landed:
            break
    if not known:
        return None
    system = rules.get("system")
    if not isinstance(system, str) or not system.strip():
        return Prompt("", "")
    digest = content_hash(system).removeprefix("b2:")[:_PROMPT_DIGITS]
    line = title_line(system)
    return Prompt(digest, line if len(line) <= _PROMPT_LINE else line[: _PROMPT_LINE - 1].rstrip() + "…")
