"""Attachments, values derived from messages, settings, and the number of the schema."""

from __future__ import annotations

from sqlalchemy import CompoundSelect, Integer, Text, bindparam, cast, delete, func, insert, select, true

from forky_core.store.duckdb.sql.source.bind_parameters import here, unnested
from forky_core.store.duckdb.sql.source.tables import (
    blobs,
    conversations,
    derived,
    messages,
    migrations,
    operations,
    settings,
)

BLOB = select(*blobs.c["media_type", "name", "content"]).where(blobs.c.sha256 == bindparam("sha256"))
HAS_BLOB = select(func.count()).select_from(blobs).where(blobs.c.sha256 == bindparam("sha256"))
BLOB_NAMES = select(blobs.c.sha256).order_by(blobs.c.sha256)


def _naming_blobs(*, one_conversation: bool) -> CompoundSelect[tuple[str]]:
    """What can name a blob: messages, and the changes that made or dropped a stash."""
    of = (
        (messages.c.conversation == here, operations.c.conversation == here)
        if one_conversation
        else (true(), true())
    )
    return (
        select(messages.c.rest)
        .where(of[0], func.contains(messages.c.rest, '"attachment"'))
        .union_all(
            select(operations.c.changes).where(of[1], func.contains(operations.c.changes, '"attachments"'))
        )
    )


NAMED_BLOBS = _naming_blobs(one_conversation=True)
NAMED_BLOBS_ANYWHERE = _naming_blobs(one_conversation=False)
STILL_NAMED = select(
    select(func.count())
    .select_from(messages)
    .where(messages.c.conversation != here, func.contains(messages.c.rest, bindparam("sha256")))
    .scalar_subquery()
    + select(func.count())
    .select_from(operations)
    .where(operations.c.conversation != here, func.contains(operations.c.changes, bindparam("sha256")))
    .scalar_subquery()
)
DROP_BLOB = delete(blobs).where(blobs.c.sha256 == bindparam("sha256"))

_keys = unnested(key=Text)
DERIVED = (
    select(derived.c.key, derived.c.value)
    .join(_keys, derived.c.key == _keys.c.key)
    .where(derived.c.conversation == here)
)
DERIVED_KEYS = select(derived.c.key).where(derived.c.conversation == here).order_by(derived.c.key)
DERIVED_UNDER = (
    select(conversations.c.id, derived.c.value)
    .join(derived, derived.c.conversation == conversations.c.conversation)
    .where(derived.c.key == bindparam("key"))
)
FORGET_DERIVED = delete(derived).where(derived.c.key == bindparam("key"))
DROP_DERIVED = delete(derived).where(derived.c.conversation == here, derived.c.key.in_(select(_keys.c.key)))
_kept = unnested(key=Text, value=Text)
ADD_DERIVED = insert(derived).from_select(
    ["conversation", "key", "value"], select(cast(here, Integer), _kept.c.key, _kept.c.value)
)

SETTING = select(settings.c.value).where(settings.c.key == bindparam("key"))
SETTINGS_OF = select(*settings.c["key", "value"]).join(_keys, settings.c.key == _keys.c.key)
SETTINGS = select(*settings.c["key", "value"]).order_by(settings.c.key)
DROP_SETTING = delete(settings).where(settings.c.key == bindparam("key"))

SCHEMA = select(func.max(migrations.c.number))
"""Number of the last migration that was applied."""
