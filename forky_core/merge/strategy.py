"""A merge strategy as one value: its name, the options it takes, how it plans, how its payload is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from forky_core.merge.incoming_changes import IncomingChanges
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.model.payload_kinds import PayloadKind

Option = Literal["focus", "budget", "model", "picks", "policy", "choices", "force"]
"""A field of `MergeOptions` that not every strategy takes."""


class IncomingSide(NamedTuple):
    """A source of a merge, with its incoming changes."""

    inputs: MergeInputs
    found: IncomingChanges


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A way to merge. Pages, the command line, requests and later merges read its properties here.

    `plan` and the two functions for several sources write nothing. They raise BadContent for options that cannot be
    carried out.
    """

    payload: PayloadKind
    """The strategy's name, and how its payload is read."""
    label: str
    """The label on a button: “A short note”."""
    entry: str
    """The entry in the menu of a message: “A short note …”."""
    icon: str
    """The name of an icon in Material Symbols."""
    caption: str
    """Git's word, and a sentence about what the model reads."""
    caption_of_several: str = ""
    """The caption for several branches at once."""
    plan: Callable[[MergeInputs, MergeOptions], MergePlan]
    """Plans a merge of one source."""
    plan_side: Callable[[MergeInputs, IncomingChanges, MergeOptions], MergePlan] | None = None
    """Plans the payload of one of several sources; None if the strategy takes one source only, or joins them."""
    plan_joined: Callable[[Sequence[IncomingSide], MergeOptions], MergePlan] | None = None
    """Plans one payload for several sources; None if each has its own, or if the strategy takes one source only."""
    takes: frozenset[Option] = frozenset()
    """The options that it uses; any other is refused."""
    model: Literal["", "writes"] = ""
    """Whether a model writes the payload if one is named."""
    requested: bool = True
    """Whether a merge request may propose it."""
    grafted: bool = True
    """Whether a branch of another conversation may be merged by it."""

    @property
    def name(self) -> str:
        return self.payload.name

    @property
    def condenses(self) -> bool:
        """Whether it condenses a branch to fit a budget."""
        return "budget" in self.takes

    @property
    def takes_picks(self) -> bool:
        """Whether it merges chosen messages, not the whole branch."""
        return "picks" in self.takes

    @property
    def takes_several(self) -> bool:
        """Whether it merges several branches at once."""
        return self.plan_side is not None or self.plan_joined is not None
