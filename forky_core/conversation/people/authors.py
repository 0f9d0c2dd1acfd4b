"""The author of each message where people sign in: the actor of the operation that added it.

A message does not say it itself: its id is the hash of its content, so a name in it could never be changed or
forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable

from forky_core.model import MessageId, Operation

_SAYING = frozenset({"ask", "say", "edit", "receive", "merge", "graft", "fuse", "revert"})
"""The verbs by which somebody adds one message at the end of a branch."""
_GRAFTS = "graft"
"""The verb of a merge of another conversation's branch, which brings messages that were said there."""


class Authors:
    """The authors of a conversation's messages, from the operations that were added so far."""

    def __init__(self) -> None:
        self.version = 0
        """The number of the last operation that was added."""
        self._by_message: dict[MessageId, str] = {}
        self.grafts: list[MessageId] = []
        """The messages as which branches of other conversations were merged, oldest first."""

    def add(self, operations: Iterable[Operation]) -> None:
        """Add further operations, oldest first."""
        for operation in operations:
            self.version = operation.number
            if operation.verb in _SAYING:
                for change in operation.changes:
                    at = change.after.get("at") if isinstance(change.after, dict) else None
                    if change.key.startswith("heads/") and isinstance(at, str):
                        self._by_message.setdefault(MessageId(at), operation.actor)
                        if operation.verb == _GRAFTS:
                            self.grafts.append(MessageId(at))

    def of(self, message: MessageId) -> str:
        """The actor who wrote a message; "" if no single operation added it, as in an import."""
        return self._by_message.get(message, "")
