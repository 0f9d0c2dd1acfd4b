"""How the conversations that programs wrote to lately hang together, in memory: matching does not work it out anew."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from threading import Lock

from forky_core.matching.finding import Match, match
from forky_core.matching.walking import Tree
from forky_core.model import ConversationId, Message, MessageId
from forky_core.parts import Draft

_MOST = 200_000
"""Messages of all trees together: about 40 MB."""


class Indexes:
    """Safe from any thread."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._lock = Lock()
        self._held: OrderedDict[ConversationId, tuple[Tree, Lock]] = OrderedDict()

    def match(
        self,
        conversation: ConversationId,
        turns: Sequence[Draft],
        messages: Callable[[], Mapping[MessageId, Message]],
        visible: Callable[[], Collection[MessageId]],
    ) -> Match:
        """Where `turns` belong in a conversation as it is now."""
        with self._lock:
            tree, alone = self._held.setdefault(conversation, (Tree(), Lock()))
            self._held.move_to_end(conversation)
        with alone:
            stored = messages()
            tree.take(stored)
            found = match(turns, tree, stored, visible)
        self._trim()
        return found

    def drop(self, conversation: ConversationId) -> None:
        with self._lock:
            self._held.pop(conversation, None)

    def _trim(self) -> None:
        with self._lock:
            held = sum(len(tree) for tree, _ in self._held.values())
            while held > self._most and len(self._held) > 1:
                _, (tree, _) = self._held.popitem(last=False)
                held -= len(tree)
