"""Adds a short script to Streamlit's page that runs before Streamlit's own scripts. It does three things.

It sets the address of the server. Streamlit's scripts would first try one below the address of the page, such as
`/compare/_stcore/health`, which puts two errors into the console of everybody who opens a page by its link. It handles
the messages of streamlit-agraph's page, which a component of Forky has in a frame, before Streamlit warns about an
unknown component. And if the person has been signed out, it opens the sign-in page, whereas Streamlit would show the
refusal in a dialog above the conversation.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from starlette.middleware import Middleware

from pages.ui.streamlit_patches.page_rewriting import PageRewriter

SCRIPT = """<script>
window.__streamlit = { ...window.__streamlit, BACKEND_BASE_URL: new URL(".", location.href).href };
const ask = window.fetch;
window.fetch = async (...asked) => {
  const answer = await ask(...asked);
  if (answer.status !== 401 || !answer.url.includes("/_stcore/")) return answer;
  document.body.hidden = true;
  location.replace(`/sign-in?${new URLSearchParams({ next: location.pathname + location.search })}`);
  return new Promise(() => {}); // The page is leaving, so nobody needs the answer.
};
addEventListener("message", (event) => {
  let path = "";
  try { path = event.source.location.pathname; } catch { /* A frame of another origin. */ }
  if (!event.data?.isStreamlitMessage || !path.includes("/agraph/")) return;
  event.stopImmediatePropagation();
  dispatchEvent(new CustomEvent("forky:graph", { detail: { source: event.source, data: event.data } }));
});
</script>
"""
_MARK = b"<script"
_ROOT = b'id="root"'
"""Occurs in Streamlit's page and not in other pages, such as a presentation."""


def middleware() -> Middleware:
    return Middleware(EarlyScript)


class EarlyScript(PageRewriter):
    """Puts the script before the first one of Streamlit's page."""

    async def rewritten(self, page: bytes, _scope: MutableMapping[str, Any]) -> bytes:
        return page.replace(_MARK, SCRIPT.encode() + _MARK, 1) if _ROOT in page else page
