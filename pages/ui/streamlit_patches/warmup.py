"""Prepares a server before the first request: the imports and the database of the first page, then LiteLLM.

LiteLLM takes seconds to import and would triple the time to the first paint, so its import waits until browsers have
stopped sending requests; a first question does not wait for that (llm/loading.py). A server whose models do without
LiteLLM imports it only when one that needs it is asked. Afterwards all objects that the imports left are hidden from
the garbage collector, whose full runs would otherwise delay every click.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import gc
import importlib
import threading
import time
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

from forky_core.llm import loading
from forky_core.model.errors import ForkyError
from forky_core.process.lazy_names import import_what_waits
from forky_core.process.scheduling import short_switch_interval
from pages.ui.streamlit_patches.assets import assets
from pages.ui.streamlit_patches.compressed import copies_folder, make_copies

QUIET = 2.5
"""Seconds without a request until the slow imports begin. On a busy machine a browser works for a second or more
between two requests, and the imports would slow down the page that it draws."""
PATIENCE = 15.0
"""Seconds after which the slow imports begin in any case."""
SELDOM = 100
"""The collector's third threshold: how many collections of the second generation precede a full one. Python's is 10.
With 270 open tabs a full collection delays all of them by .4 s, and finds some 3,000 objects after ten seconds of work.
"""
_POLL = 0.1

_lock = threading.Lock()
_begun = False
_asked = 0.0


class Traffic:
    """ASGI middleware that notes the time of the last request."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        global _asked  # noqa: PLW0603 - of the whole process
        _asked = time.monotonic()
        await self.app(scope, receive, send)


def quiet_in(now: float, begun: float, asked: float) -> float:
    """Return the seconds still to wait at `now`, if the wait began at `begun` and the last request came at `asked`."""
    return min(asked + QUIET, begun + PATIENCE) - now


def warm_up_in(seconds: float) -> threading.Timer:
    """Warm up after so many seconds, but only once in this process; return the timer, which can be cancelled."""
    timer = threading.Timer(seconds, _warm_up)
    timer.name, timer.daemon = "warm-up", True
    timer.start()
    return timer


def prepare() -> threading.Thread:
    """Import what the first page needs and open the database, in a thread, while the browser loads the frame."""
    thread = threading.Thread(target=_prepare, name="prepare", daemon=True)
    thread.start()
    return thread


def _prepare() -> None:
    gc.disable()  # The collector takes an eighth of the imports' time, and finds nothing.
    with short_switch_interval():  # Meanwhile the browser requests sixty files.
        importlib.import_module("pages.ui.workspace")
        opening = threading.Thread(target=_open, name="open", daemon=True)
        opening.start()
        for name in ("pages.ui.chat.opening", *_imported_by("chat.py"), *_imported_by("shell.py")):
            importlib.import_module(name)
        import_what_waits()
        opening.join()


def _imported_by(page: str) -> list[str]:
    """Return the modules that a page imports, which Streamlit runs as a script and nobody imports."""
    tree = ast.parse((Path(__file__).parents[2] / page).read_bytes())
    return [node.module for node in tree.body if isinstance(node, ast.ImportFrom) and node.module]


def _open() -> None:
    """Open the database in parallel with the imports, because it waits for the disk."""
    with contextlib.suppress(ForkyError):  # The page shows the error, at each visit.
        importlib.import_module("pages.ui.workspace").whole_workspace()


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
    loading.afterwards(lambda _litellm: _freeze())
    if loading.is_loaded() or _needs_litellm():
        loading.wait()
    _freeze()
    # At the exit the objects are collected again, so that the database's objects end before the interpreter does.
    atexit.register(gc.unfreeze)
    make_copies(sorted(assets().values(), key=lambda file: file.stat().st_size), copies_folder())


def _needs_litellm() -> bool:
    forky = importlib.import_module("pages.ui.workspace").at_hand()
    with contextlib.suppress(ForkyError):  # The server stops meanwhile.
        return forky is not None and bool(forky.models.needs_litellm())
    return False


def _freeze() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], SELDOM)
