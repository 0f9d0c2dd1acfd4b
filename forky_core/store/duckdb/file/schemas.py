"""The statements of each migration.

A text is never edited once released: a change is the next migration's, appended to `STEPS`. The first schema has the
number 5: schemas 1 to 4 belonged to builds from before the first release, and files with them are refused.
"""

from __future__ import annotations

_FIRST = (
    """CREATE TABLE forky.blobs (
    sha256 TEXT,
    media_type TEXT,
    name TEXT,
    content BYTEA
)""",
    """CREATE TABLE forky.chunks (
    chunk INTEGER,
    document INTEGER,
    number INTEGER,
    place TEXT,
    text TEXT,
    overlap INTEGER
)""",
    """CREATE TABLE forky.conversations (
    conversation INTEGER,
    id TEXT
)""",
    """CREATE TABLE forky.derived (
    conversation INTEGER,
    key TEXT,
    value TEXT
)""",
    """CREATE TABLE forky.documents (
    document INTEGER,
    id TEXT,
    name TEXT,
    media_type TEXT,
    size BIGINT,
    added BIGINT,
    shelf TEXT,
    whole BOOLEAN,
    chunks INTEGER,
    terms BIGINT
)""",
    """CREATE TABLE forky.entries (
    conversation INTEGER,
    key TEXT,
    value TEXT,
    operation INTEGER
)""",
    """CREATE TABLE forky.generations (
    conversation INTEGER,
    id TEXT,
    status TEXT,
    model TEXT,
    started BIGINT,
    first_token BIGINT,
    finished BIGINT,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    cached_tokens INTEGER,
    cost DOUBLE PRECISION,
    rest TEXT
)""",
    """CREATE TABLE forky.messages (
    conversation INTEGER,
    message INTEGER,
    id UUID,
    segment INTEGER,
    depth INTEGER,
    parent INTEGER,
    role TEXT,
    text TEXT,
    rest TEXT,
    created BIGINT
)""",
    """CREATE TABLE forky.migrations (
    number INTEGER,
    name TEXT,
    applied BIGINT
)""",
    """CREATE TABLE forky.operations (
    conversation INTEGER,
    number INTEGER,
    id UUID,
    made BIGINT,
    actor TEXT,
    verb TEXT,
    summary TEXT,
    changes TEXT,
    gesture INTEGER,
    reverts TEXT
)""",
    """CREATE TABLE forky.packs (
    conversation INTEGER,
    place BIGINT,
    last INTEGER,
    heads TEXT,
    texts TEXT
)""",
    """CREATE TABLE forky.postings (
    chunk INTEGER,
    document INTEGER,
    term BIGINT,
    frequency INTEGER,
    length INTEGER
)""",
    """CREATE TABLE forky.segments (
    conversation INTEGER,
    segment INTEGER,
    parent_segment INTEGER,
    parent_depth INTEGER
)""",
    """CREATE TABLE forky.settings (
    key TEXT,
    value TEXT
)""",
    """CREATE TABLE forky.vectors (
    chunk INTEGER,
    document INTEGER,
    model TEXT,
    size INTEGER,
    vector BYTEA
)""",
)

STEPS: tuple[tuple[int, str, tuple[str, ...]], ...] = ((5, "the first schema", _FIRST),)
"""Of each migration its number, its name and its statements."""
