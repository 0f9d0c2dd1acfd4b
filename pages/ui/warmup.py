"""The slow imports, paid by a thread once somebody has a page before their eyes.

LiteLLM takes seconds to import and would triple the time to the first paint; afterwards everything it left behind is
taken out of the reach of the garbage collector, whose full runs would otherwise hold up every click.
"""

from __future__ import annotations

import gc
import importlib
import threading

from forky_core.llm import loading

BEFORE_THE_FIRST_PAGE = (
    "pages.ui.workspace",
    "pages.ui.composer",
    "pages.ui.cells",
    "forky_core.views.graph",
)
"""None of them imports streamlit_agraph: imported before there is a server, its component is never served."""

_lock = threading.Lock()
_begun = False


def warm_up_in(seconds: float) -> threading.Timer:
    """Begin after so many seconds, at most once in this process, whoever else asks; the timer can be cancelled."""
    timer = threading.Timer(seconds, _warm_up)
    timer.name, timer.daemon = "warm-up", True
    timer.start()
    return timer


def import_pages() -> threading.Thread:
    """Import what the first page needs while the browser is still fetching the frame around it."""
    thread = threading.Thread(target=_import_pages, name="import-pages", daemon=True)
    thread.start()
    return thread


def _import_pages() -> None:
    for name in BEFORE_THE_FIRST_PAGE:
        importlib.import_module(name)


def _warm_up() -> None:
    global _begun  # noqa: PLW0603 - once per process is the point
    with _lock:
        if _begun:
            return
        _begun = True
    loading.wait()
    gc.collect()
    gc.freeze()
