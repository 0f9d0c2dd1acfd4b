"""What the scripts of Forky's pages do in a browser, as far as the server sees it."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from typing import Any, Protocol
from uuid import uuid4

import httpx

from bench.tab.connection import Connection
from bench.tab.drawing import Node

_AGAIN = 0.04
"""Seconds between two looks whether a run of the tab's own is in the way, as in pages/ui/components/live_updates.js."""
_HEARD, _LONG = 0.25, 1.5
"""Seconds for which news waits beside a reply that is heard, and for a run of the tab's own, as there."""
_LATE = 1.5
"""Seconds from news of a reply to that wish, as there."""
_RETRY = 3.0
"""Seconds until a stream that broke off is opened again, as there."""
_PART = 0.7
"""Seconds between two wishes to see a reply that has ended, as there."""
_BELL = 1.5
"""Seconds without a stream of news until the bell opens one, as in pages/ui/components/bell.js."""
_NEWS = ("forky.moving", "forky.bell")


class DrawnPage(Protocol):
    """The page of a tab, as its scripts meet it."""

    running: bool

    def name_place(self, data: dict[str, str]) -> None: ...
    def find_component(self, name: str) -> Node | None: ...
    def has_dialog(self) -> bool: ...
    async def send_event(self, component: str, name: str, value: object) -> None: ...


class Scripts:
    """The scripts of one tab."""

    def __init__(self, tab: DrawnPage, connection: Connection) -> None:
        self.pieces = 0
        """Events with text that came from streams of replies."""
        self.writing = False
        """Whether a stream of a reply is open."""
        self._tab = tab
        self._connection = connection
        self._name = uuid4().hex[:12]
        self._streams: dict[str, asyncio.Task[None]] = {}
        self._here: Any = None
        self._saying: asyncio.Task[None] | None = None
        self._leaving: asyncio.Task[None] | None = None
        self._drawn_at = 0
        self._replies: list[str] | None = None
        self._told: list[str] = []
        self._late: asyncio.Task[None] | None = None

    def mount(self, component: Any) -> None:
        """A component has come, or has new data."""
        data: Any = json.loads(component.json) if component.json else None
        match component.component_name.rpartition("/")[2]:
            case "forky.live":
                if data["url"] not in self._streams:
                    self._streams[data["url"]] = self._connection.begin(self._hear_reply(component.id, data))
            case "forky.moving":
                self._drawn_at, self._replies = data["at"], data.get("replies")
            case "forky.presence":
                self._say_where(data)
            case "forky_browser_fixes":
                self._tab.name_place(data)

    def settle(self) -> None:
        """After a run: open the streams that the page asks for, and close those that it has left."""
        wanted: dict[str, str] = {}
        for name in (*_NEWS, "forky.live"):
            node = self._tab.find_component(name)
            if node is not None and (name != "forky.bell" or not wanted):
                wanted[json.loads(node.widget.json)["url"]] = name
        for url in [url for url in self._streams if url not in wanted]:
            self._streams.pop(url).cancel()
        for url, name in wanted.items():
            if url not in self._streams:
                self._streams[url] = self._connection.begin(self._hear_news(name, url))
        if self._tab.find_component("forky.presence") is None and self._saying is not None:
            self._saying.cancel()
            self._saying, self._leaving = None, self._connection.begin(self._say_here(gone=True))

    async def leave(self) -> None:
        """Say that the reader is gone, as a browser does when a tab is closed."""
        if self._here is not None:
            with suppress(httpx.HTTPError):
                await self._say_here(gone=True)

    async def _hear_reply(self, id: str, data: dict[str, Any]) -> None:
        """As live.js: hear a reply, ask for the page when it has ended."""
        self.writing = True
        try:
            async for kind, _ in self._connection.events(data["url"]):
                if kind == "end":
                    break
                self.pieces += kind == "message"
        finally:
            self.writing = False
        while (live := self._tab.find_component("forky.live")) is not None and live.widget.id == id:
            await self._look()
            await asyncio.sleep(_PART)

    async def _look(self) -> None:
        await self._tab.send_event("forky.live", "look", int(time.time() * 1000))

    async def _hear_news(self, name: str, url: str) -> None:
        """As live_updates.js and bell.js: have the page drawn again when its conversation has moved."""
        if name == "forky.bell":
            await asyncio.sleep(_BELL)
        told = 0
        while True:
            address = f"{url}?after={self._drawn_at}" if name == "forky.moving" else url
            with suppress(httpx.TransportError):
                async for kind, value in self._connection.events(address):
                    if kind == "replies":
                        self._told = json.loads(value)["ids"]
                        self._late = self._connection.begin(self._look_at_replies(self._told))
                    at = json.loads(value).get("at", 0) if kind == "message" and value else 0
                    if name != "forky.moving" or not at:
                        continue
                    await self._out_of_the_way()
                    if at > max(self._drawn_at, told) and not self._tab.has_dialog():
                        told = at
                        await self._tab.send_event(name, "moved", at)
            await asyncio.sleep(_RETRY)

    async def _out_of_the_way(self) -> None:
        """As live_updates.js: what this tab does itself is no news to it."""
        for waited in range(round(_LONG / _AGAIN)):
            if not self._tab.running and (waited * _AGAIN >= _HEARD or not self.writing):
                break
            await asyncio.sleep(_AGAIN)

    async def _look_at_replies(self, ids: list[str]) -> None:
        """As live_updates.js: where others are being written than the page has drawn, it is drawn again."""
        await asyncio.sleep(_LATE)
        if ids is self._told and self._replies not in (None, ids) and not self._tab.has_dialog():
            self._replies = ids
            await self._tab.send_event("forky.moving", "moved", self._drawn_at)

    def _say_where(self, data: dict[str, Any]) -> None:
        """As presence.js: say where the reader is when that changes, and from time to time."""
        if data == self._here and self._saying is not None:
            return
        self._here = data
        if self._saying is not None:
            self._saying.cancel()
        self._saying = self._connection.begin(self._keep_saying(data["every"] / 1000))

    async def _keep_saying(self, every: float) -> None:
        while True:
            await self._say_here()
            await asyncio.sleep(every)

    async def _say_here(self, **more: object) -> None:
        here = {name: self._here[name] for name in ("conversation", "branch", "message")}
        body = json.dumps({"tab": self._name, **here, "typing": False, **more})
        self._connection.traffic.sent += len(body)
        await self._connection.fetch(
            "POST", self._here["url"], content=body, headers={"Origin": self._connection.url}
        )
