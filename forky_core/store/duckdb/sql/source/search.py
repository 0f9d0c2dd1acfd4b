"""Searching all texts, and what of the conversations found can be seen."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BindParameter,
    Double,
    Integer,
    Select,
    Text,
    Uuid,
    and_,
    bindparam,
    case,
    cast,
    func,
    select,
)
from sqlalchemy.sql.base import ReadOnlyColumnCollection
from sqlalchemy.sql.elements import ColumnElement

from forky_core.store.duckdb.sql.source.bind_parameters import Repeated, here, unnested
from forky_core.store.duckdb.sql.source.tables import conversations, entries, messages, segments

_shown = ("id", "segment", "depth", "role", "text", "rest", "created")


def _search(*conditions: ColumnElement[bool]) -> Select[Any]:
    """The messages whose text contains every word, best first: a family by the number of words.

    Owners are joined to the page that was found, not to everything that matches.
    """
    lowered = func.lower(messages.c.text)
    word: BindParameter[str] = bindparam("word", type_=Text)
    without = func.strlen(func.replace(lowered, word, ""))
    hits = cast(Repeated((func.strlen(lowered) - without) / func.strlen(word), "+"), Double).label("hits")
    trashed = select(entries.c.conversation).where(entries.c.key == "trashed")
    found = (
        select(messages.c.conversation, messages.c.message, *messages.c[_shown], hits)
        .where(
            Repeated(func.contains(lowered, word), "AND"),
            messages.c.conversation.not_in(trashed),
            *conditions,
        )
        .order_by(*_best_first(hits, messages.c))
        .limit(bindparam("most"))
        .offset(bindparam("skip"))
        .subquery("found")
        .c
    )
    return (
        select(found.conversation, conversations.c.id, *found[_shown])
        .join(conversations, conversations.c.conversation == found.conversation)
        .order_by(*_best_first(found.hits, found))
    )


def _best_first(
    hits: ColumnElement[float], of: ReadOnlyColumnCollection[str, Any]
) -> tuple[ColumnElement[Any], ...]:
    return hits.desc(), of.created.desc(), of.conversation.desc(), of.message.desc()


SEARCH = _search()
SEARCH_IN_ONE = _search(messages.c.conversation == here)
_some = unnested(id=Text)
SEARCH_AMONG = _search(
    messages.c.conversation.in_(
        select(conversations.c.conversation).join(_some, conversations.c.id == _some.c.id)
    )
)

_WHITE = "".join(c for c in map(chr, range(0x3001)) if c.isspace())
"""What `str.strip` takes away: beyond U+3000 there is no white space."""
_wanted: BindParameter[str] = bindparam("text", type_=Text)
SAYING = (
    select(conversations.c.id, messages.c.id)
    .join(conversations, conversations.c.conversation == messages.c.conversation)
    .where(
        messages.c.role == bindparam("role"),
        case(
            (func.contains(messages.c.text, _wanted), func.trim(messages.c.text, _WHITE) == _wanted),
            else_=False,
        ),
    )
    .order_by(messages.c.conversation, messages.c.message)
)

_each = unnested(conversation=Integer)
"""The conversations of the list parameter."""
ENTRIES_OF = select(*entries.c["conversation", "key", "value"]).join(
    _each, entries.c.conversation == _each.c.conversation
)
SEGMENTS_OF = select(segments).join(_each, segments.c.conversation == _each.c.conversation)
MERGES_OF = (
    select(*messages.c["conversation", "segment", "depth", "rest"])
    .join(_each, messages.c.conversation == _each.c.conversation)
    .where(func.contains(messages.c.rest, '"parents"'))
    .order_by(messages.c.message.desc())
)
_one = unnested(conversation=Integer, id=Uuid)
PLACES_OF = select(
    messages.c.conversation,
    func.replace(cast(messages.c.id, Text), "-", ""),
    messages.c.segment,
    messages.c.depth,
).join(_one, and_(messages.c.conversation == _one.c.conversation, messages.c.id == _one.c.id))
