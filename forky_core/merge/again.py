"""Merging a branch again after its merge was reverted: the source is still an ancestor of the target, so Δ is empty.

Either the revert is reverted, or the merge is made `again`: as if earlier merges of that source had brought nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forky_core.context.masking import taken_back
from forky_core.graph import ancestors, first_parent_path
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.plan import Reverted
from forky_core.model import Message, MessageId


def reverted(place: MergeInputs) -> tuple[Reverted, ...]:
    """Return the reverted messages of the target's line that came from the source, oldest first: merges, copies, its
    own messages.
    """
    line = place.line_of(place.target)
    by = taken_back(line)
    if not by:
        return ()
    source = ancestors((place.source,), place.parents_of)
    return tuple(Reverted(m.id, by[m.id]) for m in line if m.id in by and _comes_from(m, source))


def _comes_from(message: Message, source: frozenset[MessageId]) -> bool:
    return message.id in source or not source.isdisjoint((*message.parents[1:], *message.sources))


def as_if_never_merged(place: MergeInputs) -> MergeInputs:
    """Return inputs in which the merges of the source on the target's line have brought nothing."""
    if place.target is None:
        return place
    source = ancestors((place.source,), place.parents_of)
    line = first_parent_path(place.target, place.parents_of)
    merges = {id for id in line if id not in source and not source.isdisjoint(place.parents_of(id)[1:])}
    parents_of = place.parents_of

    def only_the_line(id: MessageId) -> Sequence[MessageId]:
        return parents_of(id)[:1] if id in merges else parents_of(id)

    return replace(place, parents_of=only_the_line)
