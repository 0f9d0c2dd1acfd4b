"""What a search asks of the file (store/searching.py says what a search is)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from forky_core.model import ConversationId, Hit
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.read.visible import read_visible
from forky_core.store.duckdb.sql import statements as sql
from forky_core.store.duckdb.sql.running import execute
from forky_core.store.searching import Candidate
from forky_core.store.searching import search as search_with
from forky_core.store.visible import VisibleRows


def search(
    file: DatabaseFile,
    words: Sequence[str],
    conversation: int | None,
    among: Collection[ConversationId] | None,
    limit: int,
) -> tuple[Hit, ...]:
    """Messages of one conversation, by its number, of some, or of all, that match all words."""
    given: dict[str, object] = {f"word_{at}": word for at, word in enumerate(words)}
    family = sql.SEARCH
    if conversation is not None:
        family = sql.SEARCH_IN_ONE
    elif among is not None:
        family = sql.SEARCH_AMONG
        given["ids"] = list(among)
    statement = family.of(len(words))
    with file.snapshot() as cursor:

        def candidates(skip: int, most: int) -> list[tuple[int, Candidate]]:
            rows = execute(
                cursor, statement, most=most, skip=skip, conversation=conversation, **given
            ).fetchall()
            return [(number, Candidate(ConversationId(owner), *row)) for number, owner, *row in rows]

        def visible(numbers: Sequence[int]) -> Mapping[int, VisibleRows]:
            return read_visible(cursor, sorted(numbers))

        with file.decoding():
            return search_with(words, limit, candidates, visible)
