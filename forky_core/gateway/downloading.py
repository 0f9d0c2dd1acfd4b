"""`GET /downloads/{token}`: a file that is generated while it is sent, so that it is never in memory as a whole.

Streamlit's own download button generates the whole file first and keeps it in memory while the page is open. Here a
page offers a function that generates it, and a client of the offer's address gets it piece by piece, as fast as it
reads.

The address cannot be guessed, and is valid while its creator keeps a reference to the offer: it becomes invalid when
the page offers another file or no longer exists. It can be requested more than once, as when a person presses Download
again. The hosts and origins that may request it are those of all our routes (access.gate.Gate).

If a file cannot be generated, a sentence is sent instead. If generating fails half-way, the response is cut off without
an end, by which browsers know that it is incomplete.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from urllib.parse import quote
from weakref import WeakValueDictionary

from forky_core.gateway.asgi import Receive, Send
from forky_core.gateway.events import EventStream, disconnected
from forky_core.gateway.serving import server_stops
from forky_core.model.errors import ForkyError

PREFIX = "/downloads"
MOST = 50
"""The most concurrent downloads; further requests get 503."""
PIECE = 256 * 1024
"""The fewest bytes that are sent at once: each piece costs a change of threads."""
LOOK = 1.0
"""Seconds between two checks whether the server is stopping, while a client reads nothing: it may have paused."""


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Download:
    """A file that can be generated."""

    name: str
    """The file's name for the browser."""
    media_type: str
    pieces: Callable[[], Iterator[bytes]]
    """Generates the file, anew each time; on any thread."""
    person: str = ""
    """The id of the only person who gets it; "" on the server of one person."""


class Offers:
    """The files on offer, each while somebody else keeps a reference to its `Download`."""

    def __init__(self) -> None:
        self._offered: WeakValueDictionary[str, Download] = WeakValueDictionary()

    def address(self, offer: Download) -> str:
        """Create an address at which the file can be downloaded."""
        token = secrets.token_urlsafe(24)
        self._offered[token] = offer
        return f"{PREFIX}/{token}"

    def find(self, token: str, person: str = "") -> Download | None:
        """The file at an address, if it is offered to this person."""
        found = self._offered.get(token)
        return found if found is not None and found.person == person else None


class Downloading(EventStream[Download]):
    """The endpoint: an ASGI app for `PREFIX/{id}`. `find` must not wait."""

    unknown = "This file is not offered any more. Open “Export or share” in Forky again."
    crowded = "Too many files are being downloaded. Try again in a moment."

    def __init__(self, find: Callable[[str, str], Download | None], *, most: int = MOST) -> None:
        super().__init__(most)
        self._find = find

    async def _found(self, id: str, person: str) -> Download | None:
        return self._find(id, person)

    async def _tell(self, thing: Download, _known: int, receive: Receive, send: Send) -> None:
        pieces = _gathered(thing.pieces)
        try:
            piece = await asyncio.to_thread(next, pieces, b"")
        except ForkyError as error:
            await self._refuse(send, 500, str(error))
            return
        await send({"type": "http.response.start", "status": 200, "headers": _headers(thing)})
        left = asyncio.ensure_future(disconnected(receive))
        try:
            while piece and await _taken(piece, send, left):
                piece = await asyncio.to_thread(next, pieces, b"")
            if not piece:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            left.cancel()
            await asyncio.to_thread(pieces.close)

    async def _refuse(self, send: Send, status: int, sentence: str) -> None:
        """Respond with a sentence; the browser shows it in the tab where the download would have begun."""
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": sentence.encode()})


def _gathered(make: Callable[[], Iterator[bytes]]) -> Generator[bytes]:
    held = bytearray()
    for piece in make():
        held += piece
        if len(held) >= PIECE:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)


async def _taken(piece: bytes, send: Send, left: asyncio.Future[None]) -> bool:
    """Send a piece; False if the client is gone, or the server is stopping."""
    sending = asyncio.ensure_future(send({"type": "http.response.body", "body": piece, "more_body": True}))
    while not (sending.done() or left.done() or server_stops()):
        await asyncio.wait([sending, left], timeout=LOOK, return_when=asyncio.FIRST_COMPLETED)
    if not sending.done():
        sending.cancel()
        return False
    return sending.exception() is None


def _headers(offer: Download) -> list[tuple[bytes, bytes]]:
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in offer.name)
    coded = quote(offer.name, safe="", errors="replace")
    return [
        (b"content-type", offer.media_type.encode("latin-1")),
        (
            b"content-disposition",
            f"attachment; filename=\"{plain}\"; filename*=UTF-8''{coded}".encode("ascii"),
        ),
        (b"cache-control", b"no-store"),
    ]
