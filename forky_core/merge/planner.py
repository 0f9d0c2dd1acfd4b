"""`plan_merge`: from two heads to a plan, whatever the strategy (law 8)."""

from __future__ import annotations

from forky_core.errors import BadContent
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.strategies import STRATEGIES


def plan_merge(place: MergeInputs, wish: MergeOptions) -> MergePlan:
    """What merging the source into the target would do. Nothing is written.

    Raises:
        BadContent: there is no such strategy, or it cannot do what is wished.
    """
    planner = STRATEGIES.get(wish.strategy)
    if planner is None:
        raise BadContent(
            f"There is no way to merge called “{wish.strategy}”.", f"There are: {', '.join(STRATEGIES)}."
        )
    return planner(place, wish)
