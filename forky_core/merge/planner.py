"""`plan_merge`: from two heads to a plan, by any strategy (law 8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from forky_core.merge.comparison import compare
from forky_core.merge.conflicts.conflict import CUT, Conflict
from forky_core.merge.corrections import correction_rows, with_corrections
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.octopus import plan_several
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.strategies import strategies, strategy_named
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.merge.wording import one_line
from forky_core.model.errors import BadContent

_LONGEST = 140
"""The most characters of a statement that a warning quotes."""


def plan_merge(inputs: MergeInputs, options: MergeOptions) -> MergePlan:
    """Plan a merge of the source into the target, with its conflicts. Nothing is written.

    Raises:
        BadContent: there is no such strategy, or it does not support these options.
    """
    strategy = strategy_named(options.strategy)
    return _compared((inputs,), options, lambda options: strategy.plan(inputs, options))


def plan_octopus(all_inputs: Sequence[MergeInputs], options: MergeOptions) -> MergePlan:
    """Plan a merge of several sources into their one target, with the conflicts among all of them.

    Raises:
        BadContent: fewer than two sources, or a strategy that takes only one.
    """
    strategy = strategy_named(options.strategy)
    if not strategy.takes_several:
        labels = ", ".join(one.name for one in strategies() if one.takes_several)
        raise BadContent(
            f"Several branches cannot be merged at once by {strategy.name}.",
            f"Use one of {labels}, or merge them one after another.",
        )
    return _compared(all_inputs, options, lambda options: plan_several(strategy, all_inputs, options))


def _compared(
    all_inputs: Sequence[MergeInputs], options: MergeOptions, planner: Callable[[MergeOptions], MergePlan]
) -> MergePlan:
    """Add conflicts and corrections to a plan; a three-way plan has them already."""
    plan = planner(options)
    if not plan.drafts or isinstance(plan, ThreeWayPlan):
        return plan
    coming = {side.source_name: side.turns for side in plan.sides or (plan,)}
    found = compare(
        [
            (inputs, [inputs.lookup(id) for id in coming[inputs.source_name]])
            for inputs in all_inputs
            if inputs.source_name in coming
        ]
    )
    if found.corrects and options.budget is not None and strategy_named(plan.strategy).condenses:
        # The room for corrections comes out of the budget.
        room = plan.count_tokens(f"\n{correction_rows(found.corrects, plan.short)}")
        plan = planner(replace(options, budget=max(0, options.budget - room)))
    warnings = list(plan.warnings)
    unsettled = tuple(one for one in found.conflicts if one.choice is None)
    if unsettled:
        warnings.append(conflict_warning(unsettled))
    if found.cut:
        warnings.append(CUT)
    if found.corrects:
        many = "1 line" if len(found.corrects) == 1 else f"{len(found.corrects)} lines"
        warnings.append(f"This corrects {many} of earlier merges on “{plan.target_name}”.")
    plan = replace(
        plan,
        warnings=tuple(warnings),
        conflicts=unsettled,
        corrects=found.corrects,
        compared=found.sides,
        examined_by=found.examined_by,
    )
    sides = [
        replace(side, corrects=tuple(one for one in found.corrects if one.by in side.citable))
        for side in plan.sides
    ]
    return with_corrections(plan.of_sides(sides) if sides else plan)


def conflict_warning(found: Sequence[Conflict]) -> str:
    """Return a sentence with both sides of the first conflict, and the way to settle it."""
    first, *more = found
    said = "; ".join(
        f"“{name}” says “{one_line(words[0].text, _LONGEST).rstrip('.')}”"
        for name, words in first.by_side.items()
    )
    what = "Possibly a conflict" if first.possible else "A conflict"
    if not more:
        return f"{what}: {said}. A three-way merge settles it."
    return f"{what}: {said}; and there are {len(more)} more. A three-way merge settles them."
