"""A page or fragment that cannot read the database shows a sentence about it in place of its content.

The shell does so for a page. A fragment that runs again by itself does not pass through the shell, so each fragment has
a boundary of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import streamlit as st

from forky_core.model.errors import LONGEST_SENTENCE, StoreBusy, StoreError
from pages.ui.components.markdown import plain_label
from pages.ui.observability.failures import log_page_failure

P = ParamSpec("P")


_AGAIN_AFTER = 4.0
"""Seconds until a page looks again by itself whether the database is back."""
_PASSES = frozenset({StoreError, StoreBusy})
"""Errors that may pass without anybody doing anything here, as where a server is started anew."""


def show_store_error(error: StoreError, key: str) -> None:
    """Draw what is wrong with the database, what to do about it, and a button that tries again; log the failure.

    Where it may pass, the page tries again by itself, too.
    """
    log_page_failure(error)
    st.error(plain_label(str(error), LONGEST_SENTENCE), icon=":material/error:")
    st.button("Try again", key=key, icon=":material/refresh:")
    if type(error) in _PASSES:
        _try_again_later(key)


def _try_again_later(key: str) -> None:
    """Run the page again in a while. A fragment runs at once, too, as it is drawn."""
    drawn = False

    @st.fragment(run_every=_AGAIN_AFTER, key=f"{key}.later")
    def later() -> None:
        nonlocal drawn
        if drawn:
            st.rerun()
        drawn = True

    later()


def error_boundary(draw: Callable[P, None]) -> Callable[P, None]:
    """Decorate what a fragment draws so that it shows errors of the database; goes below `st.fragment`.

    Keys: `error_boundary.<name>`.
    """

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            draw(*args, **kwargs)
        except StoreError as error:
            show_store_error(error, f"error_boundary.{draw.__name__}")

    return drawn
