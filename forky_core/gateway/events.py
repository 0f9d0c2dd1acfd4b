"""What our streams, most of them of events, share: admission, the start, and detecting that a client is gone."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections import Counter
from typing import Generic, TypeVar
from urllib.parse import parse_qs

from forky_core.gateway.access.origins import is_loopback
from forky_core.gateway.access.person import person_of
from forky_core.gateway.asgi import Receive, Scope, Send
from forky_core.people.attempts import network_of

T = TypeVar("T")

STUCK = 20.0
"""Seconds after which a client that reads nothing is disconnected."""
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


def after(scope: Scope) -> int:
    """The position that the watcher has already (`?after=N`); any other value starts from the beginning."""
    asked = parse_qs(scope["query_string"].decode("latin-1")).get("after", ["0"])[0]
    return int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 17 else 0


async def disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def send_event(send: Send, body: bytes) -> None:
    async with asyncio.timeout(STUCK):
        await send({"type": "http.response.body", "body": body, "more_body": True})


class EventStream(ABC, Generic[T]):
    """An ASGI endpoint for `PREFIX/{id}` that sends its watchers updates of one thing."""

    unknown: str
    """The message if there is no such thing."""
    crowded: str = "Too many watch already."

    def __init__(self, most: int) -> None:
        """`most` is the number of concurrent watchers; further requests get 503. Nobody shuts the others out: a member
        of a team may be a fifth of them, and those of one network who are not signed in may be half.
        """
        self._most = most
        self.watchers = 0
        self._of: Counter[str] = Counter()
        """How many watch for each person, or network of people who are not signed in; "" is this machine."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            await self._refuse(send, 405, "Only GET.")
            return
        person, client = person_of(scope), scope.get("client")
        thing = await self._found(scope["path_params"]["id"], person)
        owner, share = person, 5
        if not person and client and not is_loopback(client[0]):
            owner, share = network_of(client[0]), 2
        if thing is None:
            await self._refuse(send, 404, self.unknown)
            return
        if self.watchers >= self._most or (owner and self._of[owner] >= max(1, self._most // share)):
            await self._refuse(send, 503, self.crowded)
            return
        self.watchers += 1
        self._of[owner] += 1
        try:
            await self._tell(thing, after(scope), receive, send)
        finally:
            self.watchers -= 1
            self._of[owner] -= 1
            if not self._of[owner]:
                del self._of[owner]

    @abstractmethod
    async def _found(self, id: str, person: str) -> T | None:
        """The thing with this id for a person, by theirs; None if they may not see it or there is none."""

    @abstractmethod
    async def _tell(self, thing: T, known: int, /, receive: Receive, send: Send) -> None:
        """Send updates to one watcher; `known` is the position that it has."""

    async def _refuse(self, send: Send, status: int, sentence: str) -> None:
        body = json.dumps({"error": {"message": sentence}}).encode()
        headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
        headers += [(b"retry-after", b"5")] if status == 503 else []
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
