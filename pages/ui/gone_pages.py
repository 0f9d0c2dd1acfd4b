"""Addresses of pages that are gone: each says in a sentence where what the page did is now."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from pages.ui.components.links import page_link

GONE = {
    "bisection": (
        "The page that looked for where a branch went wrong is gone. Bisecting is done on the command line, by `forky bisect`, "
        "and in Python, by `chat.bisections`."
    ),
}
"""By the first part of the address, what it says there."""


def gone_pages() -> list[Any]:
    """The addresses for `st.navigation`, which lists none of them, and notes in each what the run may do."""
    return [copy.copy(page) for page in _made()]


@cache
def _made() -> tuple[Any, ...]:
    """Within a run."""
    return tuple(
        st.Page(_saying(sentence), title="A page that is gone", url_path=name, visibility="hidden")
        for name, sentence in GONE.items()
    )


def _saying(sentence: str) -> Callable[[], None]:
    def say() -> None:
        st.info(sentence)
        page_link("chat.py", "Go to Chat", icon="account_tree")

    return say
