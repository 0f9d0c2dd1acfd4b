"""Plans that a model contributes to. It writes, code checks; if it fails, the plan without it is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Event

from forky_core.context.masking import Lookup
from forky_core.conversation.merging.note_writing import NoteWriter
from forky_core.conversation.replies.once import ask_once
from forky_core.conversation.session import Session
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.models.review import review
from forky_core.merge.models.squash import (
    SquashRejected,
    badged,
    squash_written_by,
    target_view,
    transcript_of,
)
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.planner import plan_merge, plan_octopus
from forky_core.merge.strategies import strategy_named
from forky_core.model.errors import ForkyError

REVIEWER = "merge_reviewer"
"""The setting with the name of the model that reviews what another one wrote."""


def plan_of(session: Session, inputs: MergeInputs, options: MergeOptions, stop: Event) -> MergePlan:
    """The plan for one source, using the model in the options.

    Raises:
        BadContent: as `plan_merge`.
        SquashRejected: no line that the model wrote passed the checks.
        ModelError: the model did not answer, or was stopped.
    """
    return written(session, plan_merge(inputs, options), options, inputs.lookup, stop)


def written(
    session: Session, planned: MergePlan, options: MergeOptions, lookup: Lookup, stop: Event
) -> MergePlan:
    """A squash or a three-way merge with its note written by the model in the options; any other plan unchanged.

    If a reviewer is set, it reads the block, and what it flags becomes a warning.
    """
    if options.model is None or strategy_named(options.strategy).model != "writes" or not planned.drafts:
        return planned
    writer = NoteWriter(session, options.model, options.focus, stop, options.reread)
    made = squash_written_by(
        writer.write, planned, lookup=lookup, model=options.model, budget_tokens=options.budget
    )
    return reviewed(session, made, lookup, stop)


def reviewed(session: Session, made: MergePlan, lookup: Lookup, stop: Event) -> MergePlan:
    """The plan with the flags of the reviewer from Settings; unchanged if there is none or it does not answer."""
    name = session.store.setting(REVIEWER)
    if name is None:
        return made
    try:
        transcript = transcript_of(made, lookup, target_view(made, lookup))
        flags = review(lambda prompt: ask_once(session, name, prompt, stop=stop), made.payload, transcript)
    except ForkyError as error:
        if stop.is_set():
            raise
        return replace(made, warnings=(*made.warnings, f"{name} could not review it: {error}"))
    return replace(made, warnings=(*made.warnings, *(f"{name} flags: {flag.sentence}" for flag in flags)))


def plan_of_several(
    session: Session, all_inputs: Sequence[MergeInputs], options: MergeOptions, stop: Event
) -> MergePlan:
    """The plan for several sources at once, using the model in the options; errors as in `plan_of`."""
    planned, lookup = plan_octopus(all_inputs, options), all_inputs[0].lookup
    if options.model is None or not planned.drafts:
        return planned
    freely = replace(options, budget=None)
    try:
        return planned.with_written(
            [written(session, side, freely, lookup, stop) for side in planned.written_apart]
        )
    except SquashRejected as error:
        whole = badged(planned, options.model, error.failed)
        raise SquashRejected(error.failed, error.answer, whole) from error
