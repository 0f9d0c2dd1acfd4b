"""Plans that a model contributes to. It writes or reads, code checks; if it fails, the plan without it is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Event

from forky_core.context.masking import Lookup
from forky_core.conversation.merging.model_reading import ModelReader, NoteWriter
from forky_core.conversation.replies.once import ask_once
from forky_core.conversation.session import Session
from forky_core.graph import ancestors
from forky_core.merge.claims.active_claims import by_message
from forky_core.merge.claims.claim_set import folded
from forky_core.merge.claims.rules import claims_of
from forky_core.merge.inputs import ClaimFinder, MergeInputs
from forky_core.merge.models.asking import ReadingFailed
from forky_core.merge.models.reading import ClaimReading
from forky_core.merge.models.review import review
from forky_core.merge.models.squash import (
    SquashRejected,
    squash_written_by,
    target_view,
    transcript_of,
)
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.planner import plan_merge, plan_octopus
from forky_core.merge.strategies import strategy_named
from forky_core.merge.three_way import ThreeWayPlan
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
    if options.model is not None and strategy_named(options.strategy).model == "reads":
        return _three_way(
            (inputs,), options, ModelReader(session, options.model, options.focus, stop, options.reread)
        )
    return written(session, plan_merge(inputs, options), options, inputs.lookup, stop)


def written(
    session: Session, planned: MergePlan, options: MergeOptions, lookup: Lookup, stop: Event
) -> MergePlan:
    """A squash with its block written by the model in the options; any other plan unchanged.

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
    if options.model is not None and strategy_named(options.strategy).model == "reads":
        return _three_way(
            all_inputs, options, ModelReader(session, options.model, options.focus, stop, options.reread)
        )
    planned = plan_octopus(all_inputs, options)
    if options.model is None or not planned.sides:
        return planned
    freely, lookup = replace(options, budget=None), all_inputs[0].lookup
    return planned.of_sides([written(session, side, freely, lookup, stop) for side in planned.sides])


def _three_way(all_inputs: Sequence[MergeInputs], options: MergeOptions, reader: ModelReader) -> MergePlan:
    """Plan a three-way merge. The model reads all sides since they diverged; rules read what they share, and claims
    that merges stored are used unchanged.
    """

    def plan(all_inputs: Sequence[MergeInputs], options: MergeOptions) -> MergePlan:
        return (
            plan_merge(all_inputs[0], options) if len(all_inputs) == 1 else plan_octopus(all_inputs, options)
        )

    inputs = all_inputs[0]
    by_rules = plan(all_inputs, replace(options, choices={}))
    if not by_rules.drafts:
        return by_rules
    heard = [ancestors((one.source,), one.parents_of) for one in all_inputs]
    theirs_known = frozenset.intersection(*heard)
    mine = [m for m in inputs.line_of(inputs.target) if m.id not in theirs_known and not m.merges]
    theirs = [m for m in map(inputs.lookup, by_rules.turns) if not m.merges]
    try:
        own = reader.read(mine) if mine else ClaimReading()
        other = reader.read(theirs, tuple(dict.fromkeys(claim.key for claim in own.claims if claim.key)))
    except ReadingFailed as error:
        badge = f"Claims found by rules; the reading by {reader.name} failed the checks."
        stands_in = replace(by_rules, badge=badge, failed=error.failed)
        raise SquashRejected(error.failed, error.answer, stands_in) from error
    said = by_message((*own.claims, *other.claims))
    read = {message.id for message in (*mine, *theirs)}
    found_by_model = ClaimFinder(
        lambda message: said(message) if message.id in read else claims_of(message),
        other.verbatim,
        reader.name,
    )
    planned = plan([replace(one, claims=found_by_model) for one in all_inputs], options)
    clashes = planned.clashes if isinstance(planned, ThreeWayPlan) else ()
    found = {folded(clash.key) for clash in clashes}
    suspected = [key for key in other.against if folded(key) not in found]
    if suspected:
        note = f"{reader.name} sees a contradiction that the claims do not show: {'; '.join(suspected)}."
        planned = replace(planned, warnings=(*planned.warnings, note))
    return planned
