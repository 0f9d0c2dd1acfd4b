"""The tables, once, for every engine: integer keys inside, hashes outside, the conversation first in each key.

The conversation's number leads every unique index because it is the shard key of a team that outgrows one machine. On
DuckDB the indexes are not made: zone maps do their work, the one writer keeps rows unique, and `verify` proves it. No
foreign keys: DuckDB cannot update a row that one references. Times are BIGINT microseconds since the epoch, UTC.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    Uuid,
)

metadata = MetaData(schema="forky")
"""The attached file."""

conversations = Table(
    "conversations",
    metadata,
    Column("conversation", Integer),
    Column("id", Text),
    Index("conversations_key", "conversation", unique=True),
    Index("conversations_id", "id", unique=True),
)

messages = Table(
    "messages",
    metadata,
    Column("conversation", Integer),
    Column("message", Integer, comment="1, 2, 3 … in the order they were written"),
    Column("id", Uuid(as_uuid=False), comment="the 128 bits of the path hash"),
    Column("segment", Integer),
    Column("depth", Integer, comment="0 for a root"),
    Column("parent", Integer, comment="`message` of parent 0"),
    Column("role", Text),
    Column("text", Text, comment="the words; what a search looks through"),
    Column("rest", Text, comment="JSON of all that is not one text part below one parent"),
    Column("created", BigInteger),
    Index("messages_key", "conversation", "message", unique=True),
    Index("messages_id", "conversation", "id", unique=True),
    Index("messages_place", "conversation", "segment", "depth", unique=True),
)

segments = Table(
    "segments",
    metadata,
    Column("conversation", Integer),
    Column("segment", Integer),
    Column("parent_segment", Integer),
    Column("parent_depth", Integer, comment="the depth of the parent this segment left at"),
    Index("segments_key", "conversation", "segment", unique=True),
)

packs = Table(
    "packs",
    metadata,
    Column("conversation", Integer),
    Column("place", BigInteger, comment="number of its first message << 20, and the part: 0, 1, 2 …"),
    Column("last", Integer, comment="tells what is left to be packed; not asked when a pack is read"),
    Column("heads", Text, comment="this part of the pack's checksum and of the JSON of all but the texts"),
    Column("texts", Text, comment="this part of the texts, one behind the other"),
    Index("packs_key", "conversation", "place", unique=True),
)
"""Messages once more, side by side: derived data, to be dropped at any time (read/packs.py)."""

operations = Table(
    "operations",
    metadata,
    Column("conversation", Integer),
    Column("number", Integer),
    Column("id", Uuid(as_uuid=False), comment="chained: derived from the id of the operation before it"),
    Column("made", BigInteger),
    Column("actor", Text),
    Column("verb", Text),
    Column("summary", Text),
    Column("changes", Text, comment="JSON: [[key, before, after], …]"),
    Column("gesture", Integer),
    Column("reverts", Text, comment="JSON list of numbers"),
    Index("operations_key", "conversation", "number", unique=True),
)

entries = Table(
    "entries",
    metadata,
    Column("conversation", Integer),
    Column("key", Text),
    Column("value", Text, comment="JSON"),
    Column("operation", Integer, comment="number of the operation that set it"),
    Index("entries_key", "conversation", "key", unique=True),
)

generations = Table(
    "generations",
    metadata,
    Column("conversation", Integer),
    Column("id", Text),
    Column("status", Text),
    Column("model", Text),
    Column("started", BigInteger),
    Column("first_token", BigInteger),
    Column("finished", BigInteger),
    Column("prompt_tokens", Integer),
    Column("completion_tokens", Integer),
    Column("cached_tokens", Integer),
    Column("cost", Double, comment="US dollars"),
    Column("rest", Text, comment="JSON of everything else"),
    Index("generations_key", "conversation", "id", unique=True),
)

derived = Table(
    "derived",
    metadata,
    Column("conversation", Integer),
    Column("key", Text, comment="what it was worked out of, and how"),
    Column("value", Text),
    Index("derived_key", "conversation", "key", unique=True),
)

blobs = Table(
    "blobs",
    metadata,
    Column("sha256", Text),
    Column("media_type", Text),
    Column("name", Text),
    Column("content", LargeBinary),
    Index("blobs_key", "sha256", unique=True),
)

documents = Table(
    "documents",
    metadata,
    Column("document", Integer),
    Column("id", Text, comment="sha256 of its bytes"),
    Column("name", Text),
    Column("media_type", Text),
    Column("size", BigInteger, comment="bytes"),
    Column("added", BigInteger),
    Column("shelf", Text),
    Column("whole", Boolean, comment="false while it is read in"),
    Column("chunks", Integer),
    Column("terms", BigInteger, comment="of all its chunks"),
    Index("documents_key", "document", unique=True),
    Index("documents_id", "id", unique=True),
)

chunks = Table(
    "chunks",
    metadata,
    Column("chunk", Integer, comment="1, 2, 3 … over all documents"),
    Column("document", Integer),
    Column("number", Integer, comment="1, 2, 3 … in its document"),
    Column("place", Text),
    Column("text", Text),
    Column("overlap", Integer, comment="characters at the beginning that the chunk before it ends with"),
    Index("chunks_key", "chunk", unique=True),
)

postings = Table(
    "postings",
    metadata,
    Column("chunk", Integer),
    Column("document", Integer),
    Column("term", BigInteger, comment="64 bits of the term's hash"),
    Column("frequency", Integer),
    Column("length", Integer, comment="terms of the chunk"),
    Index("postings_key", "chunk", "term", unique=True),
)

vectors = Table(
    "vectors",
    metadata,
    Column("chunk", Integer),
    Column("document", Integer),
    Column("model", Text),
    Column("size", Integer, comment="numbers in the vector"),
    Column("vector", LargeBinary, comment="float32, of length 1"),
    Index("vectors_key", "chunk", unique=True),
)

settings = Table(
    "settings",
    metadata,
    Column("key", Text),
    Column("value", Text),
    Index("settings_key", "key", unique=True),
)

migrations = Table(
    "migrations",
    metadata,
    Column("number", Integer),
    Column("name", Text),
    Column("applied", BigInteger),
    Index("migrations_key", "number", unique=True),
)
