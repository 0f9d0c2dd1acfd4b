"""A call whose upstream speaks its protocol: the client's bytes go there, and that server's bytes come back."""

from __future__ import annotations

from collections.abc import Mapping

from forky_core.gateway.v1.exchange import Exchange
from forky_core.gateway.v1.forwarding import Forwarder, UpstreamResponse
from forky_core.gateway.v1.renaming import renamed
from forky_core.llm.contract import Failed
from forky_core.llm.upstream import Upstream
from forky_core.model import Failure
from forky_core.model.parts import json_object
from forky_core.wire.errors import ApiError
from forky_core.wire.streams import failure_reported


async def relay(
    exchange: Exchange, forwarder: Forwarder, upstream: Upstream, headers: Mapping[str, str], body: bytes
) -> None:
    """Relay a call. Raises ApiError if the upstream could not be asked."""
    if upstream.model != exchange.call.model:
        body = await exchange.in_thread(renamed, body, upstream.model)
    exchange.meter.sent()
    try:
        async with forwarder.send(upstream, exchange.adapter.path, headers, body) as answer:
            await exchange.keep()
            if answer.streams:
                await _stream(exchange, answer)
            else:
                await _whole(exchange, answer)
    except ApiError as error:
        await exchange.keep()
        exchange.take_events([(0, Failed(Failure(error.code or "unknown", error.message), cause=error))])
        await exchange.land()
        raise


async def _stream(exchange: Exchange, answer: UpstreamResponse) -> None:
    ear = exchange.adapter.event_parser()
    await exchange.start(answer.status, answer.headers)
    held = b""
    async for piece in answer.pieces():
        exchange.take_events(ear.feed(piece))
        if ear.complete:
            held = piece
            break
        await exchange.pass_on(piece)
        await exchange.require_credit()
    exchange.take_events(ear.close())
    exchange.id = ear.id or exchange.id
    await exchange.land()
    await exchange.pass_on(held, last=True)


async def _whole(exchange: Exchange, answer: UpstreamResponse) -> None:
    ear = exchange.adapter.event_parser()
    pieces = []
    async for piece in answer.pieces():
        pieces.append(piece)
        await exchange.require_credit()
    body = b"".join(pieces)
    if answer.status >= 400:
        exchange.take_events([(0, Failed(_refusal(answer.status, body)))])
    else:
        exchange.take_events(ear.parse(body))
        exchange.take_events(ear.close())
        exchange.id = ear.id or exchange.id
    landed = await exchange.land()
    await exchange.start(answer.status, {**answer.headers, **landed}, len(body))
    await exchange.pass_on(body, last=True)


def _refusal(status: int, body: bytes) -> Failure:
    """The failure in an upstream's error response, for the record; the client gets its bytes."""
    value = json_object(body)
    error = value.get("error", value) if value is not None else body[:300].decode("utf-8", "replace")
    failure = failure_reported(error)
    return Failure(
        "rate_limited" if status == 429 else "bad_request" if status < 500 else "overloaded", failure.sentence
    )
