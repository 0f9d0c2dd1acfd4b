"""A writer's in-memory state of a conversation it writes to, so that races are decided before any SQL runs.

Only the writer thread of a store reads or changes a ledger.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType

from forky_core.model import ConversationId, ConversationSummary, Operation, View
from forky_core.model.parts import Json
from forky_core.store.segments import Places
from forky_core.store.summary import summary_of

_RECENT = 256


@dataclass(slots=True)
class Ledger:
    id: ConversationId
    entries: dict[str, Json] = field(default_factory=dict)
    moved: dict[str, int] = field(default_factory=dict)
    """Key → number of the operation that last changed it; keys removed before the ledger was read are absent."""
    recent: dict[int, Operation] = field(default_factory=dict)
    """Operations made since the ledger was read, to tell the losers of a race what came first."""
    version: int = 0
    last: str | None = None
    """Id of the last operation; None before the first."""
    created: int = 0
    """When the first operation was made, and when the last; microseconds since the epoch, UTC."""
    updated: int = 0
    places: Places = field(default_factory=Places)

    def take(self, operation: Operation) -> None:
        """Advance the ledger by `operation`."""
        for change in operation.changes:
            if change.after is None:
                self.entries.pop(change.key, None)
            else:
                self.entries[change.key] = change.after
            self.moved[change.key] = operation.number
        self.recent[operation.number] = operation
        self.recent.pop(operation.number - _RECENT, None)
        self.version = operation.number
        self.last = operation.id
        self.updated = operation.at
        if operation.number == 1:
            self.created = operation.at

    def view(self) -> View:
        return View(MappingProxyType(dict(self.entries)), self.version)

    def summary(self) -> ConversationSummary:
        return summary_of(
            self.id,
            self.entries,
            self.moved.__getitem__,
            created=self.created,
            updated=self.updated,
            messages=len(self.places.numbers),
        )

    @property
    def weight(self) -> int:
        """Approximate number of things it holds."""
        return len(self.places.numbers) + len(self.entries) + 1
