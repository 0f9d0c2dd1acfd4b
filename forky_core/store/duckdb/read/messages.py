"""Reading messages from rows: one, a path by its segments, or all of a conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import Any

import duckdb

from forky_core.model import (
    ConversationId,
    Generation,
    Message,
    MessageId,
    Operation,
    PathOverlap,
    Reuse,
    Stem,
    Usage,
)
from forky_core.process.scheduling import gc_paused
from forky_core.store.deciding import reuse_of
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.cache.fully_packed import FullyPacked
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.read.packs import BadPack, read_packs
from forky_core.store.duckdb.running import execute, fetch_in_pieces, pieces
from forky_core.store.path_matching import how_far
from forky_core.store.rows import (
    Row,
    generation_from_row,
    id_from_key,
    id_key,
    is_whole,
    message_from_row,
    operations_from_rows,
)
from forky_core.store.segments import Origin, ranges

_FEW = 16


def read_message(file: DatabaseFile, conversation: int, id: MessageId) -> Message | None:
    if not is_whole(id):
        return None
    rows = file.rows(sql.MESSAGE, conversation=conversation, id=id_key(id))
    with file.decoding():
        for key, parent, *content in rows:
            return message_from_row(id_from_key(key), id_from_key(parent) if parent else None, *content)
    return None


def read_reuse(file: DatabaseFile, conversation: int | None) -> Reuse:
    """Read the reuse of stored answers in one conversation, or in all if it is None."""
    rows = file.rows(sql.LOOKED)
    with file.decoding():
        looked = [
            (number, rest.get("reused"))
            for number, text in rows
            if conversation in (None, number) and (rest := json.loads(text)).get("looked") is True
        ]
    hits = [(number, id) for number, id in looked if id is not None]
    given = {"conversations": [number for number, _ in hits], "ids": [id for _, id in hits]}
    took = {
        (number, id): Usage(prompt, completion, cost=cost)
        for number, id, prompt, completion, cost in file.rows(sql.TOOK, **given)
    }
    return reuse_of((took.get((number, id)), id is not None) for number, id in looked)


def read_path(file: DatabaseFile, conversation: int, head: MessageId) -> list[Message] | None:
    """Read the path from the root to `head`; None for an unknown head."""
    if not is_whole(head):
        return None
    with file.snapshot() as cursor:
        place = execute(cursor, sql.PLACE, conversation=conversation, id=id_key(head)).fetchall()
        if not place:
            return None
        rows = execute(cursor, sql.SEGMENTS, conversation=conversation).fetchall()
        origins: dict[int, Origin] = {segment: (parent, depth) for segment, parent, depth in rows}
        with file.decoding():
            segments, depths = ranges(place[0][0], place[0][1], origins)
        rows = _rows_of_ranges(cursor, conversation, segments, depths)
    with file.decoding():
        if len(rows) != place[0][1] + 1:
            raise ValueError("A path does not have as many messages as its head is deep.")
        path: list[Message] = []
        parent: MessageId | None = None
        for _, id, role, text, rest, created in rows:
            path.append(message_from_row(id, parent, role, text, rest, created))
            parent = id
    return path


def _rows_of_ranges(
    cursor: duckdb.DuckDBPyConnection, conversation: int, segments: list[int], depths: list[int]
) -> list[tuple[Any, ...]]:
    if len(segments) > _FEW:
        given = {"segments": segments, "depths": depths}
        rows = execute(cursor, sql.PATH, conversation=conversation, **given).fetchall()
    else:
        named = {f"segment_{at}": segment for at, segment in enumerate(segments)}
        named |= {f"depth_{at}": depth for at, depth in enumerate(depths)}
        rows = execute(cursor, sql.path_of(len(segments)), conversation=conversation, **named).fetchall()
    return sorted(rows, key=itemgetter(0))


@gc_paused()
def read_messages(
    file: DatabaseFile,
    conversation: int,
    whole: FullyPacked | None,
    most: int | None = None,
    known: Mapping[MessageId, Message] = MappingProxyType({}),
) -> list[Message] | None:
    """Read all messages in the order they were written; None if there are more than `most`.

    A message of `known` is not made a second time. Raises BadPack if packs are damaged: without `whole`, the messages
    are read without packs.
    """
    if whole is not None and (last := whole.last(conversation)) is not None:
        if most is not None and last > most:
            return None
        with file.cursor() as cursor:
            found = read_packs(cursor, conversation)
        if whole.last(conversation) == last:
            if len(found) != last:
                raise BadPack
            return found
    with file.snapshot() as cursor:
        found = read_packs(cursor, conversation, most) if whole is not None else []
        if found and whole is not None:
            whole.wanted = True
        after = len(found)
        if most is None:
            asked = execute(cursor, sql.MESSAGES, conversation=conversation, after=after)
            rows: Iterator[tuple[Any, ...]] = chain.from_iterable(pieces(asked))
        elif after > most:
            return None
        else:
            left = most - after
            given = {"after": after, "most": left + 1}
            read = execute(cursor, sql.FIRST_MESSAGES, conversation=conversation, **given).fetchall()
            if len(read) > left:
                return None
            rows = iter(sorted(read, key=itemgetter(0)))
        _add_rows(file, found, rows, known)
    return found


def _add_rows(
    file: DatabaseFile,
    found: list[Message],
    rows: Iterator[tuple[Any, ...]],
    known: Mapping[MessageId, Message],
) -> None:
    """Add the messages that follow those found."""
    first = next(rows, None)
    if first is None:
        return
    ids: dict[int, MessageId] = {at: message.id for at, message in enumerate(found, start=1)}
    number = 0
    with file.decoding():
        for number, id, parent, role, text, rest, created in chain((first,), rows):
            message = known.get(id)
            if message is None:
                above = ids[parent] if parent is not None else None
                message = message_from_row(id, above, role, text, rest, created)
            ids[number] = message.id
            found.append(message)
        if number != len(found):
            raise ValueError("A conversation does not have as many messages as its last one's number says.")


def read_path_overlap(
    file: DatabaseFile, conversation: int, path: Sequence[MessageId], most: int
) -> PathOverlap | None:
    """See `Store.path_overlap`. It reads only ids and parents, and the content of the few messages that branch off the
    path.

    The two reads may see different snapshots, which is harmless: messages written in between follow existing ones.
    """
    rows = file.rows(sql.LINKS, conversation=conversation)
    with file.decoding():
        shown = {
            id: number for number, id, _, rest in rows if rest is None or not json.loads(rest).get("hidden")
        }
    known = how_far(path, shown)
    ids: dict[int, MessageId] = {shown[id]: id for id in path[:known]}
    beside = {
        number: ids[parent] if parent is not None else None
        for number, _, parent, _ in rows
        if (parent is None or parent in ids) and number not in ids
    }
    if len(beside) > most:
        return None
    words = []
    if beside:
        named = {f"number_{at}": number for at, number in enumerate(beside)}
        words = file.rows(sql.words_of(len(beside)), conversation=conversation, **named)
    with file.decoding():
        return PathOverlap(
            known, tuple(message_from_row(id, beside[number], *more) for number, id, *more in sorted(words))
        )


def read_stretch(file: DatabaseFile, conversation: int, after: int, most: int) -> list[Message]:
    """Read messages in the order they were written; `message` counts them from 1 without gaps."""
    with file.snapshot() as cursor:
        given = {"conversation": conversation, "after": after, "last": after + most}
        rows = execute(cursor, sql.STRETCH, **given).fetchall()
        ids: dict[int, MessageId] = {row[0]: row[1] for row in rows}
        elsewhere = sorted({row[2] for row in rows if row[2] is not None and row[2] not in ids})
        if elsewhere:
            named = execute(cursor, sql.NUMBERED, conversation=conversation, numbers=elsewhere)
            ids.update(named.fetchall())
    with file.decoding():
        return [
            message_from_row(id, ids[parent] if parent is not None else None, *columns)
            for _, id, parent, *columns in rows
        ]


def read_log(
    file: DatabaseFile, number: int, conversation: ConversationId, after: int, most: int
) -> list[Operation]:
    """Read operations with a number above `after`, oldest first."""
    # One operation before the first is read too, because each holds the id of its predecessor.
    rows = file.fetch(sql.LOG_STRETCH, conversation=number, first=max(after, 1), last=after + most)
    return _chained(file, conversation, rows, max(after, 1))[1 if after else 0 :]


def read_log_from(
    file: DatabaseFile, number: int, conversation: ConversationId, first: int
) -> list[Operation]:
    """Read operations from number `first` to the last; [] for an unknown conversation."""
    before = max(first - 1, 1)
    found = _chained(
        file, conversation, file.fetch(sql.OPERATIONS, conversation=number, first=before), before
    )
    return found[1:] if first > 1 else found


def _chained(
    file: DatabaseFile, conversation: ConversationId, rows: list[Row], first: int
) -> list[Operation]:
    """Turn rows into operations. Raises StoreDamaged if their numbers have a gap, so that a predecessor is missing."""
    with file.decoding():
        if rows and [row["number"] for row in rows] != list(range(first, first + len(rows))):
            raise ValueError("The log has a gap.")
        return operations_from_rows(conversation, rows, None)


def read_calls(
    file: DatabaseFile, conversation: int, after: Generation | None, most: int
) -> list[Generation]:
    """Read generations after `after`, in the order they were started."""
    started, id = (after.started, after.id) if after is not None else (-1, "")
    rows = file.fetch(sql.CALLS_STRETCH, conversation=conversation, started=started, id=id, most=most)
    with file.decoding():
        return [generation_from_row(row) for row in rows]


def read_all_calls(
    file: DatabaseFile, conversation: int, known: Mapping[MessageId, Message]
) -> list[Generation]:
    """Read all generations, in the order they were started. The ids of `known` messages are not made a second time."""
    with file.cursor() as cursor:
        rows = fetch_in_pieces(cursor, sql.GENERATIONS, conversation=conversation)
        with file.decoding():
            return [generation_from_row(row, known) for row in rows]


def read_stems(file: DatabaseFile, conversation: int) -> dict[MessageId, Stem]:
    rows = file.rows(sql.STEMS, conversation=conversation)
    found: dict[MessageId, Stem] = {}
    with file.decoding():
        for id, parent, created, rest in rows:
            parents = (rows[parent - 1][0],) if parent is not None else ()
            more = json.loads(rest) if rest is not None else {}
            found[id] = Stem((*parents, *more.get("parents", ())), created, bool(more.get("hidden")))
    return found
