# ruff: noqa: S608 - the tables and columns are our own; what people say is a parameter
"""Every statement that the store in a DuckDB file runs, by name; tests/store/test_statements.py EXPLAINs each of them.

`$name` is a parameter; running.py has the functions that ask. A list of any length is one parameter, so that it is one
text. Where a condition for each of a few things is faster than a join with their list, a function makes the statement
for so many things. Rows are inserted and updated by the names of their columns, with what running.py makes of those.

A conversation is a number inside the file. There are no indexes and no keys: zone maps do their work, the one writer
keeps rows unique, and `verify` proves it. Nor are there foreign keys: DuckDB cannot update a row that one references.
Times are microseconds since the epoch, UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, Literal

SCHEMA: Final = "SELECT max(number) FROM forky.migrations"
"""Number of the last migration that was applied."""

# Conversations

CONVERSATION: Final = "SELECT id, conversation FROM forky.conversations WHERE id = $id"
CONVERSATIONS: Final = "SELECT id, conversation FROM forky.conversations ORDER BY conversation"
CONVERSATIONS_NUMBERED: Final = """
SELECT c.id, c.conversation
FROM forky.conversations c JOIN (SELECT unnest($numbers::INTEGER[]) AS number) AS r ON c.conversation = r.number
"""
NEWEST_CONVERSATIONS: Final = (
    "SELECT id, conversation FROM forky.conversations ORDER BY conversation DESC LIMIT $most"
)
LAST_CONVERSATION: Final = "SELECT max(conversation) FROM forky.conversations"
LIBRARY_OPERATIONS: Final = """
SELECT conversation, arg_min(made, number) AS created, arg_max(made, number) AS updated
FROM forky.operations GROUP BY conversation
"""
LIBRARY_MESSAGES: Final = (
    "SELECT conversation, count(*) AS messages FROM forky.messages GROUP BY conversation"
)
LIBRARY_ENTRIES: Final = """
SELECT conversation, key, value, operation FROM forky.entries
WHERE key IN ('title', 'folder', 'trashed', 'program') OR starts_with(key, 'heads/') OR starts_with(key, 'experiments/')
"""

# The entries of views

ENTRIES: Final = "SELECT key, value, operation FROM forky.entries WHERE conversation = $conversation"
VIEW: Final = f"""
{ENTRIES}
UNION ALL SELECT NULL, NULL, max(number) FROM forky.operations WHERE conversation = $conversation
"""
"""The entries of a view and, where the key is null, its version: one statement, so that both are of one moment."""
ENTRIES_NAMED: Final = "SELECT conversation, value FROM forky.entries WHERE key = $key"
ENTRIES_OF: Final = """
SELECT e.conversation, e.key, e.value
FROM forky.entries e JOIN (SELECT unnest($conversations::INTEGER[]) AS conversation) AS r USING (conversation)
"""
KEYS_LIKE: Final = "SELECT key, conversation FROM forky.entries WHERE key LIKE $pattern"
SET_ENTRY: Final = """
UPDATE forky.entries SET value = $json, operation = $operation WHERE conversation = $conversation AND key = $key
"""
ADD_ENTRY: Final = """
INSERT INTO forky.entries (conversation, key, value, operation) VALUES ($conversation, $key, $json, $operation)
"""
SET_ENTRIES: Final = """
UPDATE forky.entries SET value = r.value, operation = r.operation
FROM (
    SELECT unnest($conversations::INTEGER[]) AS conversation, unnest($keys::TEXT[]) AS key,
        unnest($values::TEXT[]) AS value, unnest($operations::INTEGER[]) AS operation
) AS r
WHERE entries.conversation = r.conversation AND entries.key = r.key
"""
DROP_ENTRY: Final = "DELETE FROM forky.entries WHERE conversation = $conversation AND key = $key"

# Operations

OPERATIONS: Final = """
SELECT * FROM forky.operations
WHERE conversation = $conversation AND number >= $first AND number <= $last ORDER BY number
"""
ENDS_OF_LOG: Final = """
SELECT max(number) AS number, arg_max(id, number) AS id, arg_min(made, number) AS created, arg_max(made, number) AS updated
FROM forky.operations WHERE conversation = $conversation
"""
"""Number and id of the last operation, when the first and when the last was made; nulls for an empty log."""
LAST_TO_MOVE: Final = """
SELECT max(number) FROM forky.operations WHERE conversation = $conversation AND contains(changes, $json)
"""
SET_OPERATION: Final = """
UPDATE forky.operations SET summary = $summary, changes = $changes WHERE conversation = $conversation AND number = $number
"""

# Messages

_ID: Final = "'b2:' || replace(id::TEXT, '-', '') AS id"
"""The id as Python spells it: made here, a path of 1,000 is a quarter quicker than made from UUID objects."""
_IN_WRITING: Final = f"message, {_ID}, parent, role, text, rest, created"
MESSAGE: Final = """
SELECT m.id, p.id AS parent, m.role, m.text, m.rest, m.created
FROM forky.messages m LEFT JOIN forky.messages p ON p.conversation = m.conversation AND p.message = m.parent
WHERE m.conversation = $conversation AND m.id = $id::UUID
"""
MESSAGES: Final = f"""
SELECT {_IN_WRITING} FROM forky.messages WHERE conversation = $conversation AND message > $after ORDER BY message
"""
FIRST_MESSAGES: Final = f"""
SELECT {_IN_WRITING} FROM forky.messages WHERE conversation = $conversation AND message > $after LIMIT $most
"""
"""Not sorted: a limit alone lets the scan stop early."""
STRETCH: Final = f"""
SELECT {_IN_WRITING} FROM forky.messages
WHERE conversation = $conversation AND message > $after AND message <= $last ORDER BY message
"""
NUMBERED: Final = f"""
SELECT message, {_ID}
FROM forky.messages JOIN (SELECT unnest($numbers::INTEGER[]) AS number) AS r ON message = r.number
WHERE conversation = $conversation
"""
AUDITED_MESSAGES: Final = "SELECT * FROM forky.messages WHERE conversation = $conversation ORDER BY message"
MESSAGE_COUNT: Final = "SELECT count(*) FROM forky.messages"
MATCH: Final = """
SELECT id FROM forky.messages
WHERE conversation = $conversation AND id >= $low::UUID AND id <= $high::UUID ORDER BY message LIMIT $most
"""
LINKS: Final = f"""
SELECT message, {_ID}, parent, CASE WHEN contains(rest, '"hidden"') THEN rest END AS rest
FROM forky.messages WHERE conversation = $conversation
"""
"""`rest` only where it may say that the message is hidden."""
STEMS: Final = f"""
SELECT {_ID}, parent, created,
    CASE WHEN contains(rest, '"parents"') OR contains(rest, '"hidden"') THEN rest END AS rest
FROM forky.messages WHERE conversation = $conversation ORDER BY message
"""
"""`rest` only where it may say something of parents or of being hidden."""
SET_MESSAGE: Final = """
UPDATE forky.messages SET text = $text, rest = $rest WHERE conversation = $conversation AND id = $id::UUID
"""
GRAFTED: Final = "SELECT DISTINCT conversation FROM forky.messages WHERE contains(rest, $json)"
"""The conversations that have a message which names this conversation, as a graft does."""


@cache
def words_of(messages: int) -> str:
    """The content of so many messages. As a join with a list of them it takes twice as long."""
    wanted = " OR ".join(f"message = $number_{at}" for at in range(messages))
    return f"""
SELECT message, {_ID}, role, text, rest, created FROM forky.messages
WHERE conversation = $conversation AND ({wanted})
"""


# Paths

PLACE: Final = (
    "SELECT segment, depth FROM forky.messages WHERE conversation = $conversation AND id = $id::UUID"
)
PLACES: Final = (
    "SELECT id, segment, depth FROM forky.messages WHERE conversation = $conversation ORDER BY message"
)
PLACES_OF: Final = """
SELECT m.conversation, replace(m.id::TEXT, '-', '') AS id, m.segment, m.depth
FROM forky.messages m
JOIN (SELECT unnest($conversations::INTEGER[]) AS conversation, unnest($ids::UUID[]) AS id) AS r USING (conversation, id)
"""
SEGMENTS: Final = """
SELECT segment, parent_segment, parent_depth FROM forky.segments WHERE conversation = $conversation ORDER BY segment
"""
SEGMENTS_OF: Final = """
SELECT s.conversation, s.segment, s.parent_segment, s.parent_depth
FROM forky.segments s JOIN (SELECT unnest($conversations::INTEGER[]) AS conversation) AS r USING (conversation)
"""
MERGES_OF: Final = """
SELECT m.conversation, m.segment, m.depth, m.rest
FROM forky.messages m JOIN (SELECT unnest($conversations::INTEGER[]) AS conversation) AS r USING (conversation)
WHERE contains(m.rest, '"parents"') ORDER BY m.message DESC
"""
_ON_PATH: Final = f"m.depth, {_ID}, role, text, rest, created"
PATH: Final = f"""
SELECT {_ON_PATH}
FROM forky.messages m
JOIN (SELECT unnest($segments::INTEGER[]) AS segment, unnest($depths::INTEGER[]) AS depth) AS r
    ON m.segment = r.segment AND m.depth <= r.depth
WHERE conversation = $conversation
"""


@cache
def path_of(ranges: int) -> str:
    """As PATH, of a few ranges: one condition for each is twice as fast as a join with a list of them."""
    wanted = " OR ".join(f"segment = $segment_{at} AND depth <= $depth_{at}" for at in range(ranges))
    return f"""
SELECT {_ON_PATH} FROM forky.messages m WHERE conversation = $conversation AND ({wanted})
"""


# Packs: messages side by side

PACKS: Final = "SELECT place, heads, texts FROM forky.packs WHERE conversation = $conversation"
FIRST_PACKS: Final = f"{PACKS} AND place < $before"
_LAST_MESSAGES: Final = "SELECT conversation, max(message) AS last FROM forky.messages GROUP BY conversation"
_LAST_PACKED: Final = "SELECT conversation, max(last) AS last FROM forky.packs GROUP BY conversation"
TO_PACK: Final = f"""
SELECT written.conversation, coalesce(packed.last, 0) AS last
FROM ({_LAST_MESSAGES}) AS written LEFT JOIN ({_LAST_PACKED}) AS packed USING (conversation)
WHERE written.last - coalesce(packed.last, 0) >= $least ORDER BY written.conversation
"""
"""The conversations of which so many messages are in no pack, and the last one that is."""
FULLY_PACKED: Final = f"""
SELECT written.conversation, written.last
FROM ({_LAST_MESSAGES}) AS written JOIN ({_LAST_PACKED}) AS packed USING (conversation, last)
"""
"""The conversations of which every message is in a pack, and the last of each."""
DROP_PACKS: Final = "DELETE FROM forky.packs WHERE conversation = $conversation"

# Searching

_WHITE: Final = "".join(c for c in map(chr, range(0x3001)) if c.isspace())
"""What `str.strip` takes away: beyond U+3000 there is no white space."""
SAYING: Final = f"""
SELECT c.id AS conversation, m.id FROM forky.messages m JOIN forky.conversations c USING (conversation)
WHERE m.role = $role AND CASE WHEN contains(m.text, $text) THEN trim(m.text, '{_WHITE}') = $text ELSE false END
ORDER BY m.conversation, m.message
"""
SearchIn = Literal["everything", "one", "some"]
_SEARCHED: Final[Mapping[SearchIn, str]] = {
    "everything": "",
    "one": " AND conversation = $conversation",
    "some": """ AND conversation IN (
        SELECT conversation FROM forky.conversations JOIN (SELECT unnest($ids::TEXT[]) AS id) AS r USING (id)
    )""",
}


@cache
def search(words: int, within: SearchIn) -> str:
    """The messages whose text contains each of so many words, best first: of all conversations, of one, or of some.

    Owners are joined to the page that was found, not to everything that matches.
    """
    every = range(words)
    hits = " + ".join(
        f"(strlen(lower(text)) - strlen(replace(lower(text), $word_{at}, ''))) / strlen($word_{at})"
        for at in every
    )
    matches = " AND ".join(f"contains(lower(text), $word_{at})" for at in every)
    best_first = "hits DESC, created DESC, conversation DESC, message DESC"
    return f"""
SELECT conversation, c.id AS owner, found.id, segment, depth, role, text, rest, created
FROM (
    SELECT conversation, message, id, segment, depth, role, text, rest, created, ({hits})::DOUBLE AS hits
    FROM forky.messages
    WHERE {matches} AND conversation NOT IN (SELECT conversation FROM forky.entries WHERE key = 'trashed'){_SEARCHED[within]}
    ORDER BY {best_first} LIMIT $most OFFSET $skip
) AS found JOIN forky.conversations c USING (conversation)
ORDER BY {best_first}
"""


# Model calls

GENERATIONS: Final = "SELECT * FROM forky.generations WHERE conversation = $conversation ORDER BY started, id"
CALLS_STRETCH: Final = """
SELECT * FROM forky.generations
WHERE conversation = $conversation AND (started > $started OR started = $started AND id > $id)
ORDER BY started, id LIMIT $most
"""
GENERATION_IDS: Final = "SELECT id FROM forky.generations WHERE conversation = $conversation"
RUNNING: Final = """
SELECT c.id AS conversation, g.id FROM forky.generations g JOIN forky.conversations c USING (conversation)
WHERE g.status = 'running' ORDER BY g.started, g.id, c.id
"""
LOOKED: Final = """SELECT conversation, rest FROM forky.generations WHERE contains(rest, '"looked":true')"""
"""The calls that looked for a stored answer, and perhaps others: the caller reads what `rest` says."""
TOOK: Final = """
SELECT g.conversation, g.id, g.prompt_tokens, g.completion_tokens, g.cost
FROM forky.generations g
JOIN (SELECT unnest($conversations::INTEGER[]) AS conversation, unnest($ids::TEXT[]) AS id) AS r USING (conversation, id)
"""

# Attachments

BLOB: Final = "SELECT media_type, name, content FROM forky.blobs WHERE sha256 = $sha256"
HAS_BLOB: Final = "SELECT count(*) FROM forky.blobs WHERE sha256 = $sha256"
BLOB_NAMES: Final = "SELECT sha256 FROM forky.blobs ORDER BY sha256"
DROP_BLOBS: Final = "DELETE FROM forky.blobs WHERE sha256 IN (SELECT unnest($names::TEXT[])) RETURNING 1"
NAMING_MESSAGES: Final = (
    """SELECT conversation, rest FROM forky.messages WHERE contains(rest, '"attachment"')"""
)
NAMING_OPERATIONS: Final = (
    """SELECT conversation, changes FROM forky.operations WHERE contains(changes, '"attachments"')"""
)
"""What can name an attachment: messages, and the changes that made or dropped a stash."""

# Derived values and settings

DERIVED: Final = """
SELECT d.key, d.value FROM forky.derived d JOIN (SELECT unnest($keys::TEXT[]) AS key) AS r USING (key)
WHERE d.conversation = $conversation
"""
ALL_DERIVED: Final = "SELECT key, value FROM forky.derived WHERE conversation = $conversation"
DERIVED_KEYS: Final = "SELECT key FROM forky.derived WHERE conversation = $conversation ORDER BY key"
DERIVED_UNDER: Final = """
SELECT c.id AS conversation, d.value FROM forky.conversations c JOIN forky.derived d USING (conversation) WHERE d.key = $key
"""
ADD_DERIVED: Final = """
INSERT INTO forky.derived (conversation, key, value)
SELECT $conversation::INTEGER, unnest($keys::TEXT[]), unnest($values::TEXT[])
"""
DROP_DERIVED: Final = """
DELETE FROM forky.derived WHERE conversation = $conversation AND key IN (SELECT unnest($keys::TEXT[]))
"""
FORGET_DERIVED: Final = "DELETE FROM forky.derived WHERE key = $key"
SETTING: Final = "SELECT value FROM forky.settings WHERE key = $key"
SETTINGS: Final = "SELECT key, value FROM forky.settings ORDER BY key"
SETTINGS_OF: Final = """
SELECT s.key, s.value FROM forky.settings s JOIN (SELECT unnest($keys::TEXT[]) AS key) AS r USING (key)
"""
DROP_SETTING: Final = "DELETE FROM forky.settings WHERE key = $key"

# Purging, and verifying

_OF_CONVERSATIONS: Final = (
    "packs", "derived", "entries", "generations", "messages", "segments", "operations",
)  # fmt: skip
_TABLES: Final = (
    *_OF_CONVERSATIONS, "conversations", "blobs", "settings", "documents", "chunks", "postings", "vectors", "migrations",
)  # fmt: skip
PURGE: Final = tuple(
    f"DELETE FROM forky.{table} WHERE conversation = $conversation"
    for table in (*_OF_CONVERSATIONS, "conversations")
)
READ_ALL: Final = {table: f"SELECT bit_xor(hash({table})) FROM forky.{table}" for table in sorted(_TABLES)}
"""By table, one number that depends on every value, so that all of it is read."""
ORPHANS: Final = {
    table: f"""
SELECT count(*) FROM forky.{table} WHERE conversation NOT IN (SELECT conversation FROM forky.conversations)
"""
    for table in _OF_CONVERSATIONS
}
"""By table, how many rows name a conversation that is not stored."""

# Documents

_DOCUMENT: Final = (
    "SELECT id, name, media_type, size, added, shelf, whole, chunks, terms FROM forky.documents"
)
_REACHED: Final = """
whole AND ($shelved::BOOLEAN AND shelf = 'workspace' OR id IN (SELECT unnest($named::TEXT[])))
"""
_REACHED_NUMBERS: Final = f"SELECT document FROM forky.documents WHERE {_REACHED}"
DOCUMENTS: Final = f"{_DOCUMENT} ORDER BY added DESC, document DESC"
DOCUMENTS_LIKE: Final = f"{_DOCUMENT} WHERE starts_with(id, $prefix) ORDER BY id LIMIT 3"
DOCUMENTS_NAMED: Final = f"{_DOCUMENT} WHERE id IN (SELECT unnest($ids::TEXT[]))"
STORED_DOCUMENTS: Final = """
SELECT id, document, whole FROM forky.documents WHERE id IN (SELECT unnest($ids::TEXT[]))
"""
LAST_NUMBERS: Final = """
SELECT (SELECT coalesce(max(document), 0) FROM forky.documents) AS document,
    (SELECT coalesce(max(chunk), 0) FROM forky.chunks) AS chunk
"""
SHELVE: Final = "UPDATE forky.documents SET shelf = $shelf WHERE id = $id RETURNING id"
GROW_DOCUMENT: Final = """
UPDATE forky.documents SET whole = $whole::BOOLEAN, chunks = chunks + $chunks, terms = terms + $terms
WHERE document = $document
"""
DROP_DOCUMENTS: Final = tuple(
    f"""
DELETE FROM forky.{table}
WHERE document IN (SELECT document FROM forky.documents WHERE id IN (SELECT unnest($ids::TEXT[])))
"""
    for table in ("vectors", "postings", "chunks", "documents")
)
WITHIN: Final = f"""
SELECT count(*) AS documents, coalesce(sum(chunks), 0) AS chunks, coalesce(sum(terms), 0) AS terms
FROM forky.documents WHERE {_REACHED}
"""
POSTINGS: Final = f"""
SELECT chunk, term, frequency, length FROM forky.postings
WHERE term IN (SELECT unnest($terms::BIGINT[])) AND document IN ({_REACHED_NUMBERS})
"""
COUNTS: Final = """
SELECT chunk, term, frequency FROM forky.postings WHERE chunk IN (SELECT unnest($keys::INTEGER[]))
"""
CHUNKS: Final = """
SELECT c.number, c.place, c.text, c.overlap FROM forky.chunks c JOIN forky.documents d USING (document)
WHERE d.id = $document AND c.number >= $first ORDER BY c.number LIMIT $most
"""
STORED_CHUNKS: Final = """
SELECT c.chunk, c.number, c.place, c.text, c.overlap, v.model, v.vector
FROM forky.chunks c JOIN forky.documents d USING (document) LEFT JOIN forky.vectors v ON v.chunk = c.chunk
WHERE d.id = $document AND c.number >= $first ORDER BY c.number LIMIT $most
"""
FOUND: Final = """
SELECT c.chunk, c.number, c.place, c.text, c.overlap,
    d.id, d.name, d.media_type, d.size, d.added, d.shelf, d.whole, d.chunks, d.terms
FROM forky.chunks c JOIN forky.documents d USING (document)
WHERE c.chunk IN (SELECT unnest($keys::INTEGER[]))
"""
UNEMBEDDED: Final = """
SELECT c.chunk, c.text FROM forky.chunks c JOIN forky.documents d USING (document)
WHERE d.whole AND d.shelf <> 'trash' AND c.chunk NOT IN (SELECT chunk FROM forky.vectors WHERE model = $model)
ORDER BY c.chunk LIMIT $most
"""
OWNERS: Final = "SELECT chunk, document FROM forky.chunks WHERE chunk IN (SELECT unnest($keys::INTEGER[]))"
VECTORS: Final = f"""
SELECT chunk, vector FROM forky.vectors WHERE model = $model AND document IN ({_REACHED_NUMBERS})
"""
VECTOR_SIZES: Final = "SELECT model, max(size) AS size FROM forky.vectors GROUP BY model"
DROP_VECTORS: Final = "DELETE FROM forky.vectors WHERE chunk IN (SELECT unnest($keys::INTEGER[]))"
FORGET_VECTORS: Final = "DELETE FROM forky.vectors"
