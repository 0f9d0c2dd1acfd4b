"""How much of a long conversation is sent, as it is stored. context/memory_policies.py carries it out.

A conversation has one (the default of its branches), and a branch may have its own. A policy chooses what is sent and
never deletes anything; changing it forks nothing and is one operation (laws 4 and 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from forky_core.model.changed_fields import changed_fields
from forky_core.model.parts import Json

MOST = 100_000_000
"""The largest amount."""
_NOTHING: Mapping[str, Json] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory setting of a branch or a conversation: a policy by its name, and the policy's amount."""

    policy: str = "everything"
    """The name of a policy. A name that is not known here, of a later version or a package, sends everything."""
    amount: int | None = None
    """Messages, characters or tokens, whatever the policy counts; None stands for the policy's default."""
    share: float | None = None
    """The share of the model's window, above 0 and at most 1, for a policy that takes one, without an amount."""
    model: str | None = None
    """The model that writes the summary; with None, rules make it without a model."""
    others: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)
    """Fields written by a later version, preserved unchanged."""

    def stored(self) -> dict[str, Json]:
        """Return the policy as JSON, without the fields that have their default."""
        return {**self.others, "policy": self.policy, **changed_fields(self, "amount", "share", "model")}

    @classmethod
    def from_stored(cls, entry: Mapping[str, Json]) -> Memory:
        """Read what `stored()` wrote.

        Raises:
            KeyError, TypeError: the entry is not of that form.
        """
        policy, amount, share, model = (entry.get(name) for name in ("policy", "amount", "share", "model"))
        if not isinstance(policy, str) or not isinstance(model, str | None):
            raise TypeError("a memory policy is named by a text")
        if isinstance(amount, bool) or not isinstance(amount, int | None):
            raise TypeError("an amount is a whole number")
        if isinstance(share, bool) or not isinstance(share, int | float | None):
            raise TypeError("a share is a number")
        others = {k: v for k, v in entry.items() if k not in ("policy", "amount", "share", "model")}
        return cls(policy, amount, share, model, MappingProxyType(others) if others else _NOTHING)


EVERYTHING = Memory()
