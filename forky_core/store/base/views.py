"""A cache of the current views of recently read or changed conversations.

Versions only grow, so the newer of two views wins, whichever thread stores it first.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from forky_core.model import ConversationId, View

_MOST = 10_000


class Views:
    def __init__(self) -> None:
        self._lock = Lock()
        self._held: OrderedDict[ConversationId, View] = OrderedDict()
        self._purges = 0

    def find(self, conversation: ConversationId) -> View | None:
        with self._lock:
            return self._held.get(conversation)

    @property
    def purges(self) -> int:
        """Count of purges. A view that was read before the last purge is not cached."""
        with self._lock:
            return self._purges

    def keep(self, conversation: ConversationId, view: View, purges: int | None = None) -> View:
        """Cache `view` unless a newer one is cached, and return the newer one."""
        with self._lock:
            if purges is not None and purges != self._purges:
                return view
            held = self._held.get(conversation)
            if held is None or held.version < view.version:
                self._held[conversation] = held = view
            self._held.move_to_end(conversation)
            if len(self._held) > _MOST:
                self._held.popitem(last=False)
            return held

    def drop(self, conversation: ConversationId) -> None:
        with self._lock:
            self._held.pop(conversation, None)
            self._purges += 1
