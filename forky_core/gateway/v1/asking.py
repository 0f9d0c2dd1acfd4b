"""A call that asks a model, from its bytes to its exchange.

One thread reads it, admits it and goes on to record its question; the event loop learns of the admission at once and
asks the upstream meanwhile. So a call waits for one thread and not for three, and recording is mostly done before the
model's first word.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from forky_core.gateway.asgi import Receive, Send
from forky_core.gateway.v1.admission import AdmittedCall, admit, begin_payment
from forky_core.gateway.v1.call_note import CallNote
from forky_core.gateway.v1.exchange import Exchange
from forky_core.gateway.v1.forwarding import HOP, Forwarder
from forky_core.gateway.v1.model_stream import repeat, stream_from_model
from forky_core.gateway.v1.recording import Caller, RecordingHandle
from forky_core.gateway.v1.relaying import relay
from forky_core.gateway.v1.stored_responses import Place, StoredResponses, save_id
from forky_core.matching.keys import is_greedy
from forky_core.model.errors import BadCall
from forky_core.people.guarded_models import GuardedModels
from forky_core.wire.call import Call as ReadCall
from forky_core.wire.contract import ProtocolAdapter, Response
from forky_core.wire.errors import ApiError, malformed
from forky_core.wire.session_ids import session_ids

if TYPE_CHECKING:
    from forky_core.conversation.allowance.metering import Meter
    from forky_core.conversation.workspace import Workspace
    from forky_core.store.contract import Store

Enter = Callable[[], tuple["Workspace", Caller]]
"""Identifies the caller and the workspace; called in a thread. Raises ApiError (401) without a valid token."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """An admitted call."""

    forky: Workspace
    caller: Caller
    admitted: AdmittedCall
    whole: Mapping[str, Any]
    """The request, including the turns that it continues, if they are known."""
    known: bool
    """Whether they are known."""
    read: Callable[[], ReadCall]
    """Reads the call for matching. Raises BadCall; for an upstream's call, the upstream then judges the request."""
    meter: Meter
    """Pays for the call."""

    def drop(self) -> None:
        """Free what was set aside for a call that is not made after all."""
        self.meter.settle()


class ModelCallHandler:
    """Answers calls that ask a model."""

    def __init__(self, executor: Executor, forwarder: Forwarder) -> None:
        self._executor = executor
        self._forwarder = forwarder
        self._remembered = StoredResponses()

    async def answer(
        self,
        enter: Enter,
        adapter: ProtocolAdapter,
        body: bytes,
        receive: Receive,
        send: Send,
        note: CallNote,
    ) -> None:
        """Answer a call. Raises ApiError if nothing was sent yet."""
        loop = asyncio.get_running_loop()
        asked: asyncio.Future[_Asked] = loop.create_future()

        def told(outcome: _Asked | Exception) -> None:
            if asked.done():  # The call was cancelled.
                if not isinstance(outcome, Exception):
                    # It is freed in a thread, since that may write.
                    self._executor.submit(outcome.drop)
                return
            if isinstance(outcome, Exception):
                asked.set_exception(outcome)
            else:
                asked.set_result(outcome)

        def tell(outcome: _Asked | Exception) -> None:
            with suppress(RuntimeError):  # The loop is closed: nobody waits any more.
                loop.call_soon_threadsafe(told, outcome)

        beginning = loop.run_in_executor(self._executor, self._begin, enter, adapter, body, tell)
        call = await asked
        note.model, note.streams = call.admitted.info.name, call.admitted.call.streams
        exchange = self._exchange(call, adapter, beginning, send, note)
        await exchange.run(self._work(exchange, call, body), receive)

    def _begin(
        self, enter: Enter, adapter: ProtocolAdapter, body: bytes, tell: Callable[[_Asked | Exception], None]
    ) -> RecordingHandle:
        """Admit the call, pass that to `tell`, and record the question; runs in a thread."""
        try:
            asked = self._admitted(*enter(), adapter, parsed(body))
        except Exception as error:  # noqa: BLE001 - it is raised where the call is awaited
            tell(error)
            return RecordingHandle("it was refused")
        tell(asked)
        if not asked.known:
            return RecordingHandle("it continues a response that Forky does not know")
        admitted = asked.admitted
        ids = session_ids(asked.caller.headers, asked.whole)
        return RecordingHandle.begin(
            asked.forky, asked.caller, admitted.call, asked.read, admitted.info.name, ids
        )

    def _admitted(
        self, forky: Workspace, caller: Caller, adapter: ProtocolAdapter, payload: dict[str, Any]
    ) -> _Asked:
        """Read and admit a call. Raises ApiError if it may not be made."""
        if HOP in caller.headers:
            raise ApiError(
                508, "This Forky was told to ask itself: its own address is set as a model server's.", "loop"
            )
        whole = self._remembered.full_request(forky.store, caller.token.id, payload)
        admitted = admit(forky, caller, adapter, whole or payload)
        if whole is None and admitted.upstream is None:
            raise ApiError(
                400,
                f"Previous response with id “{str(payload['previous_response_id'])[:80]}” not found. "
                "Forky knows those that were recorded for this token; send the whole input.",
                "previous_response_not_found",
                "previous_response_id",
            )
        read = partial(adapter.matches, whole or payload)
        understood = _understood(read) if admitted.upstream is None else None
        return _Asked(
            forky,
            caller,
            admitted,
            whole or payload,
            known=whole is not None,
            read=read if understood is None else lambda: understood,
            meter=begin_payment(forky, caller, admitted),
        )

    def _exchange(
        self,
        asked: _Asked,
        adapter: ProtocolAdapter,
        beginning: asyncio.Future[RecordingHandle],
        send: Send,
        note: CallNote,
    ) -> Exchange:
        token, answers = asked.caller.token.id, dict[str, Place]()

        def remember(id: str, response: Response, place: Place | None) -> None:
            if adapter.continues:
                self._remembered.save(token, id, asked.whole, response, place)
                if place is not None and asked.whole.get("store") is not False:
                    answers[id] = place

        return Exchange(
            asked.admitted.call,
            adapter,
            f"{adapter.prefix}{uuid4().hex}",
            asked.admitted.info,
            send,
            self._executor,
            beginning=beginning,
            remember=remember,
            settle=partial(settle, asked.forky.store, token, answers),
            note=note,
            refusal=partial(_refusal, asked.forky),
            meter=asked.meter,
        )

    async def _work(self, exchange: Exchange, asked: _Asked, body: bytes) -> None:
        if _may_reuse(asked):
            kept = await exchange.keep()
            if kept is not None and kept.reused is not None:
                await repeat(exchange, kept.reused, kept.reused_end)
                return
        if asked.admitted.upstream is not None:
            await relay(exchange, self._forwarder, asked.admitted.upstream, asked.caller.headers, body)
        else:
            assert asked.admitted.model is not None
            await stream_from_model(exchange, asked.admitted.model)


def settle(store: Store, token: str, answers: Mapping[str, Place]) -> None:
    """Save the ids of answers for requests that continue them. Raises ForkyError if that fails."""
    for id, place in answers.items():
        save_id(store, token, id, *place)


def _refusal(forky: Workspace) -> str:
    """Why whoever asked may ask models no more, as a sentence; "" if they may."""
    return forky.models.why_not_asked() if isinstance(forky.models, GuardedModels) else ""


def _understood(read: Callable[[], ReadCall]) -> ReadCall:
    """Validate a call that we answer ourselves: every role, every content, every result below its call.

    Raises:
        ApiError: it is invalid (400).
    """
    try:
        return read()
    except BadCall as error:
        raise malformed(str(error), error.where or None) from error


def _may_reuse(asked: _Asked) -> bool:
    """Whether a stored answer may be used: as the caller says, or else if the call is greedy."""
    wanted = asked.caller.reuses
    return wanted if wanted is not None else is_greedy(asked.admitted.call.parameters)


def parsed(body: bytes) -> dict[str, Any]:
    """Parse a request. Raises ApiError (400) if it is no JSON object."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise malformed("The request is no JSON.") from None
    if not isinstance(value, dict):
        raise malformed("The request must be a JSON object.")
    return value
