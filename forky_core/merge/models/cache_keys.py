"""Cache keys of notes and readings, so that the same beginning of a branch is never paid for twice."""

from __future__ import annotations

from collections.abc import Iterable

from forky_core.model import MessageId
from forky_core.model.hashing import content_hash

PROMPT = "claims/1"
"""The name of the prompt for claims, with its version: another version makes other keys."""


def cache_keys(turns: Iterable[MessageId], model: str, focus: str = "") -> tuple[str, ...]:
    """Return a cache key for each beginning of these messages, made of the messages, the model and the focus.

    Each key is a hash of the previous key and one id, so that a long range costs no more for each message.
    """
    key = content_hash([PROMPT, model, focus.strip()])
    keys = []
    for id in turns:
        key = content_hash([key, id])
        keys.append(f"reading/{key.removeprefix('b2:')}")
    return tuple(keys)
