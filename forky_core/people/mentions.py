"""Mentions: `@handle` in what somebody writes to others.

A handle of somebody who may not see the conversation, or of nobody, is mere text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_MENTION = re.compile(r"(?<![\w@/.:-])@([a-z0-9](?:[a-z0-9-]{0,28}[a-z0-9])?)(?![\w@-])", re.IGNORECASE)


def handles_in(text: str) -> tuple[str, ...]:
    """The handles that a text mentions, in lower case and each once; whether somebody has them is not asked."""
    return tuple(dict.fromkeys(found[1].lower() for found in _MENTION.finditer(text)))


def pieces_of(text: str, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The text in pieces: each with the id of the person whom it mentions, or "" for what lies between.

    `known` has the ids of those who can be mentioned, by their handles.
    """
    at = 0
    for found in _MENTION.finditer(text):
        person = known.get(found[1].lower(), "")
        if person:
            if at < found.start():
                yield text[at : found.start()], ""
            yield found[0], person
            at = found.end()
    if at < len(text):
        yield text[at:], ""
