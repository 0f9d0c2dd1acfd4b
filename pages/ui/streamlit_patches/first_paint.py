"""Shows the conversation, or a frame with a sentence, in Forky's colours until Streamlit has drawn the page.

Streamlit's `index.html` is empty until a megabyte of scripts has run: a blank window on a slow connection. Then
Streamlit draws piece by piece, and each piece moves the others: the main column appears before its styles, the title
bar above a path that is visible already. The frame has the sizes of the Chat page and covers the page until that has
its messages or is complete, so that nothing moves when the frame is removed. On the Chat page it has the title and the
newest messages (ui/chat/opening.py), if the server has them at hand for whoever asks.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from starlette.middleware import Middleware

from forky_core.gateway.access.person import person_of
from pages.ui.streamlit_patches.icons import icon_style
from pages.ui.streamlit_patches.page_rewriting import PageRewriter
from pages.ui.streamlit_patches.preloading import tags

ROOT = '<div id="root"></div>'
"""The element of Streamlit's `index.html` in which React draws."""
TITLE = "<title>Streamlit</title>"

_LIGHT = {
    "back": "#fcfbf9",
    "text": "#23272a",
    "quiet": "#6f7472",
    "line": "#e2dfd8",
    "bar": "#f3f1ec",
    "accent": "#1f6f63",
}
_DARK = {
    "back": "#15181a",
    "text": "#dfe3e1",
    "quiet": "#8d9694",
    "line": "#2e3538",
    "bar": "#1e2326",
    "accent": "#3f9f8e",
}
"""The two palettes of components/palette.py, which this module does not import because that imports Streamlit; a test
compares them."""
_OPENING = "pages.ui.chat.opening"
"""The module that draws a conversation. It is imported before the first page (warmup.py), never for a request."""
_PATIENCE = 0.3
"""Seconds that a browser waits for the conversation: a long one is read from its file once."""

_FRAME = """<style id="fk-hides">#root *{visibility:hidden!important}</style><div class="fk-opening"><style>
html{font-size:15px}
.fk-opening{position:fixed;inset:0;z-index:999991;background:var(--back);color:var(--text);
font:15px/1.6 "Source Sans",system-ui,sans-serif;--on:#fff;{light}--fk-background:var(--back);--fk-text:var(--text);--fk-accent:var(--accent);
--st-background-color:var(--back);--st-text-color:var(--text);--st-primary-color:var(--accent);--st-link-color:var(--accent);
--st-border-color:var(--line);--st-border-color-light:var(--line);--st-code-background-color:var(--bar);--st-code-text-color:var(--text);
--st-code-font:monospace;--st-code-font-size:.85rem;--st-heading-font:inherit}
.fk-opening>nav{background:#f6f4ef}
@media (prefers-color-scheme:dark){.fk-opening{--on:#0c1513;{dark}}.fk-opening>nav{background:#111416}}
.fk-opening i{display:block;background:var(--bar);border-radius:6px;height:12px}
.fk-opening>nav{position:absolute;inset:0 auto 0 0;box-sizing:border-box;width:281px;padding:60px 40px;display:grid;gap:20px;align-content:start;
border-right:1px solid var(--line)}
.fk-opening>:not(nav){margin-left:281px}
.fk-opening>header{box-sizing:border-box;height:56px;padding:0 24px;display:flex;align-items:center;gap:28px;
border-bottom:1px solid var(--line)}
.fk-opening>header i{width:64px}
.fk-opening>p{box-sizing:border-box;height:40px;margin:0 22px 0 303px;padding:8px 0;color:var(--quiet);white-space:nowrap;overflow:hidden;
text-overflow:ellipsis;border-bottom:1px solid var(--line)}
.fk-opening b{color:var(--text);margin-right:14px}
.fk-opening>main{position:absolute;inset:99px 22px 120px 22px;display:flex;gap:30px}
.fk-opening section{flex:1.55 1 0;min-width:0;height:100%;display:grid;gap:14px;align-content:start}
.fk-opening aside{flex:1 1 0;display:grid;gap:17px;align-content:start;padding-top:40px}
.fk-opening footer{box-sizing:border-box;position:absolute;left:23px;bottom:41.5px;min-height:92px;width:calc((100vw - 326px)*.608 - 15px);
padding:5px 8px;align-content:space-between;border:1px solid var(--line);border-radius:20px;background:var(--back);display:flex;flex-wrap:wrap;align-items:end}
.fk-opening footer:focus-within{border-color:var(--accent)}
.fk-opening ol{flex:1 1 100%;max-height:30vh;overflow:auto;margin:0;padding:0 12px 4px;list-style:none;font-size:13px;white-space:pre-wrap}
.fk-opening li::after{content:" Sent as soon as Forky is there.";color:var(--quiet)}
.fk-opening ol[hidden]{display:none}
.fk-opening textarea{flex:1 1 100%;min-width:0;max-height:40vh;box-sizing:border-box;min-height:34.5px;padding:5.25px 4.5px;
font:inherit;font-size:13.125px;line-height:18.375px;color:inherit;background:none;border:0;outline:0;resize:none;field-sizing:content}
.fk-opening textarea::placeholder{color:var(--quiet);opacity:1}
.fk-opening footer button{font:inherit;height:33px;margin-bottom:1px;padding:0 11px;border:0;border-radius:17px;color:var(--on);background:var(--accent);cursor:pointer}
.fk-opening footer button::before{content:"↑ "}
.fk-opening footer button{order:2}.fk-opening footer span{flex:1 1 0;align-self:center;padding-left:4.5px;color:var(--quiet);font-size:12px}
.fk-opening.fk-bare{background:none;pointer-events:none}
.fk-bare>:not(footer,style){display:none}
.fk-bare footer{pointer-events:auto}
@media (max-width:899px){.fk-opening aside{display:none}.fk-opening footer{width:auto;right:22px}}
@media (max-width:767px){.fk-opening>nav{display:none}.fk-opening>:not(nav){margin-left:0}.fk-opening>p{margin:0 22px}}
@media (max-width:640px){.fk-opening>header i:nth-of-type(n+2){display:none}.fk-opening>p{position:absolute;top:8px;left:94px;right:58px;
margin:0;border:0}.fk-opening>main{inset:99px 10px 141px}.fk-opening footer{left:10px;right:10px;bottom:42px}
.fk-opening footer button{font-size:0;width:38px}.fk-opening footer button::before{content:"↑";font-size:17px}}
</style><nav aria-hidden="true">{chats}</nav><header>{tabs}</header>
<p>{title}<b role="status">Opening your conversations …</b>Version control for conversations with language models.</p>
<main><section>{messages}{lines}</section><aside aria-hidden="true">{rows}</aside></main>
<footer>{field}</footer></div>"""
_UI = Path(__file__).parents[1]
_SCRIPTS = ("keeping/storage.js", "chat/opening.js", "streamlit_patches/leaving.js")
LEAVING_SCRIPT = f"<script>{{\n{''.join((_UI / name).read_text('utf-8') for name in _SCRIPTS)}}}</script>\n"
"""Removes the frame as soon as the messages are drawn. The bars and the graph around them, which are drawn piece by
piece, take up their space and stay invisible until the run has ended, so that nothing moves. Where the page has the
font of icons.py, Streamlit's is not loaded. The frame's field stays until the page's own has its text and focus.
"""


def frame(title: str = "", messages: str = "", field: str = "") -> str:
    """Return the HTML of the frame; with the HTML of a conversation's title, messages and field, if those are given.

    The first two stand in closed shadow roots. A browser that knows none shows the sentence and the bars.
    """

    def bars(*widths: int) -> str:
        return "".join(f'<i style="width:{width}%"></i>' for width in widths)

    def colours(of: dict[str, str]) -> str:
        return "".join(f"--{name}:{value};" for name, value in of.items())

    def apart(html: str) -> str:
        return f'<template shadowrootmode="closed">{html}</template>' if html else ""

    parts = {
        "{light}": colours(_LIGHT),
        "{dark}": colours(_DARK),
        "{chats}": bars(50, 38, 100, 82, 91, 64),
        "{tabs}": "<i></i>" * 5,
        "{lines}": bars(96, 88, 42, 92, 64, 96, 90, 71),
        "{rows}": bars(82, 74, 88, 60, 79, 66, 84, 52),
        "{field}": f'{field}<span role="status">Opening …</span>' if messages else "",
        "{title}": apart(title),
        "{messages}": apart(messages),
    }
    return re.sub("|".join(parts), lambda found: parts[found[0]], _FRAME)


def middleware() -> Middleware:
    return Middleware(FirstPaint)


class FirstPaint(PageRewriter):
    """Adds the frame after the root of Streamlit's page, and puts Forky's name into the title."""

    async def rewritten(self, page: bytes, scope: MutableMapping[str, Any]) -> bytes:
        drawn = f"{ROOT}{icon_style()}{frame(*await _conversation(scope))}{LEAVING_SCRIPT}{tags()}".encode()
        return page.replace(ROOT.encode(), drawn, 1).replace(TITLE.encode(), b"<title>Forky</title>", 1)


async def _conversation(scope: MutableMapping[str, Any]) -> tuple[str, ...]:
    """Return the HTML of the title, messages and field of the conversation at the address of a request; nothing if
    it is not at hand. The gate has let the request through and has said whose it is.
    """
    # While the module is being imported it is in sys.modules already, without the function.
    opening = getattr(sys.modules.get(_OPENING), "opening", None)
    if opening is None or not scope["path"].endswith("/"):
        return ()
    address = dict(parse_qsl(scope["query_string"].decode("latin-1")))
    asked = asyncio.to_thread(opening, person_of(scope), address)
    try:
        return await asyncio.wait_for(asked, _PATIENCE) or ()
    except Exception:  # noqa: BLE001 - the page itself says what is wrong with it
        return ()
