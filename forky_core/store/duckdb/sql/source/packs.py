"""Messages side by side: the packs of a conversation, and which conversations need one."""

from __future__ import annotations

from sqlalchemy import Column, Subquery, and_, bindparam, delete, func, select

from forky_core.store.duckdb.sql.source.bind_parameters import here
from forky_core.store.duckdb.sql.source.tables import messages, packs

PACKS = select(*packs.c["place", "heads", "texts"]).where(packs.c.conversation == here)
FIRST_PACKS = PACKS.where(packs.c.place < bindparam("before"))


def _last_of_each(number: Column[int], name: str) -> Subquery:
    """The greatest `number` of each conversation, as `last`."""
    of = number.table.c.conversation
    return select(of, func.max(number).label("last")).group_by(of).subquery(name)


_written = _last_of_each(messages.c.message, "written")
_packed = _last_of_each(packs.c.last, "packed")
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
