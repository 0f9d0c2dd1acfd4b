"""A store that ends after so many writes, as if its process had been killed or its disk had filled up there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import fields
from typing import Any

from forky_core.model import ConversationId, Operation
from forky_core.model.errors import NOTHING_SAVED, StoreFull
from forky_core.store.contract import Commit, NewSetting
from forky_core.store.memory.store import MemoryStore


class Killed(BaseException):
    """Nobody is there any more to handle it."""


def killed() -> BaseException:
    return Killed()


def full() -> BaseException:
    return StoreFull(f"There is no room left to write the database{NOTHING_SAVED}", "Free some space.")


class MortalStore(MemoryStore):
    """Its writes fail from the one on that `end_after` names; each is whole or not there at all, as in any store."""

    def __init__(self) -> None:
        super().__init__()
        self._left: int | None = None
        self._error: Callable[[], BaseException] = killed

    def end_after(self, writes: int | None, error: Callable[[], BaseException] = killed) -> None:
        """None: it writes again, as a disk does on which room was made."""
        self._left, self._error = writes, error

    def survivor(self) -> MortalStore:
        """What another process finds: the same rows, and nothing that only this one knew."""
        found = MortalStore()
        with self._lock:
            found._conversations = {id: _copied(kept) for id, kept in self._conversations.items()}
            found._blobs = dict(self._blobs)
            found._settings = dict(self._settings)
        return found

    @property
    def rows(self) -> dict[str, Any]:
        """Everything that is stored, but for the number that the next import will have."""
        with self._lock:
            return {
                "views": {id: dict(kept.view.entries) for id, kept in self._conversations.items()},
                "marks": [
                    key
                    for kept in self._conversations.values()
                    for key in kept.derived
                    if key.startswith("import/")
                ],
                "blobs": sorted(self._blobs),
                "settings": {key: value for key, value in self._settings.items() if key != "imports"},
            }

    def _write(self) -> None:
        if self._left is not None:
            if self._left <= 0:
                raise self._error()
            self._left -= 1

    def commit(self, commit: Commit) -> Operation:
        self._write()
        return super().commit(commit)

    def put_blob(self, content: bytes, media_type: str, name: str = "") -> str:
        self._write()
        return super().put_blob(content, media_type, name)

    def drop_blobs(self, names: Iterable[str]) -> None:
        self._write()
        super().drop_blobs(names)

    def keep_derived(
        self, conversation: ConversationId, entries: Mapping[str, str], *, waits: bool = True
    ) -> None:
        self._write()
        super().keep_derived(conversation, entries, waits=waits)

    def forget_derived(self, key: str) -> None:
        self._write()
        super().forget_derived(key)

    def set_setting(self, key: str, value: NewSetting) -> str | None:
        self._write()
        return super().set_setting(key, value)

    def purge(self, conversation: ConversationId) -> None:
        self._write()
        super().purge(conversation)


def _copied(kept: Any) -> Any:
    """A conversation's rows in containers of their own; the values in them never change."""
    found = copy(kept)
    for each in fields(kept):
        value = getattr(kept, each.name)
        if isinstance(value, dict | list):
            setattr(found, each.name, value.copy())
    return found
