"""A plan that lost a race, made again on the branches as they are now, with what the person had decided."""

from __future__ import annotations

from dataclasses import replace
from threading import Event

from forky_core.errors import NothingToDo
from forky_core.merge.plan import MergePlan
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.repo.merges import grafting
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
    made = _anew(repo, planned, stop)
    if isinstance(planned, ThreeWayPlan) and isinstance(made, ThreeWayPlan):
        here = {clash.conflict.hash for clash in made.clashes}
        chosen = {clash.conflict.hash: clash.choice for clash in planned.clashes if clash.choice is not None}
        made = made.resolved({hash: choice for hash, choice in chosen.items() if hash in here})
        if gone := len(chosen.keys() - here):
            made = replace(
                made, warnings=(*made.warnings, f"{gone} of your resolutions fit no conflict any more.")
            )
    if planned.by_hand and planned.block is not None and made.block is not None:
        fresh = len(set(made.turns) - set(planned.turns))
        made = made.edited(planned.block.text)
        if fresh:
            news = f"{fresh} messages have come that your words say nothing about."
            made = replace(made, warnings=(*made.warnings, news))
    if planned.request is not None:
        made = replace(made, request=planned.request)
    still = {side.source_name for side in made.sides}
    for side in planned.sides:
        if side.by_hand and side.block is not None and side.source_name in still:
            made = made.edited_side(side.source_name, side.block.text)
    return made


def _anew(repo: Repo, planned: MergePlan, stop: Event | None) -> MergePlan:
    assert planned.wish is not None
    if planned.graft is not None:
        other = Repo(repo.store, repo.replies, repo.models, planned.graft.conversation, repo.actor)
        return grafting.plan(repo, planned.target_name, other, planned.graft.branch, planned.wish, stop)
    names = [side.source_name for side in planned.sides] or [planned.source_name]
    return plan_octopus(repo, planned.target_name, names, planned.wish, stop)
