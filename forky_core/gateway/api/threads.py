"""The threads in which verbs run: those that wait for models' answers never keep the others waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from forky_core.verbs.registry import verbs

T = TypeVar("T")


class VerbThreads:
    """Two pools of threads."""

    def __init__(self, most: int = 32) -> None:
        """`most` is the number of threads in each pool; they are made as they are needed."""
        self._quick = ThreadPoolExecutor(most, "verbs")
        self._waiting = ThreadPoolExecutor(most, "verbs-waiting")

    async def run(self, work: Callable[..., T], *arguments: Any, verb: str = "") -> T:
        """What `work` returns, which is a call of this verb, if any."""
        waits = any(one.name == verb and one.scope == "ask" for one in verbs())
        pool = self._waiting if waits else self._quick
        return await asyncio.get_running_loop().run_in_executor(pool, work, *arguments)

    def close(self) -> None:
        """Begin no further calls. Those at work end when the process does."""
        for pool in (self._quick, self._waiting):
            pool.shutdown(wait=False, cancel_futures=True)
