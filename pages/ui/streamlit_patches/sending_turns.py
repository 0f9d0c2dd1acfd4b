"""What a page draws is sent in a few turns of the server's event loop, and not in one for each element.

Streamlit's loop lets everything else have a turn after each message that it sends, for all tabs in one row. A page of a
hundred elements then takes a hundred turns, in each of which the loop gives the interpreter away and waits for it
behind the threads of other people's pages, and the tabs that come after it wait for all of that. Here it lets others
have a turn after a few milliseconds or a few dozen messages, long before a connection's queue is full.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from pages.ui.streamlit_patches.patch import part

LONGEST = 0.004
"""Seconds that may be spent on sending until everything else has a turn."""
MOST = 64
"""Messages that may be sent until then. A connection holds 500 that wait."""


class _PausingAsyncio:
    """The module `asyncio` as Streamlit's runtime knows it, but for pauses of no time, which let others have a turn."""

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
    """Have the runtime's loop go on sending."""
    part("streamlit.runtime.runtime").asyncio = _PausingAsyncio()
