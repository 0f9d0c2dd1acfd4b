"""The types of ASGI (https://asgi.readthedocs.io), so that this package needs no web framework, and short responses."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]


def headers_named(scope: Scope, name: bytes) -> list[bytes]:
    """The values of every header of this name (lower case), in the order in which they were sent."""
    return [value for found, value in scope["headers"] if found.lower() == name]


def headers_of(scope: Scope) -> Mapping[str, str]:
    """The headers of a request by their lower-case names; of several of one name, the last."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def header(scope: Scope, name: bytes) -> str:
    """The value of the first header of this name (lower case); "" if there is none."""
    return next(iter(headers_named(scope, name)), b"").decode("latin-1")


def wants_html(scope: Scope) -> bool:
    """Whether a browser requests a page for a person, rather than a program data."""
    return scope["type"] == "http" and "text/html" in header(scope, b"accept")


async def read_body(receive: Receive, most: int) -> bytes | None:
    """The body of a request, or what came of it before the client left; None if it has more than `most` bytes."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > most:
            return None
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            return bytes(body)


async def answer(
    scope: Scope,
    send: Send,
    status: int,
    body: bytes = b"",
    content_type: str = "text/plain; charset=utf-8",
    headers: Iterable[Header] = (),
) -> None:
    """Send a complete response. A WebSocket that has not been accepted yet is refused with it.

    Servers without the ASGI extension `websocket.http.response` answer such a WebSocket with a bare 403.
    """
    fields = [
        (b"content-type", content_type.encode("ascii")),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *headers,
    ]
    prefix = ""
    if scope["type"] == "websocket":
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008})
            return
        prefix = "websocket."
    await send({"type": f"{prefix}http.response.start", "status": status, "headers": fields})
    await send({"type": f"{prefix}http.response.body", "body": body})


async def refuse(
    scope: Scope, send: Send, status: int, sentence: str, headers: Iterable[Header] = ()
) -> None:
    """Respond with a sentence: as text to a browser that wants a page, otherwise as JSON.

    The JSON has the form in which clients of OpenAI's and of Anthropic's protocol expect an error.
    """
    if wants_html(scope):
        await answer(scope, send, status, sentence.encode(), headers=headers)
        return
    named = {401: ("authentication_error", "unauthorized"), 404: ("not_found_error", "unknown_url")}
    kind, code = named.get(status, ("permission_error", "forbidden"))
    error = {"message": sentence, "type": kind, "param": None, "code": code}
    body = json.dumps({"type": "error", "error": error}).encode()
    await answer(scope, send, status, body, "application/json", headers)
