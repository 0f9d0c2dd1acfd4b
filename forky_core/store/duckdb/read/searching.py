"""What a search asks of the file (store/searching.py says what a search is)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from forky_core.model import ConversationId, Hit
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.read.visible import read_visible
from forky_core.store.duckdb.running import fetch
from forky_core.store.searching import Candidate, candidate_from_row
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
    within: sql.SearchIn = "everything"
    if conversation is not None:
        within = "one"
        given["conversation"] = conversation
    elif among is not None:
        within = "some"
        given["ids"] = list(among)
    statement = sql.search(len(words), within)
    with file.snapshot() as cursor:

        def candidates(skip: int, most: int) -> list[tuple[int, Candidate]]:
            rows = fetch(cursor, statement, most=most, skip=skip, **given)
            return [(row["conversation"], candidate_from_row(row, row["owner"])) for row in rows]

        def visible(numbers: Sequence[int]) -> Mapping[int, VisibleRows]:
            return read_visible(cursor, sorted(numbers))

        with file.decoding():
            return search_with(words, limit, candidates, visible)
