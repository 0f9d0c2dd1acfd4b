"""What a page has drawn leaves for the browser while the rest of the page is still being worked out.

A run hands its elements to the server's event loop, which is a thread of the same interpreter: while the script
computes, the loop gets a turn every few milliseconds only, and waits again after each message. So what is drawn first
would leave with what is drawn last, and the browser would lay out all of it at once. Streamlit has no call that sends
what was drawn, so the script waits for a moment, which is when the loop sends.
"""

from __future__ import annotations

import time

import streamlit as st

from pages.ui.streamlit_patches.patch import part
from pages.ui.streamlit_patches.patches import is_on

SECONDS = 0.012
"""The loop looks for messages every 5 ms and needs about 0.1 ms for each of some forty."""
AT_FIRST = 0.1
"""In a tab's first run: a browser that has just opened needs that long to draw a path for the first time."""
_RUNS = "flush.runs"


def flush_style() -> None:
    """Send the style sheet of a tab's first run at once; later runs do not wait. Call it once a run, after the style.

    The browser then loads its script for elements of HTML, and the elements that follow find it. Those that came with
    the style sheet would stay hidden for half a second more, because React does not replace placeholders more often.
    """
    runs = st.session_state.get(_RUNS, 0) + 1
    st.session_state[_RUNS] = runs
    if runs == 1:
        _wait(SECONDS)


def flush() -> None:
    """Send what was drawn so far: the browser shows it while the script goes on."""
    _wait(AT_FIRST if st.session_state.get(_RUNS) == 1 else SECONDS)


def _wait(seconds: float) -> None:
    if is_on("flush") and part("streamlit.runtime:exists")():
        time.sleep(seconds)
