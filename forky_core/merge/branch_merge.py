"""What every merge of a whole branch checks first: whether there is anything to merge, and whether it was merged
before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from forky_core.graph import is_ancestor
from forky_core.merge.again import as_if_never_merged, reverted
from forky_core.merge.incoming_changes import IncomingChanges
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan, Reverted
from forky_core.merge.unanswered import unanswered

Planning = Callable[[MergeInputs, IncomingChanges], MergePlan]


def plan_branch_merge(place: MergeInputs, wish: MergeOptions, plan: Planning) -> MergePlan:
    """Apply `plan` to what the source brings, or return a plan that says that there is nothing to bring."""
    if wish.again:
        return _again(place, wish, plan)
    back = reverted(place)
    if place.target is not None and is_ancestor(place.source, place.target, place.parents_of):
        note = f"“{place.target_name}” has all of “{place.source_name}” already."
        warnings = (note, *_offer(place, back))
        return replace(place.empty(wish.strategy, "up_to_date", *warnings), reverted=back)
    planned = _of_what_comes(place, wish.strategy, plan)
    return replace(planned, reverted=back, warnings=(*planned.warnings, *_offer(place, back)))


def _again(place: MergeInputs, wish: MergeOptions, plan: Planning) -> MergePlan:
    anew = as_if_never_merged(place)
    if place.target is not None and is_ancestor(place.source, place.target, anew.parents_of):
        note = (
            f"“{place.target_name}” holds “{place.source_name}” on its own line: that cannot be merged again."
        )
        back = reverted(place)
        return replace(place.empty(wish.strategy, "up_to_date", note, *_offer(place, back)), reverted=back)
    planned = _of_what_comes(anew, wish.strategy, plan)
    before = len(place.delta())
    if planned.lands and before < len(planned.delta) and not reverted(place):
        twice = f"“{place.target_name}” has {len(planned.delta) - before} of these messages through an earlier merge."
        return replace(planned, warnings=(*planned.warnings, twice))
    return planned


def _of_what_comes(place: MergeInputs, strategy: str, plan: Planning) -> MergePlan:
    found = place.incoming()
    if not found.turns:
        return _nothing(place, strategy, found)
    planned = plan(place, found)
    return replace(planned, relation="fast_forward") if place.continues_target else planned


def _offer(place: MergeInputs, back: tuple[Reverted, ...]) -> tuple[str, ...]:
    """Return sentences about an earlier merge that was reverted, with what can be done."""
    if not back:
        return ()
    short = place.short_ids()
    merges = [one for one in back if len(place.parents_of(one.message)) > 1]
    if merges:
        one = merges[-1]
        what = (
            f"Its merge {short(one.message)} was reverted by {short(one.revert)}: what it brought stays out."
        )
        return (f"{what} Revert that revert, or merge again.",)
    many = "1 message of it was" if len(back) == 1 else f"{len(back)} messages of it were"
    return (f"{many} reverted by {short(back[-1].revert)}: revert that revert to have them again.",)


def _nothing(place: MergeInputs, strategy: str, found: IncomingChanges) -> MergePlan:
    """Return the plan for a source that is ahead but has nothing that can be merged."""
    waiting = unanswered(place, found)
    if waiting is not None:
        more = place.warnings(found, place.short_ids())
        plan = place.empty(strategy, "unanswered", waiting.sentence, waiting.ways, *more)
        return replace(
            plan, delta=found.delta, bases=found.bases, omitted=found.omitted, unanswered=waiting.messages
        )
    warnings = place.warnings(found, place.short_ids())
    if found.head is None:
        warnings.append(f"“{place.source_name}” has no complete turn to merge yet.")
    else:
        warnings.append(f"“{place.target_name}” has everything “{place.source_name}” says already.")
    plan = place.empty(strategy, "up_to_date", *warnings)
    return replace(plan, delta=found.delta, bases=found.bases, omitted=found.omitted)
