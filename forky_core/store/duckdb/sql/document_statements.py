"""Written by `make sql` out of source/: not to be edited."""

from __future__ import annotations

from forky_core.store.duckdb.sql.statement import SqlStatement

ALL = SqlStatement("""SELECT forky.documents.id, forky.documents.name, forky.documents.media_type, forky.documents.size,
    forky.documents.added, forky.documents.shelf, forky.documents.whole, forky.documents.chunks,
    forky.documents.terms
FROM forky.documents ORDER BY forky.documents.added DESC, forky.documents.document DESC""")

BY_PREFIX = SqlStatement(
    """SELECT forky.documents.id, forky.documents.name, forky.documents.media_type, forky.documents.size,
    forky.documents.added, forky.documents.shelf, forky.documents.whole, forky.documents.chunks,
    forky.documents.terms
FROM forky.documents
WHERE starts_with(forky.documents.id, ?) ORDER BY forky.documents.id
 LIMIT ?""",
    ("prefix", "param_1"),
    {"param_1": 3},
)

CHUNKS = SqlStatement(
    """SELECT forky.chunks.number, forky.chunks.place, forky.chunks.text, forky.chunks.overlap
FROM forky.chunks JOIN forky.documents ON forky.documents.document = forky.chunks.document
WHERE forky.documents.id = ? AND forky.chunks.number >= ? ORDER BY forky.chunks.number
 LIMIT ?""",
    ("id", "first", "most"),
)

COUNTS = SqlStatement(
    """SELECT forky.postings.chunk, forky.postings.term, forky.postings.frequency
FROM forky.postings
WHERE forky.postings.chunk IN (SELECT unnest(CAST(? AS INTEGER[])) AS unnest_1)""",
    ("keys",),
)

DROPS = (
    SqlStatement(
        """DELETE FROM forky.vectors WHERE forky.vectors.document IN (SELECT unnest(CAST(? AS INTEGER[])) AS
    unnest_1)""",
        ("numbers",),
    ),
    SqlStatement(
        """DELETE FROM forky.postings WHERE forky.postings.document IN (SELECT unnest(CAST(? AS INTEGER[])) AS
    unnest_1)""",
        ("numbers",),
    ),
    SqlStatement(
        """DELETE FROM forky.chunks WHERE forky.chunks.document IN (SELECT unnest(CAST(? AS INTEGER[])) AS
    unnest_1)""",
        ("numbers",),
    ),
    SqlStatement(
        """DELETE FROM forky.documents WHERE forky.documents.document IN (SELECT unnest(CAST(? AS INTEGER[]))
    AS unnest_1)""",
        ("numbers",),
    ),
)

DROP_VECTORS = SqlStatement(
    """DELETE FROM forky.vectors WHERE forky.vectors.chunk IN (SELECT unnest(CAST(? AS INTEGER[])) AS
    unnest_1)""",
    ("keys",),
)

FORGET_VECTORS = SqlStatement("DELETE FROM forky.vectors")

FOUND = SqlStatement(
    """SELECT forky.chunks.chunk, forky.chunks.number, forky.chunks.place, forky.chunks.text,
    forky.chunks.overlap, forky.documents.id, forky.documents.name, forky.documents.media_type,
    forky.documents.size, forky.documents.added, forky.documents.shelf, forky.documents.whole,
    forky.documents.chunks, forky.documents.terms
FROM forky.chunks JOIN forky.documents ON forky.documents.document = forky.chunks.document
WHERE forky.chunks.chunk IN (SELECT unnest(CAST(? AS INTEGER[])) AS unnest_1)""",
    ("keys",),
)

GROW = SqlStatement(
    """UPDATE forky.documents SET whole=CAST(? AS BOOLEAN), chunks=(forky.documents.chunks + ?),
    terms=(forky.documents.terms + ?) WHERE forky.documents.document = ?""",
    ("is_whole", "more_chunks", "more_terms", "which"),
)

KNOWN = SqlStatement(
    """SELECT forky.documents.id, forky.documents.name, forky.documents.media_type, forky.documents.size,
    forky.documents.added, forky.documents.shelf, forky.documents.whole, forky.documents.chunks,
    forky.documents.terms
FROM forky.documents
WHERE forky.documents.id IN (SELECT unnest(CAST(? AS TEXT[])) AS unnest_1)""",
    ("ids",),
)

LAST = SqlStatement(
    """SELECT (SELECT coalesce(max(forky.documents.document), ?) AS coalesce_1
FROM forky.documents) AS anon_1, (SELECT coalesce(max(forky.chunks.chunk), ?) AS coalesce_3
FROM forky.chunks) AS anon_2""",
    ("coalesce_2", "coalesce_4"),
    {"coalesce_2": 0, "coalesce_4": 0},
)

OWNERS = SqlStatement(
    """SELECT forky.chunks.chunk, forky.chunks.document
FROM forky.chunks
WHERE forky.chunks.chunk IN (SELECT unnest(CAST(? AS INTEGER[])) AS unnest_1)""",
    ("keys",),
)

POSTINGS = SqlStatement(
    """SELECT forky.postings.chunk, forky.postings.term, forky.postings.frequency, forky.postings.length
FROM forky.postings
WHERE forky.postings.term IN (SELECT unnest(CAST(? AS BIGINT[])) AS unnest_1) AND
    forky.postings.document IN (SELECT forky.documents.document
FROM forky.documents
WHERE forky.documents.whole AND (CAST(? AS BOOLEAN) AND forky.documents.shelf = ? OR
    forky.documents.id IN (SELECT unnest(CAST(? AS TEXT[])) AS unnest_2)))""",
    ("terms", "workspace", "shelf_1", "named"),
    {"shelf_1": "workspace"},
)

SHELVE = SqlStatement("UPDATE forky.documents SET shelf=? WHERE forky.documents.id = ?", ("on", "which"))

STANDING = SqlStatement(
    """SELECT forky.documents.id, forky.documents.document, forky.documents.whole
FROM forky.documents
WHERE forky.documents.id IN (SELECT unnest(CAST(? AS TEXT[])) AS unnest_1)""",
    ("ids",),
)

STORED_CHUNKS = SqlStatement(
    """SELECT forky.chunks.chunk, forky.chunks.number, forky.chunks.place, forky.chunks.text,
    forky.chunks.overlap, forky.vectors.model, forky.vectors.vector
FROM forky.chunks JOIN forky.documents ON forky.documents.document = forky.chunks.document LEFT
    OUTER JOIN forky.vectors ON forky.vectors.chunk = forky.chunks.chunk
WHERE forky.documents.id = ? AND forky.chunks.number >= ? ORDER BY forky.chunks.number
 LIMIT ?""",
    ("id", "first", "most"),
)

UNEMBEDDED = SqlStatement(
    """SELECT forky.chunks.chunk, forky.chunks.text
FROM forky.chunks JOIN forky.documents ON forky.documents.document = forky.chunks.document
WHERE forky.documents.whole AND forky.documents.shelf != ? AND (forky.chunks.chunk NOT IN (SELECT
    forky.vectors.chunk
FROM forky.vectors
WHERE forky.vectors.model = ?)) ORDER BY forky.chunks.chunk
 LIMIT ?""",
    ("shelf_1", "model", "most"),
    {"shelf_1": "trash"},
)

VECTORS = SqlStatement(
    """SELECT forky.vectors.chunk, forky.vectors.vector
FROM forky.vectors
WHERE forky.vectors.model = ? AND forky.vectors.document IN (SELECT forky.documents.document
FROM forky.documents
WHERE forky.documents.whole AND (CAST(? AS BOOLEAN) AND forky.documents.shelf = ? OR
    forky.documents.id IN (SELECT unnest(CAST(? AS TEXT[])) AS unnest_1)))""",
    ("model", "workspace", "shelf_1", "named"),
    {"shelf_1": "workspace"},
)

VECTOR_SIZES = SqlStatement("""SELECT forky.vectors.model, max(forky.vectors.size) AS max_1
FROM forky.vectors GROUP BY forky.vectors.model""")

WITHIN = SqlStatement(
    """SELECT count(*) AS count_1, coalesce(sum(forky.documents.chunks), ?) AS coalesce_1,
    coalesce(sum(forky.documents.terms), ?) AS coalesce_3
FROM forky.documents
WHERE forky.documents.whole AND (CAST(? AS BOOLEAN) AND forky.documents.shelf = ? OR
    forky.documents.id IN (SELECT unnest(CAST(? AS TEXT[])) AS unnest_1))""",
    ("coalesce_2", "coalesce_4", "workspace", "shelf_1", "named"),
    {"coalesce_2": 0, "coalesce_4": 0, "shelf_1": "workspace"},
)
