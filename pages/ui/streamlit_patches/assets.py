"""Streamlit's own scripts, styles and fonts, each sent whole.

A first paint fetches sixty of them. Streamlit changes threads to find one, to open it, for every 64 KB of it and to
close it: three hundred changes, and each waits for its turn while the interpreter imports what the first page needs.
Reading one from the system's cache takes less than one such change. Their names carry a hash of what is in them: a
browser asks once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

TYPES = {
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".woff2": b"font/woff2",
}
"""By suffix; what ends otherwise is left to Streamlit."""


def assets() -> dict[str, Path]:
    """Where each lies, by what its address says after `/static/`."""
    spec = find_spec("streamlit")
    assert spec is not None
    assert spec.origin is not None
    home = Path(spec.origin).parent / "static" / "static"
    return {
        f"{folder}/{file.name}": file
        for folder in ("js", "css", "media")
        for file in (home / folder).glob("*")
        if file.suffix in TYPES
    }


class Assets:
    """ASGI middleware that answers for the files it knows, and for nothing else."""

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
        """None for what is no asset, or not wanted whole, or not there any more."""
        if scope["type"] != "http" or scope["method"] != "GET":
            return None, b""
        file = self.known.get(scope["path"].rpartition("/static/")[2])
        if file is None or any(name == b"range" for name, _ in scope["headers"]):
            return None, b""
        try:
            return file.read_bytes(), TYPES[file.suffix]
        except OSError:
            return None, b""
