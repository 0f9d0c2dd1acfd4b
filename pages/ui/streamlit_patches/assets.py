"""Reads and sends each of Streamlit's scripts, styles and fonts in one piece, and compressed for browsers elsewhere.

A first page fetches sixty of them. Streamlit switches threads to find a file, to open it, for every 64 KB of it and to
close it: three hundred switches, each of which waits while the interpreter imports what the first page needs. Reading a
file from the system's cache takes less than one such switch. The names of these files contain a hash of their content,
so browsers fetch each once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.middleware import Middleware

from pages.ui.streamlit_patches import icons
from pages.ui.streamlit_patches.compressed import copies_folder, copy_of, gains_by_copies
from pages.ui.streamlit_patches.patch import package_folder, streamlit_folder

TYPES = {
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".woff2": b"font/woff2",
}
"""The content type by suffix. Streamlit serves files with other suffixes."""


def assets() -> dict[str, Path]:
    """Return the files of Streamlit and of streamlit-agraph, and the font of icons, by the part of their address after
    `/static/`.
    """
    graph = package_folder("streamlit_agraph") / "frontend" / "build" / "static"
    return {f"media/{icons.file_name()}": icons.FONT} | {
        f"{folder}/{file.name}": file
        for home in (graph, streamlit_folder() / "static" / "static")
        for folder in ("js", "css", "media")
        for file in (home / folder).glob("*")
        if file.suffix in TYPES
    }


def middleware() -> Middleware:
    return Middleware(Assets, files=assets(), copies=copies_folder())


class Assets:
    """ASGI middleware that answers requests for `files`, and passes all other requests on.

    `copies` is the folder of compressed copies (compressed.py).
    """

    def __init__(
        self, app: Callable[..., Awaitable[None]], files: Mapping[str, Path], copies: Path | None = None
    ) -> None:
        self.app = app
        self.files = files
        self.copies = copies

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        file = self._requested(scope)
        content, encoding = self._content(scope, file) if file is not None else (None, ())
        if file is None or content is None:
            await self.app(scope, receive, send)
            return
        headers = [
            (b"content-type", TYPES[file.suffix]),
            (b"content-length", str(len(content)).encode()),
            (b"cache-control", b"public, immutable, max-age=31536000"),
            *encoding,
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    def _requested(self, scope: MutableMapping[str, Any]) -> Path | None:
        """Return the requested file; None if Streamlit must answer, for instance a request for a part of a file."""
        if scope["type"] != "http" or scope["method"] != "GET":
            return None
        file = self.files.get(scope["path"].rpartition("/static/")[2])
        return None if any(name == b"range" for name, _ in scope["headers"]) else file

    def _content(
        self, scope: MutableMapping[str, Any], file: Path
    ) -> tuple[bytes | None, Sequence[tuple[bytes, bytes]]]:
        """Return the content with the headers about its encoding; None for a file that has been deleted."""
        if self.copies is not None and gains_by_copies(scope.get("client"), scope["headers"]):
            with suppress(OSError):
                copy = copy_of(file, self.copies).read_bytes()
                return copy, ((b"content-encoding", b"gzip"), (b"vary", b"accept-encoding"))
        try:
            return file.read_bytes(), ()
        except OSError:
            return None, ()
