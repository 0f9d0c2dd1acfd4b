"""The one contract every model answers to: a request goes in, a stream of events comes out.

`stream` never raises for what a provider, a network or a model does: such ends are a `Failed` event, after the text
that did arrive. So an error can never be mistaken for an answer (law 6). LiteLLM, the offline models and the
scripted one are all `Model`s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from threading import Event
from types import MappingProxyType
from typing import Any, Literal, Protocol

from forky_core.model import Failure, Usage
from forky_core.model.document import Looked

ProviderMessage = dict[str, Any]
"""An OpenAI chat-completions message: role, content (str or content parts), tool_calls, tool_call_id, name."""

FailureKind = Literal[
    "no_key",
    "bad_key",
    "rate_limited",
    "overloaded",
    "context_overflow",
    "refused",
    "not_found",
    "unreachable",
    "timeout",
    "cut_off",
    "bad_request",
    "unknown",
]
"""`cut_off`: the stream ended without a finish reason. `refused`: by a content filter."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A quotable piece of text with where it comes from; the offline models answer from these."""

    text: str
    source: str
    """What a person would call it: "message 3f2a", "guide: Merging" …"""
    kind: Literal["conversation", "document", "guide"]


@dataclass(frozen=True, slots=True)
class Request:
    """One model call. `messages` are exactly what the context account showed (law 7); models must not change them."""

    model: str
    messages: tuple[ProviderMessage, ...]
    parameters: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """OpenAI names: temperature, max_tokens, tools, seed …"""
    cache_key: str = ""
    """The conversation's id, for providers that route their prompt cache by a key."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer, as it arrives."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of what the model thinks before it answers."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDone:
    """A whole tool call; `arguments` as the model wrote them (JSON text, perhaps not valid)."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Done:
    """The model finished by itself."""

    finish_reason: str
    """stop, length, tool_calls, content_filter."""
    usage: Usage


@dataclass(frozen=True, slots=True)
class Failed:
    """The call ended otherwise. What arrived before stays valid."""

    failure: Failure
    usage: Usage = Usage()
    cause: BaseException | None = field(default=None, compare=False, repr=False)
    """The exception it comes from, where there was one: for the log, which keeps its trace and not its words."""


ModelEvent = TextDelta | ReasoningDelta | ToolCallDone | Done | Failed
"""A stream ends with exactly one `Done` or `Failed`, unless `stop` was set: then it just ends."""


OFFLINE = "Offline"
"""The provider of models that need no key and no network."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What can be known of a model without calling it."""

    name: str
    """How LiteLLM and Forky call it: "offline/quote", "gpt-4o", "ollama/llama3" …"""
    label: str
    """What a person picks: "Offline: quotes" …"""
    provider: str
    """Groups the picker: "Offline", "OpenAI", "Ollama on this machine" …"""
    context_window: int | None = None
    """Tokens of input the model accepts; None: not known."""
    max_output: int | None = None
    input_price: float | None = None
    """US dollars per token; None: not known. 0.0 for local and offline models."""
    output_price: float | None = None
    cached_input_price: float | None = None
    sees_images: bool | None = None
    calls_tools: bool | None = None
    continues: bool = True
    """Whether it can go on with a text that was cut off; the offline models answer anew instead."""


class Model(Protocol):
    """Something that answers."""

    def info(self) -> ModelInfo: ...

    def stream(self, request: Request, stop: Event) -> Iterator[ModelEvent]:
        """Answer `request`, yielding as text arrives.

        Setting `stop` from another thread ends the stream within 100 ms and closes the connection, so that the
        provider stops generating too. Closing the iterator does the same.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, by the model's tokenizer or an estimate of it. Never touches the network."""
        ...


@dataclass(frozen=True, slots=True)
class Consulted:
    """What was looked up before the model was asked."""

    looked: Looked


class Answering(Protocol):
    """A model, or one that looks something up first and says so."""

    def info(self) -> ModelInfo: ...

    def stream(self, request: Request, stop: Event) -> Iterator[ModelEvent | Consulted]:
        """As `Model.stream`; `Consulted` comes first, if at all."""
        ...
