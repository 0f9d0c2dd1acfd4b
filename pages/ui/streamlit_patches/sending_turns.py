"""Sends what a page draws in a few turns of the server's event loop, and not in one for each element.

Streamlit's loop yields after each message that it sends, for all tabs one after the other. A page of a hundred elements
then takes a hundred turns, in each of which the loop waits for the interpreter behind the threads of other people's
pages, and the following tabs wait for all of that. With this patch the loop yields after a few milliseconds or a few
dozen messages, long before the queue of a connection is full.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from pages.ui.streamlit_patches.patch import part

LONGEST = 0.004
"""The most seconds of sending before the loop yields."""
MOST = 64
"""The most messages before the loop yields. The queue of a connection has room for 500."""


class _YieldingSeldom:
    """Replaces the module `asyncio` in Streamlit's runtime: most of its yields, sleeps of zero seconds, do nothing."""

    def __init__(self) -> None:
        self._sent = 0
        self._since = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, delay: float) -> None:
        if delay == 0 and not self._is_due():
            return
        await asyncio.sleep(delay)
        self._sent = 0

    def _is_due(self) -> bool:
        now = time.monotonic()
        if not self._sent:
            self._since = now
        self._sent += 1
        return self._sent >= MOST or now - self._since >= LONGEST


def apply() -> None:
    """Replace `asyncio` in the module of Streamlit's runtime."""
    part("streamlit.runtime.runtime").asyncio = _YieldingSeldom()
