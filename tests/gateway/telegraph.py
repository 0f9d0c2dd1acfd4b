"""A protocol that nobody speaks, as somebody's package would add it: words that end in STOP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from forky_core import Done, TextDelta, Usage
from forky_core.protocols import (
    ApiError,
    Call,
    ClientRequest,
    Indexed,
    ModelEvent,
    ProtocolAdapter,
    Response,
    chat_call,
    flag,
    text_field,
)


def read(payload: Mapping[str, Any]) -> ClientRequest:
    question = text_field(payload, "wire").removesuffix(" STOP")
    messages = ({"role": "user", "content": question},)
    return ClientRequest(text_field(payload, "model"), messages, {}, streams=flag(payload, "stream"))


def matches(payload: Mapping[str, Any]) -> Call:
    return chat_call({"model": payload["model"], "messages": list(read(payload).messages)})


def whole(_call: ClientRequest, id: str, responses: Sequence[Response]) -> dict[str, Any]:
    return {"id": id, "wire": "".join(responses[0].text) + " STOP"}


class Key:
    """Writes a streamed answer: its words as they come."""

    def __init__(self, _call: ClientRequest, id: str) -> None:
        self._id = id

    def begin(self) -> bytes:
        return f"{self._id}: ".encode()

    def write(self, _index: int, event: ModelEvent) -> bytes:
        return event.text.encode() if isinstance(event, TextDelta) else b""

    def end(self, _said: Sequence[Response]) -> bytes:
        return b" STOP"

    def fail(self, error: ApiError) -> bytes:
        return f" {error} STOP".encode()


class Sounder:
    """Understands what another telegraph answers."""

    id = ""

    def __init__(self) -> None:
        self.complete = False

    def feed(self, piece: bytes) -> Iterator[Indexed]:
        self.complete = piece.endswith(b" STOP")
        yield 0, TextDelta(piece.decode().removesuffix(" STOP"))

    def parse(self, body: bytes) -> Iterator[Indexed]:
        yield from self.feed(body)

    def close(self) -> Iterator[Indexed]:
        yield 0, Done("stop", Usage())


TELEGRAPH = ProtocolAdapter(
    path="wires",
    style="openai",
    read=read,
    matches=matches,
    response_writer=Key,
    response_body=whole,
    event_parser=Sounder,
    prefix="wire-",
)
MODELS = replace(TELEGRAPH, path="models")
