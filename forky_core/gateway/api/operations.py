"""`GET /api/v1/operations`: what happens in the conversations that a token reaches, as server-sent events.

An event's id says where to go on after a break (`Last-Event-ID`). Operations of the last second before it may come a
second time, since commits of several threads do not end in the order of their times: an operation's `id` tells.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator
from contextlib import suppress
from urllib.parse import parse_qs

from forky_core.gateway.api.callers import Callers
from forky_core.gateway.api.threads import VerbThreads
from forky_core.gateway.asgi import Receive, Scope, Send, headers_of
from forky_core.gateway.events import HEADERS, disconnected, send_event
from forky_core.gateway.serving import server_stops
from forky_core.gateway.v1.call_note import CallNote
from forky_core.model import ConversationId, Operation
from forky_core.model.errors import BadCall, ForkyError, NotFound
from forky_core.verbs.pages_of_results import as_json
from forky_core.verbs.verb import VerbCaller
from forky_core.wire.errors import ApiError

MOST_STREAMS = 100
ALIVE = 5.0
"""Seconds without an operation after which a comment is sent, and other processes' changes are looked for."""
GATHER = 0.05
"""Seconds between two looks: operations that come in between are sent together."""
_MOST_BACK = 1_000
"""Operations of a conversation that a stream goes back at most."""
_SECOND = 1_000_000


class OperationStream:
    """The endpoint, and the streams that are open."""

    def __init__(self, callers: Callers, threads: VerbThreads) -> None:
        self._callers = callers
        self._threads = threads
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send, note: CallNote) -> None:
        caller: VerbCaller = await self._threads.run(self._callers.of, scope)
        caller.require("read")
        note.token = caller.author
        if self._open >= MOST_STREAMS:
            raise ApiError(503, "Too many follow already.", "overloaded", headers={"retry-after": "5"})
        query = parse_qs(scope["query_string"].decode("latin-1"))
        named = query.get("conversation", [""])[0]
        since = headers_of(scope).get("last-event-id", "") or query.get("after", [""])[0]
        follower: _Follower = await self._threads.run(_Follower, caller, named, since)
        note.status = 200
        self._open += 1
        try:
            await self._follow(follower, scope, receive, send)
        finally:
            self._open -= 1

    async def _follow(self, follower: _Follower, scope: Scope, receive: Receive, send: Send) -> None:
        loop, woken = asyncio.get_running_loop(), asyncio.Event()
        moved: set[ConversationId] | None = None  # At first, all that it reaches.

        def note_moved(id: ConversationId) -> None:
            nonlocal moved
            moved = (moved or set()) | {id}
            woken.set()

        def heard(id: ConversationId) -> None:
            with suppress(RuntimeError):  # The loop is closed: nobody follows any more.
                loop.call_soon_threadsafe(note_moved, id)

        forget = follower.caller.forky.store.hear(heard)
        gone = asyncio.ensure_future(disconnected(receive))
        gone.add_done_callback(lambda _: woken.set())
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        try:
            await send_event(send, b": here\n\n")
            while not gone.done() and not server_stops():
                woken.clear()
                ids, moved = moved, set()
                found = await self._threads.run(follower.news, ids)
                # Whoever made the token may have revoked it meanwhile.
                follower.caller = await self._threads.run(self._callers.of, scope)
                for event in found:
                    await send_event(send, event)
                try:
                    await asyncio.wait_for(woken.wait(), ALIVE)
                    await asyncio.sleep(GATHER)
                except TimeoutError:
                    await send_event(send, b": here\n\n")
                    if not follower.caller.forky.store.is_exclusive:
                        moved = None
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except (OSError, ApiError, ForkyError):
            # The client is gone or reads nothing, or the token is revoked.
            with suppress(OSError):
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            forget()
            gone.cancel()


class _Follower:
    """What one stream has sent; its methods are called in a thread."""

    def __init__(self, caller: VerbCaller, named: str, since: str) -> None:
        """Raises NotFound for an unknown conversation, BadCall for a place that no event has named."""
        self.caller = caller
        self._only = caller.forky.conversation(named).id if named else None
        self._sent: dict[ConversationId, int] = {}
        at, _, _ = since.partition("-")
        if since and not (at.isdecimal() and len(at) < 20):
            raise BadCall("That is no place to go on from.", "Last-Event-ID", "Send the id of an event.")
        self._after = int(at) - _SECOND if since else None
        if self._after is None:
            for id in self._reached():
                self._sent[id] = self._version(id)

    def _reached(self) -> tuple[ConversationId, ...]:
        if self._only is not None:
            return (self._only,)
        return tuple(one.id for one in self.caller.forky.conversations())

    def _version(self, id: ConversationId) -> int:
        try:
            return self.caller.forky.store.view(id).version
        except NotFound:
            return 0

    def news(self, moved: Collection[ConversationId] | None) -> list[bytes]:
        """The events of operations that were not sent yet, in the order of their times; of these conversations, or for
        None of all that the caller reaches.
        """
        fresh: list[Operation] = []
        reached = (
            self._reached() if moved is None else moved if self._only is None else {self._only} & set(moved)
        )
        for id in reached:
            version = self._version(id)
            known = self._sent.get(id, 0)
            if version > known:
                with suppress(NotFound):
                    fresh += self._since(id, known)
                self._sent[id] = version
        if moved is None:
            self._after = None
        return [_event(self.caller, one) for one in sorted(fresh, key=lambda one: one.at)]

    def _since(self, id: ConversationId, known: int) -> Iterator[Operation]:
        for one in self.caller.forky.store.operations(id, after=known, limit=_MOST_BACK):
            if self._after is None or one.at >= self._after:
                yield one


def _event(caller: VerbCaller, one: Operation) -> bytes:
    told = {
        "conversation": one.conversation,
        "version": one.number,
        "id": one.id,
        "at": one.at,
        "by": caller.forky.name_of(one.actor),
        "verb": one.verb,
        "summary": caller.forky.name_of(one.summary),
        "keys": [change.key for change in one.changes][:50],
    }
    body = f"id: {one.at}-{one.conversation}-{one.number}\nevent: operation\ndata: {as_json(told)}\n\n"
    return body.encode("utf-8", "replace")
