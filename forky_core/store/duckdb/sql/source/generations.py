"""Model calls."""

from __future__ import annotations

from sqlalchemy import Integer, Text, and_, bindparam, func, or_, select, update

from forky_core.store.duckdb.sql.source.bind_parameters import here, unnested
from forky_core.store.duckdb.sql.source.tables import conversations, generations

GENERATION_IDS = select(generations.c.id).where(generations.c.conversation == here)
GENERATIONS = (
    select(generations)
    .where(generations.c.conversation == here)
    .order_by(generations.c.started, generations.c.id)
)
CALLS_STRETCH = (
    GENERATIONS.where(
        or_(
            generations.c.started > bindparam("started"),
            and_(generations.c.started == bindparam("started"), generations.c.id > bindparam("id")),
        )
    )
).limit(bindparam("most"))
LOOKED = select(generations.c.conversation, generations.c.rest).where(
    func.contains(generations.c.rest, '"looked":true')
)
"""The calls that looked for a stored answer, and perhaps others: the caller reads what `rest` says."""
_call = unnested(conversation=Integer, id=Text)
TOOK = select(*generations.c["conversation", "id", "prompt_tokens", "completion_tokens", "cost"]).join(
    _call, and_(generations.c.conversation == _call.c.conversation, generations.c.id == _call.c.id)
)
RUNNING = (
    select(conversations.c.id, generations.c.id)
    .join(conversations, conversations.c.conversation == generations.c.conversation)
    .where(generations.c.status == "running")
    .order_by(generations.c.started, generations.c.id, conversations.c.id)
)
SET_GENERATION = (
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
