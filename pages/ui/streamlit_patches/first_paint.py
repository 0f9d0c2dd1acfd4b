"""Shows a frame with a sentence in Forky's colours until Streamlit has drawn the page.

Streamlit's `index.html` is empty until a megabyte of scripts has run: a blank window on a slow connection. Then
Streamlit draws piece by piece, and each piece moves the others: the main column appears before its styles, the title
bar above a path that is visible already. The frame has the sizes of the Chat page and covers the page until that has
its messages or is complete, so that nothing moves when the frame is removed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.middleware import Middleware

from pages.ui.streamlit_patches.page_rewriting import PageRewriter

ROOT = '<div id="root"></div>'
"""The element of Streamlit's `index.html` in which React draws."""
TITLE = "<title>Streamlit</title>"

_LIGHT = {"back": "#fcfbf9", "text": "#23272a", "quiet": "#6f7472", "line": "#e2dfd8", "bar": "#f3f1ec"}
_DARK = {"back": "#15181a", "text": "#dfe3e1", "quiet": "#8d9694", "line": "#2e3538", "bar": "#1e2326"}
"""The two palettes of components/palette.py, which this module does not import because that imports Streamlit; a test
compares them."""

_FRAME = """<style id="fk-hides">#root *{visibility:hidden!important}</style><div class="fk-opening" role="status"><style>
.fk-opening{position:fixed;inset:0;z-index:10;background:var(--back);color:var(--text);
font:15px/1.5 "Source Sans",system-ui,sans-serif;{light}}
@media (prefers-color-scheme:dark){.fk-opening{{dark}}}
.fk-opening>header{box-sizing:border-box;height:56px;padding:0 24px;display:flex;align-items:center;gap:28px;
border-bottom:1px solid var(--line)}
.fk-opening i{display:block;background:var(--bar);border-radius:6px;height:12px}
.fk-opening>header i{width:64px}
.fk-opening>p{box-sizing:border-box;height:41px;margin:0 23px;padding:7px 0;color:var(--quiet);white-space:nowrap;overflow:hidden;
text-overflow:ellipsis;border-bottom:1px solid var(--line)}
.fk-opening b{color:var(--text)}
.fk-opening>p b{margin-right:14px}
.fk-opening>main{display:flex;gap:30px;padding:22px 23px}
.fk-opening section{flex:1.55;padding:0 14px;display:grid;gap:14px;align-content:start}
.fk-opening aside{flex:1;display:grid;gap:17px;align-content:start;padding-top:40px}
.fk-opening footer{box-sizing:border-box;position:absolute;left:23px;bottom:21px;height:102px;width:calc((100vw - 76px)*.608);
border:1px solid var(--line);border-radius:11px;background:var(--back)}
@media (max-width:899px){.fk-opening aside,.fk-opening>header i:nth-of-type(n+3){display:none}
.fk-opening footer{width:auto;right:23px}}
@media (max-width:640px){.fk-opening>header{padding-left:16px}.fk-opening>p{margin:0 11px;height:118px;white-space:normal}
.fk-opening>p b{display:block}.fk-opening>main{padding:18px 11px}.fk-opening section{padding:0 11px}
.fk-opening footer{left:11px;right:11px;height:147px}}
</style><header><b>Forky</b>{tabs}</header>
<p><b>Opening your conversations …</b>Version control for conversations with language models.</p>
<main><section aria-hidden="true">{lines}</section><aside aria-hidden="true">{rows}</aside></main>
<footer aria-hidden="true"></footer></div>"""
LEAVING_SCRIPT = """<script>
(() => {
  const frame = document.querySelector(".fk-opening"), hides = document.querySelector("#fk-hides"), first = {};
  const later = ":is(.st-key-chat-top, .st-key-chat-ask, .st-key-chat-side) * { visibility: hidden !important } .st-key-chat-top { height: 2.7rem }"
    + " @media (max-width: 899px) { .st-key-chat-top { height: auto } } @media (max-width: 640px) { .st-key-chat-top { height: 7.85rem } }";
  const since = (what, is) => is ? performance.now() - (first[what] ??= performance.now()) : -1;
  // Wait for code that is being coloured, unless its script is still loading over a slow connection.
  const patience = (app) => app.querySelector("[class*=st-key-cell-] [data-testid=stSkeleton]")
    && performance.getEntriesByType("resource").some(({ name }) => name.includes("SyntaxHighlighter")) ? 2500 : 200;
  const end = () => { clearInterval(looking); frame.remove(); hides.remove(); };
  const look = () => {
    const app = document.querySelector("[data-testid=stApp]");
    if (!app) return;
    const head = app.querySelector("[data-cell]"), waits = (where) => where.querySelector("[data-testid=stSkeleton]");
    const styled = head && getComputedStyle(head).display === "flex";
    const ended = app.dataset.testScriptState === "notRunning"
      && app.querySelector("[data-testid=stMainBlockContainer] :is(button, p, h2, [data-testid=stText])");
    if (ended && !waits(app) || since("ended", ended) > 1500 || app.querySelector("[data-testid=stException], [class*=st-key-page-failed]")) end();
    else if (frame.isConnected && since("path", styled) > patience(app)) {
      frame.remove();
      hides.textContent = later;
    }
  };
  const looking = setInterval(look, 50);
  setTimeout(end, 20000);
})();
</script>
"""
"""Removes the frame as soon as the messages are drawn. The bars and the graph around them, which are drawn piece by
piece, take up their space and stay invisible until the run has ended, so that nothing moves.
"""


def frame() -> str:
    """Return the HTML of the frame."""

    def bars(*widths: int) -> str:
        return "".join(f'<i style="width:{width}%"></i>' for width in widths)

    def colours(of: dict[str, str]) -> str:
        return "".join(f"--{name}:{value};" for name, value in of.items())

    parts = {
        "{light}": colours(_LIGHT),
        "{dark}": colours(_DARK),
        "{tabs}": "<i></i>" * 6,
        "{lines}": bars(96, 88, 42, 92, 64, 96, 90, 71),
        "{rows}": bars(82, 74, 88, 60, 79, 66, 84, 52),
    }
    text = _FRAME
    for name, part in parts.items():
        text = text.replace(name, part)
    return text


def middleware() -> Middleware:
    return Middleware(FirstPaint)


class FirstPaint(PageRewriter):
    """Adds the frame after the root of Streamlit's page, and puts Forky's name into the title."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        super().__init__(app)
        self._drawn = f"{ROOT}{frame()}{LEAVING_SCRIPT}".encode()

    def rewritten(self, page: bytes) -> bytes:
        return page.replace(ROOT.encode(), self._drawn, 1).replace(TITLE.encode(), b"<title>Forky</title>", 1)
