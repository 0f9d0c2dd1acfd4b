"""What a person chooses about a merge, whatever the strategy: each strategy reads what concerns it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypedDict

from forky_core.merge.claims.conflict_resolution import Choice, Policy
from forky_core.model import MessageId
from forky_core.model.payload_kinds import SQUASH

NO_CHOICES: Mapping[str, Choice | None] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class MergeOptions:
    """How a merge is to be made."""

    strategy: str = SQUASH.name
    """The name of one (merge/strategies.py)."""
    picks: tuple[MessageId, ...] = ()
    """For a cherry-pick: the messages ticked."""
    focus: str = ""
    """For a squash: what matters to the person."""
    budget: int | None = None
    """Tokens a squash may take, header included; None: a share of what it stands for."""
    model: str | None = None
    """Who writes a squash, or finds the claims of a three-way merge; None: it is done without a model."""
    force: bool = False
    """A merge message where a fast-forward would do. A squash always writes one."""
    again: bool = False
    """As if earlier merges of this source had brought nothing: for one that was reverted, or squashed too short."""
    reread: bool = False
    """Have the model read again what it has read before."""
    policy: Policy = "ask"
    """For a three-way merge: what becomes of a conflict without a choice."""
    choices: Mapping[str, Choice | None] = field(default_factory=lambda: NO_CHOICES)
    """For a three-way merge: what is taken of each conflict, by its key or hash; None: it stays open."""


class MergeOptionFields(TypedDict, total=False):
    """What of a `MergeOptions` somebody names, as keyword arguments; picks by as much of their ids as says which."""

    strategy: str
    picks: Sequence[str]
    focus: str
    budget: int | None
    model: str | None
    force: bool
    again: bool
    policy: Policy
    choices: Mapping[str, Choice | None]
