"""Finds the original of each message at the beginning of a fork whose link did not show everything.

A link replaces private values and leaves out files, instructions and system messages. The messages of a fork of it have
other ids then, and nothing in them leads to the original: the id of a message could be used to guess a value in it. So
the texts are compared: where they are equal but for a placeholder, one message is a copy of the other, and its original
stands for it in the plan. A reference to the original is stored nowhere, because whoever has the copy knows all of its
words but one, and could try phone numbers until the hash is right.

The comparison stops at the first message without an original, and does not recognise a message with more than 200
placeholders: such a fork is merged whole. A merge never moves the target's branch to a copy, which would replace the
values by placeholders.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from forky_core.context.citing import without_sources
from forky_core.merge.payload_copy import without_ids
from forky_core.model import Message, MessageId
from forky_core.model.graph import ParentsOf, is_ancestor
from forky_core.model.left_out import FILE_LEFT_OUT, PLACEHOLDER

_MOST_PLACEHOLDERS = 200
"""A message with more is not recognised as a copy."""
_MOST_TRIES = 10_000
"""After so many values that were tried for the placeholders of one message it is not recognised either."""


def originals_of(
    line: Iterable[Message], known: Sequence[Message], parents_of: ParentsOf
) -> Mapping[MessageId, MessageId]:
    """Map each message at the beginning of `line` that is a copy of one of `known` to the id of its original.

    `known` are in topological order. The originals are in the order of their copies, each below the one before; what
    lies between two of them was left out of the copies. The first message without an original ends the search.
    """
    values: dict[str, str] = {}
    found: dict[MessageId, MessageId] = {}
    above: MessageId | None = None
    first = 0
    for copy in line:
        for at in range(first, len(known)):
            told = _values_told(copy, known[at], values)
            if told is not None and (above is None or is_ancestor(above, known[at].id, parents_of)):
                values |= told
                found[copy.id] = above = known[at].id
                first = at + 1
                break
        else:
            break
    return found


def _values_told(copy: Message, original: Message, values: Mapping[str, str]) -> Mapping[str, str] | None:
    """What the placeholders of `copy` stand for in `original`; None if it is no copy of it."""
    if copy.role != original.role:
        return None
    if copy.text == FILE_LEFT_OUT and not original.text:
        return {}
    return _filled_in(_comparable(copy), _comparable(original), values)


def _comparable(message: Message) -> str:
    """The words of a message without ids, which differ between a copy and its original, and without its sources."""
    text = without_ids(message.text) if message.merges else message.text
    return without_sources(text)


def _filled_in(copy: str, original: str, values: Mapping[str, str]) -> Mapping[str, str] | None:
    """The values with which the placeholders of `copy` give `original`; None if there are none."""
    if copy == original:
        return values
    names = PLACEHOLDER.findall(copy)
    if not names or len(names) > _MOST_PLACEHOLDERS:
        return None
    return _Filling(original, PLACEHOLDER.split(copy), names).rest(0, 0, values)


@dataclass(slots=True)
class _Filling:
    """Finds values for the placeholders between pieces of a text, which give the whole text."""

    whole: str
    pieces: Sequence[str]
    """One more than there are placeholders."""
    placeholders: Sequence[str]
    tries: int = _MOST_TRIES

    def rest(self, number: int, at: int, values: Mapping[str, str]) -> Mapping[str, str] | None:
        """Match everything from this piece on with the whole text from `at` on."""
        piece = self.pieces[number]
        if not self.whole.startswith(piece, at):
            return None
        at += len(piece)
        if number == len(self.placeholders):
            return values if at == len(self.whole) else None
        name = self.placeholders[number]
        for value in (name, values[name]) if name in values else (name, *self._values(number, at)):
            self.tries -= 1
            if self.tries < 0:
                return None
            if self.whole.startswith(value, at):
                known = values if value == name else {**values, name: value}
                found = self.rest(number + 1, at + len(value), known)
                if found is not None:
                    return found
        return None

    def _values(self, number: int, at: int) -> Iterator[str]:
        """What the placeholder may stand for: all that lies before a place where the words after it stand."""
        after = self.pieces[number + 1]
        if number + 1 == len(self.placeholders):
            yield self.whole[at : len(self.whole) - len(after)]
            return
        stop = self.whole.find(after, at + 1)
        while stop > 0:
            yield self.whole[at:stop]
            stop = self.whole.find(after, stop + 1)
