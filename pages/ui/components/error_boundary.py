"""A page or fragment that cannot read the database shows a sentence about it: above what was drawn before where it
may pass, and else in place of its content.

The shell does so for a page. A fragment that runs again by itself does not pass through the shell, so each fragment has
a boundary of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import streamlit as st

from forky_core.model.errors import LONGEST_SENTENCE, StoreBusy, StoreError
from pages.ui.components.markdown import plain_label
from pages.ui.observability.failures import log_page_failure
from pages.ui.session import session

P = ParamSpec("P")


_AGAIN_AFTER = 2.0
"""Seconds until a page looks again whether the database is back."""
_LOOK = 0.1
_PASSES = frozenset({StoreError, StoreBusy})
"""Errors that may pass without anybody doing anything here, as where a server is started anew."""
_STAYS = """<style>.stApp:has(.st-key-shell-away) [data-stale="true"] { opacity: 1 !important; }</style>"""
"""Streamlit fades what the run before drew while a run takes long."""


def show_store_error(error: StoreError, key: str) -> None:
    """Draw what is wrong with the database, what to do about it, and a button that tries again; log the failure.

    Where it may pass, the page tries again by itself; what this tab has drawn before stays then (`wait_until_back`).
    """
    log_page_failure(error)
    tab = session()
    if type(error) in _PASSES and tab.drawn:
        tab.away = str(error)
        st.rerun()
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


def wait_until_back() -> bool:
    """Where the run before could not reach the database: say so above what it left on the page, and wait a moment. Call
    it before a page runs; whether it waited.

    A run that ends in another one takes nothing away of what was drawn, neither in the browser nor of what fields hold.
    """
    tab = session()
    with st.container(key="shell-away"):
        if not tab.away:
            return False
        sentence = f"{tab.away} What is on this page stays, and Forky looks again by itself."
        st.warning(plain_label(sentence, LONGEST_SENTENCE), icon=":material/cloud_off:")
        st.html(_STAYS)
    tab.away = ""
    latest = time.monotonic() + _AGAIN_AFTER
    while time.monotonic() < latest:
        time.sleep(_LOOK)
        st.session_state.get("shell.away")  # Where Streamlit lets a press interrupt the run.
    return True


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
