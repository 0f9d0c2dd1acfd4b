"""The contract of every model: it takes a request and returns a stream of events.

`stream` never raises for an error of a provider, a network or a model: these are a `Failed` event, after the text that
did arrive. So an error can never be mistaken for an answer (law 6). LiteLLM, the offline models and the scripted one
are all `Model`s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from threading import Event
from types import MappingProxyType
from typing import Any, Literal, Protocol

from forky_core.model import Failure, Usage
from forky_core.model.document import DocumentSearch
from forky_core.model.wires import PLAIN, Wire, client_id

ProviderMessage = dict[str, Any]
"""An OpenAI chat-completions message: role, content (str or content parts), tool_calls, tool_call_id, name, and the
provider fields that LiteLLM passes on (model/wires.py)."""

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
    "no_credit",
    "not_allowed",
    "unknown",
]
"""`cut_off`: the stream broke off, or the provider gave the answer up. `refused`: by a content filter. `no_credit` and
`not_allowed`: by the rules of a team, before a provider is asked."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A quotable piece of text with its source; the offline models answer from these."""

    text: str
    source: str
    """A name for people: "message 3f2a", "guide: Merging" …"""
    kind: Literal["conversation", "document", "guide"]


NOT_FOUND = "Not found in the documents."
"""The beginning of an answer for which no passage was found; models are asked to use it, and the offline model does."""


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
    """A piece of the model's reasoning before its answer."""

    text: str
    provider_metadata: str | None = None
    """Canonical JSON that the provider needs back with the thought that this piece ends, such as its signature."""
    redacted: bool = False
    """Whether the thought is sealed: the provider did not send its words."""


@dataclass(frozen=True, slots=True)
class ToolCallDone:
    """A complete tool call; `arguments` as the model wrote them (JSON text, perhaps not valid)."""

    id: str
    name: str
    arguments: str
    provider_metadata: str | None = None
    """Canonical JSON that the provider needs back with the call."""

    @property
    def client_id(self) -> str:
        """The id for a client that sends it back. It ends with Gemini's signature, because LiteLLM expects it there."""
        return client_id(self.id, self.provider_metadata)


@dataclass(frozen=True, slots=True)
class Done:
    """The event with which a complete answer ends."""

    finish_reason: str
    """stop, length, tool_calls, content_filter; the provider's own word if it means none of these."""
    usage: Usage
    provider_reason: str = ""
    """The provider's own word for the reason; "" if it is the same."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The event with which a call ends that failed or was cut off. Earlier events stay valid."""

    failure: Failure
    usage: Usage = Usage()
    cause: BaseException | None = field(default=None, compare=False, repr=False)
    """The exception that caused it, if there was one; the log records its trace without its message."""
    provider_reason: str = ""
    """The provider's own word for the reason why it gave the answer up."""


ModelEvent = TextDelta | ReasoningDelta | ToolCallDone | Done | Failed
"""A stream ends with exactly one `Done` or `Failed`, unless `stop` was set: then it just ends."""


OFFLINE = "Offline"
"""The provider of models that need no key and no network."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Facts about a model that are known without calling it."""

    name: str
    """The name in LiteLLM and Forky: "offline/quote", "gpt-4o", "ollama/llama3" …"""
    label: str
    """The name for people: "Offline: quotes" …"""
    provider: str
    """Groups the picker: "Offline", "OpenAI", "Ollama on this machine" …"""
    context_window: int | None = None
    """Tokens of input the model accepts; None: not known."""
    max_output: int | None = None
    input_price: float | None = None
    """US dollars per token; None: not known. 0.0 for local and offline models. For a program's own model, these prices
    give the cost of a call for which the model reports none."""
    output_price: float | None = None
    cached_input_price: float | None = None
    sees_images: bool | None = None
    calls_tools: bool | None = None
    continues: bool = True
    """Whether it can continue a text that was cut off; the offline models start a new answer instead."""
    wire: Wire = PLAIN
    """What its provider's protocol accepts besides text."""

    @property
    def pictures(self) -> frozenset[str]:
        """The media types of pictures that it accepts; empty if it is known to accept none."""
        return frozenset() if self.sees_images is False else self.wire.pictures

    @property
    def free(self) -> bool:
        """Whether a call is known to cost nothing."""
        return self.input_price == 0.0 and self.output_price == 0.0


class Model(Protocol):
    """A model that answers requests."""

    def info(self) -> ModelInfo: ...

    def stream(self, request: Request, stop: Event) -> Iterator[ModelEvent]:
        """Answer `request`, yielding as text arrives.

        Setting `stop` from another thread ends the stream within 100 ms and closes the connection, so that the
        provider stops generating too. Closing the iterator does the same.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Count a text's tokens, with the model's tokenizer or an estimate. Never uses the network."""
        ...


@dataclass(frozen=True, slots=True)
class Consulted:
    """The event that reports a search in documents before the model is called."""

    document_search: DocumentSearch


class Answering(Protocol):
    """A model, or a wrapper that looks something up first and reports it."""

    def info(self) -> ModelInfo: ...

    def stream(self, request: Request, stop: Event) -> Iterator[ModelEvent | Consulted]:
        """Answer as `Model.stream` does; a `Consulted`, if any, comes first."""
        ...
