"""Every statement the DuckDB store reads and changes rows with, compiled once when the module is imported."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import (
    ARRAY,
    BindParameter,
    Double,
    Integer,
    Subquery,
    Text,
    Uuid,
    and_,
    bindparam,
    case,
    cast,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.sql.base import ReadOnlyColumnCollection
from sqlalchemy.sql.elements import ColumnElement

from forky_core.store.compiled import Statement, compiled
from forky_core.store.tables import (
    blobs,
    conversations,
    derived,
    entries,
    generations,
    messages,
    operations,
    packs,
    segments,
    settings,
)


def _unnested(**columns: type[Integer | Text | Uuid[Any]]) -> Subquery:
    """A row for each position of the list parameters `<name>s`."""
    lists = [
        func.unnest(cast(bindparam(f"{name}s"), ARRAY(kind))).label(name) for name, kind in columns.items()
    ]
    return select(*lists).subquery("given")


_here: BindParameter[int] = bindparam("conversation", type_=Integer)

CONVERSATION = compiled(
    select(conversations.c.id, conversations.c.conversation).where(conversations.c.id == bindparam("id"))
)
NEWEST_CONVERSATIONS = compiled(
    select(conversations.c.id, conversations.c.conversation)
    .order_by(conversations.c.conversation.desc())
    .limit(bindparam("most"))
)
CONVERSATIONS = compiled(select(conversations).order_by(conversations.c.conversation))
LAST_CONVERSATION = compiled(select(func.max(conversations.c.conversation)))

ENTRIES = compiled(
    select(entries.c.key, entries.c.value, entries.c.operation).where(entries.c.conversation == _here)
)
ENTRIES_NAMED = compiled(
    select(entries.c.conversation, entries.c.value).where(entries.c.key == bindparam("key"))
)
KEYS_LIKE = compiled(
    select(entries.c.key, entries.c.conversation).where(entries.c.key.like(bindparam("pattern")))
)
VERSION = compiled(select(func.max(operations.c.number)).where(operations.c.conversation == _here))

_message = (
    messages.c.message,
    messages.c.id,
    messages.c.parent,
    messages.c.role,
    messages.c.text,
    messages.c.rest,
    messages.c.created,
)
AUDITED_MESSAGES = compiled(
    select(*_message, messages.c.segment, messages.c.depth)
    .where(messages.c.conversation == _here)
    .order_by(messages.c.message)
)
_parent = messages.alias("parent_row")
MESSAGE = compiled(
    select(messages.c.id, _parent.c.id, messages.c.role, messages.c.text, messages.c.rest, messages.c.created)
    .select_from(
        messages.outerjoin(
            _parent,
            and_(_parent.c.conversation == messages.c.conversation, _parent.c.message == messages.c.parent),
        )
    )
    .where(messages.c.conversation == _here, messages.c.id == bindparam("id"))
)
PLACE = compiled(
    select(messages.c.segment, messages.c.depth).where(
        messages.c.conversation == _here, messages.c.id == bindparam("id")
    )
)
PLACES = compiled(
    select(messages.c.id, messages.c.segment, messages.c.depth)
    .where(messages.c.conversation == _here)
    .order_by(messages.c.message)
)
SEGMENTS = compiled(
    select(segments.c.segment, segments.c.parent_segment, segments.c.parent_depth)
    .where(segments.c.conversation == _here)
    .order_by(segments.c.segment)
)
_run = _unnested(segment=Integer, depth=Integer)
_whole_id = func.concat("b2:", func.replace(cast(messages.c.id, Text), "-", ""))
"""The id as Python spells it: made here, a path of 1,000 is a quarter quicker than made from UUID objects."""
_content = (_whole_id, messages.c.role, messages.c.text, messages.c.rest, messages.c.created)
PATH = compiled(
    select(messages.c.depth, *_content)
    .join(_run, and_(messages.c.segment == _run.c.segment, messages.c.depth <= _run.c.depth))
    .where(messages.c.conversation == _here)
)


@cache
def path_of(ranges: int) -> Statement:
    """As PATH, of a few ranges: parameters segment_0, depth_0 …"""
    wanted = or_(
        *(
            and_(
                messages.c.segment == bindparam(f"segment_{at}"), messages.c.depth <= bindparam(f"depth_{at}")
            )
            for at in range(ranges)
        )
    )
    return compiled(select(messages.c.depth, *_content).where(messages.c.conversation == _here, wanted))


_in_writing = (messages.c.message, _whole_id, messages.c.parent, *_content[1:])
_numbered = _unnested(number=Integer)
CONVERSATIONS_NUMBERED = compiled(
    select(conversations.c.id, conversations.c.conversation).join(
        _numbered, conversations.c.conversation == _numbered.c.number
    )
)
_later = (messages.c.conversation == _here, messages.c.message > bindparam("after"))
MESSAGES = compiled(select(*_in_writing).where(*_later).order_by(messages.c.message))
FIRST_MESSAGES = compiled(select(*_in_writing).where(*_later).limit(bindparam("most")))
"""Not sorted: a limit alone lets the scan stop early."""
STRETCH = compiled(
    select(*_in_writing).where(*_later, messages.c.message <= bindparam("last")).order_by(messages.c.message)
)
MESSAGE_COUNT = compiled(select(func.count()).select_from(messages))
PACKS = compiled(
    select(packs.c.first, packs.c.part, packs.c.last, packs.c.checksum, packs.c.heads, packs.c.texts).where(
        packs.c.conversation == _here, packs.c.first <= bindparam("most")
    )
)
_written = (
    select(messages.c.conversation, func.max(messages.c.message).label("last"))
    .group_by(messages.c.conversation)
    .subquery("written")
)
_packed = (
    select(packs.c.conversation, func.max(packs.c.last).label("last"))
    .group_by(packs.c.conversation)
    .subquery("packed")
)
_packed_last = func.coalesce(_packed.c.last, 0)
TO_PACK = compiled(
    select(_written.c.conversation, _packed_last)
    .outerjoin(_packed, _packed.c.conversation == _written.c.conversation)
    .where(_written.c.last - _packed_last >= bindparam("least"))
    .order_by(_written.c.conversation)
)
"""The conversations of which so many messages are in no pack, and the last one that is."""
DROP_PACKS = compiled(delete(packs).where(packs.c.conversation == _here))
_number = _unnested(number=Integer)
NUMBERED = compiled(
    select(messages.c.message, _whole_id)
    .join(_number, messages.c.message == _number.c.number)
    .where(messages.c.conversation == _here)
)
STEMS = compiled(
    select(
        _whole_id,
        messages.c.parent,
        messages.c.created,
        case(
            (
                or_(func.contains(messages.c.rest, '"parents"'), func.contains(messages.c.rest, '"hidden"')),
                messages.c.rest,
            ),
            else_=None,
        ),
    )
    .where(messages.c.conversation == _here)
    .order_by(messages.c.message)
)
"""`rest` only where it may say something of parents or of being hidden."""
_each = _unnested(conversation=Integer)
"""The conversations of the list parameter."""
ENTRIES_OF = compiled(
    select(entries.c.conversation, entries.c.key, entries.c.value).join(
        _each, entries.c.conversation == _each.c.conversation
    )
)
SEGMENTS_OF = compiled(select(segments).join(_each, segments.c.conversation == _each.c.conversation))
MERGES_OF = compiled(
    select(messages.c.conversation, messages.c.segment, messages.c.depth, messages.c.rest)
    .join(_each, messages.c.conversation == _each.c.conversation)
    .where(func.contains(messages.c.rest, '"parents"'))
    .order_by(messages.c.message.desc())
)
_one = _unnested(conversation=Integer, id=Uuid)
PLACES_OF = compiled(
    select(
        messages.c.conversation,
        func.replace(cast(messages.c.id, Text), "-", ""),
        messages.c.segment,
        messages.c.depth,
    ).join(_one, and_(messages.c.conversation == _one.c.conversation, messages.c.id == _one.c.id))
)
MATCH = compiled(
    select(messages.c.id)
    .where(
        messages.c.conversation == _here,
        messages.c.id >= bindparam("low"),
        messages.c.id <= bindparam("high"),
    )
    .order_by(messages.c.message)
    .limit(bindparam("most"))
)

_WHITE = "".join(c for c in map(chr, range(0x3001)) if c.isspace())
"""What `str.strip` takes away: beyond U+3000 there is no white space."""
_wanted: BindParameter[str] = bindparam("text", type_=Text)
SAYING = compiled(
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

_operation = (
    operations.c.number,
    operations.c.id,
    operations.c.made,
    operations.c.actor,
    operations.c.verb,
    operations.c.summary,
    operations.c.changes,
    operations.c.gesture,
    operations.c.reverts,
)
OPERATIONS = compiled(
    select(*_operation)
    .where(operations.c.conversation == _here, operations.c.number >= bindparam("first"))
    .order_by(operations.c.number)
)
ENDS_OF_LOG = compiled(
    select(
        func.max(operations.c.number),
        func.arg_max(operations.c.id, operations.c.number),
        func.arg_min(operations.c.made, operations.c.number),
        func.arg_max(operations.c.made, operations.c.number),
    ).where(operations.c.conversation == _here)
)
"""Number and id of the last operation, when the first and when the last was made; nulls for an empty log."""
LAST_TO_MOVE = compiled(
    select(func.max(operations.c.number)).where(
        operations.c.conversation == _here, func.contains(operations.c.changes, bindparam("key"))
    )
)

GENERATION_IDS = compiled(select(generations.c.id).where(generations.c.conversation == _here))
GENERATIONS = compiled(
    select(generations)
    .where(generations.c.conversation == _here)
    .order_by(generations.c.started, generations.c.id)
)
LOOKED = compiled(
    select(generations.c.conversation, generations.c.rest).where(
        func.contains(generations.c.rest, '"looked":true')
    )
)
"""The calls that looked for a stored answer, and perhaps others: the caller reads what `rest` says."""
_call = _unnested(conversation=Integer, id=Text)
TOOK = compiled(
    select(
        generations.c.conversation,
        generations.c.id,
        generations.c.prompt_tokens,
        generations.c.completion_tokens,
        generations.c.cost,
    ).join(_call, and_(generations.c.conversation == _call.c.conversation, generations.c.id == _call.c.id))
)
RUNNING = compiled(
    select(conversations.c.id, generations.c.id)
    .join(conversations, conversations.c.conversation == generations.c.conversation)
    .where(generations.c.status == "running")
    .order_by(generations.c.started, generations.c.id, conversations.c.id)
)

LIBRARY_OPERATIONS = compiled(
    select(
        operations.c.conversation,
        func.arg_min(operations.c.made, operations.c.number),
        func.arg_max(operations.c.made, operations.c.number),
    ).group_by(operations.c.conversation)
)
LIBRARY_MESSAGES = compiled(
    select(messages.c.conversation, func.count()).group_by(messages.c.conversation).select_from(messages)
)
LIBRARY_ENTRIES = compiled(
    select(entries.c.conversation, entries.c.key, entries.c.value, entries.c.operation).where(
        or_(entries.c.key.in_(["title", "trashed"]), func.starts_with(entries.c.key, "heads/"))
    )
)

BLOB = compiled(
    select(blobs.c.media_type, blobs.c.name, blobs.c.content).where(blobs.c.sha256 == bindparam("sha256"))
)
HAS_BLOB = compiled(select(func.count()).select_from(blobs).where(blobs.c.sha256 == bindparam("sha256")))
BLOB_NAMES = compiled(select(blobs.c.sha256).order_by(blobs.c.sha256))
NAMED_BLOBS = compiled(
    select(messages.c.rest)
    .where(messages.c.conversation == _here, func.contains(messages.c.rest, '"attachment"'))
    .union_all(
        select(operations.c.changes).where(
            operations.c.conversation == _here, func.contains(operations.c.changes, '"attachments"')
        )
    )
)
STILL_NAMED = compiled(
    select(
        select(func.count())
        .select_from(messages)
        .where(messages.c.conversation != _here, func.contains(messages.c.rest, bindparam("sha256")))
        .scalar_subquery()
        + select(func.count())
        .select_from(operations)
        .where(operations.c.conversation != _here, func.contains(operations.c.changes, bindparam("sha256")))
        .scalar_subquery()
    )
)
DROP_BLOB = compiled(delete(blobs).where(blobs.c.sha256 == bindparam("sha256")))
_keys = _unnested(key=Text)
DERIVED = compiled(
    select(derived.c.key, derived.c.value)
    .join(_keys, derived.c.key == _keys.c.key)
    .where(derived.c.conversation == _here)
)
DERIVED_UNDER = compiled(
    select(conversations.c.id, derived.c.value)
    .join(derived, derived.c.conversation == conversations.c.conversation)
    .where(derived.c.key == bindparam("key"))
)
DROP_DERIVED = compiled(
    delete(derived).where(derived.c.conversation == _here, derived.c.key.in_(select(_keys.c.key)))
)
_kept = _unnested(key=Text, value=Text)
ADD_DERIVED = compiled(
    insert(derived).from_select(
        ["conversation", "key", "value"], select(cast(_here, Integer), _kept.c.key, _kept.c.value)
    )
)
SETTING = compiled(select(settings.c.value).where(settings.c.key == bindparam("key")))
DROP_SETTING = compiled(delete(settings).where(settings.c.key == bindparam("key")))
PURGE = tuple(
    compiled(delete(table).where(table.c.conversation == _here))
    for table in (packs, derived, entries, generations, messages, segments, operations, conversations)
)

SET_ENTRY = compiled(
    update(entries)
    .where(entries.c.conversation == bindparam("here"), entries.c.key == bindparam("at"))
    .values(value=bindparam("new_value"), operation=bindparam("new_operation"))
)
_set = _unnested(conversation=Integer, key=Text, value=Text, operation=Integer)
SET_ENTRIES = compiled(
    update(entries)
    .where(entries.c.conversation == _set.c.conversation, entries.c.key == _set.c.key)
    .values(value=_set.c.value, operation=_set.c.operation)
)
DROP_ENTRY = compiled(
    delete(entries).where(entries.c.conversation == _here, entries.c.key == bindparam("key"))
)
SET_GENERATION = compiled(
    update(generations)
    .where(generations.c.conversation == bindparam("here"), generations.c.id == bindparam("at"))
    .values(
        {
            column.name: bindparam(f"new_{column.name}")
            for column in generations.columns
            if column.name not in {"conversation", "id"}
        }
    )
)


@cache
def search(words: int, *, in_one: bool) -> Statement:
    """The messages whose text contains every word, best first; parameters word_0 …, most, skip, conversation.

    Owners are joined to the page that was found, not to everything that matches.
    """
    lowered = func.lower(messages.c.text)
    given: list[ColumnElement[str]] = [bindparam(f"word_{at}", type_=Text) for at in range(words)]
    hits = sum(
        (func.strlen(lowered) - func.strlen(func.replace(lowered, word, ""))) / func.strlen(word)
        for word in given
    )
    trashed = select(entries.c.conversation).where(entries.c.key == "trashed")
    query = (
        select(
            messages.c.conversation,
            messages.c.message,
            messages.c.id,
            messages.c.segment,
            messages.c.depth,
            messages.c.role,
            messages.c.text,
            messages.c.rest,
            messages.c.created,
            cast(hits, Double).label("hits"),
        )
        .where(*(func.contains(lowered, word) for word in given), messages.c.conversation.not_in(trashed))
        .order_by(*_best_first(cast(hits, Double), messages.c))
        .limit(bindparam("most"))
        .offset(bindparam("skip"))
    )
    found = (query.where(messages.c.conversation == _here) if in_one else query).subquery("found").c
    return compiled(
        select(
            found.conversation,
            conversations.c.id,
            found.id,
            found.segment,
            found.depth,
            found.role,
            found.text,
            found.rest,
            found.created,
        )
        .join(conversations, conversations.c.conversation == found.conversation)
        .order_by(*_best_first(found.hits, found))
    )


def _best_first(
    hits: ColumnElement[float], of: ReadOnlyColumnCollection[str, Any]
) -> tuple[ColumnElement[Any], ...]:
    return hits.desc(), of.created.desc(), of.conversation.desc(), of.message.desc()
