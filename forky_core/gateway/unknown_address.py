"""Answers a browser that asks for a page that there is not, in place of the front page with a dialog above it; a
program that calls a protocol's address without `/v1` before it; and who asks for an address of another workspace, as
earlier versions had them.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Container

from forky_core.gateway.asgi import Receive, Scope, Send, answer, refuse, wants_html
from forky_core.render.page import whole_page

_ADDRESS = re.compile(r"/(?P<name>[A-Za-z0-9][\w-]*)(?P<slash>/?)", re.ASCII)
"""The addresses of pages are of this form, and so are few others."""
_CALLS = frozenset(
    ["chat", "completions", "embeddings", "messages", "models", "responses", "tools", "v1beta", "v2"]
)
"""The first parts of addresses that programs call which mean another server, or forget what stands before them."""
FORMER = "/w"
"""What the addresses of further workspaces of one server began with."""


class FormerWorkspace:
    """ASGI app: 410, as a page that says why, for every address below `FORMER`."""

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        page = whole_page("card", "former_workspace.html")
        await answer(scope, send, 410, page.encode(), "text/html; charset=utf-8")


class UnknownAddress:
    """ASGI middleware: 404, as a page, for an address of a page that is none of `names()`. The front page, which has no
    name in its address, is found under that of `front()`, too; and 404, as JSON, for what programs call that mean a
    route of ours and miss it. All else passes.
    """

    def __init__(
        self,
        app: Callable[[Scope, Receive, Send], Awaitable[None]],
        names: Callable[[], Container[str]],
        front: Callable[[], str],
    ) -> None:
        self.app = app
        self.names = names
        self.front = front

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._is_called(scope):
            here = "Programs find models below /v1, and conversations below /api/v1 and at /mcp."
            await refuse(scope, send, 404, f"There is nothing at {scope['path'][:200]}. {here}")
            return
        found = _ADDRESS.fullmatch(scope["path"]) if scope["type"] == "http" else None
        asked = found is not None and scope["method"] in ("GET", "HEAD") and wants_html(scope)
        if found is None or not asked or found["name"] in self.names():
            await self.app(scope, receive, send)
            return
        # Whatever a proxy puts before the path is in the address that the browser has.
        front = "../" if found["slash"] else "./"
        if found["name"] == self.front():
            place = f"{front}?{scope['query_string'].decode('latin-1')}".removesuffix("?")
            await answer(scope, send, 303, headers=[(b"location", place.encode("latin-1"))])
            return
        page = whole_page("card", "unknown_address.html", front=front)
        await answer(scope, send, 404, page.encode(), "text/html; charset=utf-8")

    def _is_called(self, scope: Scope) -> bool:
        """Whether a program calls an address that means a route of ours and misses it. Streamlit has routes of its own
        below the addresses of pages.
        """
        first, asked = scope["path"].partition("/")[2].partition("/")[0], scope["method"] in {"GET", "HEAD"}
        if first not in _CALLS or "_stcore" in scope["path"]:
            return False
        return not (asked and (wants_html(scope) or first in self.names() or first == self.front()))
