"""What a person took back on a branch, as far as a note of that branch may rely on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from forky_core.merge.claims.contradictions import contradictions
from forky_core.merge.claims.supersessions import Superseded, supersessions
from forky_core.merge.note.passages import passages
from forky_core.model import Message, MessageId
from forky_core.model.parts import TextPart

READ = 60_000
"""Characters of prose, the latest, that are looked at."""


def superseded_in(messages: Sequence[Message]) -> tuple[Superseded, ...]:
    """What the person took back in prose, in the order in which it was said first.

    A model takes back so little in so many words that what rules find there is more often wrong than right. A word of
    correction alone is no better: what it takes back must contradict what is said in its place.
    """
    known = {message.id: message for message in messages}
    by_person = (one for one in supersessions(_prose(messages)) if known[one.later_message].role == "user")
    return tuple(one for one in by_person if _contradicts(one, known))


def _contradicts(found: Superseded, known: Mapping[MessageId, Message]) -> bool:
    pairs = contradictions([known[found.earlier_message]], [known[found.later_message]])
    return any(
        _touch(pair.mine.quote, found.earlier) and _touch(pair.theirs.quote, found.later) for pair in pairs
    )


def _touch(one: str, other: str) -> bool:
    return one in other or other in one


def _prose(messages: Sequence[Message]) -> list[Message]:
    """The messages as far as people and models talk in them, without code and without what tools say."""
    left = READ
    kept: list[Message] = []
    for message in reversed(messages):
        rows = dict.fromkeys(one.whole_row for one in passages([message]) if one.shape == "prose")
        text = "\n".join(rows)
        left -= len(text)
        if left < 0:
            break
        if text:
            kept.append(replace(message, parts=(TextPart(text),)))
    return kept[::-1]
