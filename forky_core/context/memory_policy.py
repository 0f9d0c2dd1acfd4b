"""What a memory policy is: it chooses what of a long conversation is sent, and deletes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forky_core.context.read import ConvertedPath
from forky_core.context.window import WindowChoice
from forky_core.model.memory import Memory


@dataclass(frozen=True, slots=True)
class PolicyInputs:
    """The path, the amounts that a person set and the model's window, from which a memory policy makes its choice."""

    read: ConvertedPath
    """The path, as it is sent when all of it is."""
    memory: Memory
    """The amounts that a person has set."""
    window: int | None
    """Tokens that the model reads; None: that is not known."""
    passages: Sequence[str]
    """What was found for the question. A budget leaves room for it."""
    sums_up: bool
    """Whether somebody can write a summary."""


@dataclass(frozen=True, slots=True)
class ContextChoice:
    """The result of a memory policy: which messages it sends, and which it may leave out."""

    parts: Sequence[bool]
    """For each message of the path, whether the policy may leave it out."""
    kept: WindowChoice | None
    """What the policy keeps; None if everything is sent."""
    bounds: Sequence[int] = ()
    """Where the summarised stretches end."""
    warning: str = ""

    def sends(self, at: int) -> bool:
        return self.kept is None or not self.parts[at] or self.kept.sends(at)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPolicy:
    """A memory policy. The Context page, the command line and the account ask it what they need to know.

    Whatever it chooses, system messages are sent, and what is pinned, and the newest question; turns stay whole
    (window.py).
    """

    name: str
    """What is stored with a branch, and what a person types: `forky memory last:20`."""
    label: str
    """What the Context page offers: “The last messages”."""
    cache_hint: str
    """What it does to the provider's prompt cache, as sentences."""
    examples: tuple[str, ...]
    """How a person types it: “last:20”."""
    choose: Callable[[PolicyInputs], ContextChoice]
    """Chooses what is sent. It raises nothing."""
    describe: Callable[[Memory], str]
    """What is sent, in a few words within a sentence: “the last 20 messages”."""
    reason: Callable[[Memory, int | None], str]
    """Why a message is not sent, as a sentence; it gets the model's window in tokens."""
    unit: str = ""
    """What its amount counts, as the label of a field: “Messages”. "": it takes no amount."""
    amount: int = 0
    """The amount where nobody set one. If it takes a share, the amount that is proposed."""
    share: float | None = None
    """The share of the model's window that it takes where nobody set one; None: it takes none."""
    written: bool = False
    """Whether a model can be named that writes for it."""

    def least(self, memory: Memory) -> int:
        """The amount that was set, or its own."""
        return memory.amount if memory.amount is not None else self.amount
