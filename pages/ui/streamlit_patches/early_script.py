"""A short script that runs in Streamlit's page before Streamlit does.

It says where the server is. Streamlit's browser would try the address of the page itself first, such as
`/compare/_stcore/health`, and put two errors into the console of everybody who opens a page by its link, before it
looks one level higher. And it takes the messages of streamlit-agraph's page, which a component of Forky holds in a
frame, before Streamlit warns that it knows no such component. And where the person was signed out meanwhile, it leads
to the sign-in page, whereas Streamlit would show the answer of the gate in a dialog, above all that was said.
"""

from __future__ import annotations

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
  return new Promise(() => {}); // Nothing is made of it any more.
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
"""What Streamlit's page has and others, such as a presentation, have not."""


def middleware() -> Middleware:
    return Middleware(EarlyScript)


class EarlyScript(PageRewriter):
    """Puts the script before the first one of Streamlit's page."""

    def rewritten(self, page: bytes) -> bytes:
        return page.replace(_MARK, SCRIPT.encode() + _MARK, 1) if _ROOT in page else page
