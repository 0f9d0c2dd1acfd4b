"""Plans that a model contributes to. It writes, another one verifies; if it fails, the plan without it is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Event

from forky_core.context.masking import Lookup
from forky_core.conversation.merging.note_writing import NoteWriter
from forky_core.conversation.session import Session
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.planner import plan_merge, plan_octopus
from forky_core.merge.strategies import strategy_named
from forky_core.merge.written.plan import SquashRejected, badged, squash_written_by, target_view


def plan_of(session: Session, inputs: MergeInputs, options: MergeOptions, stop: Event) -> MergePlan:
    """The plan for one source, using the model in the options.

    Raises:
        BadContent: as `plan_merge`.
        SquashRejected: nothing that the model wrote stands.
        ModelError: the model did not answer, or was stopped.
    """
    return written(session, plan_merge(inputs, options), options, inputs.lookup, stop)


def written(
    session: Session, planned: MergePlan, options: MergeOptions, lookup: Lookup, stop: Event
) -> MergePlan:
    """A squash or a three-way merge with its note written by the model in the options; any other plan unchanged."""
    if options.model is None or strategy_named(options.strategy).model != "writes" or not planned.drafts:
        return planned
    before = replace(planned, target=options.planned_at) if options.planned_at is not None else None
    known_before = target_view(before, lookup) if before is not None else ()
    writer = NoteWriter(session, options.model, options.focus, stop, options.reread, known_before)
    return squash_written_by(
        writer.write,
        planned,
        lookup=lookup,
        model=options.model,
        budget_tokens=options.budget,
        looked_at=options.looked_at,
    )


def plan_of_several(
    session: Session, all_inputs: Sequence[MergeInputs], options: MergeOptions, stop: Event
) -> MergePlan:
    """The plan for several sources at once, using the model in the options; errors as in `plan_of`."""
    planned, lookup = plan_octopus(all_inputs, options), all_inputs[0].lookup
    if options.model is None or not planned.drafts:
        return planned
    notes = zip(planned.written_apart, planned.budgets_apart(options.budget), strict=True)
    try:
        return planned.with_written(
            [written(session, one, replace(options, budget=room), lookup, stop) for one, room in notes]
        )
    except SquashRejected as error:
        raise SquashRejected(error.problems, error.answer, badged(planned, options.model)) from error
