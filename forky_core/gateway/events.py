"""What our streams of server-sent events share: how they begin, and when a client is gone."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import parse_qs

from forky_core.gateway.guard import Receive, Scope, Send

STUCK = 20.0
"""Seconds after which a client that takes nothing is given up."""
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


def after(scope: Scope) -> int:
    """The place that the watcher knows already (`?after=N`); anything else than a number begins anew."""
    asked = parse_qs(scope["query_string"].decode("latin-1")).get("after", ["0"])[0]
    return int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 10 else 0


async def gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def send_event(send: Send, body: bytes) -> None:
    async with asyncio.timeout(STUCK):
        await send({"type": "http.response.body", "body": body, "more_body": True})


async def refuse(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"error": {"message": sentence}}).encode()
    headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
    headers += [(b"retry-after", b"5")] if status == 503 else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
