"""A model's events on the event loop: each answer is read in a thread of its own, as a `Model` requires."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress

from forky_core.llm.contract import Done, Failed, Model, ModelEvent, Request
from forky_core.model import Failure
from forky_core.wire.contract import Indexed

Tell = Callable[[int, ModelEvent], None]


async def answers(model: Model, request: Request, number: int) -> AsyncGenerator[Indexed]:
    """Yield every event of `number` answers to one request as they arrive; closing the generator stops the model.

    Each answer ends with one `Done` or `Failed`.
    """
    loop, stop = asyncio.get_running_loop(), threading.Event()
    arrived: asyncio.Queue[Indexed] = asyncio.Queue()

    def tell(index: int, event: ModelEvent) -> None:
        with suppress(RuntimeError):  # The loop is closed: there is no reader any more.
            loop.call_soon_threadsafe(arrived.put_nowait, (index, event))

    for index in range(number):
        threading.Thread(
            target=_read, args=(model, request, stop, index, tell), name=f"answer-{index}", daemon=True
        ).start()
    running = number
    try:
        while running:
            index, event = await arrived.get()
            running -= isinstance(event, Done | Failed)
            yield index, event
    finally:
        stop.set()


def _read(model: Model, request: Request, stop: threading.Event, index: int, tell: Tell) -> None:
    ended = False
    try:
        for event in model.stream(request, stop):
            tell(index, event)
            ended = ended or isinstance(event, Done | Failed)
    except Exception as error:  # noqa: BLE001 - the contract forbids it, but a plug-in's bug must not hang a client
        what = f"The model stopped with an error of its own ({type(error).__name__})."
        tell(index, Failed(Failure("unknown", what), cause=error))
    else:
        if not ended:
            tell(index, Failed(Failure("cut_off", "The reply ended without saying that it was complete.")))
