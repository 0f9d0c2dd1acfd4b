"""A person's choices for a merge, whatever the strategy: each strategy reads those that apply to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypedDict

from forky_core.merge.conflicts.conflict import Choice, Policy
from forky_core.model import MessageId
from forky_core.model.payload_kinds import SQUASH

NO_CHOICES: Mapping[str, Choice | None] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class MergeOptions:
    """The choices for one merge."""

    strategy: str = SQUASH.name
    """The name of a strategy (merge/strategies.py)."""
    picks: tuple[MessageId, ...] = ()
    """For a cherry-pick: the chosen messages."""
    focus: str = ""
    """For a squash or a three-way merge: what matters to the person."""
    budget: int | None = None
    """The most tokens of a squash, header included, or of the note alone where a model writes it; with None, a share of
    what it stands for.
    """
    model: str | None = None
    """The model that writes the note of a squash or a three-way merge; None for no model."""
    force: bool = False
    """Write a merge message even if a fast-forward is possible. A squash always writes one."""
    again: bool = False
    """Merge as if earlier merges of this source had brought nothing: for one that was reverted, or squashed too
    short."""
    looked_at: bool = field(default=False, compare=False)
    """Whether a person reads the plan before it lands: else a sentence that was not confirmed says so in the text."""
    reread: bool = False
    """Ask the model again instead of using the cache."""
    policy: Policy = "ask"
    """For a three-way merge: how a conflict without a choice is settled."""
    choices: Mapping[str, Choice | None] = field(default_factory=lambda: NO_CHOICES)
    """For a three-way merge: the choice for each conflict, by its subject or hash; None leaves it open."""
    planned_at: MessageId | None = field(default=None, compare=False)
    """The target's head when the merge was planned first, before it was planned again after a lost race: a note that
    was written for it is used again."""


class MergeOptionFields(TypedDict, total=False):
    """The fields of `MergeOptions` as optional keyword arguments; picks may be unique prefixes of ids."""

    strategy: str
    picks: Sequence[str]
    focus: str
    budget: int | None
    model: str | None
    looked_at: bool
    force: bool
    again: bool
    policy: Policy
    choices: Mapping[str, Choice | None]
