"""Reading what is visible of many conversations at once (store/visible.py says what that is)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from types import MappingProxyType

import duckdb

from forky_core.model import View
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.running import execute
from forky_core.store.rows import id_key, is_whole
from forky_core.store.visible import Merge, Place, VisibleRows, reveal


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
        Merge(conversation, segment, depth, tuple(json.loads(rest).get("parents", ())))
        for conversation, segment, depth, rest in execute(
            cursor, sql.MERGES_OF, conversations=of_each
        ).fetchall()
    ]
    reveal(seen, merges, lambda wanted: _places(cursor, wanted))
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
