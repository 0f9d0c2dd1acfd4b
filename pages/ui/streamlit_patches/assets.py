"""Streamlit's own scripts, styles and fonts are each read and sent in one piece.

A first page fetches sixty of them. Streamlit changes threads to find one, to open it, for every 64 KB of it and to
close it: three hundred changes, and each waits for its turn while the interpreter imports what the first page needs.
Reading a file from the system's cache takes less than one such change. The names of these files carry a hash of their
content, so that a browser asks once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from starlette.middleware import Middleware

from pages.ui.streamlit_patches.patch import streamlit_folder

TYPES = {
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".woff2": b"font/woff2",
}
"""The content type by suffix. Files with another suffix are left to Streamlit."""


def assets() -> dict[str, Path]:
    """The files, by what the address of each says after `/static/`."""
    home = streamlit_folder() / "static" / "static"
    return {
        f"{folder}/{file.name}": file
        for folder in ("js", "css", "media")
        for file in (home / folder).glob("*")
        if file.suffix in TYPES
    }


def middleware() -> Middleware:
    return Middleware(Assets, known=assets())


class Assets:
    """ASGI middleware that answers requests for the files in `known`, and passes everything else on."""

    def __init__(self, app: Callable[..., Awaitable[None]], known: Mapping[str, Path]) -> None:
        self.app = app
        self.known = known

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        content, kind = self._content(scope)
        if content is None:
            await self.app(scope, receive, send)
            return
        headers = [
            (b"content-type", kind),
            (b"content-length", str(len(content)).encode()),
            (b"cache-control", b"public, immutable, max-age=31536000"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    def _content(self, scope: MutableMapping[str, Any]) -> tuple[bytes | None, bytes]:
        """The file that a request asks for, and its type; None for one that Streamlit must answer.

        That is a request for no such file, for a part of one, or for one that has been deleted.
        """
        if scope["type"] != "http" or scope["method"] != "GET":
            return None, b""
        file = self.known.get(scope["path"].rpartition("/static/")[2])
        if file is None or any(name == b"range" for name, _ in scope["headers"]):
            return None, b""
        try:
            return file.read_bytes(), TYPES[file.suffix]
        except OSError:
            return None, b""
