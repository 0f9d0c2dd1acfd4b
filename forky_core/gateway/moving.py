"""`GET /moves/{conversation}?after=N`: events that notify watchers of a conversation's new operations.

An event is sent whenever the conversation's last operation is newer than the one that the watcher knows: `data: {"at":
17}`. The page then reads the changes by itself, as on any other run: no content of the conversation is sent here.
`event: alive` keeps the connection open. The address contains the conversation's id, which cannot be guessed; an
unknown one is 404. The hosts and origins that may connect are those of all our routes (access.gate.Gate).

`/moves/library` covers all conversations: the time of the last change takes the place of the operation's number. It is
checked once a second, since a busy program would otherwise make a page redraw all the time.

Every commit goes through this process, so that checking the cached view is enough: it takes microseconds for each
watcher, ten times a second.
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
"""The most concurrent watchers; further requests get 503."""
LIBRARY = "library"
LOOK = 0.1
"""Seconds between two checks."""
SELDOM = 1.0
"""Seconds between two checks of the library."""
ALIVE = 15.0
"""Seconds without events after which `alive` is sent."""


class Moving(EventStream[str]):
    """The endpoint: an ASGI app for `PREFIX/{id}`. `version` returns the number of the last operation;
    None if unknown.
    """

    unknown = "No such conversation."

    def __init__(self, version: Callable[[str], int | None], *, most: int = MOST) -> None:
        super().__init__(most)
        self._version = version

    async def _found(self, id: str) -> str | None:
        # The first check may read the file; later ones find the view in memory.
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
            pass  # The client disconnected in the middle of an event, or stopped reading.
        finally:
            left.cancel()
