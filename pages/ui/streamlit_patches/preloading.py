"""The browser is told early which of Streamlit's scripts every page of ours needs beside those that index.html names.

Streamlit asks for the script of an element when it first draws one of its kind. The heads of cells, code and our own
components are such elements: without this the first of them wait for a second round of fetching, and React then holds
back the whole page for another half second (its throttle for content that replaces a placeholder).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SCRIPTS = (
    *("Html", "purify.es"),
    *("StreamlitSyntaxHighlighter", "hastscript"),
    *("BidiComponent", "_arrayReduce", "serialization", "recordbatch"),
)
"""What `st.html`, code in Markdown and components need: the names before the hash."""


def links(names: Iterable[str] = SCRIPTS) -> str:
    """The value of a Link header (RFC 8288); "" where this Streamlit has no such scripts."""
    spec = find_spec("streamlit")
    assert spec is not None
    assert spec.origin is not None
    scripts = Path(spec.origin).parent / "static" / "static" / "js"
    found = [file.name for name in names for file in scripts.glob(f"{name}.*.js")]
    return ", ".join(f"<./static/js/{name}>; rel=modulepreload; crossorigin" for name in found)


class Preloading:
    """ASGI middleware that adds the header to pages, but not to those of components, which stand in frames of one."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app
        self.links = links().encode()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        async def send_with_links(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start" and self.links and _is_page(message["headers"]):
                message["headers"] = [*message["headers"], (b"link", self.links)]
            await send(message)

        ours = scope["type"] == "http" and "/component/" not in scope["path"]
        await self.app(scope, receive, send_with_links if ours else send)


def _is_page(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(name.lower() == b"content-type" and value.startswith(b"text/html") for name, value in headers)
