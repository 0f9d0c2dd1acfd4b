"""What notes and readings are kept under, so that the same beginning of a branch is never paid for twice."""

from __future__ import annotations

from collections.abc import Iterable

from forky_core.model import MessageId
from forky_core.model.hashing import content_hash

PROMPT = "claims/1"
"""Names the prompt for claims and its version: another one reads anew."""


def cache_keys(turns: Iterable[MessageId], model: str, focus: str = "") -> tuple[str, ...]:
    """What readings are kept under, one for each beginning of these messages: the messages, who read, what was asked.

    Each is a hash of the one before and one id, so that those of a long range cost no more for each message.
    """
    key = content_hash([PROMPT, model, focus.strip()])
    keys = []
    for id in turns:
        key = content_hash([key, id])
        keys.append(f"reading/{key.removeprefix('b2:')}")
    return tuple(keys)
