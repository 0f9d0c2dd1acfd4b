"""Written by `make sql` out of source/tables.py: not to be edited."""

from __future__ import annotations

from forky_core.store.duckdb.sql.statement import Table

blobs = Table("forky.blobs", ("sha256", "media_type", "name", "content"))
chunks = Table("forky.chunks", ("chunk", "document", "number", "place", "text", "overlap"))
conversations = Table("forky.conversations", ("conversation", "id"))
derived = Table("forky.derived", ("conversation", "key", "value"))
documents = Table(
    "forky.documents",
    ("document", "id", "name", "media_type", "size", "added", "shelf", "whole", "chunks", "terms"),
)
entries = Table("forky.entries", ("conversation", "key", "value", "operation"))
generations = Table(
    "forky.generations",
    (
        "conversation",
        "id",
        "status",
        "model",
        "started",
        "first_token",
        "finished",
        "prompt_tokens",
        "completion_tokens",
        "cached_tokens",
        "cost",
        "rest",
    ),
)
messages = Table(
    "forky.messages",
    ("conversation", "message", "id", "segment", "depth", "parent", "role", "text", "rest", "created"),
)
migrations = Table("forky.migrations", ("number", "name", "applied"))
operations = Table(
    "forky.operations",
    ("conversation", "number", "id", "made", "actor", "verb", "summary", "changes", "gesture", "reverts"),
)
packs = Table("forky.packs", ("conversation", "place", "last", "heads", "texts"))
postings = Table("forky.postings", ("chunk", "document", "term", "frequency", "length"))
segments = Table("forky.segments", ("conversation", "segment", "parent_segment", "parent_depth"))
settings = Table("forky.settings", ("key", "value"))
vectors = Table("forky.vectors", ("chunk", "document", "model", "size", "vector"))
