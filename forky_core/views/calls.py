"""The model calls of a conversation, found by message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forky_core.model import Generation, MessageId


@dataclass(frozen=True, slots=True)
class CallIndex:
    """Every call of a conversation, in the order they were started, and where to find them."""

    calls: Sequence[Generation]
    by_message: Mapping[MessageId, Generation]
    """The newest call that produced each message."""
    unanswered: frozenset[MessageId | None]
    """The messages with a call below them that produced none."""


def call_index(calls: Sequence[Generation]) -> CallIndex:
    """Return the index of these calls."""
    return CallIndex(
        calls,
        {call.message: call for call in calls if call.message is not None},
        frozenset(call.parent for call in calls if call.message is None),
    )
