"""Merging as a plan that is shown first and landed as one operation (law 8).

Planning reads; landing writes exactly what the plan says, on the heads that the plan saw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Event

from forky_core.context.build import build_context
from forky_core.context.convert import FileAccess
from forky_core.context.masking import Lookup
from forky_core.conversation.identity import now
from forky_core.conversation.merging.examining import examination_of
from forky_core.conversation.merging.note_writing import NoteWriter
from forky_core.conversation.session import Session, branch_in
from forky_core.llm.tokens import estimate_tokens
from forky_core.merge.corrections import with_corrections
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.planner import plan_merge, plan_octopus
from forky_core.merge.strategies import strategy_named, validate_options
from forky_core.merge.written.plan import SquashRejected, badged, squash_written_by, target_view
from forky_core.model import Branch, GenerationStatus, Message, MessageId, Rules
from forky_core.model.errors import NotFound, NothingToDo
from forky_core.model.graph import parents_in

RESOLUTIONS = "resolutions/"
"""The prefix of keys in the view that store how conflicts were settled."""
CONFLICTS = "conflicts/"
"""With the id of a merge that settles none: what conflicted when it landed, for the tables for analysis."""


def plan(
    session: Session, target: str, sources: Sequence[str], options: MergeOptions, stop: Event | None = None
) -> MergePlan:
    """What merging these branches into `target` at once would write. Setting `stop` cancels a model's call.

    Raises:
        BadContent: there is no such strategy, or it would ignore one of the options.
        NothingToDo: the sources are empty, or one is the target itself.
        SquashRejected: the model's summary failed a check.
        ModelError: the model did not answer, or was stopped.
    """
    validate_options(options)
    if not sources:
        raise NothingToDo("No branch is named that is to be merged.")
    began = now()
    view, several = session.view, len(sources) > 1
    into, *branches = [branch_in(view, name) for name in (target, *dict.fromkeys(sources))]
    full_ones = [branch for branch in branches if branch.head is not None]
    if not several and not full_ones:
        raise NothingToDo(f"“{sources[0]}” is empty: there is nothing to merge.")
    if target in sources:
        way = "Choose other branches." if several else "Choose another branch."
        raise NothingToDo(f"“{target}” cannot be merged into itself.", way)
    if not full_ones:
        raise NothingToDo("These branches are empty: there is nothing to merge.")
    inputs = [inputs_of(session, into, branch) for branch in full_ones]
    return replace(plan_of(session, inputs, options, stop or Event()), options=options, made=began)


def plan_of(
    session: Session, all_inputs: Sequence[MergeInputs], options: MergeOptions, stop: Event
) -> MergePlan:
    """The plan for these sources. A model that the options name writes its notes; errors as in `plan`."""
    first, *others = all_inputs
    if not others:
        planned = plan_merge(first, options)
        return with_corrections(_written(session, planned, options, first.lookup, stop))
    planned = plan_octopus(all_inputs, options)
    if options.model is not None and planned.drafts:
        notes = zip(planned.written_apart, planned.budgets_apart(options.budget), strict=True)
        try:
            made = [
                _written(session, one, replace(options, budget=room), first.lookup, stop)
                for one, room in notes
            ]
            planned = planned.with_written(made)
        except SquashRejected as error:
            raise SquashRejected(error.problems, error.answer, badged(planned, options.model)) from error
    return with_corrections(planned)


def _written(
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


def inputs_of(session: Session, into: Branch, of: Branch) -> MergeInputs:
    """The inputs for a plan: both paths and what they depend on. The source must not be empty."""
    assert of.head is not None
    messages = session.messages
    reader = reader_of(session, into.rules)
    return MergeInputs(
        target=into.head,
        source=of.head,
        target_name=into.name,
        source_name=of.name,
        lookup=messages.__getitem__,
        parents_of=parents_in(messages),
        count_tokens=reader.count_tokens,
        statuses=statuses(session),
        file_access=reader.file_access,
        target_system=into.rules.system,
        source_system=of.rules.system,
        exclusions=of.rules.exclusions,
        resolutions={
            key.removeprefix(RESOLUTIONS): entry
            for key, entry in session.view.entries.items()
            if key.startswith(RESOLUTIONS)
        },
        examined=partial(examination_of, session),
    )


def statuses(session: Session) -> dict[MessageId, GenerationStatus]:
    """How the model call that produced each message ended; a text that one call gave as its whole answer is whole."""
    found: dict[MessageId, GenerationStatus] = {}
    for call in session.generations():
        if call.message is not None and found.get(call.message) != "done":
            found[call.message] = call.status
    return found


@dataclass(frozen=True, slots=True)
class Reader:
    count_tokens: Callable[[str], int]
    file_access: FileAccess


def reader_of(session: Session, rules: Rules) -> Reader:
    """The model that answers under these rules; if it is no longer available, an estimate, so that planning still
    works.
    """
    try:
        model = session.models.model(rules.model or session.models.default())
    except NotFound:
        return Reader(estimate_tokens, FileAccess(session.store.blob))
    return Reader(session.counting(model), FileAccess(session.store.blob, model.info().pictures))


def tokens_of(
    session: Session,
    path: Sequence[Message],
    rules: Rules,
    lookup: Callable[[MessageId], Message] | None = None,
) -> int:
    """The tokens of the context of `path`; `lookup` finds messages that are not stored yet."""
    reader = reader_of(session, rules)
    return build_context(
        path,
        rules,
        lookup=lookup or session.lookup,
        count_tokens=reader.count_tokens,
        blob=reader.file_access.blob,
        pictures=reader.file_access.pictures,
    ).tokens
