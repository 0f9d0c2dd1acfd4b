"""Which messages of a conversation are visible: those its refs name, and all their ancestors.

Undo and prune never remove a message; they only make it unreachable, and a search must not find it then. Visibility is
expressed by segments: for each, the deepest visible message. So many conversations can be searched without loading any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from forky_core.model import View
from forky_core.store.segments import Origin

Place = tuple[int, int]
"""Segment and depth."""
K = TypeVar("K")
"""What names a conversation in a store's tables."""


@dataclass(slots=True)
class VisibleRows:
    """The visible part of one conversation."""

    view: View
    origins: dict[int, Origin] = field(default_factory=dict)
    _deepest: dict[int, int] = field(default_factory=dict)

    def reveal(self, place: Place) -> None:
        """Mark this message and its first-parent ancestors as visible."""
        segment: int | None
        segment, depth = place
        while segment is not None and self._deepest.get(segment, -1) < depth:
            self._deepest[segment] = depth
            segment, depth = self.origins.get(segment, (None, -1))

    def shows(self, segment: int, depth: int) -> bool:
        return depth <= self._deepest.get(segment, -1)


@dataclass(frozen=True, slots=True)
class Merge(Generic[K]):
    """A message with several parents: where it is stored, and the ids of its other parents."""

    conversation: K
    segment: int
    depth: int
    parents: tuple[str, ...]


def reveal(
    seen: Mapping[K, VisibleRows],
    merges: Sequence[Merge[K]],
    places_of: Callable[[Iterable[tuple[K, str]]], Mapping[tuple[K, str], Place]],
) -> None:
    """Mark what is visible of each conversation, given its view and origins.

    `merges` are newest first in each conversation; `places_of` finds where messages stand.
    """
    tips = [(name, tip) for name, one in seen.items() for tip in one.view.tips]
    sides = [(merge.conversation, side) for merge in merges for side in merge.parents]
    places = places_of([*tips, *sides])
    for tip in tips:
        if tip in places:
            seen[tip[0]].reveal(places[tip])
    # Newest first: a side parent is older than its merge, so one pass reaches them all.
    for merge in merges:
        if seen[merge.conversation].shows(merge.segment, merge.depth):
            for side in merge.parents:
                if (merge.conversation, side) in places:
                    seen[merge.conversation].reveal(places[merge.conversation, side])
