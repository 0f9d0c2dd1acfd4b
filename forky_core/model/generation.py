"""Generations: one model call each, what it cost and how it ended (law 2: provenance lives apart from content)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeVar

from forky_core.model.document import DocumentSearch
from forky_core.model.ids import GenerationId, MessageId
from forky_core.model.parts import Json, Part

Number = TypeVar("Number", int, float)
GenerationStatus = Literal["running", "done", "stopped", "interrupted", "failed"]
"""`stopped`: by the person. `interrupted`: cut by the network, the provider or a crash. `failed`: nothing arrived."""
RESPELLED = "respelled"
"""The parameter that names what a program sent in the place of messages that are stored in another spelling."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call as the provider counted them; None where it gave no count."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    """How many of the prompt tokens the provider read from its cache."""
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None
    """US dollars, by LiteLLM's price map; None if the price is not known. Offline models cost 0.0."""
    saved: float | None = None
    """US dollars the provider's prompt cache saved."""


def known_sum(numbers: Iterable[Number | None]) -> Number | None:
    """The sum of the known numbers; None if none is known."""
    known = [number for number in numbers if number is not None]
    return sum(known[1:], known[0]) if known else None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a generation did not end well. Shown beside the history, never inside it (law 6)."""

    kind: str
    """A word of `llm.contract.FailureKind`, or "crash", "stopped"."""
    sentence: str
    """What happened and what to do, for people. Holds no key."""
    retry_after: float | None = None
    """Seconds to wait, if the provider gave a number."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One model call with its result, cost and status (law 2: provenance is stored here, apart from content)."""

    id: GenerationId
    branch: str
    """The branch on which the question was asked, under its name at that time."""
    parent: MessageId | None
    """The head whose context was sent."""
    model: str
    status: GenerationStatus
    message: MessageId | None = None
    """The reply it produced; None while it runs, and if no reply arrived."""
    parameters: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    usage: Usage = Usage()
    finish_reason: str | None = None
    """Why the answer ended: stop, length, tool_calls, content_filter, or another word of the provider's own."""
    failure: Failure | None = None
    started: int = 0
    """Microseconds since the epoch, UTC; likewise the next two."""
    first_token: int | None = None
    finished: int | None = None
    partial: tuple[Part, ...] = ()
    """What has arrived so far of a running generation, saved at least once a second."""
    prompt: str = ""
    """The prompt hash (matching/call.py) of what was sent; "" if it was not computed."""
    client: str = ""
    """The program that asked; "" if a person did."""
    looked: bool = False
    """Whether a stored answer to the same prompt was looked up before the model was called."""
    reused: GenerationId | None = None
    """The earlier call whose stored answer was returned; no model was called then."""
    consulted: DocumentSearch | None = None
    """What was looked up in documents for it; None if document search was off."""
    provider_reason: str = ""
    """The provider's own word for why the answer ended; "" if `finish_reason` is that word."""

    @property
    def respelled(self) -> Mapping[str, str]:
        """For each message that a program sent in another spelling, the derived value that has it."""
        spelled = self.parameters.get(RESPELLED)
        return {id: f"sent/{key}" for id, key in spelled.items()} if isinstance(spelled, Mapping) else {}

    @property
    def seconds(self) -> float | None:
        """The duration of the call; None while it runs, and if only one moment is known, as after an import."""
        lasted = (self.finished or self.started) - self.started
        return lasted / 1e6 if lasted > 0 else None

    @property
    def seconds_to_first_token(self) -> float | None:
        return (self.first_token - self.started) / 1e6 if self.first_token else None


@dataclass(frozen=True, slots=True)
class Reuse:
    """How often stored answers were returned instead of calling a model, and what that saved."""

    hits: int = 0
    misses: int = 0
    """Calls for which a stored answer was looked up and none was found."""
    tokens: int = 0
    """Prompt and completion tokens of the calls that were not made."""
    cost: float = 0.0
    """US dollars they would have cost, as far as prices are known."""
