"""The statements on a branch that a person took back, as far as a note can rely on that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from forky_core.merge.claims.contradictions import contradictions
from forky_core.merge.claims.supersessions import Supersession, supersessions
from forky_core.merge.note.passages import passages
from forky_core.model import Message, MessageId
from forky_core.model.parts import TextPart

READ = 60_000
"""The most characters of prose that are read, the latest ones."""


def superseded_in(messages: Sequence[Message]) -> tuple[Supersession, ...]:
    """Return the statements that the person took back in prose, oldest first.

    Models take back so little explicitly that what rules find there is more often wrong than right. A word of
    correction alone is no better: the earlier statement must contradict its replacement.
    """
    known = {message.id: message for message in messages}
    by_person = (one for one in supersessions(_prose(messages)) if known[one.later_message].role == "user")
    return tuple(one for one in by_person if _contradicts(one, known))


def _contradicts(found: Supersession, known: Mapping[MessageId, Message]) -> bool:
    pairs = contradictions([known[found.earlier_message]], [known[found.later_message]])
    return any(
        _touch(pair.mine.quote, found.earlier) and _touch(pair.theirs.quote, found.later) for pair in pairs
    )


def _touch(one: str, other: str) -> bool:
    return one in other or other in one


def _prose(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with only the prose of people and models, without code and tool output."""
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
