"""What the verbs of polls check and name: the answers, the voter, scores and criteria."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from forky_core.conversation.identity import title_line
from forky_core.conversation.session import Session, short
from forky_core.conversation.voting.poll import (
    BEST,
    FEWEST,
    MOST,
    MOST_CRITERIA,
    Poll,
    PollCandidate,
    Prompt,
)
from forky_core.conversation.voting.shuffling import at_letter
from forky_core.model import Message, MessageId
from forky_core.model.errors import BadContent
from forky_core.model.graph import first_parent_path, parents_in
from forky_core.model.hashing import content_hash

LONGEST_NOTE = 2_000
"""The most characters of a note on a vote."""
_LONGEST_CRITERION = 60
_PROMPT_LINE = 80
_PROMPT_DIGITS = 8
MEMBER = "person:"
"""Begins the id of a member of a team (forky_core/people/members.py)."""


def called(poll: Poll, *, begins: bool = False) -> str:
    """The name of the poll for use in a sentence."""
    name = f"poll {poll.number}" + (f", “{poll.title}”," if poll.title else "")
    return name[0].upper() + name[1:] if begins else name.rstrip(",")


def voter_of(session: Session) -> str:
    """The voter recorded with a person's votes: the name they go by here, or the actor, which in a team is their id."""
    return session.person or session.actor


def candidate_named(poll: Poll, person: str, name: str) -> MessageId:
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


def fit_scores(
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
            found[candidate_named(poll, person, name)] = MappingProxyType(dict(given))
    return MappingProxyType(found)


def fit_criteria(criteria: Sequence[str]) -> tuple[str, ...]:
    named = tuple(dict.fromkeys(line for one in criteria if (line := title_line(one))))
    if len(named) > MOST_CRITERIA:
        raise BadContent(f"A poll has at most {MOST_CRITERIA} criteria.")
    if any(len(one) > _LONGEST_CRITERION for one in named):
        raise BadContent(
            f"A criterion has at most {_LONGEST_CRITERION} characters.", "A word or two will do."
        )
    return named


def refuse_unfit(messages: Sequence[Message]) -> None:
    """Raise BadContent unless these are as many answers as a poll has."""
    if len(messages) < FEWEST:
        raise BadContent(
            "A poll compares at least two answers.", "Ask again, or ask several models, for another one."
        )
    if len(messages) > MOST:
        raise BadContent(f"A poll compares at most {MOST} answers; these are {len(messages)}.")
    other = next((one for one in messages if one.role != "assistant"), None)
    if other is not None:
        raise BadContent(f"{short(other.id)} is no answer of a model.", "Choose answers.")


def shared_question(ids: Sequence[MessageId], messages: Mapping[MessageId, Message]) -> MessageId | None:
    """The last message that all candidates have in common along first parents."""
    paths = [first_parent_path(messages[id].parent, parents_in(messages)) for id in ids]
    shared = None
    for steps in zip(*paths, strict=False):
        if len(set(steps)) > 1:
            break
        shared = steps[0]
    return shared


def candidate_of(session: Session, message: MessageId) -> PollCandidate:
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
