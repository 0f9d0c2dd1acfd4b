"""What a branch said and later took back or replaced, with what took its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from forky_core.merge.claims.supersessions import supersessions
from forky_core.merge.note.passages import passages
from forky_core.model import Message, MessageId
from forky_core.parts import TextPart


@dataclass(frozen=True, slots=True)
class Superseded:
    """Something the branch said that it later took back or replaced."""

    earlier: str
    """Word for word, out of `earlier_message`."""
    earlier_message: MessageId
    later: str
    """What took its place or took it back, word for word."""
    later_message: MessageId


READ = 60_000
"""Characters of prose, the latest, that are looked at."""


def superseded_in(messages: Sequence[Message]) -> tuple[Superseded, ...]:
    """What the person took back in prose, in the order in which it was said first.

    A model takes back so little in so many words that what rules find there is more often wrong than right.
    """
    found = supersessions(_prose(messages))
    by_person = {message.id: message.role == "user" for message in messages}
    return tuple(
        Superseded(one.earlier.quote, one.earlier.message, one.later.quote, one.later.message)
        for one in found
        if by_person[one.later.message]
    )


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
