"""`GET /moves/{conversation}?after=N`: word that a conversation has moved, to whoever looks at it.

One event for each time it is found at a later operation than the watcher knows: `data: {"at": 17}`. The page then reads
what is new by itself, as at any other run: nothing of the conversation travels here. `event: alive` says that the
connection lives. The address holds the conversation's id, which cannot be guessed; an unknown one is 404. The hosts and
origins that may ask are those of all our routes (guard.OwnRoutes).

Every commit of every conversation goes through this process, so that looking at the view, which is kept in memory, is
all it takes: microseconds for each watcher, a few times a second.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

from forky_core.gateway.events import HEADERS, after, gone, refuse, send_event
from forky_core.gateway.guard import Receive, Scope, Send
from forky_core.gateway.serving import server_stops

PREFIX = "/moves"
MOST = 500
"""Watchers at once; one more is asked to come again (503)."""
LOOK = 0.25
"""Seconds between two looks."""
ALIVE = 15.0
"""Seconds of silence after which a watcher is told that the connection lives."""


class Moving:
    """The endpoint: an ASGI app for `PREFIX/{id}`. `version` gives the number of the last operation; None: unknown."""

    def __init__(self, version: Callable[[str], int | None], *, most: int = MOST) -> None:
        self._version = version
        self._most = most
        self.watchers = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            await refuse(send, 405, "Only GET.")
            return
        id = scope["path_params"]["id"]
        # The first look may read the file; those that follow find the view in memory.
        if await asyncio.to_thread(self._version, id) is None:
            await refuse(send, 404, "No such conversation.")
            return
        if self.watchers >= self._most:
            await refuse(send, 503, "Too many watch already.")
            return
        self.watchers += 1
        try:
            await self._watch(id, after(scope), receive, send)
        finally:
            self.watchers -= 1

    async def _watch(self, id: str, known: int, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        left = asyncio.ensure_future(gone(receive))
        silent = 0.0
        try:
            await send_event(send, b"event: alive\ndata:\n\n")
            while not left.done() and not server_stops():
                at = self._version(id)
                if at is None:
                    break
                if at > known:
                    known, silent = at, 0.0
                    await send_event(send, f"data: {json.dumps({'at': at})}\n\n".encode("ascii"))
                elif silent >= ALIVE:
                    silent = 0.0
                    await send_event(send, b"event: alive\ndata:\n\n")
                await asyncio.wait([left], timeout=LOOK)
                silent += LOOK
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except OSError:
            pass  # The client has left in the middle of an event, or stopped to read.
        finally:
            left.cancel()
