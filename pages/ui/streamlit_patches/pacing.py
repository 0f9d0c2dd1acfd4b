"""When a page's elements leave for the browser.

A run hands its elements to the server's event loop, which is a thread of the same interpreter: while the script
computes, the loop gets its turn every few milliseconds only, and waits again after each message. So what is drawn first
would leave with what is drawn last, and the browser would lay out all of it at once.
"""

from __future__ import annotations

import time

import streamlit as st
from streamlit import runtime

SECONDS = 0.012
"""The loop looks for messages every 5 ms and needs about 0.1 ms for each of some forty."""
AT_FIRST = 0.1
"""In a tab's first run: a browser that has just come needs as long to draw a path for the first time."""
_RUNS = "pacing.runs"


def let_style_through() -> None:
    """Once a run, after what gives every page its looks; it counts the runs of a tab.

    In the first, the script for elements of HTML is loaded for that. Elements of HTML that come later find it; those
    that come with it stay away for another half second, because React does not replace placeholders more often.
    """
    runs = st.session_state.get(_RUNS, 0) + 1
    st.session_state[_RUNS] = runs
    if runs == 1:
        _wait(SECONDS)


def let_through() -> None:
    """Wait until what was drawn so far is on its way: the browser shows it while the script goes on."""
    _wait(AT_FIRST if st.session_state.get(_RUNS) == 1 else SECONDS)


def _wait(seconds: float) -> None:
    if runtime.exists():
        time.sleep(seconds)
