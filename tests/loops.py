"""Coroutines run to their end, whatever thread the test is on."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def finished(work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns. On a thread of its own: Playwright keeps a loop running on the one of the tests."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, work).result()
