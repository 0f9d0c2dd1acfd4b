"""How long each run of a page takes, and how it ends, for the log and /metrics.

Streamlit runs a page's script, or only some of its fragments, through one function, with the handlers of what was
pressed before it. That one is wrapped; fragments inside a whole run belong to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from streamlit.runtime.scriptrunner import get_script_run_ctx, script_runner
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

from forky_core.observability import events

_RUN = "exec_func_with_error_handling"


def measure_runs() -> None:
    """Once, before the first session. A Streamlit without that function is left alone: no run is measured."""
    run = getattr(script_runner, _RUN, None)
    if run is None:
        return

    @wraps(run)
    def measured(work: Callable[[], Any], context: ScriptRunContext) -> tuple[Any, ...]:
        begun = time.perf_counter()
        outcome: tuple[Any, ...] = run(work, context)
        events.page_ran(
            page=page_name(context),
            kind="fragment" if context.fragment_ids_this_run else "page",
            state=_state(outcome),
            seconds=time.perf_counter() - begun,
        )
        return outcome

    setattr(script_runner, _RUN, measured)


def page_name(context: ScriptRunContext | None = None) -> str:
    """The page that runs, by the name of its file without the ending; "other" where none of ours does."""
    context = context or get_script_run_ctx()
    if context is None:
        return "other"
    pages = context.pages_manager.get_pages()
    known = pages.get(context.page_script_hash)
    return Path(known["script_path"]).stem if known is not None else "other"


def _state(outcome: tuple[Any, ...]) -> str:
    _, without_errors, rerun, stopped, _ = outcome
    if not without_errors:
        return "failed"
    return "rerun" if rerun is not None else "stopped" if stopped else "done"
