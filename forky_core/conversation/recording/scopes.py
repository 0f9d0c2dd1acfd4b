"""Scopes: the conversations that an array may be matched with. Nothing is ever matched across two scopes.

A conversation that a program began stores in its view its scope and its opening, both as hashes with a salt of this
database: so neither a name nor a token can be read from an export, and a copy in another database belongs to no scope
there.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from threading import Lock

from forky_core.matching.keys import digest, path_keys
from forky_core.model import ConversationId
from forky_core.model.parts import Draft, canonical_json
from forky_core.store.contract import Store

SCOPE = "scope"
OPENS = "opens/"
"""The prefix of a key that ends in a hash: of the scope and the opening, with the value true; or of the scope and the
id of a program's session, with the name of the branch on which that wrote last.
"""
SALT = "scope_salt"
"""The key of the setting that keeps the salt."""
_MOST = 8
"""The most conversations that are tried."""


class Scopes:
    def __init__(self, store: Store, owner: str = "") -> None:
        """`owner` is the member of a team whose files and calls find each other; "" without a team."""
        self._store = store
        self._owner = owner
        self._lock = Lock()
        self._salted = ""

    def named(self, scope: str) -> str:
        """The scope's hash as views store it."""
        return _hash(self._salt(), scope)

    def opening(self, scope: str, turns: Sequence[Draft]) -> str:
        """The key of the view for a conversation's opening: its messages up to the first of the user.

        So a common greeting of the assistant does not put all conversations together.
        """
        end = next((at for at, turn in enumerate(turns) if turn.role == "user"), len(turns) - 1)
        keys = path_keys(turns[: end + 1])
        return OPENS + _hash(self._salt(), scope, keys[-1].hex() if keys else "")

    def session(self, scope: str, id: str) -> str:
        """The key of the view for a program's session, or a thread of it."""
        return OPENS + _hash(self._salt(), scope, "session", id)

    def of_file(self, id: str) -> str:
        """The key of the view of a conversation that the file of a session began, by which its calls find it."""
        return OPENS + _hash(self._salt(), "file", self._owner, "session", id)

    def of_calls(self, id: str) -> str:
        """The key of the view of a conversation in which a session's calls are recorded, by which its file finds it."""
        return OPENS + _hash(self._salt(), "calls", self._owner, "session", id)

    def opened(self, opening: str) -> list[ConversationId]:
        """The conversations of this key that are not in the trash, the most recently started first."""
        found = sorted(self._store.entries(opening), reverse=True)
        return [id for id in found if not self._store.view(id).trashed][:_MOST]

    def holds(self, named: str, conversation: ConversationId) -> bool:
        """Whether a conversation belongs to the scope with the hash `named`."""
        return self._store.view(conversation).entries.get(SCOPE) == named

    def offers(self, named: str, conversation: ConversationId) -> bool:
        """Whether a conversation belongs to that scope and is not in the trash."""
        view = self._store.view(conversation)
        return view.entries.get(SCOPE) == named and not view.trashed

    def _salt(self) -> str:
        with self._lock:
            if not self._salted:
                self._salted = ensure_salt(self._store)
            return self._salted


def ensure_salt(store: Store) -> str:
    """The salt of a store's scopes, which is made once. In a team nobody but an owner could make it."""
    kept = store.setting(SALT)
    if kept is None:
        kept = secrets.token_hex(16)
        store.set_setting(SALT, kept)
    return kept


def _hash(*values: str) -> str:
    return digest(canonical_json(list(values)).encode()).hex()
