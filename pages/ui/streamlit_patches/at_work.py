"""The browser hears that a run is at work where that takes long, and else when it ends.

Streamlit says so right behind the beginning. The browser then marks all that is on the page as of a former run, works
out its style and paints it, before it looks at what the run has drawn meanwhile: a fifth of a short run's time, and
nothing that anybody could see. The word is put off and never dropped, because a page that was asked to rerun from
Streamlit's menu stays as it is until it hears it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

SECONDS = 0.25
"""After which a run takes long. Streamlit begins to fade what is of a former run half a second after it is said."""
_LONGEST = 512
"""Bytes of the messages that are looked into: a run's end and how a session stands are much shorter."""

_Message = MutableMapping[str, Any]


class AtWork:
    """ASGI middleware for Streamlit's WebSocket: everything passes in its order, but for that word."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        later = _Later(send)
        try:
            await self.app(scope, receive, later.send)
        finally:
            later.forget()


class _Later:
    """What one connection is sent."""

    def __init__(self, send: Callable[[_Message], Awaitable[None]]) -> None:
        self._send = send
        self._sending = asyncio.Lock()
        """The word may be due while something else waits for a browser that reads slowly."""
        self._word: _Message | None = None
        self._due: asyncio.Task[None] | None = None

    async def send(self, message: _Message) -> None:
        async with self._sending:
            works = _works(message)
            if works is not None:
                await self._say()
            if works:
                self._word = message
                self._due = asyncio.create_task(self._wait())
            else:
                await self._send(message)

    def forget(self) -> None:
        """The connection is closed."""
        if self._due is not None:
            self._due.cancel()

    async def _wait(self) -> None:
        await asyncio.sleep(SECONDS)
        async with self._sending:
            self._due = None
            with contextlib.suppress(OSError):  # The browser has gone; who sends next is told so, too.
                await self._say()

    async def _say(self) -> None:
        word, self._word = self._word, None
        if self._due is not None:
            self._due.cancel()
            self._due = None
        if word is not None:
            await self._send(word)


def _works(message: _Message) -> bool | None:
    """Whether this says that a run is at work; None where it says neither that nor that one has ended."""
    data = message.get("bytes")
    if message["type"] != "websocket.send" or data is None:
        return False
    if len(data) > _LONGEST:
        return None
    told = ForwardMsg.FromString(data)
    match told.WhichOneof("type"):
        case "session_status_changed":
            return bool(told.session_status_changed.script_is_running)
        case "script_finished":
            return False
        case _:
            return None
