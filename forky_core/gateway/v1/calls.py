"""One call, whatever protocol it came in: who asks which model what, and how the answer is wanted.

The array is always OpenAI's chat form, since that is what a `Model` is sent and what the tree is matched by; each
protocol's file says how its own form becomes that one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from forky_core.gateway.v1.api_errors import ApiError, Style, malformed
from forky_core.llm.contract import (
    Done,
    Failed,
    ModelEvent,
    ProviderMessage,
    ReasoningDelta,
    TextDelta,
    ToolCallDone,
)
from forky_core.matching import Call

MOST_ANSWERS = 16
"""Of one call (`n`)."""

Indexed = tuple[int, ModelEvent]
"""What happened, and in which of a call's answers."""


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """What a client asks for."""

    model: str
    messages: tuple[ProviderMessage, ...]
    """OpenAI's chat form."""
    parameters: Mapping[str, Any]
    """By their OpenAI names, as a `Request` takes them."""
    streams: bool = False
    answers: int = 1
    tells_usage: bool = True
    """Whether a stream is to end with the tokens."""
    before: str = ""
    """The response it continues (`previous_response_id`); "": none."""
    echoed: Mapping[str, Any] = field(default_factory=dict)
    """What of the request its answer repeats, as it came."""


@dataclass(slots=True)
class Response:
    """One answer, as far as it has come."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list[ToolCallDone] = field(default_factory=list)
    end: Done | Failed | None = None

    def take(self, event: ModelEvent) -> None:
        match event:
            case TextDelta(text):
                self.text.append(text)
            case ReasoningDelta(text):
                self.reasoning.append(text)
            case ToolCallDone():
                self.calls.append(event)
            case Done() | Failed():
                self.end = event

    @property
    def finish_reason(self) -> str:
        """OpenAI's word for how it ended."""
        return self.end.finish_reason if isinstance(self.end, Done) else "stop"


class Voice(Protocol):
    """Speaks one streamed answer in a protocol; every call gives the bytes to send next."""

    def begin(self) -> bytes: ...

    def say(self, index: int, event: ModelEvent, /) -> bytes: ...

    def end(self, said: Sequence[Response]) -> bytes: ...

    def fail(self, error: ApiError) -> bytes: ...


class Ear(Protocol):
    """Understands an upstream's own bytes, which pass by unchanged."""

    @property
    def id(self) -> str:
        """Of the answer, where a later request may name it; "" where none can."""
        ...

    @property
    def complete(self) -> bool:
        """Whether what was heard says that there is no more to come."""
        ...

    def hear(self, piece: bytes) -> Iterator[Indexed]:
        """Of a stream: what these further bytes bring."""
        ...

    def read(self, body: bytes) -> Iterator[Indexed]:
        """Of an answer that came whole."""
        ...

    def close(self) -> Iterator[Indexed]:
        """What is known once no more comes: an end for every answer that has none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """A protocol: how its requests are read and its answers written."""

    path: str
    """Where it is asked by POST: below /v1, and below the base URL of an upstream that speaks it too."""
    style: Style
    """Whose clients ask: an error is sent in the shape that they read."""
    read: Callable[[Mapping[str, Any]], ClientRequest]
    """Reads a request. Raises ApiError (400) for one that is malformed."""
    matches: Callable[[Mapping[str, Any]], Call]
    """Reads a request for matching, which finds its place in a conversation. Raises BadCall for what is no history."""
    without_theirs: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    """A request without what `read` raises OnlyTheirs for, where a protocol has such things."""
    voice: Callable[[ClientRequest, str], Voice]
    """Writes a streamed answer, which gets this id."""
    whole: Callable[[ClientRequest, str, Sequence[Response]], dict[str, Any]]
    """Writes answers that are sent in one piece, as JSON."""
    ear: Callable[[], Ear]
    """Understands what an upstream answers in this protocol."""
    prefix: str
    """How ids of its answers begin."""
    continues: bool = False
    """Whether a later request may name an answer by its id and send only what is new."""

    @property
    def name(self) -> str:
        return self.path


def text_field(payload: Mapping[str, Any], name: str) -> str:
    """A required text. ApiError (400) where it is none."""
    value = payload.get(name)
    if not isinstance(value, str) or not value.strip():
        raise malformed(f"“{name}” must be a text.", name)
    return value


def one_of(value: Any, names: Collection[str], place: str) -> str:
    """A role. ApiError (400) where it is none of these."""
    if not isinstance(value, str) or value not in names:
        raise malformed(f"“{place}” must be one of {', '.join(sorted(names))}.", place)
    return value


def flag(payload: Mapping[str, Any], name: str) -> bool:
    value = payload.get(name)
    if value is not None and not isinstance(value, bool):
        raise malformed(f"“{name}” must be true or false.", name)
    return bool(value)
