"""Walks down a conversation beside an array, for as long as both have the same content.

Same content means equal keys (docs/matching.md), compared without hashing either side: a stored message costs the
comparison of two texts. The walk may be at several messages at once if they differ in what a key leaves out, and
half-way through a message if an array spreads over several messages what is one message here: each tool result counts
separately.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from forky_core.matching.keys import Key, calls_of, digest, folded, plain_text, sayings, text_digest_input
from forky_core.model import Message, MessageId
from forky_core.model.parts import Draft, TextPart

Messages = Mapping[MessageId, Message]
_Stand = tuple[MessageId | None, tuple[Key, ...]]
"""A message whose path has the array's content so far, and hashes of its content beyond that; None is above every
root."""


class Tree:
    """An index of the children of each message in one conversation, updated as it grows. Not thread-safe: its owner
    locks.
    """

    def __init__(self) -> None:
        self._below: dict[MessageId | None, list[MessageId]] = {}
        self._trunk: dict[MessageId, tuple[str, str]] = {}
        """The role and text of each message from the only root down to the first fork, as long as all are plain
        text."""
        self._end: MessageId | None = None
        """The last message of the trunk."""
        self._taken = 0
        self._said: dict[MessageId, tuple[Key, ...]] = {}
        """Hashes of the content of messages that are not plain text."""

    def __len__(self) -> int:
        return self._taken

    def take(self, messages: Messages) -> None:
        """Add the conversation's messages that are new; pass all of them, in the order they were written."""
        below = self._below
        for id, message in islice(messages.items(), self._taken, None):
            parent = message.parents[0] if message.parents else None
            beside = below.get(parent)
            if beside is not None:
                beside.append(id)
                if len(beside) == 2:
                    self._fork(parent)
                continue
            below[parent] = [id]
            if parent == self._end and not message.hidden:
                text = plain_text(message)
                if text is not None:
                    self._trunk[id] = (message.role, text)
                    self._end = id
        self._taken = len(messages)

    def _fork(self, at: MessageId | None) -> None:
        """End the trunk at a message that a second message follows."""
        if at is None:
            self._trunk, self._end = {}, None
        elif at in self._trunk:
            above = list(self._trunk).index(at)
            self._trunk, self._end = dict(islice(self._trunk.items(), above + 1)), at

    def deepest(self, turns: Sequence[Draft], messages: Messages) -> tuple[int, list[MessageId]]:
        """Return the index of the last of `turns` up to which a stored path has the same content, and the messages
        there, oldest first.

        Returns (-1, []) if no path does, or if the turns are empty.
        """
        straight = self._straight(turns)
        stands: list[_Stand] = [(straight[-1] if straight else None, ())]
        found = (len(straight) - 1, straight[-1:])
        calls: dict[str, int] = {}
        for at, turn in enumerate(turns[len(straight) :], start=len(straight)):
            text = plain_text(turn)
            if text is not None:
                stands = list(self._past_text(stands, turn.role, text, messages))
            else:
                for said in sayings(turn, calls.get):
                    stands = list(self._past(stands, digest(said), messages))
                calls.update(calls_of(turn))
            if not stands:
                break
            reached = [id for id, left in stands if id is not None and not left]
            if reached:
                found = (at, reached)
        return found[0], self._with_silent(found[1], messages)

    def _straight(self, turns: Sequence[Draft]) -> list[MessageId]:
        """Return the messages of the trunk that equal the array's turns letter for letter, from the beginning on.

        Most of a long array matches this way, so this is what matching one costs.
        """
        length = 0
        for turn, (role, text) in zip(turns, self._trunk.values(), strict=False):
            parts = turn.parts
            if turn.role != role or len(parts) != 1 or turn.name is not None:
                break
            said = parts[0]
            if type(said) is not TextPart or said.text != text:
                break
            length += 1
        return list(islice(self._trunk, length))

    def _past_text(
        self, stands: Sequence[_Stand], role: str, text: str, messages: Messages
    ) -> Iterator[_Stand]:
        """Advance as `_past` does, for one plain text."""
        for id, left in stands:
            for message in self.speaking(id, messages) if not left else ():
                other = plain_text(message)
                if other is None:
                    yield from self._into(message, digest(text_digest_input(role, text)), messages)
                elif message.role == role and (other == text or folded(other) == folded(text)):
                    yield message.id, ()
            if left and left[0] == digest(text_digest_input(role, text)):
                yield id, left[1:]

    def _past(self, stands: Sequence[_Stand], said: Key, messages: Messages) -> Iterator[_Stand]:
        """Yield where the walk stands after this content."""
        for id, left in stands:
            for message in self.speaking(id, messages) if not left else ():
                yield from self._into(message, said, messages)
            if left and left[0] == said:
                yield id, left[1:]

    def _into(self, message: Message, said: Key, messages: Messages) -> Iterator[_Stand]:
        """Yield the message if its content begins with `said`."""
        all_said = self._said.get(message.id)
        if all_said is None:
            all_said = tuple(map(digest, stored_sayings(message, messages)))
            self._said[message.id] = all_said
        if all_said[0] == said:
            yield message.id, all_said[1:]

    def speaking(self, id: MessageId | None, messages: Messages) -> list[Message]:
        """Return the next messages with content, below messages that have none."""
        found: list[Message] = []
        waiting = [id]
        for above in waiting:
            for below in self._below.get(above, ()):
                message = messages[below]
                if is_silent(message):
                    waiting.append(below)
                else:
                    found.append(message)
        return found

    def children(self, id: MessageId | None) -> Sequence[MessageId]:
        """Return the messages right below one, or the roots, in the order they were written."""
        return self._below.get(id, ())

    def _with_silent(self, reached: list[MessageId], messages: Messages) -> list[MessageId]:
        """Add the messages without content below these, and return all in the order they were written."""
        everything = list(reached)
        for id in everything:
            everything += [below for below in self._below.get(id, ()) if is_silent(messages[below])]
        if len(everything) == 1:
            return everything
        wanted = set(everything)
        return [id for id in messages if id in wanted]


def is_silent(message: Message) -> bool:
    """Whether a message has no key of its own: system messages have none, and a hidden one was never sent."""
    return message.hidden or message.role == "system"


def stored_sayings(message: Message, messages: Messages) -> tuple[bytes, ...]:
    """Return the content of a stored message as byte strings, as `sayings` does."""
    return () if is_silent(message) else sayings(message, calls_above(message, messages))


def upwards(id: MessageId | None, messages: Messages) -> Iterator[Message]:
    """Yield the message and its ancestors, upwards."""
    while id is not None:
        message = messages[id]
        yield message
        id = message.parent


def calls_above(message: Message, messages: Messages) -> Callable[[str], int | None]:
    """Return a function that finds which call an id names, in the nearest visible message above that makes it."""

    def find(id: str) -> int | None:
        above = (one for one in upwards(message.parent, messages) if not is_silent(one))
        return next((calls[id] for one in above if id in (calls := calls_of(one))), None)

    return find
