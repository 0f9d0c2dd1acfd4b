"""What the log says of one call of `/v1`, gathered while it is answered."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from forky_core.model import ConversationId, GenerationId, Usage
from forky_core.observability import events

N = TypeVar("N", int, float)

LEFT = 499
"""The status of a call whose client left before anything was sent, as nginx has it."""


@dataclass(slots=True)
class CallNote:
    """Who called what, and what came of it. Nothing of what was asked or answered."""

    route: str
    """What of `/v1` was called, in words of Forky's own; "other" for what is not there."""
    status: int = LEFT
    """Of the answer, once it has begun."""
    token: str | None = None
    model: str | None = None
    streams: bool | None = None
    filed: tuple[ConversationId, GenerationId] | None = None
    """Where the call was recorded."""
    usages: Sequence[Usage] = ()
    """Of each answer."""
    begun: float = field(default_factory=time.perf_counter)

    def log(self) -> None:
        """The call has ended."""
        conversation, generation = self.filed or (None, None)
        events.gateway_called(
            route=self.route,
            status=self.status,
            seconds=time.perf_counter() - self.begun,
            streams=self.streams,
            token=self.token,
            model=self.model,
            conversation=conversation,
            generation=generation,
            prompt_tokens=_sum(usage.prompt_tokens for usage in self.usages),
            completion_tokens=_sum(usage.completion_tokens for usage in self.usages),
            cached_tokens=_sum(usage.cached_tokens for usage in self.usages),
            reasoning_tokens=_sum(usage.reasoning_tokens for usage in self.usages),
            cost=_sum(usage.cost for usage in self.usages),
        )


def _sum(numbers: Iterable[N | None]) -> N | None:
    """None where none of them is known."""
    known = [number for number in numbers if number is not None]
    return sum(known[1:], known[0]) if known else None
