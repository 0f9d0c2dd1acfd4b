"""Documents. Lists go in as parameters, so that a reach of any size is one text."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Integer,
    Text,
    and_,
    bindparam,
    cast,
    delete,
    func,
    or_,
    select,
    update,
)

from forky_core.store.duckdb.sql.source.bind_parameters import listed
from forky_core.store.duckdb.sql.source.tables import chunks, documents, postings, vectors

_columns = [column for column in documents.columns if column is not documents.c.document]
_reached = and_(
    documents.c.whole,
    or_(
        and_(cast(bindparam("workspace"), Boolean), documents.c.shelf == "workspace"),
        documents.c.id.in_(listed("named", Text)),
    ),
)
_within = select(documents.c.document).where(_reached)

BY_PREFIX = (
    select(*_columns)
    .where(func.starts_with(documents.c.id, bindparam("prefix")))
    .order_by(documents.c.id)
    .limit(3)
)
ALL = select(*_columns).order_by(documents.c.added.desc(), documents.c.document.desc())
KNOWN = select(*_columns).where(documents.c.id.in_(listed("ids", Text)))
STANDING = select(*documents.c["id", "document", "whole"]).where(documents.c.id.in_(listed("ids", Text)))
LAST = select(
    select(func.coalesce(func.max(documents.c.document), 0)).scalar_subquery(),
    select(func.coalesce(func.max(chunks.c.chunk), 0)).scalar_subquery(),
)
SHELVE = update(documents).values(shelf=bindparam("on")).where(documents.c.id == bindparam("which"))
GROW = (
    update(documents)
    .values(
        chunks=documents.c.chunks + bindparam("more_chunks", type_=Integer),
        terms=documents.c.terms + bindparam("more_terms", type_=BigInteger),
        whole=cast(bindparam("is_whole"), Boolean),
    )
    .where(documents.c.document == bindparam("which"))
)
DROPS = tuple(
    delete(table).where(table.c.document.in_(listed("numbers", Integer)))
    for table in (vectors, postings, chunks, documents)
)

WITHIN = select(
    func.count(),
    func.coalesce(func.sum(documents.c.chunks), 0),
    func.coalesce(func.sum(documents.c.terms), 0),
).where(_reached)
POSTINGS = select(*postings.c["chunk", "term", "frequency", "length"]).where(
    postings.c.term.in_(listed("terms", BigInteger)), postings.c.document.in_(_within)
)
_chunk = chunks.c["number", "place", "text", "overlap"]
CHUNKS = (
    select(*_chunk)
    .join(documents, documents.c.document == chunks.c.document)
    .where(documents.c.id == bindparam("id"), chunks.c.number >= bindparam("first"))
    .order_by(chunks.c.number)
    .limit(bindparam("most"))
)
STORED_CHUNKS = (
    select(chunks.c.chunk, *_chunk, vectors.c.model, vectors.c.vector)
    .join(documents, documents.c.document == chunks.c.document)
    .outerjoin(vectors, vectors.c.chunk == chunks.c.chunk)
    .where(documents.c.id == bindparam("id"), chunks.c.number >= bindparam("first"))
    .order_by(chunks.c.number)
    .limit(bindparam("most"))
)
COUNTS = select(*postings.c["chunk", "term", "frequency"]).where(
    postings.c.chunk.in_(listed("keys", Integer))
)
FOUND = (
    select(chunks.c.chunk, *_chunk, *_columns)
    .join(documents, documents.c.document == chunks.c.document)
    .where(chunks.c.chunk.in_(listed("keys", Integer)))
)

UNEMBEDDED = (
    select(chunks.c.chunk, chunks.c.text)
    .join(documents, documents.c.document == chunks.c.document)
    .where(
        documents.c.whole,
        documents.c.shelf != "trash",
        chunks.c.chunk.not_in(select(vectors.c.chunk).where(vectors.c.model == bindparam("model"))),
    )
    .order_by(chunks.c.chunk)
    .limit(bindparam("most"))
)
OWNERS = select(chunks.c.chunk, chunks.c.document).where(chunks.c.chunk.in_(listed("keys", Integer)))
FORGET_VECTORS = delete(vectors)
DROP_VECTORS = delete(vectors).where(vectors.c.chunk.in_(listed("keys", Integer)))
VECTORS = select(vectors.c.chunk, vectors.c.vector).where(
    vectors.c.model == bindparam("model"), vectors.c.document.in_(_within)
)
VECTOR_SIZES = select(vectors.c.model, func.max(vectors.c.size)).group_by(vectors.c.model)
