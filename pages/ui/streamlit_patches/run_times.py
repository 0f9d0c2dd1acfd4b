"""Measures each run of a page for the log and /metrics: how long it took with its handlers, and how it ended.

Streamlit runs handlers and then a page's script, or only some of its fragments, through one function. Fragments inside
a whole run belong to that run. A page could measure its own script, but neither the handlers before it nor the runs of
its fragments.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forky_core.process import events
from pages.ui.streamlit_patches.patch import part

if TYPE_CHECKING:
    from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

_RUNNER = "streamlit.runtime.scriptrunner.script_runner:"


def apply() -> None:
    """Have Streamlit's function that runs a script log `page.ran`."""
    run = part(f"{_RUNNER}exec_func_with_error_handling")

    @wraps(run)
    def measured(func: Callable[[], Any], ctx: ScriptRunContext) -> tuple[Any, ...]:
        begun = time.perf_counter()
        outcome: tuple[Any, ...] = run(func, ctx)
        events.page_ran(
            page=_page(ctx),
            kind="fragment" if ctx.fragment_ids_this_run else "page",
            state=_state(outcome),
            seconds=time.perf_counter() - begun,
        )
        return outcome

    part(_RUNNER).exec_func_with_error_handling = measured


def _page(context: ScriptRunContext) -> str:
    """Return the name of the page's file without its suffix; "other" if Streamlit has no such page."""
    page = context.pages_manager.get_pages().get(context.page_script_hash)
    return Path(page["script_path"]).stem if page is not None else "other"


def _state(outcome: tuple[Any, ...]) -> str:
    _, without_errors, rerun, stopped, _ = outcome
    if not without_errors:
        return "failed"
    return "rerun" if rerun is not None else "stopped" if stopped else "done"
