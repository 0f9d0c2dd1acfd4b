"""One call in a common form for all protocols: who asks which model what, and how the answer is wanted.

The messages are always in OpenAI's chat form, since that is what a `Model` is sent and what the tree is matched by;
each protocol's file converts its own form into that one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from forky_core.llm.contract import (
    Done,
    Failed,
    ModelEvent,
    ProviderMessage,
    ReasoningDelta,
    TextDelta,
    ToolCallDone,
)
from forky_core.model import Usage
from forky_core.model.end_reasons import EndReason
from forky_core.model.thought_parts import ThoughtParts
from forky_core.wire.call import Call
from forky_core.wire.errors import ApiError, Style, malformed

MOST_ANSWERS = 16
"""The most answers of one call (`n`)."""

Indexed = tuple[int, ModelEvent]
"""An event, with the index of the answer in its call."""


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """A client's request."""

    model: str
    messages: tuple[ProviderMessage, ...]
    """The messages in OpenAI's chat form."""
    parameters: Mapping[str, Any]
    """Parameters by their OpenAI names, as a `Request` takes them."""
    streams: bool = False
    answers: int = 1
    tells_usage: bool = True
    """Whether a stream is to end with the token usage."""
    before: str = ""
    """The id of the response that it continues (`previous_response_id`); "" if none."""
    echoed: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the request that its answer repeats unchanged."""


@dataclass(slots=True)
class Response:
    """One answer, as far as it has arrived."""

    text: list[str] = field(default_factory=list)
    thoughts: ThoughtParts = field(default_factory=ThoughtParts)
    calls: list[ToolCallDone] = field(default_factory=list)
    end: Done | Failed | None = None

    def take(self, event: ModelEvent) -> None:
        match event:
            case TextDelta(text):
                self.text.append(text)
            case ReasoningDelta(text, kept, redacted):
                self.thoughts.add(text, kept, redacted=redacted)
            case ToolCallDone():
                self.calls.append(event)
            case Done() | Failed():
                self.end = event

    @property
    def has_begun(self) -> bool:
        """Whether any of the answer has arrived."""
        return any(self.text) or bool(self.reasoning or self.calls)

    @property
    def reasoning(self) -> str:
        return self.thoughts.text

    @property
    def usage(self) -> Usage:
        return self.end.usage if self.end is not None else Usage()

    @property
    def reason(self) -> EndReason:
        """Why the answer ended."""
        end = self.end
        return (
            EndReason(end.finish_reason, end.provider_reason) if isinstance(end, Done) else EndReason("stop")
        )


class ResponseWriter(Protocol):
    """Writes one streamed answer in a protocol; every call returns the bytes to send next."""

    def begin(self) -> bytes: ...

    def write(self, index: int, event: ModelEvent, /) -> bytes: ...

    def end(self, responses: Sequence[Response]) -> bytes: ...

    def fail(self, error: ApiError) -> bytes: ...


class EventParser(Protocol):
    """Parses an upstream's own bytes, which are passed on unchanged."""

    @property
    def id(self) -> str:
        """The answer's id, if a later request may name it; "" if not."""
        ...

    @property
    def complete(self) -> bool:
        """Whether the parsed events say that there is nothing more to come."""
        ...

    def feed(self, piece: bytes) -> Iterator[Indexed]:
        """Parse further bytes of a stream."""
        ...

    def parse(self, body: bytes) -> Iterator[Indexed]:
        """Parse an answer that was not streamed."""
        ...

    def close(self) -> Iterator[Indexed]:
        """End the stream: yields an end for every answer that has none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolAdapter:
    """A protocol: how its requests are read and its answers written."""

    path: str
    """The path below /v1, and below the base URL of an upstream that speaks the same protocol."""
    style: Style
    """Whose clients ask: an error is sent in the shape that they read."""
    read: Callable[[Mapping[str, Any]], ClientRequest]
    """Reads a request. Raises ApiError (400) for one that is malformed."""
    matches: Callable[[Mapping[str, Any]], Call]
    """Reads a request for matching, which finds its place in a conversation. Raises BadCall for what is no history."""
    without_theirs: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    """Removes what `read` raises OnlyTheirs for from a request, if the protocol has such things."""
    response_writer: Callable[[ClientRequest, str], ResponseWriter]
    """Creates the writer of a streamed answer with this id."""
    response_body: Callable[[ClientRequest, str, Sequence[Response]], dict[str, Any]]
    """Builds the response for answers that are not streamed."""
    event_parser: Callable[[], EventParser]
    """Understands what an upstream answers in this protocol."""
    prefix: str
    """The prefix of its answers' ids."""
    continues: bool = False
    """Whether a later request may name an answer by its id and send only what is new."""

    @property
    def name(self) -> str:
        return self.path


def text_field(payload: Mapping[str, Any], name: str) -> str:
    """A required string field. Raises ApiError (400) if it is missing or no string."""
    value = payload.get(name)
    if not isinstance(value, str) or not value.strip():
        raise malformed(f"“{name}” must be a text.", name)
    return value


def one_of(value: Any, names: Collection[str], place: str) -> str:
    """A value that must be one of `names`, for instance a role. Raises ApiError (400) if it is not."""
    if not isinstance(value, str) or value not in names:
        raise malformed(f"“{place}” must be one of {', '.join(sorted(names))}.", place)
    return value


def flag(payload: Mapping[str, Any], name: str) -> bool:
    """A field that is true or false; False if it is missing. Raises ApiError (400) if it is anything else."""
    value = payload.get(name)
    if value is not None and not isinstance(value, bool):
        raise malformed(f"“{name}” must be true or false.", name)
    return bool(value)
