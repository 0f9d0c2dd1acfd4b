"""Conversations, the entries of their views, and the lines of the Library."""

from __future__ import annotations

from sqlalchemy import Integer, Text, bindparam, delete, func, null, or_, select, update

from forky_core.store.duckdb.sql.source.bind_parameters import here, unnested
from forky_core.store.duckdb.sql.source.tables import (
    conversations,
    derived,
    entries,
    generations,
    messages,
    operations,
    packs,
    segments,
)

_ids_and_numbers = select(*conversations.c["id", "conversation"])
CONVERSATION = _ids_and_numbers.where(conversations.c.id == bindparam("id"))
NEWEST_CONVERSATIONS = _ids_and_numbers.order_by(conversations.c.conversation.desc()).limit(bindparam("most"))
CONVERSATIONS = select(conversations).order_by(conversations.c.conversation)
LAST_CONVERSATION = select(func.max(conversations.c.conversation))
_numbered = unnested(number=Integer)
CONVERSATIONS_NUMBERED = _ids_and_numbers.join(_numbered, conversations.c.conversation == _numbered.c.number)
PURGE = tuple(
    delete(table).where(table.c.conversation == here)
    for table in (packs, derived, entries, generations, messages, segments, operations, conversations)
)

ENTRIES = select(*entries.c["key", "value", "operation"]).where(entries.c.conversation == here)
VIEW = ENTRIES.union_all(
    select(null(), null(), func.max(operations.c.number)).where(operations.c.conversation == here)
)
"""The entries of a view and, where the key is null, its version: one statement, so that both are of one moment."""
ENTRIES_NAMED = select(entries.c.conversation, entries.c.value).where(entries.c.key == bindparam("key"))
KEYS_LIKE = select(entries.c.key, entries.c.conversation).where(entries.c.key.like(bindparam("pattern")))
SET_ENTRY = (
    update(entries)
    .where(entries.c.conversation == bindparam("here"), entries.c.key == bindparam("at"))
    .values(value=bindparam("new_value"), operation=bindparam("new_operation"))
)
_set = unnested(conversation=Integer, key=Text, value=Text, operation=Integer)
SET_ENTRIES = (
    update(entries)
    .where(entries.c.conversation == _set.c.conversation, entries.c.key == _set.c.key)
    .values(value=_set.c.value, operation=_set.c.operation)
)
DROP_ENTRY = delete(entries).where(entries.c.conversation == here, entries.c.key == bindparam("key"))

LIBRARY_OPERATIONS = select(
    operations.c.conversation,
    func.arg_min(operations.c.made, operations.c.number),
    func.arg_max(operations.c.made, operations.c.number),
).group_by(operations.c.conversation)
LIBRARY_MESSAGES = (
    select(messages.c.conversation, func.count()).group_by(messages.c.conversation).select_from(messages)
)
LIBRARY_ENTRIES = select(*entries.c["conversation", "key", "value", "operation"]).where(
    or_(
        entries.c.key.in_(["title", "trashed", "program"]),
        func.starts_with(entries.c.key, "heads/"),
        func.starts_with(entries.c.key, "experiments/"),
    )
)
