"""Messages: one, a path by its segments, a stretch, or all of a conversation."""

from __future__ import annotations

from sqlalchemy import Integer, Text, and_, bindparam, case, cast, func, or_, select

from forky_core.store.duckdb.sql.source.bind_parameters import Repeated, here, unnested
from forky_core.store.duckdb.sql.source.tables import messages, segments

AUDITED_MESSAGES = (
    select(
        *messages.c["message", "id", "parent", "role", "text", "rest", "created", "segment", "depth"],
    )
    .where(messages.c.conversation == here)
    .order_by(messages.c.message)
)
_parent = messages.alias("parent_row")
MESSAGE = (
    select(messages.c.id, _parent.c.id, *messages.c["role", "text", "rest", "created"])
    .select_from(
        messages.outerjoin(
            _parent,
            and_(_parent.c.conversation == messages.c.conversation, _parent.c.message == messages.c.parent),
        )
    )
    .where(messages.c.conversation == here, messages.c.id == bindparam("id"))
)
PLACE = select(*messages.c["segment", "depth"]).where(
    messages.c.conversation == here, messages.c.id == bindparam("id")
)
PLACES = (
    select(*messages.c["id", "segment", "depth"])
    .where(messages.c.conversation == here)
    .order_by(messages.c.message)
)
SEGMENTS = (
    select(*segments.c["segment", "parent_segment", "parent_depth"])
    .where(segments.c.conversation == here)
    .order_by(segments.c.segment)
)

_whole_id = func.concat("b2:", func.replace(cast(messages.c.id, Text), "-", ""))
"""The id as Python spells it: made here, a path of 1,000 is a quarter quicker than made from UUID objects."""
_content = (_whole_id, *messages.c["role", "text", "rest", "created"])
_run = unnested(segment=Integer, depth=Integer)
PATH = (
    select(messages.c.depth, *_content)
    .join(_run, and_(messages.c.segment == _run.c.segment, messages.c.depth <= _run.c.depth))
    .where(messages.c.conversation == here)
)
PATH_OF = select(messages.c.depth, *_content).where(
    messages.c.conversation == here,
    Repeated(and_(messages.c.segment == bindparam("segment"), messages.c.depth <= bindparam("depth")), "OR"),
)
"""As PATH, of a few ranges."""

_in_writing = (messages.c.message, _whole_id, messages.c.parent, *_content[1:])
_later = (messages.c.conversation == here, messages.c.message > bindparam("after"))
MESSAGES = select(*_in_writing).where(*_later).order_by(messages.c.message)
FIRST_MESSAGES = select(*_in_writing).where(*_later).limit(bindparam("most"))
"""Not sorted: a limit alone lets the scan stop early."""
STRETCH = (
    select(*_in_writing).where(*_later, messages.c.message <= bindparam("last")).order_by(messages.c.message)
)
MESSAGE_COUNT = select(func.count()).select_from(messages)
_number = unnested(number=Integer)
NUMBERED = (
    select(messages.c.message, _whole_id)
    .join(_number, messages.c.message == _number.c.number)
    .where(messages.c.conversation == here)
)
WORDS_OF = select(messages.c.message, *_content).where(
    messages.c.conversation == here, Repeated(messages.c.message == bindparam("number"), "OR")
)
"""Of a few messages. As a join with a list of them it takes twice as long."""
LINKS = select(
    messages.c.message,
    _whole_id,
    messages.c.parent,
    case((func.contains(messages.c.rest, '"hidden"'), messages.c.rest), else_=None),
).where(messages.c.conversation == here)
"""`rest` only where it may say that the message is hidden."""
STEMS = (
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
    .where(messages.c.conversation == here)
    .order_by(messages.c.message)
)
"""`rest` only where it may say something of parents or of being hidden."""
MATCH = (
    select(messages.c.id)
    .where(
        messages.c.conversation == here,
        messages.c.id >= bindparam("low"),
        messages.c.id <= bindparam("high"),
    )
    .order_by(messages.c.message)
    .limit(bindparam("most"))
)
