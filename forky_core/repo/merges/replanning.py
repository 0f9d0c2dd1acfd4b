"""A plan that lost a race, made again on the branches as they are now, with what the person had decided."""

from __future__ import annotations

from dataclasses import replace
from threading import Event

from forky_core.errors import NothingToDo
from forky_core.merge.plan import MergePlan
from forky_core.merge.wish import NO_CHOICES
from forky_core.repo.merges import grafting
from forky_core.repo.merges.decisions import decisions_in, with_choices, with_words
from forky_core.repo.merges.merging import plan_octopus
from forky_core.repo.repo import Repo


def replan(repo: Repo, planned: MergePlan, stop: Event | None = None) -> MergePlan:
    """The same wish on the branches as they are now, with what the person had decided and written.

    Choices go with the values they were made between: where those are the same, so is the choice. Words of one's own
    stay; where new messages have come, a warning says so.

    Raises:
        As `plan`.
    """
    if planned.wish is None:
        raise NothingToDo("This plan was not made from a wish.", "Plan it anew.")
    decided = decisions_in(planned)
    made = with_choices(_anew(repo, planned, stop), decided.choices)
    made = with_words(made, decided.words, frozenset(planned.turns))
    return replace(made, request=planned.request)


def _anew(repo: Repo, planned: MergePlan, stop: Event | None) -> MergePlan:
    assert planned.wish is not None
    # What was chosen is in the plan; as part of the wish it would be refused where a conflict is gone.
    wish = replace(planned.wish, choices=NO_CHOICES)
    if planned.graft is not None:
        other = repo.beside(planned.graft.conversation)
        return grafting.plan(repo, planned.target_name, other, planned.graft.branch, wish, stop)
    names = [side.source_name for side in planned.sides] or [planned.source_name]
    return plan_octopus(repo, planned.target_name, names, wish, stop)
