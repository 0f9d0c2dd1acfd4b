"""Cached indexes of the conversations that programs wrote to lately, so that matching need not rebuild them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock

from forky_core.matching.finding import IsEnough, PlaceMatch, match
from forky_core.matching.rewritten import match_rewritten
from forky_core.matching.walking import Tree
from forky_core.model import ConversationId, Message, MessageId
from forky_core.model.parts import Draft

_MOST = 200_000
"""Messages in all indexes together: about 40 MB."""


@dataclass(eq=False, slots=True)
class _CachedTree:
    tree: Tree = field(default_factory=Tree)
    alone: Lock = field(default_factory=Lock)
    """Held while using the index."""
    weight: int = 1
    """Approximate number of its messages, plus one."""


class Indexes:
    """The cached indexes of conversations. Safe from any thread."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._lock = Lock()
        self._held: OrderedDict[ConversationId, _CachedTree] = OrderedDict()
        self._weight = 0
        """The sum of all weights."""

    def first_look(self, conversation: ConversationId) -> bool:
        """Whether nobody has asked about this conversation lately; asking again returns False.

        On the first look it is not worth reading all of it; on a second one it is, since more will follow.
        """
        with self._lock:
            first = conversation not in self._held
            self._of(conversation)
            self._trim()
        return first

    def match(
        self,
        conversation: ConversationId,
        turns: Sequence[Draft],
        messages: Callable[[], Mapping[MessageId, Message]],
        visible: Callable[[], Collection[MessageId]],
        is_enough: IsEnough | None = None,
        *,
        rewritten: bool = False,
    ) -> PlaceMatch:
        """Find where `turns` belong in the conversation's current state; `is_enough` as in `matching.finding.match`.

        `rewritten` says that they are of the session that the conversation records, whose program may rewrite them.
        """
        with self._lock:
            held = self._of(conversation)
        with held.alone:
            stored = messages()
            held.tree.take(stored)
            look = partial(match, turns, held.tree, stored, visible, is_enough)
            found = look(trimmed=not rewritten)
            if rewritten and found.known < len(turns):
                found = match_rewritten(turns, held.tree, stored, visible(), found, look)
            taken = len(held.tree)
        with self._lock:
            if self._held.get(conversation) is held:
                self._weight += 1 + taken - held.weight
                held.weight = 1 + taken
                self._trim()
        return found

    def drop(self, conversation: ConversationId) -> None:
        with self._lock:
            held = self._held.pop(conversation, None)
            self._weight -= held.weight if held is not None else 0

    def clear(self) -> None:
        """Drop every cached index."""
        with self._lock:
            self._held.clear()
            self._weight = 0

    def _of(self, conversation: ConversationId) -> _CachedTree:
        held = self._held.get(conversation)
        if held is None:
            held = self._held[conversation] = _CachedTree()
            self._weight += held.weight
        self._held.move_to_end(conversation)
        return held

    def _trim(self) -> None:
        while self._weight > self._most and len(self._held) > 1:
            _, held = self._held.popitem(last=False)
            self._weight -= held.weight
