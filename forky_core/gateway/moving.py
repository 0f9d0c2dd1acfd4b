"""`GET /moves/{conversation}?after=N`: word that a conversation has moved, to whoever looks at it.

One event for each time it is found at a later operation than the watcher knows: `data: {"at": 17}`. The page then reads
what is new by itself, as at any other run: nothing of the conversation travels here. `event: alive` says that the
connection lives. The address holds the conversation's id, which cannot be guessed; an unknown one is 404. The hosts and
origins that may ask are those of all our routes (access.gate.Gate).

`/moves/library` tells of all conversations: the moment of the last change of any stands for the operation's number. It
is looked at once a second, since a busy program would else keep a page drawing.

Every commit of every conversation goes through this process, so that looking at the view, which is kept in memory, is
all it takes: microseconds for each watcher, ten times a second.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

from forky_core.gateway.asgi import Receive, Send
from forky_core.gateway.events import HEADERS, EventStream, gone, send_event
from forky_core.gateway.serving import server_stops

PREFIX = "/moves"
MOST = 500
"""Watchers at once; one more is asked to come again (503)."""
LIBRARY = "library"
LOOK = 0.1
"""Seconds between two looks."""
SELDOM = 1.0
"""Seconds between two looks at the library."""
ALIVE = 15.0
"""Seconds of silence after which a watcher is told that the connection lives."""


class Moving(EventStream[str]):
    """The endpoint: an ASGI app for `PREFIX/{id}`. `version` gives the number of the last operation; None: unknown."""

    unknown = "No such conversation."

    def __init__(self, version: Callable[[str], int | None], *, most: int = MOST) -> None:
        super().__init__(most)
        self._version = version

    async def _found(self, id: str) -> str | None:
        # The first look may read the file; those that follow find the view in memory.
        return id if await asyncio.to_thread(self._version, id) is not None else None

    async def _tell(self, thing: str, known: int, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        left = asyncio.ensure_future(gone(receive))
        silent, pause = 0.0, SELDOM if thing == LIBRARY else LOOK
        try:
            await send_event(send, b"event: alive\ndata:\n\n")
            while not left.done() and not server_stops():
                at = self._version(thing)
                if at is None:
                    break
                if at > known:
                    known, silent = at, 0.0
                    await send_event(send, f"data: {json.dumps({'at': at})}\n\n".encode("ascii"))
                elif silent >= ALIVE:
                    silent = 0.0
                    await send_event(send, b"event: alive\ndata:\n\n")
                await asyncio.wait([left], timeout=pause)
                silent += pause
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except OSError:
            pass  # The client has left in the middle of an event, or stopped to read.
        finally:
            left.cancel()
