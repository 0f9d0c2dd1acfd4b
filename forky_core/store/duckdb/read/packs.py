"""Packs: a second copy of a conversation's messages, stored side by side so that opening it reads one place.

Messages lie in the file in the order they were written, interleaved across conversations, and DuckDB has no index to
seek by: a thousand messages among a million lie in seventy-five places. A pack holds a run of messages as two texts,
their words and all other fields, cut into parts that DuckDB compresses. Messages never change, so a pack never goes
stale: newer messages are read from their own table. Packs are derived data: they are written while the store is idle,
purged with their conversation, and a damaged one is ignored, dropped and rebuilt. `verify` compares every pack with the
messages.

Without packs a path of a thousand messages among a million takes about twice the processor's time. They cost disk: the
file of a million messages grows from 264 to 438 MB, so a database below 100,000 messages has none. The texts are cut
into parts of 1,000 bytes because DuckDB compresses no text above 4,096, and because a checkpoint rewrites the last
group of rows. Sorting the table of messages itself would need no second copy, but every reader and writer would have
two places to look in.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import Any
from zlib import crc32

import duckdb

from forky_core.model import Message, Role
from forky_core.model.parts import canonical_json
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.cache.fully_packed import FullyPacked
from forky_core.store.duckdb.file.database import DatabaseFile, in_transaction
from forky_core.store.duckdb.file.wal import log_of
from forky_core.store.duckdb.running import append, execute
from forky_core.store.rows import Row, message_from_row, text_message

WORTH = 100_000
"""Messages in a database from which on packs justify a second copy of every text; in a smaller one they lie close
enough together.
"""
LEAST = 32
"""Unpacked messages of a conversation that justify a pack; fewer are read as quickly from their table."""
_MOST = 250
"""Messages in one pack: a transaction of 10 ms, so that a writer never waits for long."""
_ENOUGH = 4_000_000
"""Characters after which a pack is closed, even if it has few messages."""
_FOLDED = 8_000_000
"""Bytes of the log after which it is folded into the file: a quarter of DuckDB's default, and of the
time others wait.
"""
_PART = 1000
"""Bytes of a part: beyond 4,096 DuckDB would store a text uncompressed, and a checkpoint rewrites up to 4,096 rows."""
_DIGITS = 8
_PARTS_BITS = 20
"""A million parts, a billion bytes: a pack ends with the `LEAST` messages that take it beyond `_ENOUGH`."""
_ROLES: dict[str, Role] = {"s": "system", "u": "user", "a": "assistant", "t": "tool"}


class BadPack(Exception):
    """A pack does not hold what was written. Drop it and read the messages from their own table."""


def pack_rows(conversation: int, rows: Sequence[tuple[Any, ...]]) -> list[Row]:
    """The rows of one pack of consecutive messages, each (message, id, parent, role, text, rest, created).

    Its heads are the CRC-32 of all that follows in eight hex digits, and JSON: the ids, the numbers of the parents, a
    letter for each role, the rests there are as [place in the pack, rest], the first `created` and the steps to each
    next one, and of each text the length in characters.
    """
    numbers, ids, parents, roles, texts, rests, created = zip(*rows, strict=True)
    words = "".join(texts)
    heads = canonical_json(
        [
            list(ids),
            list(parents),
            "".join(role[0] for role in roles),
            [[at, rest] for at, rest in enumerate(rests) if rest is not None],
            [created[0], *(later - earlier for earlier, later in pairwise(created))],
            [len(text) for text in texts],
        ]
    )
    sealed = f"{_checksum(heads, words):0{_DIGITS}x}{heads}"
    parts = max(len(sealed.encode()), len(words.encode())) // _PART + 1
    return [
        {
            "conversation": conversation,
            "place": _place(numbers[0]) + part,
            "last": numbers[-1],
            "heads": head,
            "texts": text,
        }
        for part, (head, text) in enumerate(zip(_cut(sealed, parts), _cut(words, parts), strict=True))
    ]


def _place(first: int) -> int:
    """The place of a pack's first part; the others follow it. One column orders packs and parts, because each
    additional column takes a twentieth of the time of reading packs.
    """
    return first << _PARTS_BITS


def _cut(text: str, parts: int) -> list[str]:
    length = -(-len(text) // parts)
    return [text[at * length : (at + 1) * length] for at in range(parts)]


def _checksum(heads: str, words: str) -> int:
    return crc32(words.encode(), crc32(heads.encode()))


def read_packs(
    cursor: duckdb.DuckDBPyConnection, conversation: int, most: int | None = None
) -> list[Message]:
    """Read the conversation's messages from the first to the last packed one. Raises BadPack if a pack is damaged.

    With `most`, packs that begin after so many messages are left out.
    """
    if most is None:
        rows = execute(cursor, sql.PACKS, conversation=conversation).fetchall()
    else:
        before = _place(most + 1)
        rows = execute(cursor, sql.FIRST_PACKS, conversation=conversation, before=before).fetchall()
    rows.sort(key=itemgetter(0), reverse=True)
    messages: list[Message] = []
    while (
        rows
    ):  # Each pack is dropped when it has been read, since together they are as large as the messages.
        first = rows[-1][0] >> _PARTS_BITS
        if first != len(messages) + 1:
            raise BadPack
        parts: list[tuple[Any, ...]] = []
        while rows and rows[-1][0] >> _PARTS_BITS == first:
            parts.append(rows.pop())
        _, sealed, words = zip(*parts, strict=True)
        try:
            _unpack(messages, "".join(sealed), "".join(words))
        except (ValueError, TypeError, LookupError) as error:
            raise BadPack from error
    return messages


def _unpack(messages: list[Message], sealed: str, words: str) -> None:
    """Decode a pack and append its messages to those of the packs before it."""
    heads = sealed[_DIGITS:]
    if int(sealed[:_DIGITS], 16) != _checksum(heads, words):
        raise BadPack
    ids, parents, roles, rests, steps, lengths = json.loads(heads)
    before = len(messages)
    begin = 0
    columns = zip(ids, parents, roles, accumulate(steps), accumulate(lengths), strict=True)
    for id, parent, letter, created, end in columns:
        above = (messages[parent - 1].id,) if parent is not None else ()
        messages.append(text_message(id, above, _ROLES[letter], words[begin:end], created))
        begin = end
    for at, rest in rests:
        plain = messages[before + at]
        parent = plain.parents[0] if plain.parents else None
        messages[before + at] = message_from_row(
            plain.id, parent, plain.role, plain.text, rest, plain.created
        )


def packs_due(file: DatabaseFile) -> list[tuple[int, int]]:
    """Conversations that have grown since they were packed, each with its last packed message.

    None in a small database, or if the disk could not hold the file twice: optional data must not fill the disk.
    """
    ((messages,),) = file.rows(sql.MESSAGE_COUNT)
    if messages < WORTH or shutil.disk_usage(file.path.parent).free < file.path.stat().st_size:
        return []
    return [(conversation, last) for conversation, last in file.rows(sql.TO_PACK, least=LEAST)]


def write_packs(
    file: DatabaseFile, due: Sequence[tuple[int, int]], busy: Callable[[], bool], whole: FullyPacked
) -> bool:
    """Write packs until `busy`; whether all were written. Only the writer thread may call this."""
    log = log_of(file.path)
    for conversation, packed_last in due:
        last: int | None = packed_last
        while last is not None:
            if busy():
                return False
            file.before_writing()
            last = _pack(file, conversation, last, whole)
        if log.exists() and log.stat().st_size > _FOLDED:
            file.reattach(patience=0.0)
    return True


def _pack(file: DatabaseFile, conversation: int, last: int, whole: FullyPacked) -> int | None:
    """Write the next pack of a conversation, after its message `last`.

    Returns the last message of the pack, or None if nothing was left to pack.
    """
    rows = _next_rows(file, conversation, last)
    if not rows:
        whole.add(conversation, last)
    gapless = [row[0] for row in rows] == list(range(last + 1, last + 1 + len(rows)))
    if len(rows) < LEAST or not gapless:
        return None

    def write(cursor: duckdb.DuckDBPyConnection) -> None:
        append(cursor, "packs", pack_rows(conversation, rows))

    with file.cursor() as cursor:
        in_transaction(cursor, write)
    return last + len(rows)


def _next_rows(file: DatabaseFile, conversation: int, last: int) -> list[tuple[Any, ...]]:
    """Read the messages for one pack, a few at a time, because each may be large."""
    rows: list[tuple[Any, ...]] = []
    characters = 0
    with file.cursor() as cursor:
        execute(cursor, sql.FIRST_MESSAGES, conversation=conversation, after=last, most=_MOST)
        while characters < _ENOUGH and (some := cursor.fetchmany(LEAST)):
            rows += some
            characters += sum(len(row[4]) for row in some)
    return rows


def drop_packs(cursor: duckdb.DuckDBPyConnection, conversation: int) -> None:
    execute(cursor, sql.DROP_PACKS, conversation=conversation)
