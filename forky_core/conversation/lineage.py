"""Which message continues which in a conversation, answered without walking paths.

Messages never change and only ever come in, so what is computed for one holds forever. For each message there are its
depth, its parent, and one ancestor further up to jump to (Myers, “An applicative random-access stack”, 1983): the
ancestor at any depth is found in O(log depth) steps. All of it takes some 150 bytes a message.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from itertools import islice
from threading import Lock

from forky_core.model import Message, MessageId
from forky_core.model.parts import MergePart, RevertPart


class Lineage:
    """The first parents of a conversation's messages. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._number: dict[MessageId, int] = {}
        self._ids: list[MessageId] = []
        self._depth = array("i")
        self._parent = array("i")
        self._jump = array("i")
        self._bearing = array("i")
        """The nearest message, from this one on upwards, that merges or reverts; -1 if there is none."""

    def __len__(self) -> int:
        return len(self._ids)

    def take(self, messages: Mapping[MessageId, Message]) -> tuple[MessageId, ...]:
        """Add the messages that were written since, and return their ids. `messages` are all, in the order they were
        written, parents before children.
        """
        with self._lock:
            known = len(self._ids)
            for message in islice(messages.values(), known, None):
                self._add(message)
            return tuple(self._ids[known:])

    def _add(self, message: Message) -> None:
        number = len(self._ids)
        parent = self._number[message.parents[0]] if message.parents else -1
        depth = jump = 0
        bearing = -1
        if parent < 0:
            jump = number
        else:
            depth, bearing, over = self._depth[parent] + 1, self._bearing[parent], self._jump[parent]
            # Two jumps of equal length become one of both.
            equal = (
                self._depth[parent] - self._depth[over] == self._depth[over] - self._depth[self._jump[over]]
            )
            jump = self._jump[over] if equal else parent
        if any(isinstance(part, MergePart | RevertPart) for part in message.parts):
            bearing = number
        self._ids.append(message.id)
        for column, value in (
            (self._depth, depth),
            (self._parent, parent),
            (self._jump, jump),
            (self._bearing, bearing),
        ):
            column.append(value)
        self._number[message.id] = number

    def __contains__(self, message: object) -> bool:
        return message in self._number

    def depth(self, message: MessageId) -> int:
        """The number of messages above it. Raises KeyError for an unknown message."""
        return self._depth[self._number[message]]

    def leads(self, message: MessageId | None, end: MessageId | None) -> bool:
        """Whether the path to `end` contains `message`; False if either is unknown."""
        at, target = self._known(end), self._known(message)
        if at is None or target is None:
            return False
        depth = self._depth[target]
        while self._depth[at] > depth:
            over = self._jump[at]
            at = over if self._depth[over] >= depth else self._parent[at]
        return at == target

    def _known(self, message: MessageId | None) -> int | None:
        return self._number.get(message) if message is not None else None

    def bearing(self, end: MessageId) -> list[MessageId]:
        """The messages on the path to `end` that merge or revert, from the root down; [] if `end` is unknown."""
        found: list[MessageId] = []
        at = self._number.get(end, -1)
        while at >= 0 and (at := self._bearing[at]) >= 0:
            found.append(self._ids[at])
            at = self._parent[at]
        found.reverse()
        return found
