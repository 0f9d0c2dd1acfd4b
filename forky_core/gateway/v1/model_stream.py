"""A call that a `Model` answers: its events are written in the protocol of the client.

Each answer is read in a thread of its own, as a `Model` requires, and told to the event loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from forky_core.context.calls_as_text import calls_as_text
from forky_core.context.pictures import with_pictures
from forky_core.gateway.v1.exchange import Exchange
from forky_core.llm.contract import (
    Done,
    Failed,
    Model,
    ModelEvent,
    ProviderMessage,
    ReasoningDelta,
    Request,
    TextDelta,
    ToolCallDone,
)
from forky_core.model import Failure, Message, Usage
from forky_core.model.end_reasons import EndReason
from forky_core.model.parts import ReasoningPart, TextPart, ToolCallPart
from forky_core.model.wires import bare_calls, for_wire
from forky_core.wire.contract import Indexed
from forky_core.wire.errors import of_failure

Tell = Callable[[int, ModelEvent], None]
_EVENT_STREAM = {"content-type": "text/event-stream; charset=utf-8"}


async def stream_from_model(exchange: Exchange, model: Model) -> None:
    """Answer with the model's events. Raises ApiError if the model gave no answer."""
    await exchange.keep()
    parameters, wire = exchange.call.parameters, exchange.info.wire.under(exchange.call.parameters)
    shown = (with_pictures(_understood(one), exchange.info.pictures) for one in exchange.call.messages)
    messages = for_wire(shown, wire)
    messages = calls_as_text(messages, bare_calls(messages, wire))
    request = Request(exchange.info.name, tuple(messages), parameters)
    exchange.meter.sent()
    events = answers(model, request, exchange.call.answers)
    try:
        await deliver(exchange, events)
    finally:
        await events.aclose()


async def answers(model: Model, request: Request, number: int) -> AsyncGenerator[list[Indexed]]:
    """Yield the events of `number` answers to one request as they arrive, all that are waiting at once; closing the
    generator stops the model.

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
            waiting: list[Indexed] = []
            while running and not (waiting and arrived.empty()):
                waiting.append(await arrived.get())
                running -= isinstance(waiting[-1][1], Done | Failed)
            yield waiting
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


async def deliver(exchange: Exchange, arrivals: AsyncIterator[Sequence[Indexed]]) -> None:
    """Send events, as a stream or in one piece.

    The head waits for the first event, so that a failure before it is an error response and no stream.

    Raises:
        ApiError: it failed.
    """
    streams = exchange.call.streams
    voice = exchange.adapter.response_writer(exchange.call, exchange.id)
    async for waiting in arrivals:
        for events in _portions(exchange, waiting):
            exchange.take_events(events)
            if isinstance(last := events[-1][1], Failed):
                await exchange.land()
                raise of_failure(last.failure) from last.cause
            if streams:
                head = b""
                if not exchange.started:
                    await exchange.start(200, _EVENT_STREAM)
                    head = voice.begin()
                if piece := head + b"".join([voice.write(index, event) for index, event in events]):
                    await exchange.pass_on(piece)
            await exchange.require_credit()
    landed = await exchange.land()
    if streams:
        await exchange.pass_on(voice.end(exchange.responses), last=True)
    else:
        await exchange.send_response(landed)


def _portions(exchange: Exchange, waiting: Sequence[Indexed]) -> Iterable[Sequence[Indexed]]:
    """All events at once, or each by itself where one of them may end the call: it failed, or uses up the credit."""
    failed = any(isinstance(event, Failed) for _, event in waiting)
    if len(waiting) == 1 or (not failed and exchange.meter.covers([event for _, event in waiting])):
        return (waiting,)
    return [[one] for one in waiting]


async def repeat(exchange: Exchange, message: Message, end: EndReason) -> None:
    """Send a stored answer: no model is asked."""
    await deliver(exchange, _of(message, end))


async def _of(message: Message, end: EndReason) -> AsyncGenerator[list[Indexed]]:
    yield [(0, event) for event in events_of(message, end)]


def events_of(message: Message, end: EndReason) -> Iterator[ModelEvent]:
    for part in message.parts:
        match part:
            case TextPart(text):
                yield TextDelta(text)
            case ReasoningPart(text, redacted, kept):
                yield ReasoningDelta(text, kept, redacted)
            case ToolCallPart(name, arguments, id, kept):
                yield ToolCallDone(id or "call_0", name, arguments, kept)
    yield Done(end.common, Usage(0, 0, cost=0.0), end.own)


def _understood(message: ProviderMessage) -> ProviderMessage:
    """The message in a form that every model knows: OpenAI's role developer becomes system."""
    return {**message, "role": "system"} if message.get("role") == "developer" else message
