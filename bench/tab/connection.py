"""A browser's way to the server: requests, streams of events, and the websocket of one tab."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

import httpx
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection

PATIENCE = 60.0
"""Seconds after which something counts as unanswered."""
_XSRF = "_streamlit_xsrf"


@dataclass(slots=True)
class Traffic:
    """What came from the server, in bytes of content."""

    pages: int = 0
    """Over websockets."""
    streams: int = 0
    """As events."""
    files: int = 0
    """As answers to other requests."""
    sent: int = 0
    """To the server."""


class Connection:
    """All that a tab sends and hears."""

    def __init__(self, url: str, http: httpx.AsyncClient, traffic: Traffic) -> None:
        """`http` is the browser, with its cookies: the tabs of one person share it."""
        self.url = url
        self.traffic = traffic
        self.faults: list[str] = []
        """What went wrong without anybody asking for it."""
        self._http = http
        self._socket: ClientConnection | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closing = False

    @property
    def xsrf(self) -> str:
        """The token that Streamlit asks for; before it gave one, what its browser sends instead."""
        return self._http.cookies.get(_XSRF) or "PLACEHOLDER_AUTH_TOKEN"

    async def open(self) -> None:
        """Open the websocket."""
        cookies = "; ".join(f"{name}={value}" for name, value in self._http.cookies.items())
        self._socket = await websockets.connect(
            f"{self.url.replace('http', 'ws', 1)}/_stcore/stream",
            subprotocols=[websockets.Subprotocol(part) for part in ("streamlit", self.xsrf)],
            origin=websockets.Origin(self.url),
            additional_headers={"Cookie": cookies} if cookies else None,
            max_size=None,
            open_timeout=PATIENCE,
            ping_interval=None,
            proxy=None,
        )

    def begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task that ends with the tab, and whose failure is a fault of it."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not self._is_closing:
            self.faults.append(f"{type(error).__name__}: {error}")

    async def stop(self) -> None:
        """End what was begun."""
        self._is_closing = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def close(self) -> None:
        """Close the websocket."""
        if self._socket is not None:
            await self._socket.close()

    async def send(self, message: BackMsg) -> None:
        assert self._socket is not None
        data = message.SerializeToString()
        self.traffic.sent += len(data)
        await self._socket.send(data)

    async def messages(self) -> AsyncIterator[ForwardMsg]:
        """What comes over the websocket, until that is closed."""
        assert self._socket is not None
        try:
            async for data in self._socket:
                assert isinstance(data, bytes)
                self.traffic.pages += len(data)
                yield ForwardMsg.FromString(data)
        except websockets.ConnectionClosed:
            pass
        if not self._is_closing:
            why = f"{self._socket.close_code} {self._socket.close_reason or ''}".strip()
            self.faults.append(f"the websocket was closed: {why}")

    async def fetch(self, method: str, address: str, **given: Any) -> httpx.Response:
        """Send a request with httpx's arguments. An answer that is an error is a fault."""
        answer = await self._http.request(method, urljoin(self.url, address), **given)
        self.traffic.files += len(answer.content)
        if answer.status_code >= 400:
            self.faults.append(f"{method} {address.partition('?')[0]}: {answer.status_code}")
        return answer

    async def events(self, address: str) -> AsyncIterator[tuple[str, str]]:
        """The events of a stream: kind and data. It ends where the stream has ended, or is no more."""
        async with self._http.stream("GET", urljoin(self.url, address)) as answer:
            if answer.status_code != 200:
                # A reply that has ended since is no more, and what may not be seen any longer neither: the page knows.
                if answer.status_code != 404:
                    where = address.partition("?")[0].rpartition("/")[0]
                    self.faults.append(f"GET {where}: {answer.status_code}")
                return
            kind = "message"
            async for line in answer.aiter_lines():
                self.traffic.streams += len(line) + 1
                name, _, value = line.partition(":")
                if name == "event":
                    kind = value.strip()
                elif name == "data":
                    yield kind, value.strip()
                elif not line:
                    kind = "message"
