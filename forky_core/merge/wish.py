"""What a person chooses about a merge, whatever the strategy: each strategy reads what concerns it."""

from __future__ import annotations

from dataclasses import dataclass

from forky_core.model import MessageId
from forky_core.parts import Strategy


@dataclass(frozen=True, slots=True)
class Wish:
    """How a merge is to be made."""

    strategy: Strategy = "squash"
    picks: tuple[MessageId, ...] = ()
    """For a cherry-pick: the messages ticked."""
    focus: str = ""
    """For a squash: what matters to the person."""
    budget: int | None = None
    """Tokens a squash may take, header included; None: a share of what it stands for."""
    model: str | None = None
    """Who writes a squash; None: it is extracted without a model."""
    force: bool = False
    """A merge message where a fast-forward would do. A squash always writes one."""
    again: bool = False
    """As if earlier merges of this source had brought nothing: for one that was reverted, or squashed too short."""
