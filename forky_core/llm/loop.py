"""One asyncio event loop in a background thread for all network streams of models.

LiteLLM's synchronous stream has no `close()`, so a stopped reply would go on being generated and paid for. On a loop it
is a task, and cancelling the task closes the socket.

The thread ends before the interpreter does. Python freezes daemon threads where they are; one that is frozen during an
import holds a lock of the import system, and LiteLLM imports a module in a `__del__`, so that the program would hang.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from forky_core.llm.loading import without_advice

T = TypeVar("T")

_ENDING = 10.0
"""Seconds that the end of the program waits for the thread, which may be in the middle of importing LiteLLM."""
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None


def submit(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Run a coroutine on the loop; cancelling the future cancels the task."""
    return asyncio.run_coroutine_threadsafe(_quietly(work), _running())


async def _quietly(work: Coroutine[Any, Any, T]) -> T:
    with without_advice():
        return await work


def _running() -> asyncio.AbstractEventLoop:
    global _loop, _thread  # noqa: PLW0603 - one loop per process is what this module is for
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            _thread = threading.Thread(target=_run, args=(_loop,), name="forky-models", daemon=True)
            _thread.start()
        return _loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()


@atexit.register
def _end() -> None:
    """Cancel what runs on the loop and end its thread, before the interpreter shuts down."""
    with _lock:
        loop, thread = _loop, _thread
    if loop is None or thread is None:
        return

    asyncio.run_coroutine_threadsafe(_end_tasks(loop), loop)
    thread.join(_ENDING)


async def _end_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what runs on the loop, and stop it when all of it has ended: a task that is left reports itself."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=_ENDING / 2)
    loop.call_soon(loop.stop)
