"""Plans that a model has a part in: it reads, code checks and merges; where it fails, the plan without it stands in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Event

from forky_core.context.masking import Lookup
from forky_core.dag import ancestors
from forky_core.merge.attribution import attribute
from forky_core.merge.claims.active_claims import by_message
from forky_core.merge.claims.claim_set import folded
from forky_core.merge.claims.rules import claims_of
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.models.asking import ReadingFailed
from forky_core.merge.models.reading import Reading
from forky_core.merge.models.squash import SquashRejected, badged, squash_of_reading
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.planner import plan_merge, plan_octopus
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.model import Message
from forky_core.repo.merges.model_reading import ModelReader
from forky_core.repo.repo import Repo


def plan_of(repo: Repo, place: MergeInputs, wish: MergeOptions, stop: Event) -> MergePlan:
    """The plan of one source, with the model that is wished for.

    Raises:
        BadContent: as `plan_merge`.
        SquashRejected: the model's reading failed a check.
        ModelError: the model did not answer, or was stopped.
    """
    if wish.model is not None and wish.strategy == "three-way":
        return _three_way((place,), wish, ModelReader(repo, wish.model, wish.focus, stop, wish.reread))
    return written(repo, plan_merge(place, wish), wish, place.lookup, stop)


def written(repo: Repo, planned: MergePlan, wish: MergeOptions, lookup: Lookup, stop: Event) -> MergePlan:
    """A squash with its block made of what the model reads, where one is wished for; any other plan as it is."""
    if wish.model is None or wish.strategy != "squash" or not planned.drafts:
        return planned

    def heard(turns: Sequence[Message]) -> Sequence[Message]:
        return attribute(turns, lookup, planned.short).messages

    reader = ModelReader(repo, wish.model, wish.focus, stop, wish.reread, heard)
    try:
        reading = reader.read([lookup(id) for id in planned.turns])
    except ReadingFailed as error:
        quoted = badged(planned, wish.model, error.failed)
        raise SquashRejected(error.failed, error.answer, quoted) from error
    return squash_of_reading(planned, reading, lookup=lookup, model=wish.model, budget_tokens=wish.budget)


def plan_of_several(repo: Repo, places: Sequence[MergeInputs], wish: MergeOptions, stop: Event) -> MergePlan:
    """The plan of several sources at once, with the model that is wished for; errors as `plan_of`."""
    if wish.model is not None and wish.strategy == "three-way":
        return _three_way(places, wish, ModelReader(repo, wish.model, wish.focus, stop, wish.reread))
    planned = plan_octopus(places, wish)
    if wish.model is None or not planned.sides:
        return planned
    freely, lookup = replace(wish, budget=None), places[0].lookup
    return planned.of_sides([written(repo, side, freely, lookup, stop) for side in planned.sides])


def _three_way(places: Sequence[MergeInputs], wish: MergeOptions, reader: ModelReader) -> MergePlan:
    """All sides since they parted are read; what they share is known by rules, and what merges froze as it is."""

    def plan(places: Sequence[MergeInputs], wish: MergeOptions) -> MergePlan:
        return plan_merge(places[0], wish) if len(places) == 1 else plan_octopus(places, wish)

    place = places[0]
    by_rules = plan(places, replace(wish, choices={}))
    if not by_rules.drafts:
        return by_rules
    heard = [ancestors((one.source,), one.parents_of) for one in places]
    theirs_known = frozenset.intersection(*heard)
    mine = [m for m in place.line_of(place.target) if m.id not in theirs_known and not m.merges]
    theirs = [m for m in map(place.lookup, by_rules.turns) if not m.merges]
    try:
        own = reader.read(mine) if mine else Reading()
        other = reader.read(theirs, tuple(dict.fromkeys(claim.key for claim in own.claims if claim.key)))
    except ReadingFailed as error:
        badge = f"Claims found by rules; the reading by {reader.name} failed the checks."
        stands_in = replace(by_rules, badge=badge, failed=error.failed)
        raise SquashRejected(error.failed, error.answer, stands_in) from error
    said = by_message((*own.claims, *other.claims))
    read = {message.id for message in (*mine, *theirs)}
    read_places = [
        replace(
            one,
            extract=lambda message: said(message) if message.id in read else claims_of(message),
            verbatim=other.verbatim,
            reader=reader.name,
        )
        for one in places
    ]
    planned = plan(read_places, wish)
    clashes = planned.clashes if isinstance(planned, ThreeWayPlan) else ()
    found = {folded(clash.key) for clash in clashes}
    suspected = [key for key in other.against if folded(key) not in found]
    if suspected:
        note = f"{reader.name} sees a contradiction that the claims do not show: {'; '.join(suspected)}."
        planned = replace(planned, warnings=(*planned.warnings, note))
    return planned
