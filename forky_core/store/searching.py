"""Search over every branch of every conversation. The engine finds and ranks texts; hidden messages are left out
afterwards.

The engine's filter errs on the side of matching where engines differ in lower case; words.py decides what matches. All
is read as of one moment, and no conversation is loaded for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from forky_core.model import ConversationId, Hit
from forky_core.store.rows import Row, id_from_key, message_from_row
from forky_core.store.visible import K, VisibleRows
from forky_core.store.words import score, snippet

_FIRST = 200
_FACTOR = 8
"""Factor by which each further page is larger than the one before, because every page scans all texts."""


class Candidate(NamedTuple):
    """A message whose text may match, as a store has it in its rows."""

    conversation: ConversationId
    key: object
    """What the column of its id gives."""
    segment: int
    depth: int
    role: str
    text: str
    rest: str | None
    created: int


def candidate_from_row(row: Row, conversation: str) -> Candidate:
    return Candidate(
        ConversationId(conversation),
        row["id"],
        row["segment"],
        row["depth"],
        row["role"],
        row["text"],
        row["rest"],
        row["created"],
    )


def search(
    words: Sequence[str],
    limit: int,
    candidates: Callable[[int, int], Sequence[tuple[K, Candidate]]],
    visible: Callable[[Sequence[K]], Mapping[K, VisibleRows]],
) -> tuple[Hit, ...]:
    """The messages that match all words, in the order in which the candidates come.

    `candidates` takes how many to skip and how many to give at most; each comes with what names its conversation in the
    store's tables. `visible` reads the visible part of conversations.
    """
    hits: list[Hit] = []
    seen: dict[K, VisibleRows] = {}
    skip, most = 0, max(_FIRST, 2 * limit)
    while len(hits) < limit:
        rows = candidates(skip, most)
        unknown = list(dict.fromkeys(name for name, _ in rows if name not in seen))
        if unknown:
            seen |= visible(unknown)
        hits.extend(_hits(rows, words, seen))
        if len(rows) < most:
            break
        skip, most = skip + most, most * _FACTOR
    return tuple(hits[: max(limit, 0)])


def _hits(
    rows: Sequence[tuple[K, Candidate]], words: Sequence[str], seen: Mapping[K, VisibleRows]
) -> Iterator[Hit]:
    for name, one in rows:
        found = score(one.text, words)
        if not found or not seen[name].shows(one.segment, one.depth):
            continue
        message = message_from_row(id_from_key(one.key), None, one.role, one.text, one.rest, one.created)
        if not message.hidden:
            title = seen[name].view.title
            line = snippet(one.text, words)
            yield Hit(one.conversation, title, message.id, message.role, line, found, one.created)
