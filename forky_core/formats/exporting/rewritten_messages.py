"""The messages of a rewritten copy, generated from the originals each time they are read.

So a copy of a long conversation is exported like the conversation itself, a stretch at a time. For each message, only
its new id, its original's id and its stem are in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from forky_core.formats.forky_file.stored import StoredMessages, naming
from forky_core.model import Message, MessageId, Stem

Make = Callable[[Message], Message | None]
"""Generates the new message for an original, always the same one; None leaves it out."""


class Remade:
    """A `MessageSource` of rewritten messages."""

    def __init__(self, originals: StoredMessages, make: Make) -> None:
        self.stems: dict[MessageId, Stem] = {}
        self._originals = originals
        self._make = make
        self._old: dict[MessageId, MessageId] = {}
        self._named: list[tuple[MessageId, str]] = []
        for message in originals.in_order():
            made = make(message)
            if made is not None and made.id not in self._old:
                self._old[made.id] = message.id
                self.stems[made.id] = Stem(made.parents, made.created, made.hidden)
                self._named += naming((made,))

    def one(self, id: MessageId) -> Message:
        made = self._make(self._originals[self._old[id]])
        assert made is not None
        return made

    def all(self) -> Iterator[Message]:
        for message in self._originals.in_order():
            made = self._make(message)
            if made is not None and self._old[made.id] == message.id:
                yield made

    def files(self) -> Iterator[tuple[MessageId, str]]:
        return iter(self._named)


def remade(originals: Mapping[MessageId, Message], make: Make) -> Mapping[MessageId, Message]:
    """All messages that `make` generates; those of a conversation in memory are in memory as well."""
    if isinstance(originals, StoredMessages):
        return StoredMessages(Remade(originals, make))
    made = (make(message) for message in originals.values())
    found: dict[MessageId, Message] = {}
    for one in made:
        if one is not None:
            found.setdefault(one.id, one)
    return found
