"""The log of operations."""

from __future__ import annotations

from sqlalchemy import bindparam, func, select

from forky_core.store.duckdb.sql.source.given import here
from forky_core.store.duckdb.sql.source.tables import operations

_later = (
    select(
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
    .where(operations.c.conversation == here, operations.c.number >= bindparam("first"))
    .order_by(operations.c.number)
)
OPERATIONS = _later
LOG_STRETCH = _later.where(operations.c.number <= bindparam("last"))
ENDS_OF_LOG = select(
    func.max(operations.c.number),
    func.arg_max(operations.c.id, operations.c.number),
    func.arg_min(operations.c.made, operations.c.number),
    func.arg_max(operations.c.made, operations.c.number),
).where(operations.c.conversation == here)
"""Number and id of the last operation, when the first and when the last was made; nulls for an empty log."""
LAST_TO_MOVE = select(func.max(operations.c.number)).where(
    operations.c.conversation == here, func.contains(operations.c.changes, bindparam("key"))
)
