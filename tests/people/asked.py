"""Requests to an ASGI app, made by hand: every header as it comes, and streams that are left once they have begun."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from forky_core.gateway.asgi import AsgiApp, Header, Message, Scope

HOST = b"127.0.0.1:8501"
COOKIE = "forky_session_8501"


@dataclass
class Asked:
    """What came of a request."""

    status: int = 0
    headers: list[Header] = field(default_factory=list)
    body: bytes = b""
    closed: int = 0
    """The code with which a WebSocket was closed; 0 if it was not."""

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def token(self) -> str:
        """The token of the session that was opened; "" if none was."""
        for name, value in self.headers:
            if name == b"set-cookie":
                return value.decode().partition("=")[2].partition(";")[0]
        return ""


async def ask(
    app: AsgiApp,
    path: str,
    *,
    method: str = "GET",
    query: str = "",
    headers: Sequence[Header] = (),
    token: str = "",
    body: bytes = b"",
    kind: str = "http",
    cookie: str = COOKIE,
    host: bytes = HOST,
) -> Asked:
    """Ask once; a stream is left after its first piece."""
    sent: list[Header] = [(b"host", host), *headers]
    if token:
        sent.append((b"cookie", f"{cookie}={token}".encode()))
    scope: Scope = {
        "type": kind,
        "scheme": "ws" if kind == "websocket" else "http",
        "method": method,
        "path": path,
        "raw_path": path.encode("utf-8", "surrogatepass"),
        "query_string": query.encode(),
        "root_path": "",
        "headers": sent,
        "client": ("127.0.0.1", 5),
        "server": ("127.0.0.1", 8501),
        "extensions": {"websocket.http.response": {}} if kind == "websocket" else {},
    }
    found, given, left = Asked(), False, asyncio.Event()

    async def receive() -> Message:
        nonlocal given
        if not given:
            given = True
            if kind == "websocket":
                return {"type": "websocket.connect"}
            return {"type": "http.request", "body": body, "more_body": False}
        await left.wait()
        return {"type": f"{kind}.disconnect"}

    async def send(message: Message) -> None:
        match message["type"]:
            case "http.response.start" | "websocket.http.response.start":
                found.status, found.headers = message["status"], list(message["headers"])
            case "http.response.body" | "websocket.http.response.body":
                found.body += message.get("body", b"")
                if message.get("more_body"):
                    left.set()
            case "websocket.accept":
                found.status = 101
                left.set()
            case "websocket.close":
                found.closed = message["code"]

    await app(scope, receive, send)
    return found


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """An app that says who it takes somebody for."""
    said = b"\n".join(name + b": " + value for name, value in scope["headers"])
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept", "headers": []})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": said})
