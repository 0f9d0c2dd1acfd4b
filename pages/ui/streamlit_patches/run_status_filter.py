"""Delays the status "running" of a run, so that the browser gets it only if the run takes long or has ended.

Streamlit sends the status right after a run begins. The browser then marks everything on the page as belonging to the
run before, computes its style and paints it, before it processes what the run has drawn meanwhile. That is a fifth of a
short run's time, and nobody sees any of it. The status is delayed and never dropped, because a page that was rerun from
Streamlit's menu does not change until the status arrives.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.middleware import Middleware

from pages.ui.streamlit_patches.patch import part

SECONDS = 0.25
"""The delay. The browser begins to fade the former run's elements half a second after the status."""
_LONGEST = 512
"""Larger messages are not parsed, because those about the status and the end of a run are much smaller."""

_Message = MutableMapping[str, Any]


class RunStatusFilter:
    """ASGI middleware for Streamlit's WebSocket that delays the status "running" and passes everything else on."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        delayed = _DelayedStatus(send)
        try:
            await self.app(scope, receive, delayed.send)
        finally:
            delayed.close()


class _DelayedStatus:
    """Sends the messages of one connection in their order, with the status delayed."""

    def __init__(self, send: Callable[[_Message], Awaitable[None]]) -> None:
        self._send = send
        self._sending = asyncio.Lock()
        """Keeps the order, because the status may become due while another message waits for a slow browser."""
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
            with contextlib.suppress(OSError):  # The connection is closed; the next message raises it again.
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
    """Return whether a message says that a run is active; None for a message about something else."""
    data = message.get("bytes")
    if message["type"] != "websocket.send" or data is None:
        return False
    if len(data) > _LONGEST:
        return None
    forwarded = part("streamlit.proto.ForwardMsg_pb2:ForwardMsg").FromString(data)
    match forwarded.WhichOneof("type"):
        case "session_status_changed":
            return bool(forwarded.session_status_changed.script_is_running)
        case "script_finished":
            return False
        case _:
            return None
