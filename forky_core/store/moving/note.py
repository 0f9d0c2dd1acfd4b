"""What a database that is being moved to notes of that: from where it is filled, and whether it is complete."""

from __future__ import annotations

import json
from dataclasses import dataclass

from forky_core.model.errors import StoreError
from forky_core.store.contract import Store

MOVE = "move"
"""The setting that has the note. It belongs to this database, so it is never moved on."""


@dataclass(frozen=True, slots=True)
class MoveNote:
    origin: str
    """From where it is filled, for people."""
    done: bool

    @classmethod
    def of(cls, store: Store) -> MoveNote | None:
        """The note of a store; None if nothing was ever moved to it."""
        value = store.setting(MOVE)
        if value is None:
            return None
        noted = json.loads(value)
        return cls(str(noted["from"]), bool(noted["done"]))

    def write(self, store: Store) -> None:
        store.set_setting(MOVE, json.dumps({"from": self.origin, "done": self.done}, ensure_ascii=False))


def refuse_half_moved(store: Store) -> None:
    """Raise StoreError if this store holds only a part of a workspace that is being moved into it."""
    note = MoveNote.of(store)
    if note is not None and not note.done:
        raise StoreError(
            f"This database holds only a part of what is being moved here from {note.origin}.",
            "Run the same `forky move` again, which goes on where it was broken off.",
        )
