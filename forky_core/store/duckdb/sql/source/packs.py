"""Messages side by side: the packs of a conversation, and which conversations need one."""

from __future__ import annotations

from sqlalchemy import and_, bindparam, delete, func, select

from forky_core.store.duckdb.sql.source.given import here
from forky_core.store.duckdb.sql.source.tables import messages, packs

PACKS = select(packs.c.place, packs.c.heads, packs.c.texts).where(packs.c.conversation == here)
FIRST_PACKS = PACKS.where(packs.c.place < bindparam("before"))
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
TO_PACK = (
    select(_written.c.conversation, _packed_last)
    .outerjoin(_packed, _packed.c.conversation == _written.c.conversation)
    .where(_written.c.last - _packed_last >= bindparam("least"))
    .order_by(_written.c.conversation)
)
"""The conversations of which so many messages are in no pack, and the last one that is."""
WHOLE = select(_written.c.conversation, _written.c.last).join(
    _packed, and_(_packed.c.conversation == _written.c.conversation, _packed.c.last == _written.c.last)
)
"""The conversations of which every message is in a pack, and the last of each."""
DROP_PACKS = delete(packs).where(packs.c.conversation == here)
