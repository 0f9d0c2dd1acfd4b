"""Messages between this server and the others that use the same database, over a talk of its store.

That is who looks at what (presence.py), and whose notices or which threads have changed, so that a tab at one server
shows within a moment what was done at another. Where there is one server alone, nothing of this goes on.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

from forky_core.gateway.presence import Here, Presence

if TYPE_CHECKING:
    from forky_core.store.contract import Talk, TalkingStore

TOPIC = "servers"


class Neighbours:
    """The other servers that use the same database."""

    def __init__(
        self, presence: Presence, wake: Callable[[str], None], look: Callable[[], None] = lambda: None
    ) -> None:
        """`wake` has those look again who watch what has this name (moving.py), after `look`: see to it that they do
        not find what they found before. Both may be called on any thread.
        """
        self._presence = presence
        self._wake = wake
        self._look = look
        self._talk: Talk | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        presence.told = self._tell_place

    def join(self, store: TalkingStore) -> None:
        """Take part from now on, until the store is closed. Only the event loop calls it, as often as it likes."""
        if self._talk is None:
            self._loop = asyncio.get_running_loop()
            self._talk = store.talk(TOPIC, self._heard, _ask_who)

    def changed(self, name: str) -> None:
        """Tell the other servers that what is watched under this name has changed."""
        self._tell({"changed": name})

    def _tell_place(self, tab: str, here: Here | None) -> None:
        self._tell({"tab": tab, "here": None if here is None else asdict(here) | {"seen": 0}})

    def _tell(self, told: dict[str, object]) -> None:
        if self._talk is not None:
            self._talk.tell(json.dumps(told, ensure_ascii=False))

    def _heard(self, message: str) -> None:
        told = json.loads(message)
        if "changed" in told:
            self._look()
            self._wake(told["changed"])
        elif self._loop is not None:
            with suppress(RuntimeError):  # The loop is closed: the server ends.
                self._loop.call_soon_threadsafe(self._note, told)

    def _note(self, told: dict[str, object]) -> None:
        """Note where a tab of another server is, or say where ours are. Only the event loop calls it."""
        if "who" in told:
            for tab, here in self._presence.connected().items():
                self._tell_place(tab, here)
            return
        place = told.get("here")
        known = Here(**{**place, "seen": time.monotonic()}) if isinstance(place, dict) else None
        self._presence.note(str(told.get("tab", "")), known)


def _ask_who(talk: Talk) -> None:
    """Have the others say where their tabs are."""
    talk.tell(json.dumps({"who": True}))
