"""Which messages of a conversation are visible: those its refs name, and all their ancestors.

Undo and prune never remove a message; they only make it unreachable, and a search must not find it then. Visibility is
expressed by segments: for each, the deepest visible message. So many conversations can be searched without loading any.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import duckdb

from forky_core.model import View
from forky_core.store.duckdb.read.messages import is_whole
from forky_core.store.duckdb.read.rows import id_key
from forky_core.store.duckdb.read.segments import Origin
from forky_core.store.duckdb.sql import statements as sql
from forky_core.store.duckdb.sql.running import execute

Place = tuple[int, int]
"""Segment and depth."""


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


def read_visible(cursor: duckdb.DuckDBPyConnection, conversations: Sequence[int]) -> dict[int, VisibleRows]:
    """Read the visible part of each conversation; to be called inside a transaction."""
    of_each = list(conversations)
    entries: dict[int, dict[str, object]] = defaultdict(dict)
    for conversation, key, value in execute(cursor, sql.ENTRIES_OF, conversations=of_each).fetchall():
        entries[conversation][key] = json.loads(value)
    seen = {number: VisibleRows(View(MappingProxyType(entries[number]), 0)) for number in of_each}
    for conversation, segment, parent, depth in execute(
        cursor, sql.SEGMENTS_OF, conversations=of_each
    ).fetchall():
        seen[conversation].origins[segment] = (parent, depth)
    merges = [
        (conversation, segment, depth, json.loads(rest).get("parents", ()))
        for conversation, segment, depth, rest in execute(
            cursor, sql.MERGES_OF, conversations=of_each
        ).fetchall()
    ]
    tips = [(number, tip) for number, one in seen.items() for tip in one.view.tips]
    sides = [(conversation, side) for conversation, _, _, parents in merges for side in parents]
    places = _places(cursor, [*tips, *sides])
    for tip in tips:
        if tip in places:
            seen[tip[0]].reveal(places[tip])
    # Newest first: a side parent is older than its merge, so one pass reaches them all.
    for conversation, segment, depth, parents in merges:
        if seen[conversation].shows(segment, depth):
            for side in parents:
                if (conversation, side) in places:
                    seen[conversation].reveal(places[conversation, side])
    return seen


def _places(
    cursor: duckdb.DuckDBPyConnection, wanted: Iterable[tuple[int, str]]
) -> dict[tuple[int, str], Place]:
    pairs = sorted({pair for pair in wanted if is_whole(pair[1])})
    given = {
        "conversations": [conversation for conversation, _ in pairs],
        "ids": [id_key(id) for _, id in pairs],
    }
    return {
        (conversation, f"b2:{id}"): (segment, depth)
        for conversation, id, segment, depth in execute(cursor, sql.PLACES_OF, **given).fetchall()
    }
