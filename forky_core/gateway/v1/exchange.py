"""One call from its request to the end of its answer: what is passed to the client, and what is recorded of it.

Everything that is passed on is also parsed, so that a client that disconnects, an upstream that breaks off or a server
that stops leaves an interrupted reply and not a lost one. The end of an answer is sent only when the reply has landed:
a client that asks again at once finds it in the tree.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from forky_core.conversation.allowance.amounts import NANO
from forky_core.conversation.allowance.book import USED_UP
from forky_core.gateway.asgi import Receive, Send
from forky_core.gateway.serving import server_stops
from forky_core.gateway.v1.call_note import CallNote
from forky_core.gateway.v1.recording import RecordingHandle
from forky_core.gateway.v1.stored_responses import Place
from forky_core.llm.contract import Done, Failed, ModelEvent, ModelInfo
from forky_core.llm.upstream import priced
from forky_core.model.errors import ForkyError
from forky_core.process import events
from forky_core.wire.contract import ClientRequest, Indexed, ProtocolAdapter, Response
from forky_core.wire.errors import ApiError, of_failure

if TYPE_CHECKING:
    from forky_core.conversation.allowance.metering import Meter

T = TypeVar("T")

STOPPED = "It was stopped in Forky."
CLIENT_LEFT = "The client that asked left before the reply was finished."
SERVER_STOPS = "Forky stopped before the reply was finished."
_PATIENCE = 2.0
"""Seconds that a client waits for a recording to begin or to land; after that it continues in the background."""
_LOOK = 1.0
"""Seconds between two checks whether the server is stopping."""


@dataclass(slots=True)
class Exchange:
    """A call that is being answered."""

    call: ClientRequest
    adapter: ProtocolAdapter
    id: str
    """The answer's id: ours, or the upstream's once that is known."""
    info: ModelInfo
    """The model that answers."""
    send: Send
    executor: Executor
    beginning: asyncio.Future[RecordingHandle]
    """The recording, once the question is stored."""
    remember: Callable[[str, Response, Place | None], None]
    """Stores a complete answer, and where it was recorded, for requests that continue it by its id."""
    settle: Callable[[], None]
    """Saves that permanently; called in a thread, when the client has its answer."""
    meter: Meter
    """Pays for the call."""
    note: CallNote
    """The log entry of the call."""
    refusal: Callable[[], str] = lambda: ""
    """Why whoever asked may ask no more, as a sentence; "" if they may. Looked at while the answer is on its way."""
    responses: list[Response] = field(default_factory=list)
    """The answers, each complete once it has ended."""
    started: bool = False
    """Whether the head of the answer was sent."""
    _kept: RecordingHandle | None = None
    _pieces: dict[int, list[ModelEvent]] = field(default_factory=dict)
    """What has arrived of the answers that have not ended."""
    _unkept: list[Indexed] = field(default_factory=list)
    """Events that arrived before the recording began."""
    _landing: asyncio.Future[tuple[str, ...]] | None = None
    _cut: str = ""
    """What ended the call early."""

    async def run(self, work: Coroutine[Any, Any, None], receive: Receive) -> None:
        """Run the call, unless its client leaves a stream or the server stops first.

        Raises:
            ApiError: it failed before anything was sent.
        """
        main = asyncio.ensure_future(work)
        gone = asyncio.ensure_future(_gone(receive))
        refused = ""
        try:
            while not main.done():
                waiting = {main} if gone.done() else {main, gone}
                await asyncio.wait(waiting, timeout=_LOOK, return_when=asyncio.FIRST_COMPLETED)
                if main.done():
                    break
                # An answer that is not streamed is completed even so: it is paid for, and its client may ask again.
                if gone.done() and self.call.streams:
                    self._cut = CLIENT_LEFT
                elif server_stops():
                    self._cut = SERVER_STOPS
                else:
                    self._cut = refused = self.refusal()
                if self._cut:
                    main.cancel()
                    await asyncio.wait({main})
            error = _error_of(main)
            if main.cancelled() and refused:
                error = ApiError(403, refused, "forbidden")
            elif main.cancelled() and not gone.done():
                error = ApiError(503, SERVER_STOPS, "server_stops", headers={"retry-after": "5"})
            if error is not None:
                await self._fail(error)
        finally:
            gone.cancel()
            main.cancel()
            await self._conclude()

    async def keep(self) -> RecordingHandle | None:
        """The recording, once it has begun; None if that takes too long."""
        if self._kept is None:
            await asyncio.wait({self.beginning}, timeout=_PATIENCE)
            if self.beginning.done():
                self._kept = self.beginning.result()
                self._kept.take(self._unkept)
                self._unkept.clear()
        return self._kept

    def take_events(self, events: Iterable[Indexed]) -> None:
        """Record events of the answers. Ask `require_credit` once they have been passed on.

        Raises:
            ApiError: a person stopped the answer in Forky.
        """
        events = list(events)
        for index, event in events:
            while len(self.responses) <= index:
                self.responses.append(Response())
            self._pieces.setdefault(index, []).append(event)
            if isinstance(event, Done | Failed):
                self._complete(self.responses[index], self._pieces.pop(index))
        if self._kept is None:
            self._unkept += events
        goes_on = self._kept is None or self._kept.take(events)
        self.meter.add([event for _, event in events])
        if not goes_on:
            raise ApiError(409, STOPPED, "stopped", headers={"x-should-retry": "false"})

    def _complete(self, response: Response, pieces: Iterable[ModelEvent]) -> None:
        for event in pieces:
            # A call that failed before anything arrived has no price.
            if isinstance(event, Done) or (isinstance(event, Failed) and response.has_begun):
                cost = event.usage.cost if event.usage.cost is not None else priced(event.usage, self.info)
                event = replace(event, usage=replace(event.usage, cost=cost))  # noqa: PLW2901
            response.take(event)

    async def start(self, status: int, headers: Mapping[str, str], length: int | None = None) -> None:
        """Send the response's head, which says where the call was recorded."""
        kept = self._kept.headers() if self._kept is not None else {"x-forky-recorded": "pending"}
        named = {"cache-control": "no-store", "x-accel-buffering": "no", **headers, **kept}
        if length is not None:
            named["content-length"] = str(length)
        raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in named.items()]
        self.started = True
        await self.send({"type": "http.response.start", "status": status, "headers": raw})

    async def pass_on(self, piece: bytes, *, last: bool = False) -> None:
        await self.send({"type": "http.response.body", "body": piece, "more_body": not last})

    async def land(self) -> dict[str, str]:
        """Record the end of the answers; returns headers with the ids of the resulting messages."""
        if self._landing is None:
            self._landing = asyncio.ensure_future(self._land())
        await asyncio.wait({self._landing}, timeout=_PATIENCE)
        landed = self._landing.result() if self._landing.done() else ()
        return {"x-forky-reply": ", ".join(landed)} if landed else {}

    async def _land(self) -> tuple[str, ...]:
        await asyncio.wait({self.beginning})
        kept = await self.keep()
        ends = {
            index: response.end for index, response in enumerate(self.responses) if response.end is not None
        }
        return await self.in_thread(self._write, kept, ends)

    def _write(self, kept: RecordingHandle | None, ends: Mapping[int, Done | Failed]) -> tuple[str, ...]:
        landed = kept.land(ends, self._cut) if kept is not None else ()
        self.note.filed = kept.filed if kept is not None else None
        self.note.usages = [end.usage for end in ends.values()]
        if ends and isinstance(ends.get(0), Done):
            self.remember(self.id, self.responses[0], kept.place(landed) if kept is not None else None)
        self._pay()
        return landed

    def _pay(self) -> None:
        """Settle the meter: a reused answer, and a call that failed before anything arrived, cost nothing."""
        failed = any(isinstance(response.end, Failed) for response in self.responses)
        known = [
            response.end.usage.cost
            for response in self.responses
            if response.end is not None and response.end.usage.cost is not None
        ]
        # Where the provider counted some of the answers only, the estimate of all of them may be more.
        cost = sum(known) if len(known) == len(self.responses) else max(sum(known), self.meter.arrived / NANO)
        self.meter.settle(cost if known else None, failed=failed)

    async def require_credit(self) -> None:
        """Set more aside for an answer that goes on. Raises ApiError (429) if nothing is left for it."""
        if self.meter.is_due and not await self.in_thread(self.meter.go_on):
            raise of_failure(USED_UP.failure)

    async def send_response(self, headers: Mapping[str, str]) -> None:
        """Send the answers in one piece."""
        body = json.dumps(self.adapter.response_body(self.call, self.id, self.responses), ensure_ascii=False)
        content = body.encode("utf-8", "replace")
        await self.start(200, {"content-type": "application/json", **headers}, len(content))
        await self.pass_on(content, last=True)

    async def _fail(self, error: ApiError) -> None:
        """Send an error to the client: in the stream if one has begun, else as the response.

        Raises:
            ApiError: nothing was sent yet.
        """
        if not self.started:
            kept = self._kept.headers() if self._kept is not None else {}
            error.headers = {**error.headers, **kept}
            raise error
        events.gateway_failed(route=self.note.route, kind=error.code or "unknown", fault=error)
        await self.pass_on(self.adapter.response_writer(self.call, self.id).fail(error), last=True)

    async def in_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.executor, work, *arguments)

    async def _conclude(self) -> None:
        """End the recording, whatever happened."""
        if self._landing is None:
            self._landing = asyncio.ensure_future(self._land())
        await asyncio.wait({self._landing})
        try:
            await self.in_thread(self.settle)
        except ForkyError as error:
            events.gateway_unsaved(what="answer id", fault=error)


def _error_of(main: asyncio.Future[None]) -> ApiError | None:
    """The error that the work ended with, if it can be sent to the client; other exceptions are raised."""
    if main.cancelled():
        return None
    error = main.exception()
    if error is not None and not isinstance(error, ApiError):
        raise error
    return error


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
