"""The browser is told that a run has begun only if the run takes long; otherwise when it ends.

Streamlit sends the status "running" right after a run begins. The browser then marks everything on the page as
belonging to the run before, works out its style and paints it, before it looks at what the run has drawn meanwhile.
That is a fifth of a short run's time, and nobody sees anything of it. The status is delayed and never dropped,
because a page that was asked to rerun from Streamlit's menu stays as it is until the status arrives.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.middleware import Middleware

from pages.ui.streamlit_patches.patch import part

SECONDS = 0.25
"""A run that takes longer is long. The browser begins to fade the former run's elements half a second after the
status.
"""
_LONGEST = 512
"""Larger messages are not parsed: those about the status and the end of a run are much shorter."""

_Message = MutableMapping[str, Any]


class RunStatusFilter:
    """ASGI middleware for Streamlit's WebSocket that delays the status "running" and passes everything else on."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        later = _DelayedStatus(send)
        try:
            await self.app(scope, receive, later.send)
        finally:
            later.close()


class _DelayedStatus:
    """The messages of one connection, in their order, with the status delayed."""

    def __init__(self, send: Callable[[_Message], Awaitable[None]]) -> None:
        self._send = send
        self._sending = asyncio.Lock()
        """The status may become due while another message waits for a browser that reads slowly."""
        self._status: _Message | None = None
        self._due: asyncio.Task[None] | None = None

    async def send(self, message: _Message) -> None:
        async with self._sending:
            runs = _says_running(message)
            if runs is not None:
                await self._send_status()
            if runs:
                self._status = message
                self._due = asyncio.create_task(self._wait())
            else:
                await self._send(message)

    def close(self) -> None:
        """Drop the status of a connection that is closed."""
        if self._due is not None:
            self._due.cancel()

    async def _wait(self) -> None:
        await asyncio.sleep(SECONDS)
        async with self._sending:
            self._due = None
            with contextlib.suppress(OSError):  # The browser has gone; the next message raises it again.
                await self._send_status()

    async def _send_status(self) -> None:
        status, self._status = self._status, None
        if self._due is not None:
            self._due.cancel()
            self._due = None
        if status is not None:
            await self._send(status)


def middleware() -> Middleware:
    return Middleware(RunStatusFilter)


def _says_running(message: _Message) -> bool | None:
    """Whether a message says that a run is at work (True) or not (False); None for one about something else."""
    data = message.get("bytes")
    if message["type"] != "websocket.send" or data is None:
        return False
    if len(data) > _LONGEST:
        return None
    told = part("streamlit.proto.ForwardMsg_pb2:ForwardMsg").FromString(data)
    match told.WhichOneof("type"):
        case "session_status_changed":
            return bool(told.session_status_changed.script_is_running)
        case "script_finished":
            return False
        case _:
            return None
