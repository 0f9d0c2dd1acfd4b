"""The log entry of one call of `/v1`, collected while it is answered."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from forky_core.model import ConversationId, GenerationId, Usage
from forky_core.model.generation import known_sum
from forky_core.process import events

LEFT = 499
"""The status of a call whose client disconnected before anything was sent, as in nginx."""


@dataclass(slots=True)
class CallNote:
    """Facts about a call for the log, without its content."""

    route: str
    """The called route in words of Forky's own; "other" for an unknown one."""
    status: int = LEFT
    """The status of the response, once it has begun."""
    token: str | None = None
    person: str = ""
    """The id of the member whose token it is, for the audit log; "" where that is not known, or nobody."""
    model: str | None = None
    streams: bool | None = None
    filed: tuple[ConversationId, GenerationId] | None = None
    """Where the call was recorded."""
    usages: Sequence[Usage] = ()
    """The usage of each answer."""
    is_unrecorded: bool = False
    """Whether the caller asked that nothing be recorded."""
    begun: float = field(default_factory=time.perf_counter)

    def log(self) -> None:
        """Log the call when it has ended."""
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
            prompt_tokens=known_sum(usage.prompt_tokens for usage in self.usages),
            completion_tokens=known_sum(usage.completion_tokens for usage in self.usages),
            cached_tokens=known_sum(usage.cached_tokens for usage in self.usages),
            reasoning_tokens=known_sum(usage.reasoning_tokens for usage in self.usages),
            cost=known_sum(usage.cost for usage in self.usages),
        )
