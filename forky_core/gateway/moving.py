"""`GET /moves/{conversation}?after=N`: events that notify watchers of a conversation's new operations.

An event is sent whenever the conversation's last operation is newer than the one that the watcher knows: `data: {"at":
17}`. The page then reads the changes by itself, as on any other run: no content of the conversation is sent here.
`event: alive` keeps the connection open. The address contains the conversation's id, which cannot be guessed; an
unknown one is 404. The hosts and origins that may connect are those of all our routes (access.gate.Gate).

`/moves/library` covers all conversations: the time of the last change takes the place of the operation's number.

With `beside`, watchers are also sent what changes beside the operations, as `event: inbox`, `event: threads`,
`event: replies` and `event: chats`: numbers and ids, never what anybody wrote. Changes of other conversations than the
one that is watched are told once a second at most: a busy program would otherwise make pages redraw all the time.

Watchers sleep until the store says that something has changed (`Store.hear`): a tab in which nothing happens costs no
more than its connection. Whoever stops the server wakes them (`wake(LIBRARY)`): it waits until they have ended.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forky_core.gateway.asgi import Receive, Send
from forky_core.gateway.events import HEADERS, EventStream, disconnected, send_event
from forky_core.gateway.serving import server_stops

if TYPE_CHECKING:  # The server's start does not wait for these imports.
    from forky_core.gateway.presence import Presence
    from forky_core.model.parts import Json
    from forky_core.store.herald import Heard

PREFIX = "/moves"
MOST = 500
"""The most concurrent watchers; further requests get 503."""
LIBRARY = "library"
GATHER = 0.02
"""Seconds between a change and its event: changes that follow within them are sent together."""
SELDOM = 1.0
"""Seconds between two events about all conversations."""
ALIVE = 40.0
"""Seconds without events after which `alive` is sent: a proxy ends what is silent for a minute."""
UNHEARD = 2
"""After so many of them a watcher looks by itself, whether or not it was told that something has changed."""


@dataclass(frozen=True, slots=True)
class WatchedConversation:
    """What a person watches: a conversation or the library."""

    id: str
    person: str
    """By id; "" on the server of one person."""


class Moving(EventStream[WatchedConversation]):
    """The endpoint: an ASGI app for `PREFIX/{id}`.

    `version` returns the number of the last operation of a conversation as a person sees it, who is given by their id
    (`access.person`); None if they may not see it or there is none. `hear` is `Store.hear` of the open store.
    With `presence`, watchers of a conversation are sent who else is there: `event: here` with a list as its data.
    `beside` returns the data of further events, by name, for the id of what is watched and a person's.
    """

    unknown = "No such conversation."

    def __init__(
        self,
        version: Callable[[str, str], int | None],
        hear: Callable[[Heard], Callable[[], None]],
        *,
        presence: Presence | None = None,
        beside: Callable[[str, str], Mapping[str, Json]] = lambda _id, _person: {},
        most: int = MOST,
    ) -> None:
        super().__init__(most)
        self._version = version
        self._beside = beside
        self._alarms = Alarms(hear)
        self._presence = presence
        if presence is not None:
            presence.changed = self._alarms.wake

    def wake(self, id: str) -> None:
        """Have those who watch a conversation, or whose person's id this is, look again. Safe from any thread."""
        self._alarms.heard(id)

    async def _found(self, id: str, person: str) -> WatchedConversation | None:
        # The first check may read the file; later ones find the view in memory.
        known = await asyncio.to_thread(self._version, id, person)
        return WatchedConversation(id, person) if known is not None else None

    def _look(self, thing: WatchedConversation) -> tuple[int | None, Mapping[str, Json]]:
        """What a watcher is to know now; None and nothing where they may not see it any more."""
        at = self._version(thing.id, thing.person)
        return at, self._beside(thing.id, thing.person) if at is not None else {}

    async def _tell(self, thing: WatchedConversation, known: int, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        left, changed = asyncio.ensure_future(disconnected(receive)), asyncio.Event()
        left.add_done_callback(lambda _: changed.set())
        there: list[dict[str, str | bool]] = []
        told: Mapping[str, Json] = {}
        try:
            me = thing.person
            there_too = self._presence.listening(thing.id, me) if self._presence else nullcontext()
            with self._alarms.set_for(changed, {thing.id, me, LIBRARY}), there_too:
                await send_event(send, b"event: alive\ndata:\n\n")
                while not left.done() and not server_stops():
                    changed.clear()
                    # A database that is away for a moment must not hold up everybody else's tabs.
                    at, beside = await asyncio.to_thread(self._look, thing)
                    if at is None:
                        break
                    others = self._presence.others(thing.id, me) if self._presence else []
                    if others != there:
                        there = others
                        await send_event(send, f"event: here\ndata: {json.dumps(there)}\n\n".encode("ascii"))
                    for name, data in beside.items():
                        if told.get(name) != data:
                            await send_event(
                                send, f"event: {name}\ndata: {json.dumps(data)}\n\n".encode("ascii")
                            )
                    told = beside
                    if at > known:
                        known = at
                        await send_event(send, f"data: {json.dumps({'at': at})}\n\n".encode("ascii"))
                    if await self._changes(changed, send):
                        await asyncio.wait([left], timeout=GATHER)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except OSError:
            pass  # The client disconnected in the middle of an event, or stopped reading.
        finally:
            left.cancel()

    async def _changes(self, changed: asyncio.Event, send: Send) -> bool:
        """Wait until something has changed, or nothing was heard for long; whether it has changed."""
        for _ in range(UNHEARD):
            try:
                await asyncio.wait_for(changed.wait(), ALIVE)
            except TimeoutError:
                await send_event(send, b"event: alive\ndata:\n\n")
            else:
                return True
        return False


class Alarms:
    """Wakes watchers on the event loop when a conversation changes, wherever that is noticed."""

    def __init__(self, hear: Callable[[Heard], Callable[[], None]]) -> None:
        self._hear = hear
        self._forget: Callable[[], None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._set: dict[str, set[asyncio.Event]] = {}
        self._lock = threading.Lock()
        self._changed: set[str] = set()
        """Conversations that have changed since watchers were woken last."""
        self._seldom: asyncio.TimerHandle | None = None

    @contextmanager
    def set_for(self, alarm: asyncio.Event, ids: Collection[str]) -> Iterator[None]:
        """Have an event set, within the block, whenever one of the conversations changes, or any for `LIBRARY`."""
        if not self._set:
            self._loop = asyncio.get_running_loop()
            self._forget = self._hear(self.heard)
        for id in ids:
            self._set.setdefault(id, set()).add(alarm)
        try:
            yield
        finally:
            for id in ids:
                self._set[id].discard(alarm)
                if not self._set[id]:
                    del self._set[id]
            if not self._set and self._forget is not None:
                self._forget()
                if self._seldom is not None:
                    self._seldom.cancel()
                    self._seldom = None

    def heard(self, conversation: str) -> None:
        """Wake those who watch a conversation. Safe from any thread."""
        with self._lock:
            waking = bool(self._changed)
            self._changed.add(conversation)
        if not waking and self._loop is not None:
            with suppress(RuntimeError):  # The loop is closed: there are no watchers any more.
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        """Wake who watches what has changed, and in a while who watches all conversations."""
        with self._lock:
            changed, self._changed = self._changed, set()
        for id in changed:
            self.wake(id)
        if self._seldom is None and self._loop is not None:
            self._seldom = self._loop.call_later(SELDOM, self._wake_all)

    def _wake_all(self) -> None:
        self._seldom = None
        self.wake(LIBRARY)

    def wake(self, id: str) -> None:
        """Wake those who watch a conversation. Only the event loop may ask."""
        for alarm in self._set.get(id, ()):
            alarm.set()
