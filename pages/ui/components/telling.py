"""A database that cannot be opened or read: said in a sentence, in place of what was to be drawn.

The shell says it for a page. A fragment that runs again by itself does not pass through the shell, so each one of ours
is told to say it too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import streamlit as st

from forky_core.model.errors import LONGEST_SENTENCE, StoreError
from pages.ui.components.markdown import plain_label
from pages.ui.observability.failures import log_page_failure

P = ParamSpec("P")


def tell(error: StoreError, key: str) -> None:
    """What is wrong, what to do about it, and a way to look again."""
    log_page_failure(error)
    st.error(plain_label(str(error), LONGEST_SENTENCE), icon=":material/error:")
    st.button("Try again", key=key, icon=":material/refresh:")


def telling(draw: Callable[P, None]) -> Callable[P, None]:
    """For what a fragment draws; goes below `st.fragment`. Keys: `telling.<name>`."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            draw(*args, **kwargs)
        except StoreError as error:
            tell(error, f"telling.{draw.__name__}")

    return drawn
