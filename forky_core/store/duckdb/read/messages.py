"""Reading messages from rows: one, a path by its segments, or all of a conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from forky_core.model import Generation, Message, MessageId, PathOverlap
from forky_core.process.scheduling import gc_paused
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.cache.fully_packed import FullyPacked
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.read.packs import BadPack, read_packs
from forky_core.store.duckdb.running import FileSession, execute, fetch_in_pieces, pieces
from forky_core.store.path_matching import how_far
from forky_core.store.rows import generation_from_row, message_from_row

_FEW = 16


def rows_of_ranges(
    session: FileSession, conversation: int, segments: Sequence[int], depths: Sequence[int]
) -> list[tuple[Any, ...]]:
    if len(segments) > _FEW:
        rows = session.rows(sql.PATH, conversation=conversation, segments=segments, depths=depths)
    else:
        named = {f"segment_{at}": segment for at, segment in enumerate(segments)}
        named |= {f"depth_{at}": depth for at, depth in enumerate(depths)}
        rows = session.rows(sql.path_of(len(segments)), conversation=conversation, **named)
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


def read_all_calls(
    file: DatabaseFile, conversation: int, known: Mapping[MessageId, Message]
) -> list[Generation]:
    """Read all generations, in the order they were started. The ids of `known` messages are not made a second time."""
    with file.cursor() as cursor:
        rows = fetch_in_pieces(cursor, sql.GENERATIONS, conversation=conversation)
        with file.decoding():
            return [generation_from_row(row, known) for row in rows]
