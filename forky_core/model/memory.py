"""How much of a long conversation is sent, as it is stored. What each policy does is context/memory_policies.py.

A conversation has one (the default of its branches), and a branch may have its own. A policy chooses what is sent and
never deletes anything; changing it forks nothing and is one operation (laws 4 and 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from forky_core.model.parts import Json

MOST = 100_000_000
"""The largest amount."""
_NOTHING: Mapping[str, Json] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Memory:
    """What a branch remembers of what was said."""

    policy: str = "everything"
    """The name of a policy; one that is not known here, of a later version or a package, sends everything."""
    amount: int | None = None
    """Messages, characters or tokens, as the policy counts; None: the policy's own."""
    share: float | None = None
    """Of the model's window, above 0 and at most 1: for a policy that takes one, without an amount."""
    model: str | None = None
    """Who writes a summary; None: rules, without a model."""
    others: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)
    """Fields of a later version, kept as they are."""

    def stored(self) -> dict[str, Json]:
        """Only what differs from the default."""
        entry: dict[str, Json] = {**self.others, "policy": self.policy}
        for name in ("amount", "share", "model"):
            if getattr(self, name) is not None:
                entry[name] = getattr(self, name)
        return entry

    @classmethod
    def from_stored(cls, entry: Mapping[str, Json]) -> Memory:
        """KeyError or TypeError for what none is stored as."""
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
