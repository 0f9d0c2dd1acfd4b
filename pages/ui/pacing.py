"""When a page's elements leave for the browser.

A run hands its elements to the server's event loop, which is a thread of the same interpreter: while the script
computes, the loop gets its turn every few milliseconds only, and waits again after each message. So what is drawn first
would leave with what is drawn last, and the browser would lay out all of it at once.
"""

from __future__ import annotations

import time

SECONDS = 0.012
"""The loop looks for messages every 5 ms and needs about 0.1 ms for each of some forty."""


def let_through() -> None:
    """Wait until what was drawn so far is on its way: the browser shows it while the script goes on."""
    time.sleep(SECONDS)
