"""Answers a browser that asks for a page that there is not, in place of the front page with a dialog above it; and who
asks for an address of another workspace, as earlier versions had them.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Container

from forky_core.gateway.asgi import Receive, Scope, Send, answer, wants_html
from forky_core.render.page import whole_page

_ADDRESS = re.compile(r"/(?P<name>[A-Za-z0-9][\w-]*)(?P<slash>/?)", re.ASCII)
"""The addresses of pages are of this form, and so are few others."""
FORMER = "/w"
"""What the addresses of further workspaces of one server began with."""


class FormerWorkspace:
    """ASGI app: 410, as a page that says why, for every address below `FORMER`."""

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        page = whole_page("card", "former_workspace.html")
        await answer(scope, send, 410, page.encode(), "text/html; charset=utf-8")


class UnknownAddress:
    """ASGI middleware: 404, as a page, for an address of a page that is none of `names()`. The front page, which has no
    name in its address, is found under that of `front()`, too. All else passes.
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
