"""Walking down a conversation beside an array, for as long as both say the same.

That is what equal keys mean (docs/matching.md), found without hashing either side: a message that is known costs the
comparison of two texts. A stored path may stand at several messages at once, where they differ in what a key leaves
out, and half-way in one, where an array spreads over several what is one message here: each result of a tool is a thing
of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from forky_core.matching.keys import Key, calls_of, digest, folded, plain_text, said_text, sayings
from forky_core.model import Message, MessageId
from forky_core.model.parts import Draft, TextPart

Messages = Mapping[MessageId, Message]
_Stand = tuple[MessageId | None, tuple[Key, ...]]
"""A message whose path says what the array has said, and hashes of what it says beyond; None: above every root."""


class Tree:
    """Which messages follow which, of one conversation, kept up with it. Its owner lets one thread in at a time."""

    def __init__(self) -> None:
        self._below: dict[MessageId | None, list[MessageId]] = {}
        self._trunk: dict[MessageId, tuple[str, str]] = {}
        """From the only root down to the first fork, as long as each says one plain text: its role and that text."""
        self._end: MessageId | None = None
        """Where the trunk ends."""
        self._taken = 0
        self._said: dict[MessageId, tuple[Key, ...]] = {}
        """Hashes of what a message says, of those that are not one plain text."""

    def __len__(self) -> int:
        return self._taken

    def take(self, messages: Messages) -> None:
        """All messages of the conversation, in the order they were written."""
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
        """The trunk ends where a second message follows."""
        if at is None:
            self._trunk, self._end = {}, None
        elif at in self._trunk:
            above = list(self._trunk).index(at)
            self._trunk, self._end = dict(islice(self._trunk.items(), above + 1)), at

    def deepest(self, turns: Sequence[Draft], messages: Messages) -> tuple[int, list[MessageId]]:
        """The last of `turns` up to which a stored path says the same, and the messages where it does, oldest first.

        (-1, []) where none does, or where nothing is said at all.
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
        """From the beginning on, as far as the array is letter for letter the trunk.

        Nearly every array goes so nearly all of the way: this is what matching a long one takes.
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
        """As `_past`, of one plain text."""
        for id, left in stands:
            for message in self._speaking(id, messages) if not left else ():
                other = plain_text(message)
                if other is None:
                    yield from self._into(message, digest(said_text(role, text)), messages)
                elif message.role == role and (other == text or folded(other) == folded(text)):
                    yield message.id, ()
            if left and left[0] == digest(said_text(role, text)):
                yield id, left[1:]

    def _past(self, stands: Sequence[_Stand], said: Key, messages: Messages) -> Iterator[_Stand]:
        """Where the stored paths are once this is said as well."""
        for id, left in stands:
            for message in self._speaking(id, messages) if not left else ():
                yield from self._into(message, said, messages)
            if left and left[0] == said:
                yield id, left[1:]

    def _into(self, message: Message, said: Key, messages: Messages) -> Iterator[_Stand]:
        """The message, where this is the first thing it says."""
        all_said = self._said.get(message.id)
        if all_said is None:
            all_said = tuple(map(digest, stored_sayings(message, messages)))
            self._said[message.id] = all_said
        if all_said[0] == said:
            yield message.id, all_said[1:]

    def _speaking(self, id: MessageId | None, messages: Messages) -> list[Message]:
        """The messages that say something next, below others that say nothing."""
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

    def _with_silent(self, reached: list[MessageId], messages: Messages) -> list[MessageId]:
        """Them and what says nothing below them, in the order they were written."""
        everything = list(reached)
        for id in everything:
            everything += [below for below in self._below.get(id, ()) if is_silent(messages[below])]
        if len(everything) == 1:
            return everything
        wanted = set(everything)
        return [id for id in messages if id in wanted]


def is_silent(message: Message) -> bool:
    """System messages have no key of their own, and a hidden one was never sent."""
    return message.hidden or message.role == "system"


def stored_sayings(message: Message, messages: Messages) -> tuple[bytes, ...]:
    """What a stored message says."""
    return () if is_silent(message) else sayings(message, _calls_above(message, messages))


def upwards(id: MessageId | None, messages: Messages) -> Iterator[Message]:
    """The message and those above it."""
    while id is not None:
        message = messages[id]
        yield message
        id = message.parent


def _calls_above(message: Message, messages: Messages) -> Callable[[str], int | None]:
    """Which call an id names, of the nearest message above that makes it and that programs have seen."""

    def find(id: str) -> int | None:
        above = (one for one in upwards(message.parent, messages) if not is_silent(one))
        return next((calls[id] for one in above if id in (calls := calls_of(one))), None)

    return find
