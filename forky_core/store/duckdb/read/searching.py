"""Search over every branch of every conversation: the engine finds and ranks texts, then hidden messages drop out.

The engine's filter errs on the side of matching where engines differ in lower case; words.py decides what matches. One
snapshot is read, and no conversation is loaded for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import duckdb

from forky_core.model import ConversationId, Hit
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.read.visible import read_visible
from forky_core.store.duckdb.sql import statements as sql
from forky_core.store.duckdb.sql.running import execute
from forky_core.store.rows import Row, id_from_key, message_from_row
from forky_core.store.visible import VisibleRows
from forky_core.store.words import score, snippet

_FIRST = 200
_FACTOR = 8
"""Factor by which each further page is larger than the one before, because every page scans all texts."""


def search(file: DatabaseFile, words: Sequence[str], conversation: int | None, limit: int) -> tuple[Hit, ...]:
    hits: list[Hit] = []
    seen: dict[int, VisibleRows] = {}
    skip, most = 0, max(_FIRST, 2 * limit)
    with file.snapshot() as cursor:
        while len(hits) < limit:
            rows = _candidates(cursor, words, conversation, skip, most)
            with file.decoding():
                unknown = {row[0] for row in rows} - seen.keys()
                seen |= read_visible(cursor, sorted(unknown)) if unknown else {}
                hits.extend(_hits(rows, words, seen))
            if len(rows) < most:
                break
            skip, most = skip + most, most * _FACTOR
    return tuple(hits[: max(limit, 0)])


def _candidates(
    cursor: duckdb.DuckDBPyConnection, words: Sequence[str], conversation: int | None, skip: int, most: int
) -> list[Row]:
    statement = (sql.SEARCH if conversation is None else sql.SEARCH_IN_ONE).of(len(words))
    given: dict[str, object] = {f"word_{at}": word for at, word in enumerate(words)}
    given |= {"most": most, "skip": skip, "conversation": conversation}
    return execute(cursor, statement, **given).fetchall()


def _hits(rows: Sequence[Row], words: Sequence[str], seen: dict[int, VisibleRows]) -> Iterator[Hit]:
    for number, owner, key, segment, depth, role, text, rest, created in rows:
        found = score(text, words)
        if not found or not seen[number].shows(segment, depth):
            continue
        message = message_from_row(id_from_key(key), None, role, text, rest, created)
        if not message.hidden:
            title = seen[number].view.title
            yield Hit(
                ConversationId(owner), title, message.id, message.role, snippet(text, words), found, created
            )
