"""A way to merge, as one value: what it is called, what it takes, how it plans, how its payload is read."""

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


class Coming(NamedTuple):
    """A source of a merge, and what it brings."""

    place: MergeInputs
    found: IncomingChanges


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A way to merge. Pages, the command line, requests and later merges ask it what they need to know.

    `plan` and the two ways of planning several sources write nothing. They raise BadContent for options that cannot be
    carried out.
    """

    payload: PayloadKind
    """Its name, and how its payload is read."""
    label: str
    """What a person clicks: “Squash”."""
    entry: str
    """Its entry in the menu of a message: “Squash the branch …”."""
    icon: str
    """A name of Material Symbols."""
    caption: str
    """What the model will read, in a sentence."""
    caption_of_several: str = ""
    """The same where several branches are merged at once."""
    plan: Callable[[MergeInputs, MergeOptions], MergePlan]
    """What merging one source would do."""
    plan_side: Callable[[MergeInputs, IncomingChanges, MergeOptions], MergePlan] | None = None
    """What one of several sources brings, in a payload of its own; None: it takes one source only, or joins them."""
    plan_joined: Callable[[Sequence[Coming], MergeOptions], MergePlan] | None = None
    """What several sources bring in one payload; None: each has its own, or it takes one source only."""
    takes: frozenset[Option] = frozenset()
    """The options that it reads; any other is refused."""
    model: Literal["", "writes", "reads"] = ""
    """What a model does for it where one is named: it writes the payload, or finds the claims that are compared."""
    requested: bool = True
    """Whether a merge request may propose it."""
    grafted: bool = True
    """Whether a branch of another conversation may be merged by it."""

    @property
    def name(self) -> str:
        return self.payload.name

    @property
    def condenses(self) -> bool:
        """Whether it tells a branch in fewer words, as many as a budget says."""
        return "budget" in self.takes

    @property
    def takes_picks(self) -> bool:
        """Whether it brings the messages that are ticked, and not the whole branch."""
        return "picks" in self.takes

    @property
    def takes_several(self) -> bool:
        """Whether it merges several branches at once."""
        return self.plan_side is not None or self.plan_joined is not None
