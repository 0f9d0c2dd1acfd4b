"""Reading what the engines keep in the same columns. A conversation is given by its key in the tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from forky_core.model import ConversationId, Message, MessageId, Operation, Reuse, Stem, Usage, View
from forky_core.store.base.session import EVERY, EngineSession, EngineTables
from forky_core.store.deciding import reuse_of
from forky_core.store.rows import id_from_key, id_key, is_whole, message_from_row, operations_from_rows
from forky_core.store.segments import Origin, ranges
from forky_core.store.visible import Merge, Place, VisibleRows, reveal

K = TypeVar("K", int, str)
Key = int | str
RangeRows = Callable[[Any, Any, Sequence[int], Sequence[int]], list[tuple[Any, ...]]]
"""By a session and a key, reads the messages of these segments up to these depths, the root first."""


def read_message(database: EngineTables, key: Key, id: MessageId) -> Message | None:
    rows = database.rows(database.sql.MESSAGE, conversation=key, id=id_key(id)) if is_whole(id) else []
    with database.decoding():
        for own, parent, *content in rows:
            return message_from_row(id_from_key(own), id_from_key(parent) if parent else None, *content)
    return None


def read_stems(database: EngineTables, key: Key) -> dict[MessageId, Stem]:
    rows = database.rows(database.sql.STEMS, conversation=key)
    found: dict[MessageId, Stem] = {}
    with database.decoding():
        for id, parent, created, rest in rows:
            parents = (rows[parent - 1][0],) if parent is not None else ()
            more = json.loads(rest) if rest is not None else {}
            found[id] = Stem((*parents, *more.get("parents", ())), created, bool(more.get("hidden")))
    return found


def read_stretch(database: EngineTables, key: Key, after: int, most: int) -> tuple[Message, ...]:
    """Read messages in the order they were written; `message` counts them from 1 without gaps."""
    sql = database.sql

    def read(session: EngineSession) -> tuple[list[tuple[Any, ...]], dict[int, MessageId]]:
        rows = session.rows(sql.STRETCH, conversation=key, after=after, last=after + most)
        ids: dict[int, MessageId] = {row[0]: row[1] for row in rows}
        elsewhere = sorted({row[2] for row in rows if row[2] is not None and row[2] not in ids})
        if elsewhere:
            ids.update(session.rows(sql.NUMBERED, conversation=key, numbers=elsewhere))
        return rows, ids

    rows, ids = database.at_once(read)
    with database.decoding():
        return tuple(
            message_from_row(id, ids[parent] if parent is not None else None, *columns)
            for _, id, parent, *columns in rows
        )


def read_path(database: EngineTables, key: Key, head: MessageId, rows_of: RangeRows) -> list[Message] | None:
    """Read the path from the root to `head`; None for an unknown head."""
    sql = database.sql

    def read(session: EngineSession) -> list[tuple[Any, ...]] | None:
        place = session.rows(sql.PLACE, conversation=key, id=id_key(head))
        if not place:
            return None
        ((segment, depth),) = place
        rows = session.rows(sql.SEGMENTS, conversation=key)
        origins: dict[int, Origin] = {segment: (parent, at) for segment, parent, at in rows}
        with database.decoding():
            found = rows_of(session, key, *ranges(segment, depth, origins))
            if len(found) != depth + 1:
                raise ValueError("A path does not have as many messages as its head is deep.")
        return found

    rows = database.at_once(read) if is_whole(head) else None
    if rows is None:
        return None
    path: list[Message] = []
    parent: MessageId | None = None
    with database.decoding():
        for _, id, role, text, rest, created in rows:
            path.append(message_from_row(id, parent, role, text, rest, created))
            parent = id
    return path


def read_log(
    database: EngineTables, key: Key, conversation: ConversationId, *, after: int, last: int = EVERY
) -> list[Operation]:
    """Read operations with a number above `after`, up to `last`, oldest first."""
    # One operation before the first is read too, because each holds the id of its predecessor.
    first = max(after, 1)
    rows = database.fetch(database.sql.OPERATIONS, conversation=key, first=first, last=last)
    with database.decoding():
        if [row["number"] for row in rows] != list(range(first, first + len(rows))):
            raise ValueError("The log has a gap.")
        return operations_from_rows(conversation, rows, None)[1 if after > 0 else 0 :]


def read_reuse(database: EngineTables, key: Key | None) -> Reuse:
    """Read the reuse of stored answers in one conversation, or in all if it is None."""
    rows = database.rows(database.sql.LOOKED)
    with database.decoding():
        looked = [
            (at, rest.get("reused"))
            for at, text in rows
            if key in (None, at) and (rest := json.loads(text)).get("looked") is True
        ]
    hits = [(at, id) for at, id in looked if id is not None]
    given = {"conversations": [at for at, _ in hits], "ids": [id for _, id in hits]}
    took = {
        (at, id): Usage(prompt, completion, cost=cost)
        for at, id, prompt, completion, cost in database.rows(database.sql.TOOK, **given)
    }
    return reuse_of((took.get((at, id)), id is not None) for at, id in looked)


def read_visible(session: EngineSession, keys: Iterable[K]) -> dict[K, VisibleRows]:
    """Read the visible part of each conversation (store/visible.py); to be called inside a transaction."""
    sql, of_each = session.sql, sorted(keys)
    entries: dict[K, dict[str, object]] = {key: {} for key in of_each}
    for key, name, value in session.rows(sql.ENTRIES_OF, conversations=of_each):
        entries[key][name] = json.loads(value)
    seen = {key: VisibleRows(View(MappingProxyType(entries[key]), 0)) for key in of_each}
    for key, segment, parent, depth in session.rows(sql.SEGMENTS_OF, conversations=of_each):
        seen[key].origins[segment] = (parent, depth)
    merges = [
        Merge(key, segment, depth, tuple(json.loads(rest).get("parents", ())))
        for key, segment, depth, rest in session.rows(sql.MERGES_OF, conversations=of_each)
    ]

    def places_of(wanted: Iterable[tuple[K, str]]) -> dict[tuple[K, str], Place]:
        pairs = sorted({pair for pair in wanted if is_whole(pair[1])})
        given = {"conversations": [key for key, _ in pairs], "ids": [id_key(one) for _, one in pairs]}
        rows = session.rows(sql.PLACES_OF, **given)
        return {(key, id_from_key(id)): (segment, depth) for key, id, segment, depth in rows}

    reveal(seen, merges, places_of)
    return seen
