"""Requests written byte by byte, since every client library puts its own Host and Origin in."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

HANG = 60.0
"""Seconds after which a server that does not answer is given up; it ends a hang and measures nothing."""
HANDSHAKE = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-protocol": "streamlit, none",
}


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    """The head and the body, as they came."""


def ask(url: str, target: str, host: str | None, method: str = "GET", **headers: str) -> Answer:
    """Send one request to the server at `url` under any Host; the answer up to where the server stops to write."""
    place = urlsplit(url)
    fields = {} if host is None else {"host": host}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    upgrades = fields.get("upgrade") == "websocket"
    if not upgrades:
        fields["connection"] = "close"
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    with socket.create_connection((place.hostname or "", place.port or 80), timeout=HANG) as connection:
        connection.sendall("\r\n".join(lines).encode("latin-1"))
        received = b""
        while piece := connection.recv(65536):
            received += piece
            if upgrades and received.startswith(b"HTTP/1.1 101") and b"\r\n\r\n" in received:
                break
    text = received.decode("utf-8", "replace")
    return Answer(int(text.split(" ", 2)[1]), text)


def knock(url: str, host: str, **headers: str) -> Answer:
    """Begin a WebSocket to the page's stream."""
    named = {name.replace("-", "_"): value for name, value in HANDSHAKE.items()}
    return ask(url, "/_stcore/stream", host, **named, **headers)
