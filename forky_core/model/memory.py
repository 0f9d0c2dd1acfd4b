"""Memory policies as values: how much of a long conversation is sent. context/window.py carries them out.

A conversation has one (the default of its branches), and a branch may have its own. A policy chooses what is sent and
never deletes anything; changing it forks nothing and is one operation (laws 4 and 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

from forky_core.model.errors import BadContent
from forky_core.model.parts import Json

Policy = Literal["everything", "last", "characters", "tokens", "summary"]
"""`last`: so many messages. `characters`, `tokens`: a budget for everything that is sent. `summary`: the older part as
cited claims, the recent messages unchanged."""

POLICIES: tuple[Policy, ...] = get_args(Policy)
AMOUNTS: Mapping[str, int] = MappingProxyType({"last": 20, "characters": 40_000, "summary": 20})
"""Each policy's default amount."""
SHARE = 0.5
"""The default share of the model's window for a budget in tokens."""
MOST = 100_000_000
_NOTHING: Mapping[str, Json] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory policy with its amount."""

    policy: str = "everything"
    """A `Policy`, or the name of a later version's policy, which this version treats as `everything`."""
    amount: int | None = None
    """Messages (for `summary`, the recent ones that are sent unchanged), characters or tokens; None stands for the
    default, which for `tokens` is a share of the window."""
    share: float | None = None
    """The share of the model's window, above 0 and at most 1, for `tokens` without an amount."""
    model: str | None = None
    """The model that writes the summary; with None, rules make it without a model."""
    others: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)
    """Fields written by a later version, preserved unchanged."""

    @property
    def least(self) -> int:
        """The amount, or the policy's default; 0 for a policy that has none."""
        return self.amount if self.amount is not None else AMOUNTS.get(self.policy, 0)

    @property
    def told(self) -> str:
        """A few words that describe the policy to people: "the last 20 messages"."""
        match self.policy:
            case "last":
                return f"the last {_count(self.least, 'message')}"
            case "characters":
                return f"{self.least:,} characters"
            case "tokens" if self.amount is not None:
                return f"{self.amount:,} tokens"
            case "tokens":
                return f"{self.share or SHARE:.0%} of the model's window"
            case "summary":
                who = f", written by {self.model}" if self.model else ""
                return f"a summary{who}, and the last {_count(self.least, 'message')}"
            case "everything":
                return "everything"
            case _:
                return f"“{self.policy}”, which this version does not know: everything"

    def stored(self) -> dict[str, Json]:
        """Return the policy as JSON, without the fields that have their default."""
        entry: dict[str, Json] = {**self.others, "policy": self.policy}
        for name in ("amount", "share", "model"):
            if getattr(self, name) is not None:
                entry[name] = getattr(self, name)
        return entry

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


def fit_memory(memory: Memory) -> Memory:
    """Return the policy in a form that can be stored.

    Raises:
        BadContent: there is no such policy, or its amount makes no sense.
    """
    if memory.policy not in POLICIES:
        raise BadContent(
            f"There is no memory policy “{memory.policy[:40]}”.", f"There are: {', '.join(POLICIES)}."
        )
    if memory.amount is not None and not 1 <= memory.amount <= MOST:
        raise BadContent("A memory keeps at least 1, and at most 100 million.", "Type a whole number.")
    if memory.share is not None and not 0 < memory.share <= 1:
        raise BadContent("A share of the window is above 0 and at most 1.", "0.5 is half of it.")
    return Memory(
        memory.policy,
        memory.amount if memory.policy != "everything" else None,
        memory.share if memory.policy == "tokens" and memory.amount is None else None,
        memory.model if memory.policy == "summary" else None,
    )


def parse_memory(text: str) -> Memory:
    """Parse a policy as a person types it: `everything`, `last:20`, `characters:40000`, `tokens:8000`, `tokens:50%`,
    `summary:20`.

    Raises:
        BadContent: the text is none of these.
    """
    policy, _, amount = text.strip().lower().partition(":")
    amount = amount.strip().replace(",", "").replace("_", "")
    wrong = BadContent(
        f"“{text[:60]}” is no memory policy.",
        "Type everything, last:20, characters:40000, tokens:8000, tokens:50% or summary:20.",
    )
    if policy not in POLICIES or (policy == "everything" and amount):
        raise wrong
    if not amount:
        return fit_memory(Memory(policy))
    if policy == "tokens" and amount.endswith("%") and amount[:-1].isdecimal():
        return fit_memory(Memory(policy, share=int(amount[:-1][:4]) / 100))
    if not amount.isdecimal() or len(amount) > 12:
        raise wrong
    return fit_memory(Memory(policy, int(amount)))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
