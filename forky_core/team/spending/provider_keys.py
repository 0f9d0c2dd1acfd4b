"""The keys of model providers that a workspace and its people have stored, encrypted.

A person's own key serves for that person's questions alone, and is read by nothing else. What leaves this file is a key
for a call, or the fact that there is one; no text for people ever holds a part of it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from forky_core.llm.keys import fit_key
from forky_core.model.errors import BadContent, NotFound, NothingToDo, StoreError
from forky_core.team.audit import Audit
from forky_core.team.database import TeamDatabase, now
from forky_core.team.members import Members
from forky_core.team.spending.master_key import KeyLost, MasterKey

WORKSPACE_KEYS = ""
"""In place of a person's id: the keys of the whole workspace."""
_LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class StoredKey:
    """That there is a key; never the key itself."""

    provider: str
    """The provider's or server's id."""
    added: int
    """Microseconds since the epoch, UTC."""
    trouble: str
    """Why it cannot be used; "" if it can."""


class ProviderKeys:
    """The stored keys of one workspace; safe from any thread, and with other processes."""

    def __init__(
        self, database: TeamDatabase, audit: Audit, members: Members, workspace: str, master: MasterKey
    ) -> None:
        self._database = database
        self._audit = audit
        self._members = members
        self._workspace = workspace
        self._master = master
        self._lock = threading.Lock()
        self._version = -1
        self._opened: dict[tuple[str, str], str | None] = {}

    def __repr__(self) -> str:
        return "ProviderKeys(…)"

    def find(self, person: str, provider: str) -> str | None:
        """A person's key for a provider, or with `WORKSPACE_KEYS` the workspace's; None if there is none.

        Raises:
            KeyLost: there is one that cannot be opened.
        """
        version = self._database.version
        with self._lock:
            if version != self._version:
                self._opened, self._version = {}, version
            if (person, provider) in self._opened:
                return self._opened[person, provider]
        row = self._database.row(
            "SELECT sealed FROM provider_keys WHERE workspace = ? AND person = ? AND provider = ?",
            self._workspace,
            person,
            provider,
        )
        key = self._master.open(row["sealed"], _place(self._workspace, person, provider)) if row else None
        with self._lock:
            if version == self._version:
                self._opened[person, provider] = key
        return key

    def keep(self, person: str, provider: str, key: str, *, by: str) -> None:
        """Store a key, in the place of a former one.

        Raises:
            BadContent: it cannot be a key.
            NotFound: the person is no member.
            StoreError: the file with the master key cannot be read or written.
        """
        key = fit_key(key)
        if not key or not 0 < len(provider) <= _LONGEST_ID:
            raise BadContent("No key was typed; nothing changed.")
        with self._database.writing() as connection:
            if person != WORKSPACE_KEYS and not self._members.role_of(person):
                raise NotFound("That person is not a member.")
            connection.execute(
                "INSERT INTO provider_keys VALUES (?, ?, ?, ?, ?) ON CONFLICT (workspace, person, provider) "
                "DO UPDATE SET sealed = excluded.sealed, added = excluded.added",
                (
                    self._workspace,
                    person,
                    provider,
                    self._master.seal(key, _place(self._workspace, person, provider)),
                    now(),
                ),
            )
            self._audit.note("key added", by, provider=provider, **_whose(person))

    def remove(self, person: str, provider: str, *, by: str) -> None:
        """Delete a key. Raises NotFound if there is none."""
        with self._database.writing() as connection:
            gone = connection.execute(
                "DELETE FROM provider_keys WHERE workspace = ? AND person = ? AND provider = ?",
                (self._workspace, person, provider),
            )
            if not gone.rowcount:
                raise NotFound("There is no such key.")
            self._audit.note("key removed", by, provider=provider, **_whose(person))

    def drop_all(self, person: str) -> None:
        """Delete every key of a person who stops being a member."""
        with self._database.writing() as connection:
            connection.execute(
                "DELETE FROM provider_keys WHERE workspace = ? AND person = ?", (self._workspace, person)
            )

    def stored(self, person: str) -> Sequence[StoredKey]:
        """The keys of a person, or with `WORKSPACE_KEYS` of the workspace, by provider."""
        rows = self._database.rows(
            "SELECT provider, added FROM provider_keys WHERE workspace = ? AND person = ? ORDER BY provider",
            self._workspace,
            person,
        )
        return [
            StoredKey(row["provider"], row["added"], self._trouble(person, row["provider"])) for row in rows
        ]

    def rotate(self, *, by: str) -> tuple[int, int]:
        """Encrypt the keys of all workspaces anew with a new master key; returns how many were, and how many could not
        be opened.

        It can be repeated after a crash at any moment: the file has the former key until the new one serves for all.

        Raises:
            NothingToDo: no key is stored.
            StoreError: the file with the master key cannot be written.
        """
        with self._database.writing() as connection:
            rows = self._database.rows("SELECT workspace, person, provider, sealed FROM provider_keys")
            if not rows:
                raise NothingToDo("No key is stored here, so there is nothing to encrypt anew.")
            opened: dict[tuple[str, str, str], str] = {}
            for row in rows:
                where = (row["workspace"], row["person"], row["provider"])
                with suppress(KeyLost):
                    opened[where] = self._master.open(row["sealed"], _place(*where))
            self._master.begin_rotation()
            connection.executemany(
                "UPDATE provider_keys SET sealed = ? WHERE workspace = ? AND person = ? AND provider = ?",
                [(self._master.seal(key, _place(*where)), *where) for where, key in opened.items()],
            )
            lost = len(rows) - len(opened)
            self._audit.note("keys encrypted anew", by, keys=len(opened), lost=lost)
        if not lost:
            self._master.end_rotation()
        return len(opened), lost

    def _trouble(self, person: str, provider: str) -> str:
        try:
            self.find(person, provider)
        except StoreError as error:
            return str(error)
        return ""


class WorkspaceKeys:
    """The keys of the whole workspace, where the catalogue of models looks keys up that were entered."""

    def __init__(self, keys: ProviderKeys) -> None:
        self._keys = keys

    def key(self, id: str) -> str | None:
        """The key of a provider or server; None if there is none, or if it cannot be opened."""
        try:
            return self._keys.find(WORKSPACE_KEYS, id)
        except StoreError:
            return None

    def keep(self, id: str, key: str | None, by: str) -> None:
        """Store a key, or with None remove it, in the name of an owner."""
        if key:
            self._keys.keep(WORKSPACE_KEYS, id, key, by=by)
        elif any(one.provider == id for one in self._keys.stored(WORKSPACE_KEYS)):
            self._keys.remove(WORKSPACE_KEYS, id, by=by)


def _whose(person: str) -> dict[str, str]:
    return {"member": person} if person != WORKSPACE_KEYS else {"of": "workspace"}


def _place(workspace: str, person: str, provider: str) -> str:
    """What a key is bound to."""
    return f"{workspace}\n{person}\n{provider}"
