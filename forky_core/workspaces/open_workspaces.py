"""The workspaces of a server beside the first one, and which of them are open.

A workspace is opened when somebody asks for it. Its store is closed again after `REST` seconds without a call, or
sooner where more than `most` are open (store/sleeping_store.py). It stays open while a reply is written or an import
goes on in it. Whoever holds a workspace meanwhile loses nothing: its store is opened again by the next call. What was
only remembered of it is dropped. Where they are kept in a database that other processes change, too (places.py), their
changes are heard of all the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from forky_core.forky import Forky
from forky_core.formats.importing.import_record import are_imports_running
from forky_core.model import ConversationId
from forky_core.model.errors import StoreDamaged, StoreError
from forky_core.store.herald import Heard, Herald
from forky_core.store.sleeping_store import SleepingStore
from forky_core.team.team import Team
from forky_core.team.views import join_team
from forky_core.workspaces.places import WorkspacePlaces

REST = 600.0
"""Seconds without a call after which the store of a workspace is closed."""
MOST_OPEN = 20
"""Stores that are open at a time, the first workspace's aside, unless the operator says otherwise."""
JUST_NOW = 2.0
"""Seconds after a call within which a store is not closed for another one: what the process has noted, such as what a
token has spent, is written within one."""
_LOOK = 15.0
"""Seconds between two looks at which workspaces are unused."""


class OpenWorkspaces:
    """The workspaces of a server beside the first one; safe from any thread. Close it."""

    def __init__(
        self,
        places: WorkspacePlaces,
        team: Team,
        open: Callable[[SleepingStore[Any]], Forky],
        *,
        most: int = MOST_OPEN,
        rest: float = REST,
        just_now: float = JUST_NOW,
    ) -> None:
        """`open` makes a workspace over a store. `team` is that of the first workspace."""
        self.places = places
        self.rested: Callable[[str], None] = lambda _workspace: None
        """Called with the id of a workspace whose store was closed, on any thread."""
        self.changed_elsewhere: Callable[[str], None] = lambda _workspace: None
        """Called with the id of a workspace in which another process may have changed something, on a thread that has
        others to serve: what was noted of it while it was closed holds no more.
        """
        self._team = team
        self._open = open
        self._most = most
        self._rest = rest
        self._just_now = just_now
        self._lock = threading.RLock()
        self._known: WeakValueDictionary[str, Forky] = WeakValueDictionary()
        """Every workspace that anybody holds, so that none is ever made twice."""
        self._awake: dict[str, Forky] = {}
        """Those whose store is open, or in which a reply is being written."""
        self._making: dict[str, threading.Lock] = {}
        self._hearing: dict[str, Callable[[], None]] = {}
        """What ends hearing of what other processes change, by the workspace."""
        self._herald = Herald()
        self._looking: threading.Timer | None = None
        self._closed = False

    def whole(self, workspace: str) -> Forky:
        """A workspace with all that is in it, by its id.

        Raises:
            NotFound: there is no such workspace, or it is archived.
            StoreError: it cannot be opened.
        """
        team = self._team.of(workspace)
        with self._lock:
            found = self._known.get(workspace)
            making = self._making.setdefault(workspace, threading.Lock())
        if found is not None:
            return found
        with making:
            found = self._known.get(workspace)
            if found is not None:
                return found
            if workspace not in self._hearing:
                self._hearing[workspace] = self.places.hear(
                    workspace,
                    partial(self._changed_elsewhere, workspace),
                    lambda: self.changed_elsewhere(workspace),
                )
            store = self.places.store(
                workspace, woke=partial(self._woke, workspace), slept=partial(self._slept, workspace)
            )
            store.hear(lambda conversation: self._herald.tell([f"{workspace}/{conversation}"]))  # type: ignore[list-item]
            forky = store.keeps = self._open(store)
            forky.replies.hear(lambda conversation: self._herald.tell([f"{workspace}/{conversation}"]))  # type: ignore[list-item]
            with self._lock:
                self._known[workspace] = forky
                if store.is_awake:
                    self._awake[workspace] = forky
            with suppress(StoreDamaged):  # What can be read is shown all the same.
                join_team(forky, team)
        return forky

    @property
    def awake(self) -> frozenset[str]:
        """The ids of the workspaces whose stores are open."""
        with self._lock:
            return frozenset(id for id, one in self._awake.items() if _sleeper(one).is_awake)

    def hear(self, heard: Heard) -> Callable[[], None]:
        """Listen to all of them (`Store.hear`); conversations are named as `access.person.within` writes them."""
        return self._herald.hear(heard)

    def at_hand(self, workspace: str) -> Forky | None:
        """A workspace that somebody holds, without opening anything or waiting; None otherwise."""
        return self._known.get(workspace)

    def backup(self, workspace: str) -> Path:
        """Make a complete copy of a workspace's file beside it, also of one that is archived.

        Raises:
            NotFound: it is not kept in a file.
        """
        if self._team.workspaces.is_open(workspace):
            return self.whole(workspace).backup()
        return self.places.back_up(workspace)

    def sleep(self, idle: float = 0.0) -> None:
        """Close the stores of all workspaces that nobody has used for `idle` seconds and in which nothing goes on."""
        with self._lock:
            awake = list(self._awake.values())
        for forky in awake:
            self._try(forky, idle)

    def close(self) -> None:
        """Stop replies, keeping what has arrived, and close every store."""
        with self._lock:
            self._closed = True
            if self._looking is not None:
                self._looking.cancel()
            everything = list(self._known.values())
            hearing, self._hearing = list(self._hearing.values()), {}
        for end in hearing:
            end()
        for forky in everything:
            forky.close()
        with self._lock:
            self._awake.clear()

    def drop(self, workspace: str) -> None:
        """Close a workspace that was archived, or whose file is going to be replaced."""
        with self._lock:
            forky = self._known.pop(workspace, None)
            self._awake.pop(workspace, None)
            end = self._hearing.pop(workspace, None)
        if end is not None:
            end()
        if forky is not None:
            forky.close()
        self.rested(workspace)

    def _changed_elsewhere(self, workspace: str, conversations: Iterable[ConversationId]) -> None:
        self.changed_elsewhere(workspace)
        self._herald.tell([ConversationId(f"{workspace}/{one}") for one in conversations])

    def _woke(self, workspace: str) -> None:
        with self._lock:
            forky = self._known.get(workspace)
            if forky is not None:
                self._awake[workspace] = forky
            if self._looking is None and not self._closed:
                self._looking = threading.Timer(_LOOK, self._look)
                self._looking.daemon = True
                self._looking.start()
        self._close_unused(workspace, more=forky is None)

    def _slept(self, workspace: str) -> None:
        with self._lock:
            forky = self._awake.get(workspace)
            if forky is not None:
                # Another program may change it before it is opened again.
                forky.indexes.clear()
                forky.visible_caches.clear()
                if not forky.replies.running():
                    del self._awake[workspace]
        self.rested(workspace)

    def _close_unused(self, kept: str = "", *, more: bool = False) -> None:
        """Close the stores that were used longest ago, until no more than `most` are open.

        `kept` is the id of a workspace that stays open; `more` says that one more is about to be open.
        """
        with self._lock:
            over = len(self._awake) + more - self._most
            others = [one for id, one in self._awake.items() if id != kept]
        for one in sorted(others, key=lambda one: _sleeper(one).used):
            if over <= 0:
                return
            over -= self._try(one, self._just_now)

    def _try(self, forky: Forky, idle: float) -> bool:
        store = _sleeper(forky)
        identity = store.open_identity
        if identity is None or forky.replies.running() or are_imports_running(identity):
            return False
        with suppress(StoreError):
            return store.sleep(idle)
        return False

    def _look(self) -> None:
        self.sleep(self._rest)
        self._close_unused()
        with self._lock:
            self._looking = None
            if self._awake and not self._closed:
                self._looking = threading.Timer(_LOOK, self._look)
                self._looking.daemon = True
                self._looking.start()


def _sleeper(forky: Forky) -> SleepingStore[Any]:
    assert isinstance(forky.store, SleepingStore)
    return forky.store
