"""An octopus: several branches at once, as one message with a payload for each, or three-way with one for all.

A source brings what the target lacks and no earlier source of the same merge has brought. So the order of the sources
changes only what is shown first: the incoming messages are the same in any order. Three-way, all branches
are compared at once, so that a conflict appears once however many of them disagree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forky_core.merge.branch_merge import plan_branch_merge
from forky_core.merge.incoming_changes import IncomingChanges, Omission
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.strategy import IncomingSide, Strategy
from forky_core.model import MessageId
from forky_core.model.errors import BadContent
from forky_core.model.graph import ancestors

WITH_ANOTHER = "It comes with “{}”."


def plan_several(strategy: Strategy, all_inputs: Sequence[MergeInputs], options: MergeOptions) -> MergePlan:
    """Plan a merge of all these sources into their one target, by a strategy that takes several.

    Raises:
        BadContent: fewer than two sources.
    """
    if len(all_inputs) < 2:
        raise BadContent("An octopus needs several branches.", "Name another one, or merge this one alone.")
    heads, notes = _independent(all_inputs)
    shares = _shares(heads, options.budget)
    sides: list[MergePlan] = []
    coming: list[IncomingSide] = []
    brought: dict[MessageId, str] = {}
    waiting: dict[str, tuple[MessageId, ...]] = {}
    for inputs, budget in zip(heads, shares, strict=True):
        here = replace(inputs, other_tips=tuple(other.source for other in heads))
        side = _side(strategy, here, replace(options, budget=budget), brought, coming)
        if side.turns:
            sides.append(side)
            brought |= dict.fromkeys((*side.delta, *side.turns), inputs.source_name)
        elif side.relation == "unanswered":
            # The suggestions are those for a merge of this source alone.
            waiting[side.nothing] = side.unanswered
        else:
            notes += side.warnings
    first, notes = all_inputs[0], [*waiting, *notes]
    if not sides:
        plan = first.empty(options.strategy, "unanswered" if waiting else "up_to_date", *notes)
        open_ends = tuple(id for ids in waiting.values() for id in ids)
        return replace(plan, source_name=_names(all_inputs), unanswered=open_ends)
    back = tuple(dict.fromkeys(one for side in sides for one in side.reverted))
    if strategy.plan_joined is not None:
        made = strategy.plan_joined(coming, options)
        offers = (warning for side in sides for warning in side.warnings)
        return replace(made, reverted=back, warnings=tuple(dict.fromkeys((*notes, *made.warnings, *offers))))
    return replace(first.empty(options.strategy, "merge", *dict.fromkeys(notes)), reverted=back).of_sides(
        sides
    )


def _names(all_inputs: Sequence[MergeInputs]) -> str:
    return ", ".join(inputs.source_name for inputs in all_inputs)


def _independent(all_inputs: Sequence[MergeInputs]) -> tuple[list[MergeInputs], list[str]]:
    """Return the sources that no other one includes (`git merge-base --independent`), and a note on each of the
    others.
    """
    kept: list[MergeInputs] = []
    notes: list[str] = []
    reach = [ancestors((inputs.source,), inputs.parents_of) for inputs in all_inputs]
    for at, inputs in enumerate(all_inputs):
        within = next(
            (
                other
                for number, other in enumerate(all_inputs)
                if inputs.source in reach[number] and (inputs.source != other.source or number < at)
                if number != at
            ),
            None,
        )
        if within is None:
            kept.append(inputs)
        else:
            notes.append(f"“{inputs.source_name}” is part of “{within.source_name}”: it comes with that.")
    return kept, notes


def _shares(all_inputs: Sequence[MergeInputs], budget: int | None) -> list[int | None]:
    """Divide a squash's budget in proportion to what each source would cost in full."""
    if budget is None:
        return [None] * len(all_inputs)
    costs = [max(1, inputs.cost(inputs.incoming().turns)) for inputs in all_inputs]
    return [budget * cost // sum(costs) for cost in costs]


def _side(
    strategy: Strategy,
    inputs: MergeInputs,
    options: MergeOptions,
    brought: dict[MessageId, str],
    coming: list[IncomingSide],
) -> MergePlan:
    """Plan one source as if the target had what earlier ones bring; for a joined strategy, collect it in `coming`."""

    def plan(here: MergeInputs, found: IncomingChanges) -> MergePlan:
        ours = replace(
            found,
            delta=tuple(id for id in found.delta if id not in brought),
            turns=tuple(turn for turn in found.turns if turn.id not in brought),
            omitted=tuple(one for one in found.omitted if one.message not in brought),
        )
        if not ours.turns:
            note = f"“{here.source_name}” brings nothing that the others do not."
            return here.empty(options.strategy, "up_to_date", note)
        shared = tuple(
            Omission(turn.id, WITH_ANOTHER.format(brought[turn.id]))
            for turn in found.turns
            if turn.id in brought
        )
        if strategy.plan_side is None:
            coming.append(IncomingSide(here, replace(ours, omitted=(*ours.omitted, *shared))))
            turns = tuple(turn.id for turn in ours.turns)
            return replace(here.empty(strategy.name, "merge"), delta=ours.delta, turns=turns)
        made = strategy.plan_side(here, ours, options)
        return replace(made, omitted=(*made.omitted, *shared))

    return plan_branch_merge(inputs, options, plan)
