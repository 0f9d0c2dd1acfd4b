"""The log of operations."""

from __future__ import annotations

from sqlalchemy import bindparam, func, select

from forky_core.store.duckdb.sql.source.bind_parameters import here
from forky_core.store.duckdb.sql.source.tables import operations

OPERATIONS = (
    select(*(column for column in operations.c if column is not operations.c.conversation))
    .where(operations.c.conversation == here, operations.c.number >= bindparam("first"))
    .order_by(operations.c.number)
)
LOG_STRETCH = OPERATIONS.where(operations.c.number <= bindparam("last"))
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
