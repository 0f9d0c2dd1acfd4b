"""Planning a merge again on the current branches after a lost race, keeping the person's decisions."""

from __future__ import annotations

from dataclasses import replace
from threading import Event

from forky_core.conversation.merging import grafting
from forky_core.conversation.merging.decisions import decisions_in, with_choices, with_words
from forky_core.conversation.merging.merging import plan
from forky_core.conversation.session import Session
from forky_core.merge.options import NO_CHOICES, MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.model.errors import NothingToDo


def replan(session: Session, planned: MergePlan, stop: Event | None = None) -> MergePlan:
    """Plan with the same options on the branches as they are now, keeping the person's choices and edits.

    A choice is kept if the conflicting values are unchanged. Edited text is kept; if there are new messages, a warning
    says so. If the same merge landed meanwhile, text that a person or a model wrote is not lost: it is planned as
    another merge, with a warning.

    Raises:
        As `plan`.
    """
    if planned.options is None:
        raise NothingToDo("This plan was not made from options.", "Plan it anew.")
    decided = decisions_in(planned)
    made = _anew(session, planned, planned.options, stop)
    sides = planned.sides or (planned,)
    if not made.lands and any(side.by_hand or (side.block and side.block.made_by) for side in sides):
        made = _anew(session, planned, replace(planned.options, again=True), stop)
        note = f"“{planned.target_name}” has all of “{planned.source_name}” meanwhile: this would say it once more."
        made = replace(made, warnings=(note, *made.warnings))
    made = with_choices(made, decided.choices)
    made = with_words(made, decided.words, frozenset(planned.turns))
    return replace(made, request=planned.request)


def _anew(session: Session, planned: MergePlan, options: MergeOptions, stop: Event | None) -> MergePlan:
    # The choices are in the plan; among the options they would be refused if their conflict no longer exists.
    options = replace(options, choices=NO_CHOICES, planned_at=options.planned_at or planned.target)
    if planned.graft is not None:
        other = session.other_conversation(planned.graft.conversation)
        return grafting.plan(session, planned.target_name, other, planned.graft.branch, options, stop)
    return plan(session, planned.target_name, planned.sources, options, stop)
