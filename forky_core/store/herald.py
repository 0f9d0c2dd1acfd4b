"""Tells whoever listens within this process which conversations have changed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from forky_core.model import ConversationId

Heard = Callable[[ConversationId], None]
"""Called with the id of a conversation that has changed, on any thread, also one that writes. It must return at once,
raise nothing, and not use the store."""


class Herald:
    """The listeners of one store; safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: tuple[Heard, ...] = ()

    def hear(self, heard: Heard) -> Callable[[], None]:
        """Add a listener; returns the function that removes it."""
        with self._lock:
            self._listeners = (*self._listeners, heard)

        def forget() -> None:
            with self._lock:
                self._listeners = tuple(one for one in self._listeners if one is not heard)

        return forget

    def tell(self, conversations: Iterable[ConversationId]) -> None:
        """Call every listener for each of these conversations."""
        listeners = self._listeners
        if listeners:
            for conversation in conversations:
                for heard in listeners:
                    heard(conversation)
