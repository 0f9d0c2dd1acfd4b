"""A plan that lost a race, made again on the branches as they are now, with what the person had decided."""

from __future__ import annotations

from dataclasses import replace
from threading import Event

from forky_core.conversation.merging import grafting
from forky_core.conversation.merging.decisions import decisions_in, with_choices, with_words
from forky_core.conversation.merging.merging import plan_octopus
from forky_core.conversation.repo import Repo
from forky_core.merge.options import NO_CHOICES, MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.model.errors import NothingToDo


def replan(repo: Repo, planned: MergePlan, stop: Event | None = None) -> MergePlan:
    """The same wish on the branches as they are now, with what the person had decided and written.

    Choices go with the values they were made between: where those are the same, so is the choice. Words of one's own
    stay; where new messages have come, a warning says so. Where the same was merged meanwhile, what a person or a model
    wrote is not lost either: it is planned as merging once more, and a warning says that.

    Raises:
        As `plan`.
    """
    if planned.wish is None:
        raise NothingToDo("This plan was not made from a wish.", "Plan it anew.")
    decided = decisions_in(planned)
    made = _anew(repo, planned, planned.wish, stop)
    sides = planned.sides or (planned,)
    if not made.lands and any(side.by_hand or (side.block and side.block.made_by) for side in sides):
        made = _anew(repo, planned, replace(planned.wish, again=True), stop)
        note = f"“{planned.target_name}” has all of “{planned.source_name}” meanwhile: this would say it once more."
        made = replace(made, warnings=(note, *made.warnings))
    made = with_choices(made, decided.choices)
    made = with_words(made, decided.words, frozenset(planned.turns))
    return replace(made, request=planned.request)


def _anew(repo: Repo, planned: MergePlan, wish: MergeOptions, stop: Event | None) -> MergePlan:
    # What was chosen is in the plan; as part of the wish it would be refused where a conflict is gone.
    wish = replace(wish, choices=NO_CHOICES)
    if planned.graft is not None:
        other = repo.beside(planned.graft.conversation)
        return grafting.plan(repo, planned.target_name, other, planned.graft.branch, wish, stop)
    return plan_octopus(repo, planned.target_name, planned.sources, wish, stop)
