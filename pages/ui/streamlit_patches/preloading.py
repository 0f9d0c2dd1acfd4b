"""Makes the browser load the scripts of Streamlit that every page of Forky needs at once with the page.

Streamlit loads the script of an element in the browser when it first draws one of its kind. The style sheets, which are
HTML, and Forky's own components are such elements: without this patch the first of them wait for a second round of
requests, and React then delays the whole page by another half second (its throttle for content that replaces a
placeholder).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from functools import cache
from typing import Any

from starlette.middleware import Middleware

from forky_core.gateway.links import PREFIX as LINKS
from forky_core.gateway.presenting import PREFIX as PRESENT
from pages.ui.streamlit_patches.patch import streamlit_folder

FIRST = ("Html", "BidiComponent")
"""The scripts of `st.html` and of components, by their names before the hash. Code is coloured on the server."""
LATER = ("FileUploader", "TextArea", "Selectbox", "Button", "PageLink", "MenuButton", "ButtonGroup")
"""The scripts of the other elements of a chat: they load while the line is idle, until the server has run the page."""

IMPORTED = re.compile(r'(?:from|import)"\./([^"]+\.js)"')
APART = ("/component/", "/agraph/", f"{PRESENT}/", f"{LINKS}/")
"""Parts of the paths of pages that are not Streamlit's app: those in a frame, and documents that load nothing."""


def scripts(elements: Iterable[str]) -> list[str]:
    """Return the names of these scripts and of those that they import, beside what `index.html` names itself."""
    folder = streamlit_folder() / "static"
    known = set(re.findall(r'static/js/([^"]+)', (folder / "index.html").read_text("utf-8")))
    found: dict[str, None] = {}
    wanted = [file.name for name in elements for file in (folder / "static" / "js").glob(f"{name}.*.js")]
    for name in wanted:
        if name not in known and name not in found:
            found[name] = None
            wanted += IMPORTED.findall((folder / "static" / "js" / name).read_text("utf-8"))
    return list(found)


def links() -> str:
    """Return the value of a Link header (RFC 8288) that names the first scripts; "" if Streamlit has none of them."""
    return ", ".join(f"<./static/js/{name}>; rel=modulepreload; crossorigin" for name in scripts(FIRST))


@cache
def tags() -> str:
    """Return the HTML that names the later scripts. In a header they would be longer than some proxies let pass."""
    first = scripts(FIRST)
    link = '<link rel="modulepreload" crossorigin fetchpriority="low" href="./static/js/{}">'
    return "".join(link.format(name) for name in scripts(LATER) if name not in first)


def middleware() -> Middleware:
    return Middleware(Preloading)


class Preloading:
    """ASGI middleware that adds the header to pages of the app and to no other document."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app
        self.links = links().encode()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        async def send_with_links(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start" and self.links and is_page(message["headers"]):
                message["headers"] = [*message["headers"], (b"link", self.links)]
            await send(message)

        ours = scope["type"] == "http" and not any(part in scope["path"] for part in APART)
        await self.app(scope, receive, send_with_links if ours else send)


def is_page(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether these headers belong to an HTML page."""
    return any(name.lower() == b"content-type" and value.startswith(b"text/html") for name, value in headers)
