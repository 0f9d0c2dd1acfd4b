"""Every way to merge, by name: a strategy is a file of this folder and a row here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from forky_core.merge.full import plan_full
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.options import MergeOptions
from forky_core.merge.picks import plan_picks
from forky_core.merge.plan import MergePlan
from forky_core.merge.squash import plan_squash
from forky_core.merge.three_way import plan_three_way
from forky_core.parts import Strategy

Planner = Callable[[MergeInputs, MergeOptions], MergePlan]
"""What a merge would do. Writes nothing; raises BadContent for a wish that it cannot carry out."""

STRATEGIES: Mapping[Strategy, Planner] = MappingProxyType(
    {"full": plan_full, "squash": plan_squash, "cherry-pick": plan_picks, "three-way": plan_three_way}
)
