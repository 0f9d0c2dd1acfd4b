"""The base class of patches that change Streamlit's `index.html`."""

from __future__ import annotations

import gzip
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from pages.ui.streamlit_patches.compressed import gains_by_copies
from pages.ui.streamlit_patches.preloading import APART, is_page

_OF_THE_FILE = {b"etag", b"last-modified", b"accept-ranges", b"content-length", b"cache-control"}
_FOR_A_PART = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
"""Headers by which a response would be compressed, a part of the page, or empty: it could not be rewritten."""


class PageRewriter(ABC):
    """ASGI middleware that replaces pages by what `rewritten` returns; other responses pass unchanged."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    @abstractmethod
    async def rewritten(self, page: bytes, scope: MutableMapping[str, Any]) -> bytes:
        """Return the changed page of this request; a page that is not Streamlit's stays the same."""

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if not _asks_for_a_page(scope):
            await self.app(scope, receive, send)
            return
        start: MutableMapping[str, Any] | None = None
        parts: list[bytes] = []

        async def send_rewritten(message: MutableMapping[str, Any]) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and message["status"] == 200:
                if is_page(message["headers"]):
                    start = message
                    return
            elif start is not None and message["type"] == "http.response.body":
                parts.append(message.get("body", b""))
                if message.get("more_body"):
                    return
                body = await self.rewritten(b"".join(parts), scope)
                others = [
                    (name, value) for name, value in start["headers"] if name.lower() not in _OF_THE_FILE
                ]
                others.append((b"cache-control", b"no-store"))
                if gains_by_copies(scope.get("client"), scope["headers"]):
                    body = gzip.compress(body, 6)
                    others += [(b"content-encoding", b"gzip"), (b"vary", b"accept-encoding")]
                start["headers"] = [*others, (b"content-length", str(len(body)).encode())]
                await send(start)
                await send({"type": "http.response.body", "body": body})
                return
            await send(message)

        headers = [(name, value) for name, value in scope["headers"] if name.lower() not in _FOR_A_PART]
        await self.app({**scope, "headers": headers}, receive, send_rewritten)


def _asks_for_a_page(scope: MutableMapping[str, Any]) -> bool:
    if scope["type"] != "http" or scope["method"] != "GET" or any(part in scope["path"] for part in APART):
        return False
    return any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])
