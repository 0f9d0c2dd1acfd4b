# ruff: noqa: S608 - the tables and columns are our own; what people say is a parameter
"""Every statement that the store on PostgreSQL runs, by name; tests/store/postgresql EXPLAINs each of them.

They are written for this engine and not shared with DuckDB's: here every key begins with the workspace and a
conversation is named by its id, there by a number in a file; one source for both would be a third dialect. Each names
its table once, and none takes a lock that outlives its transaction.
"""

from __future__ import annotations

from typing import Final

from forky_core.store import rows

_HERE: Final = "workspace = %(workspace)s AND conversation = %(conversation)s"

# Conversations

CONVERSATION: Final = (
    f"SELECT version, last, created, updated, messages, erasures FROM forky.conversations WHERE {_HERE}"
)
STATE: Final = f"SELECT messages, erasures, version FROM forky.conversations WHERE {_HERE}"
VIEW: Final = """
SELECT c.version, e.key, e.value AS json FROM forky.conversations c
LEFT JOIN forky.entries e ON e.workspace = c.workspace AND e.conversation = c.conversation
WHERE c.workspace = %(workspace)s AND c.conversation = %(conversation)s
"""
IDS: Final = (
    "SELECT conversation FROM forky.conversations WHERE workspace = %(workspace)s ORDER BY born, conversation"
)
LIBRARY: Final = """
SELECT conversation, version, erasures, created, updated, messages FROM forky.conversations
WHERE workspace = %(workspace)s ORDER BY updated DESC, born DESC, conversation DESC
"""
LINES: Final = """
SELECT conversation, key, value AS json, operation FROM forky.entries
WHERE workspace = %(workspace)s AND conversation = ANY(%(conversations)s)
AND (key IN ('title', 'folder', 'trashed', 'program') OR starts_with(key, 'heads/') OR starts_with(key, 'experiments/'))
"""
ENTRIES: Final = f"SELECT key, value AS json, operation FROM forky.entries WHERE {_HERE}"
ENTRIES_NAMED: Final = (
    "SELECT conversation, value AS json FROM forky.entries WHERE workspace = %(workspace)s AND key = %(key)s"
)
ENTRIES_OF: Final = """
SELECT conversation, key, value AS json FROM forky.entries
WHERE workspace = %(workspace)s AND conversation = ANY(%(conversations)s)
"""

# Operations

OPERATIONS: Final = f"""
SELECT number, id, made, actor, verb, summary, changes, gesture, reverts FROM forky.operations
WHERE {_HERE} AND number BETWEEN %(first)s AND %(last)s ORDER BY number
"""
LAST_TO_MOVE: Final = f"""
SELECT number FROM forky.operations WHERE {_HERE} AND strpos(changes, %(json)s) > 0 ORDER BY number DESC LIMIT 1
"""
IS_AT: Final = """
SELECT 1 FROM forky.operations o
JOIN forky.conversations c ON c.workspace = o.workspace AND c.conversation = o.conversation
WHERE o.workspace = %(workspace)s AND o.conversation = %(conversation)s AND o.number = %(number)s AND o.id = %(id)s
AND c.messages >= %(messages)s
"""

# Messages

_ID: Final = "'b2:' || encode(uuid_send(id), 'hex')"
_COLUMNS: Final = f"message, {_ID}, parent, role, text, rest, created"
MESSAGES: Final = (
    f"SELECT {_COLUMNS} FROM forky.messages WHERE {_HERE} AND message > %(after)s ORDER BY message"
)
STRETCH: Final = f"""
SELECT {_COLUMNS} FROM forky.messages WHERE {_HERE} AND message > %(after)s AND message <= %(last)s ORDER BY message
"""
MESSAGE: Final = """
SELECT m.id, p.id AS parent, m.role, m.text, m.rest, m.created FROM forky.messages m
LEFT JOIN forky.messages p
    ON p.workspace = m.workspace AND p.conversation = m.conversation AND p.message = m.parent
WHERE m.workspace = %(workspace)s AND m.conversation = %(conversation)s AND m.id = %(id)s
"""
NUMBERED: Final = f"SELECT message, {_ID} FROM forky.messages WHERE {_HERE} AND message = ANY(%(numbers)s)"
PLACE: Final = f"SELECT segment, depth FROM forky.messages WHERE {_HERE} AND id = %(id)s"
PLACES: Final = f"SELECT {_ID}, segment, depth FROM forky.messages WHERE {_HERE} ORDER BY message"
SEGMENTS: Final = f"SELECT segment, parent_segment, parent_depth FROM forky.segments WHERE {_HERE}"
PATH: Final = """
SELECT m.depth, 'b2:' || encode(uuid_send(m.id), 'hex'), m.role, m.text, m.rest, m.created
FROM unnest(%(segments)s::int[], %(depths)s::int[]) AS r (segment, last)
JOIN forky.messages m ON m.segment = r.segment AND m.depth <= r.last
WHERE m.workspace = %(workspace)s AND m.conversation = %(conversation)s ORDER BY m.depth
"""
STEMS: Final = f"SELECT {_ID}, parent, created, rest FROM forky.messages WHERE {_HERE} ORDER BY message"
MATCH: Final = f"""
SELECT id FROM forky.messages WHERE {_HERE} AND id BETWEEN %(low)s AND %(high)s ORDER BY message LIMIT %(most)s
"""
SAYING: Final = """
SELECT m.conversation, m.id, m.text FROM forky.messages m
JOIN forky.conversations c ON c.workspace = m.workspace AND c.conversation = m.conversation
WHERE m.workspace = %(workspace)s AND m.role = %(role)s AND strpos(m.text, %(text)s) > 0
ORDER BY c.born, m.conversation, m.message
"""

# Searching

SEARCH: Final = """
SELECT m.conversation, m.conversation AS owner, m.id, m.segment, m.depth, m.role, m.text, m.rest, m.created
FROM forky.messages m JOIN forky.conversations c ON c.workspace = m.workspace AND c.conversation = m.conversation
WHERE m.workspace = %(workspace)s AND lower(m.text) LIKE ALL (%(patterns)s)
AND (%(conversation)s::text IS NULL OR m.conversation = %(conversation)s)
AND (%(among)s::text[] IS NULL OR m.conversation = ANY(%(among)s))
AND NOT EXISTS (
    SELECT 1 FROM forky.entries e
    WHERE e.workspace = m.workspace AND e.conversation = m.conversation AND e.key = 'trashed'
)
ORDER BY (
    SELECT sum((length(lower(m.text)) - length(replace(lower(m.text), word, ''))) / length(word))
    FROM unnest(%(words)s::text[]) AS w (word)
) DESC, m.created DESC, c.born DESC, m.conversation DESC, m.message DESC
LIMIT %(most)s OFFSET %(skip)s
"""
SEGMENTS_OF: Final = """
SELECT conversation, segment, parent_segment, parent_depth FROM forky.segments
WHERE workspace = %(workspace)s AND conversation = ANY(%(conversations)s)
"""
MERGES_OF: Final = """
SELECT conversation, segment, depth, rest FROM forky.messages
WHERE workspace = %(workspace)s AND conversation = ANY(%(conversations)s) AND strpos(rest, '"parents"') > 0
ORDER BY conversation, message DESC
"""
PLACES_OF: Final = """
SELECT m.conversation, m.id, m.segment, m.depth
FROM unnest(%(conversations)s::text[], %(ids)s::uuid[]) AS r (conversation, id)
JOIN forky.messages m ON m.conversation = r.conversation AND m.id = r.id
WHERE m.workspace = %(workspace)s
"""

# Model calls

_LATEST: Final = ", ".join(
    f"coalesce(p.{name}, g.{name}) AS {name}"
    for name in rows.GENERATION_COLUMNS
    if name not in {"id", "status"}
)
_CALLS: Final = f"""
SELECT g.conversation, g.id, g.status, {_LATEST} FROM forky.generations g
LEFT JOIN forky.progress p ON g.status = 'running' AND p.workspace = g.workspace AND p.conversation = g.conversation
    AND p.id = g.id
"""
GENERATIONS: Final = f"""{_CALLS}
WHERE g.workspace = %(workspace)s AND g.conversation = %(conversation)s ORDER BY g.started, g.id
"""
CALLS_STRETCH: Final = f"""{_CALLS}
WHERE g.workspace = %(workspace)s AND g.conversation = %(conversation)s AND (g.started, g.id) > (%(started)s, %(id)s)
ORDER BY g.started, g.id LIMIT %(most)s
"""
RUNNING: Final = """
SELECT conversation, id FROM forky.generations
WHERE workspace = %(workspace)s AND status = 'running' ORDER BY started, id, conversation
"""
ABANDONED: Final = """
SELECT g.conversation, g.id FROM forky.generations g
WHERE g.workspace = %(workspace)s AND g.status = 'running' AND g.process IS DISTINCT FROM %(process)s
    AND NOT EXISTS (
        SELECT 1 FROM forky.processes p
        WHERE p.workspace = g.workspace AND p.process = g.process AND p.seen > clock_timestamp() - interval '10 s'
    )
    AND pg_postmaster_start_time() < clock_timestamp() - make_interval(secs => %(awake)s::int)
ORDER BY g.started, g.id, g.conversation
"""
IS_ALIVE: Final = """
SELECT coalesce(bool_or(
    seen > clock_timestamp() - interval '10 s'
    OR pg_postmaster_start_time() >= clock_timestamp() - make_interval(secs => %(awake)s::int)
), false) FROM forky.processes WHERE workspace = %(workspace)s AND process = %(named)s
"""
LIVE: Final = """
INSERT INTO forky.processes (workspace, process, seen)
VALUES (%(workspace)s, %(process)s, clock_timestamp())
ON CONFLICT (workspace, process) DO UPDATE SET seen = excluded.seen
"""
FORGET_GONE: Final = """
DELETE FROM forky.processes WHERE workspace = %(workspace)s AND seen < now() - interval '1 day'
"""
KNOW_SCHEMA: Final = """
INSERT INTO forky.process_schemas (process, schema, seen) VALUES (%(process)s, %(schema)s, clock_timestamp())
ON CONFLICT (process) DO UPDATE SET schema = excluded.schema, seen = excluded.seen
"""
FORGET_SCHEMAS: Final = "DELETE FROM forky.process_schemas WHERE seen < now() - interval '1 day'"
OLDER_PROGRAMS: Final = """
SELECT s.process FROM forky.process_schemas s
WHERE s.schema < %(usable_from)s AND s.process <> %(process)s
    AND (s.seen > clock_timestamp() - interval '10 s'
        OR pg_postmaster_start_time() > clock_timestamp() - interval '15 s')
UNION
SELECT p.process FROM forky.processes p
WHERE p.process <> %(process)s AND p.seen > clock_timestamp() - interval '10 s'
    AND NOT EXISTS (SELECT 1 FROM forky.process_schemas s WHERE s.process = p.process)
"""
VERSIONS: Final = (
    "SELECT conversation, version, erasures FROM forky.conversations WHERE workspace = %(workspace)s"
)
LOOKED: Final = """
SELECT conversation, rest FROM forky.generations
WHERE workspace = %(workspace)s AND strpos(rest, '"looked"') > 0 ORDER BY conversation, started, id
"""
TOOK: Final = """
SELECT g.conversation, g.id, g.prompt_tokens, g.completion_tokens, g.cost
FROM unnest(%(conversations)s::text[], %(ids)s::text[]) AS r (conversation, id)
JOIN forky.generations g ON g.conversation = r.conversation AND g.id = r.id
WHERE g.workspace = %(workspace)s
"""

# Writing

APPEND: Final = """
SELECT forky.append(%(workspace)s, %(conversation)s, %(seen)s::int, %(reached)s::int, %(newest)s::uuid, %(began)s::bigint,
    %(moved)s::bigint, %(many)s::int, %(runs)s::int, %(messages)s::json, %(segments)s::json, %(operations)s::json,
    %(gone)s::text[], %(entries)s::json, %(derived)s::json, %(calls)s::json, %(process)s)
"""
RECORD: Final = "SELECT forky.record(%(workspace)s, %(conversation)s, %(call)s::json, %(process)s)"
LOCK: Final = f"SELECT erasures FROM forky.conversations WHERE {_HERE} FOR UPDATE"

# What is beside the history

ADD_BLOB: Final = """
INSERT INTO forky.blobs (workspace, sha256, media_type, name, content)
VALUES (%(workspace)s, %(sha256)s, %(media_type)s, %(name)s, %(content)s)
ON CONFLICT (workspace, sha256) DO UPDATE SET content = EXCLUDED.content, outside = NULL WHERE blobs.outside IS NOT NULL
"""
BLOB: Final = """
SELECT media_type, name, content, outside FROM forky.blobs WHERE workspace = %(workspace)s AND sha256 = %(sha256)s
"""
BLOB_NAMES: Final = "SELECT sha256 FROM forky.blobs WHERE workspace = %(workspace)s ORDER BY sha256"
DROP_BLOBS: Final = (
    "DELETE FROM forky.blobs WHERE workspace = %(workspace)s AND sha256 = ANY(%(names)s) RETURNING 1"
)
NAMING_MESSAGES: Final = """
SELECT conversation, rest FROM forky.messages WHERE workspace = %(workspace)s AND strpos(rest, '"attachment"') > 0
"""
NAMING_OPERATIONS: Final = """
SELECT conversation, changes FROM forky.operations
WHERE workspace = %(workspace)s AND strpos(changes, '"attachments"') > 0
"""
DERIVED_KEYS: Final = f"SELECT key FROM forky.derived WHERE {_HERE} ORDER BY key"
DERIVED: Final = f"SELECT key, value FROM forky.derived WHERE {_HERE} AND key = ANY(%(keys)s)"
ALL_DERIVED: Final = f"SELECT key, value FROM forky.derived WHERE {_HERE}"
DERIVED_UNDER: Final = (
    "SELECT conversation, value FROM forky.derived WHERE workspace = %(workspace)s AND key = %(key)s"
)
KEEP_DERIVED: Final = """
INSERT INTO forky.derived (workspace, conversation, key, value)
SELECT %(workspace)s, %(conversation)s, r.key, r.value
FROM unnest(%(keys)s::text[], %(values)s::text[]) AS r (key, value)
ON CONFLICT (workspace, conversation, key) DO UPDATE SET value = excluded.value
"""
DROP_DERIVED: Final = f"DELETE FROM forky.derived WHERE {_HERE} AND key = ANY(%(keys)s)"
FORGET_DERIVED: Final = "DELETE FROM forky.derived WHERE workspace = %(workspace)s AND key = %(key)s"
SETTING: Final = "SELECT value FROM forky.settings WHERE workspace = %(workspace)s AND key = %(key)s"
SETTINGS_OF: Final = """
SELECT key, value FROM forky.settings WHERE workspace = %(workspace)s AND key = ANY(%(keys)s)
"""
SETTINGS: Final = "SELECT key, value FROM forky.settings WHERE workspace = %(workspace)s"
SET_SETTING: Final = """
INSERT INTO forky.settings (workspace, key, value) VALUES (%(workspace)s, %(key)s, %(value)s)
ON CONFLICT (workspace, key) DO UPDATE SET value = excluded.value
"""
LOCK_SETTING: Final = f"{SETTING} FOR UPDATE"
ADD_SETTING: Final = """
INSERT INTO forky.settings (workspace, key, value) VALUES (%(workspace)s, %(key)s, '')
ON CONFLICT DO NOTHING RETURNING key
"""
DROP_SETTING: Final = "DELETE FROM forky.settings WHERE workspace = %(workspace)s AND key = %(key)s"

# Purging and erasing

PURGE: Final = tuple(
    f"DELETE FROM forky.{table} WHERE {_HERE}"
    for table in (
        "conversations",
        "messages",
        "segments",
        "operations",
        "entries",
        "generations",
        "progress",
        "derived",
    )
)
GRAFTED: Final = """
SELECT DISTINCT conversation FROM forky.messages
WHERE workspace = %(workspace)s AND strpos(rest, %(json)s) > 0
"""
SET_MESSAGE: Final = (
    f"UPDATE forky.messages SET text = %(text)s, rest = %(rest)s WHERE {_HERE} AND id = %(id)s"
)
SET_OPERATION: Final = f"UPDATE forky.operations SET summary = %(summary)s, changes = %(changes)s WHERE {_HERE} AND number = %(number)s"
ADD_OPERATION: Final = """
INSERT INTO forky.operations
    (workspace, conversation, number, id, made, actor, verb, summary, changes, gesture, reverts)
VALUES (%(workspace)s, %(conversation)s, %(number)s, %(id)s, %(made)s, %(actor)s, %(verb)s,
    %(summary)s, %(changes)s, %(gesture)s, %(reverts)s)
"""
SET_ENTRY: Final = (
    f"UPDATE forky.entries SET value = %(json)s, operation = %(operation)s WHERE {_HERE} AND key = %(key)s"
)
ADD_ENTRY: Final = """
INSERT INTO forky.entries (workspace, conversation, key, value, operation)
VALUES (%(workspace)s, %(conversation)s, %(key)s, %(json)s, %(operation)s)
"""
KEEP_CALLS: Final = "SELECT forky.keep_calls(%(workspace)s, %(conversation)s, %(calls)s::json, %(process)s)"
ERASED: Final = f"""
UPDATE forky.conversations SET version = %(version)s, last = %(last)s, updated = %(updated)s, erasures = erasures + 1
WHERE {_HERE}
"""

# For analysis: what analysis.py copies, in the order of the columns there

_CHOSEN: Final = "(%(conversations)s::text[] IS NULL OR conversation = ANY(%(conversations)s::text[]))"
_ANALYSED: Final = f"workspace = %(workspace)s AND {_CHOSEN}"
ANALYSED_CONVERSATIONS: Final = f"""
SELECT row_number() OVER (ORDER BY born, conversation), conversation FROM forky.conversations WHERE {_ANALYSED}
"""
ANALYSED_MESSAGES: Final = f"""
SELECT conversation, message, id, segment, depth, parent, role, text, rest, created FROM forky.messages WHERE {_ANALYSED}
"""
ANALYSED_SEGMENTS: Final = f"""
SELECT conversation, segment, parent_segment, parent_depth FROM forky.segments WHERE {_ANALYSED}
"""
ANALYSED_OPERATIONS: Final = f"""
SELECT conversation, number, id, made, actor, verb, summary, changes, gesture, reverts FROM forky.operations
WHERE {_ANALYSED}
"""
ANALYSED_ENTRIES: Final = f"SELECT conversation, key, value, operation FROM forky.entries WHERE {_ANALYSED}"
ANALYSED_GENERATIONS: Final = f"""
SELECT conversation, id, status, model, started, first_token, finished, prompt_tokens, completion_tokens, cached_tokens,
    cost, rest
FROM ({_CALLS} WHERE g.workspace = %(workspace)s) AS calls WHERE {_CHOSEN}
"""
ANALYSED_DOCUMENTS: Final = """
SELECT id, name, media_type, size, added, whole, chunks FROM forky.documents WHERE workspace = %(workspace)s
"""

# Verifying

AUDITED_MESSAGES: Final = f"""
SELECT message, id, parent, role, text, rest, created, segment, depth FROM forky.messages WHERE {_HERE} ORDER BY message
"""
SIZE: Final = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'forky' AND c.relkind = 'r'
"""

# Documents

_DOCUMENT: Final = "id, name, media_type, size, added, shelf, whole, chunks, terms"
_REACHED: Final = (
    "workspace = %(workspace)s AND whole AND ((%(shelved)s AND shelf = 'workspace') OR id = ANY(%(named)s))"
)
DOCUMENTS: Final = f"""
SELECT {_DOCUMENT} FROM forky.documents WHERE workspace = %(workspace)s ORDER BY added DESC, born DESC, id
"""
DOCUMENTS_LIKE: Final = f"""
SELECT {_DOCUMENT} FROM forky.documents WHERE workspace = %(workspace)s AND starts_with(id, %(prefix)s) ORDER BY born, id
"""
DOCUMENTS_NAMED: Final = (
    f"SELECT {_DOCUMENT} FROM forky.documents WHERE workspace = %(workspace)s AND id = ANY(%(ids)s)"
)
WITHIN: Final = f"""
SELECT count(*), coalesce(sum(chunks), 0)::bigint, coalesce(sum(terms), 0)::bigint FROM forky.documents WHERE {_REACHED}
"""
ADD_DOCUMENT: Final = """
INSERT INTO forky.documents (workspace, id, name, media_type, size, added, shelf, whole, chunks, terms)
VALUES (%(workspace)s, %(id)s, %(name)s, %(media_type)s, %(size)s, %(added)s, %(shelf)s, false, 0, 0)
"""
LOCK_DOCUMENT: Final = (
    "SELECT whole FROM forky.documents WHERE workspace = %(workspace)s AND id = %(id)s FOR UPDATE"
)
GROW_DOCUMENT: Final = """
UPDATE forky.documents SET whole = %(whole)s, chunks = chunks + %(chunks)s, terms = terms + %(terms)s
WHERE workspace = %(workspace)s AND id = %(id)s
"""
SHELVE: Final = """
UPDATE forky.documents SET shelf = %(shelf)s WHERE workspace = %(workspace)s AND id = %(id)s RETURNING id
"""
ADD_CHUNKS: Final = """
INSERT INTO forky.chunks (workspace, document, number, place, text, overlap, length)
SELECT %(workspace)s, %(document)s, r.number, r.place, r.text, r.overlap, r.length
FROM unnest(%(numbers)s::int[], %(places)s::text[], %(texts)s::text[], %(overlaps)s::int[], %(lengths)s::int[])
    AS r (number, place, text, overlap, length)
ORDER BY r.number
RETURNING chunk, number
"""
ADD_POSTINGS: Final = """
INSERT INTO forky.postings (workspace, term, chunk, document, frequency)
SELECT %(workspace)s, r.term, r.chunk, %(document)s, r.frequency
FROM unnest(%(terms)s::bigint[], %(chunks)s::bigint[], %(frequencies)s::int[]) AS r (term, chunk, frequency)
"""
DROP_DOCUMENTS: Final = tuple(
    f"DELETE FROM forky.{table} WHERE workspace = %(workspace)s AND {column} = ANY(%(ids)s)"
    for table, column in (
        ("documents", "id"),
        ("chunks", "document"),
        ("postings", "document"),
        ("vectors", "document"),
    )
)
STORED_CHUNKS: Final = """
SELECT c.chunk, c.number, c.place, c.text, c.overlap, v.model, v.vector FROM forky.chunks c
LEFT JOIN forky.vectors v ON v.workspace = c.workspace AND v.chunk = c.chunk
WHERE c.workspace = %(workspace)s AND c.document = %(document)s AND c.number >= %(first)s ORDER BY c.number LIMIT %(most)s
"""
COUNTS: Final = """
SELECT chunk, term, frequency FROM forky.postings WHERE workspace = %(workspace)s AND chunk = ANY(%(keys)s) ORDER BY term
"""
CHUNKS: Final = """
SELECT number, place, text, overlap FROM forky.chunks
WHERE workspace = %(workspace)s AND document = %(document)s AND number >= %(first)s ORDER BY number LIMIT %(most)s
"""
POSTINGS: Final = f"""
SELECT p.chunk, p.term, p.frequency, c.length FROM forky.postings p
JOIN forky.chunks c ON c.workspace = p.workspace AND c.chunk = p.chunk
WHERE p.workspace = %(workspace)s AND p.term = ANY(%(terms)s)
AND p.document IN (SELECT id FROM forky.documents WHERE {_REACHED})
ORDER BY p.chunk, p.term
"""
FOUND: Final = """
SELECT c.chunk, c.number, c.place, c.text, c.overlap,
    d.id, d.name, d.media_type, d.size, d.added, d.shelf, d.whole, d.chunks, d.terms
FROM forky.chunks c JOIN forky.documents d ON d.workspace = c.workspace AND d.id = c.document
WHERE c.workspace = %(workspace)s AND c.chunk = ANY(%(keys)s)
"""
UNEMBEDDED: Final = """
SELECT c.chunk, c.text FROM forky.chunks c
JOIN forky.documents d ON d.workspace = c.workspace AND d.id = c.document AND d.whole AND d.shelf <> 'trash'
WHERE c.workspace = %(workspace)s AND NOT EXISTS (
    SELECT 1 FROM forky.vectors v WHERE v.workspace = c.workspace AND v.chunk = c.chunk AND v.model = %(model)s
)
ORDER BY c.chunk LIMIT %(most)s
"""
EMBED: Final = """
INSERT INTO forky.vectors (workspace, chunk, document, model, size, vector)
SELECT c.workspace, c.chunk, c.document, %(model)s, %(size)s, r.vector
FROM unnest(%(chunks)s::bigint[], %(vectors)s::bytea[]) AS r (chunk, vector)
JOIN forky.chunks c ON c.chunk = r.chunk AND c.workspace = %(workspace)s
ON CONFLICT (workspace, chunk) DO UPDATE SET model = excluded.model, size = excluded.size, vector = excluded.vector
"""
FORGET_VECTORS: Final = "DELETE FROM forky.vectors WHERE workspace = %(workspace)s"
VECTORS: Final = f"""
SELECT chunk, vector FROM forky.vectors WHERE workspace = %(workspace)s AND model = %(model)s AND chunk > %(after)s
AND document IN (SELECT id FROM forky.documents WHERE {_REACHED}) ORDER BY chunk LIMIT %(most)s
"""
VECTOR_SIZES: Final = "SELECT DISTINCT ON (model) model, size FROM forky.vectors WHERE workspace = %(workspace)s ORDER BY model, chunk"
