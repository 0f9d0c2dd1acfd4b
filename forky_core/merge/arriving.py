"""What every merge of a whole branch asks first: is there anything to bring?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from forky_core.dag import is_ancestor
from forky_core.merge.incoming import Incoming
from forky_core.merge.place import Place
from forky_core.merge.plan import MergePlan
from forky_core.parts import Strategy


def arriving(place: Place, strategy: Strategy, plan: Callable[[Incoming], MergePlan]) -> MergePlan:
    """`plan` of what the source brings, or the plan that says that there is nothing to bring."""
    if place.target is not None and is_ancestor(place.source, place.target, place.parents_of):
        return place.empty(
            strategy, "up_to_date", f"“{place.target_name}” has all of “{place.source_name}” already."
        )
    found = place.incoming()
    if not found.turns:
        return _nothing(place, strategy, found)
    planned = plan(found)
    return replace(planned, relation="fast_forward") if place.continues_target else planned


def _nothing(place: Place, strategy: Strategy, found: Incoming) -> MergePlan:
    """The source is ahead, yet holds nothing that could be merged."""
    warnings = place.warnings(found, place.short_ids())
    if found.head is None:
        warnings.append(f"“{place.source_name}” has no complete turn to merge yet.")
    else:
        warnings.append(f"“{place.target_name}” has everything “{place.source_name}” says already.")
    plan = place.empty(strategy, "up_to_date", *warnings)
    return replace(plan, delta=found.delta, bases=found.bases, omitted=found.omitted)
