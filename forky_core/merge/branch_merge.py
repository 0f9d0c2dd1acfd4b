"""What every merge of a whole branch checks first: whether there is anything to merge, and whether it was merged
before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from forky_core.merge.again import as_if_never_merged, reverted_of_source
from forky_core.merge.incoming_changes import IncomingChanges
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan, RevertedMessage
from forky_core.merge.unanswered import unanswered
from forky_core.model.graph import is_ancestor

Planning = Callable[[MergeInputs, IncomingChanges], MergePlan]


def plan_branch_merge(inputs: MergeInputs, options: MergeOptions, plan: Planning) -> MergePlan:
    """Apply `plan` to what the source brings, or return a plan that says that there is nothing to bring."""
    if options.again:
        return _again(inputs, options, plan)
    back = reverted_of_source(inputs)
    if inputs.target is not None and is_ancestor(inputs.source, inputs.target, inputs.parents_of):
        note = f"“{inputs.target_name}” has all of “{inputs.source_name}” already."
        warnings = (note, *_offer(inputs, back))
        return replace(inputs.empty(options.strategy, "up_to_date", *warnings), reverted=back)
    planned = _of_what_comes(inputs, options.strategy, plan)
    return replace(planned, reverted=back, warnings=(*planned.warnings, *_offer(inputs, back)))


def _again(inputs: MergeInputs, options: MergeOptions, plan: Planning) -> MergePlan:
    anew = as_if_never_merged(inputs)
    if inputs.target is not None and is_ancestor(inputs.source, inputs.target, anew.parents_of):
        note = f"“{inputs.target_name}” holds “{inputs.source_name}” on its own line: that cannot be merged again."
        back = reverted_of_source(inputs)
        return replace(
            inputs.empty(options.strategy, "up_to_date", note, *_offer(inputs, back)), reverted=back
        )
    planned = _of_what_comes(anew, options.strategy, plan)
    before = len(inputs.delta())
    if planned.lands and before < len(planned.delta) and not reverted_of_source(inputs):
        twice = f"“{inputs.target_name}” has {len(planned.delta) - before} of these messages through an earlier merge."
        return replace(planned, warnings=(*planned.warnings, twice))
    return planned


def _of_what_comes(inputs: MergeInputs, strategy: str, plan: Planning) -> MergePlan:
    found = inputs.incoming()
    if not found.turns:
        return _nothing(inputs, strategy, found)
    planned = plan(inputs, found)
    return replace(planned, relation="fast_forward") if inputs.continues_target else planned


def _offer(inputs: MergeInputs, back: tuple[RevertedMessage, ...]) -> tuple[str, ...]:
    """Return sentences about an earlier merge that was reverted, with what can be done."""
    if not back:
        return ()
    short = inputs.short_ids()
    merges = [one for one in back if len(inputs.parents_of(one.message)) > 1]
    if merges:
        one = merges[-1]
        what = (
            f"Its merge {short(one.message)} was reverted by {short(one.revert)}: what it brought stays out."
        )
        return (f"{what} Revert that revert, or merge again.",)
    many = "1 message of it was" if len(back) == 1 else f"{len(back)} messages of it were"
    return (f"{many} reverted by {short(back[-1].revert)}: revert that revert to have them again.",)


def _nothing(inputs: MergeInputs, strategy: str, found: IncomingChanges) -> MergePlan:
    """Return the plan for a source that is ahead but has nothing that can be merged."""
    waiting = unanswered(inputs, found)
    if waiting is not None:
        more = inputs.warnings(found, inputs.short_ids())
        plan = inputs.empty(strategy, "unanswered", waiting.sentence, waiting.ways, *more)
        return replace(
            plan, delta=found.delta, bases=found.bases, omitted=found.omitted, unanswered=waiting.messages
        )
    warnings = inputs.warnings(found, inputs.short_ids())
    if found.head is None:
        warnings.append(f"“{inputs.source_name}” has no complete turn to merge yet.")
    else:
        warnings.append(f"“{inputs.target_name}” has everything “{inputs.source_name}” says already.")
    plan = inputs.empty(strategy, "up_to_date", *warnings)
    return replace(plan, delta=found.delta, bases=found.bases, omitted=found.omitted)
