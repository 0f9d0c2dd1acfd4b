"""What a server does before anybody asks: first the imports and the database of the first page, then LiteLLM.

LiteLLM takes seconds to import and would triple the time to the first paint, so it waits until browsers have stopped
fetching; a first question does not wait for that (llm/loading.py). Afterwards everything it left behind is taken out of
the reach of the garbage collector, whose full runs would otherwise hold up every click.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import threading
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from forky_core.llm import loading
from forky_core.model.errors import ForkyError
from forky_core.scheduling import short_turns

BEFORE_THE_FIRST_PAGE = (
    "pages.ui.chat.cells",
    "pages.ui.chat.acts",
    "pages.ui.chat.acting",
    "pages.ui.chat.branchbar",
    "pages.ui.chat.composer",
    "pages.ui.chat.forms",
    "pages.ui.components.moving",
    "pages.ui.chat.picks",
    "pages.ui.chat.reply",
    "pages.ui.chat.side",
    "pages.ui.chat.style",
    "pages.ui.chat.taking_back",
    "pages.ui.chat.window",
    "pages.ui.library.broken_off",
    "pages.ui.streamlit_patches.favicon",
    "pages.ui.streamlit_patches.flush",
    "pages.ui.components.style",
    "pages.ui.components.undoing",
    "pages.ui.registry",
)
"""With these, all that pages/shell.py and pages/chat.py import is there."""

QUIET = 2.5
"""Seconds without a request until the slow imports begin: on a busy machine a browser works a second and more between
two of them, and the imports would take the processor from the very page it draws."""
PATIENCE = 15.0
"""Seconds after which they begin in any case."""
_POLL = 0.1

_lock = threading.Lock()
_begun = False
_asked = 0.0


class Traffic:
    """ASGI middleware that notes when somebody last fetched something."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        global _asked  # noqa: PLW0603 - of the whole process
        _asked = time.monotonic()
        await self.app(scope, receive, send)


def quiet_in(now: float, begun: float, asked: float) -> float:
    """Seconds still to wait at `now`, where the wait began at `begun` and the last request came at `asked`."""
    return min(asked + QUIET, begun + PATIENCE) - now


def warm_up_in(seconds: float) -> threading.Timer:
    """Begin after so many seconds, at most once in this process, whoever else asks; the timer can be cancelled."""
    timer = threading.Timer(seconds, _warm_up)
    timer.name, timer.daemon = "warm-up", True
    timer.start()
    return timer


def prepare() -> threading.Thread:
    """Import what the first page needs and open the database while the browser is still fetching the frame."""
    thread = threading.Thread(target=_prepare, name="prepare", daemon=True)
    thread.start()
    return thread


def _prepare() -> None:
    gc.disable()  # It is an eighth of what the imports cost, and finds nothing.
    with short_turns():  # Meanwhile the browser asks for sixty files.
        importlib.import_module("pages.ui.workspace")
        opening = threading.Thread(target=_open, name="open", daemon=True)
        opening.start()
        for name in BEFORE_THE_FIRST_PAGE:
            importlib.import_module(name)
        opening.join()


def _open() -> None:
    """Beside the imports: it waits for the disk."""
    with contextlib.suppress(ForkyError):  # The page says so, at each visit.
        importlib.import_module("pages.ui.workspace").workspace()


def _warm_up() -> None:
    global _begun  # noqa: PLW0603 - once per process is the point
    with _lock:
        if _begun:
            return
        _begun = True
    begun = time.monotonic()
    while quiet_in(time.monotonic(), begun, _asked) > 0 and not loading.is_loaded():
        time.sleep(_POLL)
    gc.enable()
    loading.wait()
    gc.collect()
    gc.freeze()
    # Collected again at the very end, so that the database's objects end before the interpreter does.
    atexit.register(gc.unfreeze)
