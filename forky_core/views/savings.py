"""The savings of the providers' prompt caches: summed over model calls, as the providers counted them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from forky_core.model import Generation
from forky_core.views import captions


@dataclass(frozen=True, slots=True)
class Savings:
    """Sums over some model calls. A call without numbers from its provider counts as nothing."""

    calls: int
    sent: int
    """Prompt tokens."""
    cached: int
    """How many of them were read from a cache."""
    saved: float
    """US dollars."""
    cost: float

    @property
    def sentence(self) -> str:
        """A sentence such as "$0.012 saved: 34% of 120k tokens came from the prompt cache"; "" if nothing is known."""
        if not self.cached or not self.sent:
            return ""
        share = (
            f"{self.cached / self.sent:.0%} of {captions.tokens(self.sent)} tokens came from the prompt cache"
        )
        return f"{captions.dollars(self.saved)} saved: {share}" if self.saved else share


def savings(generations: Iterable[Generation]) -> Savings:
    calls = [call for call in generations if call.usage.prompt_tokens is not None]
    return Savings(
        len(calls),
        sum(call.usage.prompt_tokens or 0 for call in calls),
        sum(call.usage.cached_tokens or 0 for call in calls),
        sum(call.usage.saved or 0.0 for call in calls),
        sum(call.usage.cost or 0.0 for call in calls),
    )
