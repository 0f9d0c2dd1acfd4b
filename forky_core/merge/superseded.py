"""What a person took back on a branch, as far as a note of that branch may rely on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forky_core.merge.claims.supersessions import Superseded, supersessions
from forky_core.merge.note.passages import passages
from forky_core.model import Message
from forky_core.parts import TextPart

__all__ = ["READ", "Superseded", "superseded_in"]

READ = 60_000
"""Characters of prose, the latest, that are looked at."""


def superseded_in(messages: Sequence[Message]) -> tuple[Superseded, ...]:
    """What the person took back in prose, in the order in which it was said first.

    A model takes back so little in so many words that what rules find there is more often wrong than right.
    """
    by_person = {message.id for message in messages if message.role == "user"}
    return tuple(one for one in supersessions(_prose(messages)) if one.later_message in by_person)


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
