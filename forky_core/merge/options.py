"""What a person chooses about a merge, whatever the strategy: each strategy reads what concerns it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypedDict

from forky_core.errors import BadContent
from forky_core.merge.claims.conflict_resolution import Choice, Policy
from forky_core.model import MessageId
from forky_core.parts import Strategy

NO_CHOICES: Mapping[str, Choice | None] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class MergeOptions:
    """How a merge is to be made."""

    strategy: Strategy = "squash"
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

    strategy: Strategy
    picks: Sequence[str]
    focus: str
    budget: int | None
    model: str | None
    force: bool
    again: bool
    policy: Policy
    choices: Mapping[str, Choice | None]


TOLD: frozenset[Strategy] = frozenset({"squash", "three-way"})
"""Strategies that tell in other words, and so take a focus, a budget and a model."""


def validate_options(wish: MergeOptions) -> None:
    """Refuse what this strategy would pass over in silence.

    Raises:
        BadContent: a focus, budget or model for a merge that is not told in other words, picks for one that takes all,
            a policy or choices for one without conflicts.
    """
    told: Mapping[str, object] = {"a focus": wish.focus, "a budget": wish.budget, "a model": wish.model}
    asked = next((name for name, value in told.items() if value is not None and value != ""), "")
    if asked and wish.strategy not in TOLD:
        raise BadContent(
            f"A merge by {wish.strategy} brings messages as they are: {asked} changes nothing.",
            "Squash or three-way take one.",
        )
    if wish.picks and wish.strategy != "cherry-pick":
        raise BadContent(
            f"A merge by {wish.strategy} takes the whole branch, not picks.", "Cherry-pick them."
        )
    if (wish.policy != "ask" or wish.choices) and wish.strategy != "three-way":
        raise BadContent(
            f"A merge by {wish.strategy} compares no claims: there is no conflict to settle.",
            "Merge three-way.",
        )


def only_used(wish: MergeOptions) -> MergeOptions:
    """The wish without what its strategy would pass over: for one whose strategy was changed."""
    if wish.strategy not in TOLD:
        wish = replace(wish, focus="", budget=None, model=None)
    if wish.strategy != "cherry-pick":
        wish = replace(wish, picks=())
    if wish.strategy != "three-way":
        wish = replace(wish, policy="ask", choices=NO_CHOICES)
    return wish
