"""Merging as a plan that is shown first and landed as one operation (law 8).

Planning reads; landing writes exactly what the plan says, on the heads that the plan saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from threading import Event

from forky_core.conversation.merging.examining import examination_of
from forky_core.conversation.merging.model_plans import plan_of, plan_of_several
from forky_core.conversation.reader import reader_of
from forky_core.conversation.session import Session
from forky_core.merge.corrections import with_corrections
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.validation import validate_options
from forky_core.model import Branch, GenerationStatus, MessageId
from forky_core.model.errors import NothingToDo
from forky_core.model.graph import parents_in

RESOLUTIONS = "resolutions/"
"""The prefix of keys in the view that store how conflicts were settled."""
CONFLICTS = "conflicts/"
"""With the id of a merge that settles none: what conflicted when it landed, for the tables for analysis."""


def plan(
    session: Session, target: str, source: str, options: MergeOptions, stop: Event | None = None
) -> MergePlan:
    """What merging `source` into `target` would write. Setting `stop` cancels a model's call.

    Raises:
        BadContent: there is no such strategy, or it would ignore one of the options.
        NothingToDo: the source is empty, or the target itself.
        SquashRejected: the model's summary failed a check.
        ModelError: the model did not answer, or was stopped.
    """
    return replace(_planned(session, target, source, options, stop or Event()), options=options)


def _planned(session: Session, target: str, source: str, options: MergeOptions, stop: Event) -> MergePlan:
    validate_options(options)
    into, of = session.branch(target), session.branch(source)
    if of.head is None:
        raise NothingToDo(f"“{source}” is empty: there is nothing to merge.")
    if source == target:
        raise NothingToDo(f"“{source}” cannot be merged into itself.", "Choose another branch.")
    inputs = inputs_of(session, into, of)
    return with_corrections(plan_of(session, inputs, options, stop))


def plan_octopus(
    session: Session, target: str, sources: Sequence[str], options: MergeOptions, stop: Event | None = None
) -> MergePlan:
    """What merging several branches at once would write; errors as in `plan`."""
    return replace(_octopus(session, target, sources, options, stop or Event()), options=options)


def _octopus(
    session: Session, target: str, sources: Sequence[str], options: MergeOptions, stop: Event
) -> MergePlan:
    validate_options(options)
    into = session.branch(target)
    if target in sources:
        raise NothingToDo(f"“{target}” cannot be merged into itself.", "Choose other branches.")
    branches = [session.branch(name) for name in dict.fromkeys(sources)]
    full_ones = [branch for branch in branches if branch.head is not None]
    if not full_ones:
        raise NothingToDo("These branches are empty: there is nothing to merge.")
    if len(full_ones) == 1:
        return _planned(session, target, full_ones[0].name, options, stop)
    all_inputs = [inputs_of(session, into, branch) for branch in full_ones]
    return with_corrections(plan_of_several(session, all_inputs, options, stop))


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
