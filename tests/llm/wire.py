"""A few lines of real HTTP for what the third-party server cannot do: end without a reason, stall, say who hung up."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def chunk(
    text: str | None = None, *, finish: str | None = None, usage: dict[str, Any] | None = None
) -> bytes:
    """One server-sent event of OpenAI's protocol."""
    body: dict[str, Any] = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "test"}
    delta = {"role": "assistant", "content": text} if text is not None else {}
    body["choices"] = [] if usage else [{"index": 0, "delta": delta, "finish_reason": finish}]
    if usage:
        body["usage"] = usage
    return f"data: {json.dumps(body)}\n\n".encode()


DONE = b"data: [DONE]\n\n"


def answer(status: str, body: object, content_type: str = "application/json") -> bytes:
    """A whole response that is no stream."""
    text = body if isinstance(body, str) else json.dumps(body)
    content = text.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(content)}\r\n"
    return head.encode() + b"Connection: close\r\n\r\n" + content


@dataclass(slots=True)
class Wire:
    """What the server saw."""

    port: int
    requests: list[dict[str, Any]] = field(default_factory=list)
    """Bodies, where they were JSON."""
    bodies: list[bytes] = field(default_factory=list)
    """As they came."""
    heads: list[str] = field(default_factory=list)
    hung_up: threading.Event = field(default_factory=threading.Event)
    """Set when the client closed a connection that was kept open."""

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@contextmanager
def serving(
    pieces: Sequence[bytes], *, keep_open: bool = False, host: str = "127.0.0.1", port: int = 0
) -> Iterator[Wire]:
    """Answer every connection with these bytes; `keep_open`: then say nothing more until the client leaves.

    `host`: another address of this machine (127.0.0.2 …) for a server that must be told from others; port 0: any.
    """
    with socket.create_server((host, port)) as listener:
        wire = Wire(listener.getsockname()[1])
        threads: list[threading.Thread] = []

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                thread = threading.Thread(target=_serve, args=(connection, pieces, keep_open, wire))
                threads.append(thread)
                thread.start()

        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield wire
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
            accepting.join()
            for thread in threads:
                thread.join()


def _serve(connection: socket.socket, pieces: Sequence[bytes], keep_open: bool, wire: Wire) -> None:
    with connection:
        if not (request := _request(connection)):
            return
        head, _, body = request.partition(b"\r\n\r\n")
        wire.heads.append(head.decode())
        if body:
            wire.bodies.append(body)
            wire.requests.append(json.loads(body))
        with suppress(ConnectionError):  # Whoever has heard enough hangs up.
            for piece in pieces:
                connection.sendall(piece)
        if keep_open:
            try:
                while connection.recv(1024):
                    pass
            except OSError:
                pass
            wire.hung_up.set()


def _request(connection: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(65536)
        if not piece:
            return b""
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(
        (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
    )
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body
