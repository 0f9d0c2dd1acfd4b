"""Written by `make sql` out of source/: not to be edited."""

from __future__ import annotations

from forky_core.store.duckdb.sql.statement import Each, Family, SqlStatement

ADD_DERIVED = SqlStatement(
    """INSERT INTO forky.derived (conversation, key, value) SELECT CAST(? AS INTEGER) AS anon_1, given.key,
    given.value
FROM (SELECT unnest(CAST(? AS TEXT[])) AS key, unnest(CAST(? AS TEXT[])) AS value) AS given""",
    ("conversation", "keys", "values"),
)

ALL_DERIVED = SqlStatement(
    """SELECT forky.derived.key, forky.derived.value
FROM forky.derived
WHERE forky.derived.conversation = ?""",
    ("conversation",),
)

AUDITED_MESSAGES = SqlStatement(
    """SELECT forky.messages.message, forky.messages.id, forky.messages.parent, forky.messages.role,
    forky.messages.text, forky.messages.rest, forky.messages.created, forky.messages.segment,
    forky.messages.depth
FROM forky.messages
WHERE forky.messages.conversation = ? ORDER BY forky.messages.message""",
    ("conversation",),
)

BLOB = SqlStatement(
    """SELECT forky.blobs.media_type, forky.blobs.name, forky.blobs.content
FROM forky.blobs
WHERE forky.blobs.sha256 = ?""",
    ("sha256",),
)

BLOB_NAMES = SqlStatement("""SELECT forky.blobs.sha256
FROM forky.blobs ORDER BY forky.blobs.sha256""")

CALLS_STRETCH = SqlStatement(
    """SELECT forky.generations.conversation, forky.generations.id, forky.generations.status,
    forky.generations.model, forky.generations.started, forky.generations.first_token,
    forky.generations.finished, forky.generations.prompt_tokens,
    forky.generations.completion_tokens, forky.generations.cached_tokens, forky.generations.cost,
    forky.generations.rest
FROM forky.generations
WHERE forky.generations.conversation = ? AND (forky.generations.started > ? OR
    forky.generations.started = ? AND forky.generations.id > ?) ORDER BY forky.generations.started,
    forky.generations.id
 LIMIT ?""",
    ("conversation", "started", "started", "id", "most"),
)

CONVERSATION = SqlStatement(
    """SELECT forky.conversations.id, forky.conversations.conversation
FROM forky.conversations
WHERE forky.conversations.id = ?""",
    ("id",),
)

CONVERSATIONS = SqlStatement("""SELECT forky.conversations.conversation, forky.conversations.id
FROM forky.conversations ORDER BY forky.conversations.conversation""")

CONVERSATIONS_NUMBERED = SqlStatement(
    """SELECT forky.conversations.id, forky.conversations.conversation
FROM forky.conversations JOIN (SELECT unnest(CAST(? AS INTEGER[])) AS number) AS given ON
    forky.conversations.conversation = given.number""",
    ("numbers",),
)

DERIVED = SqlStatement(
    """SELECT forky.derived.key, forky.derived.value
FROM forky.derived JOIN (SELECT unnest(CAST(? AS TEXT[])) AS key) AS given ON forky.derived.key =
    given.key
WHERE forky.derived.conversation = ?""",
    ("keys", "conversation"),
)

DERIVED_KEYS = SqlStatement(
    """SELECT forky.derived.key
FROM forky.derived
WHERE forky.derived.conversation = ? ORDER BY forky.derived.key""",
    ("conversation",),
)

DERIVED_UNDER = SqlStatement(
    """SELECT forky.conversations.id, forky.derived.value
FROM forky.conversations JOIN forky.derived ON forky.derived.conversation =
    forky.conversations.conversation
WHERE forky.derived.key = ?""",
    ("key",),
)

DROP_BLOB = SqlStatement("DELETE FROM forky.blobs WHERE forky.blobs.sha256 = ?", ("sha256",))

DROP_DERIVED = SqlStatement(
    """DELETE FROM forky.derived WHERE forky.derived.conversation = ? AND forky.derived.key IN (SELECT
    given.key
FROM (SELECT unnest(CAST(? AS TEXT[])) AS key) AS given)""",
    ("conversation", "keys"),
)

DROP_ENTRY = SqlStatement(
    "DELETE FROM forky.entries WHERE forky.entries.conversation = ? AND forky.entries.key = ?",
    ("conversation", "key"),
)

DROP_PACKS = SqlStatement("DELETE FROM forky.packs WHERE forky.packs.conversation = ?", ("conversation",))

DROP_SETTING = SqlStatement("DELETE FROM forky.settings WHERE forky.settings.key = ?", ("key",))

ENDS_OF_LOG = SqlStatement(
    """SELECT max(forky.operations.number) AS max_1, arg_max(forky.operations.id, forky.operations.number)
    AS arg_max_1, arg_min(forky.operations.made, forky.operations.number) AS arg_min_1,
    arg_max(forky.operations.made, forky.operations.number) AS arg_max_2
FROM forky.operations
WHERE forky.operations.conversation = ?""",
    ("conversation",),
)

ENTRIES = SqlStatement(
    """SELECT forky.entries.key, forky.entries.value, forky.entries.operation
FROM forky.entries
WHERE forky.entries.conversation = ?""",
    ("conversation",),
)

ENTRIES_NAMED = SqlStatement(
    """SELECT forky.entries.conversation, forky.entries.value
FROM forky.entries
WHERE forky.entries.key = ?""",
    ("key",),
)

ENTRIES_OF = SqlStatement(
    """SELECT forky.entries.conversation, forky.entries.key, forky.entries.value
FROM forky.entries JOIN (SELECT unnest(CAST(? AS INTEGER[])) AS conversation) AS given ON
    forky.entries.conversation = given.conversation""",
    ("conversations",),
)

FIRST_MESSAGES = SqlStatement(
    """SELECT forky.messages.message, concat(?, replace(CAST(forky.messages.id AS TEXT), ?, ?)) AS
    concat_1, forky.messages.parent, forky.messages.role, forky.messages.text, forky.messages.rest,
    forky.messages.created
FROM forky.messages
WHERE forky.messages.conversation = ? AND forky.messages.message > ?
 LIMIT ?""",
    ("concat_2", "replace_1", "replace_2", "conversation", "after", "most"),
    {"concat_2": "b2:", "replace_1": "-", "replace_2": ""},
)

FIRST_PACKS = SqlStatement(
    """SELECT forky.packs.place, forky.packs.heads, forky.packs.texts
FROM forky.packs
WHERE forky.packs.conversation = ? AND forky.packs.place < ?""",
    ("conversation", "before"),
)

FORGET_DERIVED = SqlStatement("DELETE FROM forky.derived WHERE forky.derived.key = ?", ("key",))

GENERATIONS = SqlStatement(
    """SELECT forky.generations.conversation, forky.generations.id, forky.generations.status,
    forky.generations.model, forky.generations.started, forky.generations.first_token,
    forky.generations.finished, forky.generations.prompt_tokens,
    forky.generations.completion_tokens, forky.generations.cached_tokens, forky.generations.cost,
    forky.generations.rest
FROM forky.generations
WHERE forky.generations.conversation = ? ORDER BY forky.generations.started, forky.generations.id""",
    ("conversation",),
)

GENERATION_IDS = SqlStatement(
    """SELECT forky.generations.id
FROM forky.generations
WHERE forky.generations.conversation = ?""",
    ("conversation",),
)

GRAFTED = SqlStatement(
    """SELECT DISTINCT forky.messages.conversation
FROM forky.messages
WHERE contains(forky.messages.rest, ?)""",
    ("of",),
)

HAS_BLOB = SqlStatement(
    """SELECT count(*) AS count_1
FROM forky.blobs
WHERE forky.blobs.sha256 = ?""",
    ("sha256",),
)

KEYS_LIKE = SqlStatement(
    """SELECT forky.entries.key, forky.entries.conversation
FROM forky.entries
WHERE forky.entries.key LIKE ?""",
    ("pattern",),
)

LAST_CONVERSATION = SqlStatement("""SELECT max(forky.conversations.conversation) AS max_1
FROM forky.conversations""")

LAST_TO_MOVE = SqlStatement(
    """SELECT max(forky.operations.number) AS max_1
FROM forky.operations
WHERE forky.operations.conversation = ? AND contains(forky.operations.changes, ?)""",
    ("conversation", "key"),
)

LIBRARY_ENTRIES = SqlStatement(
    """SELECT forky.entries.conversation, forky.entries.key, forky.entries.value, forky.entries.operation
FROM forky.entries
WHERE forky.entries.key IN (?, ?, ?) OR starts_with(forky.entries.key, ?) OR
    starts_with(forky.entries.key, ?)""",
    ("key_1_1", "key_1_2", "key_1_3", "starts_with_1", "starts_with_2"),
    {
        "key_1_1": "title",
        "key_1_2": "trashed",
        "key_1_3": "program",
        "starts_with_1": "heads/",
        "starts_with_2": "experiments/",
    },
)

LIBRARY_MESSAGES = SqlStatement("""SELECT forky.messages.conversation, count(*) AS count_1
FROM forky.messages GROUP BY forky.messages.conversation""")

LIBRARY_OPERATIONS = SqlStatement("""SELECT forky.operations.conversation, arg_min(forky.operations.made, forky.operations.number) AS
    arg_min_1, arg_max(forky.operations.made, forky.operations.number) AS arg_max_1
FROM forky.operations GROUP BY forky.operations.conversation""")

LINKS = SqlStatement(
    """SELECT forky.messages.message, concat(?, replace(CAST(forky.messages.id AS TEXT), ?, ?)) AS
    concat_1, forky.messages.parent, CASE WHEN contains(forky.messages.rest, ?) THEN
    forky.messages.rest END AS anon_1
FROM forky.messages
WHERE forky.messages.conversation = ?""",
    ("concat_2", "replace_1", "replace_2", "contains_1", "conversation"),
    {"concat_2": "b2:", "replace_1": "-", "replace_2": "", "contains_1": '"hidden"'},
)

LOG_STRETCH = SqlStatement(
    """SELECT forky.operations.number, forky.operations.id, forky.operations.made, forky.operations.actor,
    forky.operations.verb, forky.operations.summary, forky.operations.changes,
    forky.operations.gesture, forky.operations.reverts
FROM forky.operations
WHERE forky.operations.conversation = ? AND forky.operations.number >= ? AND forky.operations.number
    <= ? ORDER BY forky.operations.number""",
    ("conversation", "first", "last"),
)

LOOKED = SqlStatement(
    """SELECT forky.generations.conversation, forky.generations.rest
FROM forky.generations
WHERE contains(forky.generations.rest, ?)""",
    ("contains_1",),
    {"contains_1": '"looked":true'},
)

MATCH = SqlStatement(
    """SELECT forky.messages.id
FROM forky.messages
WHERE forky.messages.conversation = ? AND forky.messages.id >= ?::UUID AND forky.messages.id <=
    ?::UUID ORDER BY forky.messages.message
 LIMIT ?""",
    ("conversation", "low", "high", "most"),
)

MERGES_OF = SqlStatement(
    """SELECT forky.messages.conversation, forky.messages.segment, forky.messages.depth,
    forky.messages.rest
FROM forky.messages JOIN (SELECT unnest(CAST(? AS INTEGER[])) AS conversation) AS given ON
    forky.messages.conversation = given.conversation
WHERE contains(forky.messages.rest, ?) ORDER BY forky.messages.message DESC""",
    ("conversations", "contains_1"),
    {"contains_1": '"parents"'},
)

MESSAGE = SqlStatement(
    """SELECT forky.messages.id, parent_row.id AS id_1, forky.messages.role, forky.messages.text,
    forky.messages.rest, forky.messages.created
FROM forky.messages LEFT OUTER JOIN forky.messages AS parent_row ON parent_row.conversation =
    forky.messages.conversation AND parent_row.message = forky.messages.parent
WHERE forky.messages.conversation = ? AND forky.messages.id = ?::UUID""",
    ("conversation", "id"),
)

MESSAGES = SqlStatement(
    """SELECT forky.messages.message, concat(?, replace(CAST(forky.messages.id AS TEXT), ?, ?)) AS
    concat_1, forky.messages.parent, forky.messages.role, forky.messages.text, forky.messages.rest,
    forky.messages.created
FROM forky.messages
WHERE forky.messages.conversation = ? AND forky.messages.message > ? ORDER BY forky.messages.message""",
    ("concat_2", "replace_1", "replace_2", "conversation", "after"),
    {"concat_2": "b2:", "replace_1": "-", "replace_2": ""},
)

MESSAGE_COUNT = SqlStatement("""SELECT count(*) AS count_1
FROM forky.messages""")

NAMED_BLOBS = SqlStatement(
    """SELECT forky.messages.rest
FROM forky.messages
WHERE forky.messages.conversation = ? AND contains(forky.messages.rest, ?) UNION ALL SELECT
    forky.operations.changes
FROM forky.operations
WHERE forky.operations.conversation = ? AND contains(forky.operations.changes, ?)""",
    ("conversation", "contains_1", "conversation", "contains_2"),
    {"contains_1": '"attachment"', "contains_2": '"attachments"'},
)

NAMED_BLOBS_ANYWHERE = SqlStatement(
    """SELECT forky.messages.rest
FROM forky.messages
WHERE contains(forky.messages.rest, ?) UNION ALL SELECT forky.operations.changes
FROM forky.operations
WHERE contains(forky.operations.changes, ?)""",
    ("contains_1", "contains_2"),
    {"contains_1": '"attachment"', "contains_2": '"attachments"'},
)

NEWEST_CONVERSATIONS = SqlStatement(
    """SELECT forky.conversations.id, forky.conversations.conversation
FROM forky.conversations ORDER BY forky.conversations.conversation DESC
 LIMIT ?""",
    ("most",),
)

NUMBERED = SqlStatement(
    """SELECT forky.messages.message, concat(?, replace(CAST(forky.messages.id AS TEXT), ?, ?)) AS concat_1
FROM forky.messages JOIN (SELECT unnest(CAST(? AS INTEGER[])) AS number) AS given ON
    forky.messages.message = given.number
WHERE forky.messages.conversation = ?""",
    ("concat_2", "replace_1", "replace_2", "numbers", "conversation"),
    {"concat_2": "b2:", "replace_1": "-", "replace_2": ""},
)

OPERATIONS = SqlStatement(
    """SELECT forky.operations.number, forky.operations.id, forky.operations.made, forky.operations.actor,
    forky.operations.verb, forky.operations.summary, forky.operations.changes,
    forky.operations.gesture, forky.operations.reverts
FROM forky.operations
WHERE forky.operations.conversation = ? AND forky.operations.number >= ? ORDER BY
    forky.operations.number""",
    ("conversation", "first"),
)

PACKS = SqlStatement(
    """SELECT forky.packs.place, forky.packs.heads, forky.packs.texts
FROM forky.packs
WHERE forky.packs.conversation = ?""",
    ("conversation",),
)

PATH = SqlStatement(
    """SELECT forky.messages.depth, concat(?, replace(CAST(forky.messages.id AS TEXT), ?, ?)) AS concat_1,
    forky.messages.role, forky.messages.text, forky.messages.rest, forky.messages.created
FROM forky.messages JOIN (SELECT unnest(CAST(? AS INTEGER[])) AS segment, unnest(CAST(? AS
    INTEGER[])) AS depth) AS given ON forky.messages.segment = given.segment AND
    forky.messages.depth <= given.depth
WHERE forky.messages.conversation = ?""",
    ("concat_2", "replace_1", "replace_2", "segments", "depths", "conversation"),
    {"concat_2": "b2:", "replace_1": "-", "replace_2": ""},
)

PATH_OF = Family(
    (
        SqlStatement(
            """SELECT forky.messages.depth, concat(?, replace(CAST(forky.messages.id AS TEXT), ?, ?)) AS concat_1,
    forky.messages.role, forky.messages.text, forky.messages.rest, forky.messages.created
FROM forky.messages
WHERE forky.messages.conversation = ? AND (""",
            ("concat_2", "replace_1", "replace_2", "conversation"),
            {"concat_2": "b2:", "replace_1": "-", "replace_2": ""},
        ),
        Each(
            SqlStatement("forky.messages.segment = ? AND forky.messages.depth <= ?", ("segment", "depth")),
            " OR ",
        ),
        SqlStatement(")"),
    )
)

PLACE = SqlStatement(
    """SELECT forky.messages.segment, forky.messages.depth
FROM forky.messages
WHERE forky.messages.conversation = ? AND forky.messages.id = ?::UUID""",
    ("conversation", "id"),
)

PLACES = SqlStatement(
    """SELECT forky.messages.id, forky.messages.segment, forky.messages.depth
FROM forky.messages
WHERE forky.messages.conversation = ? ORDER BY forky.messages.message""",
    ("conversation",),
)

PLACES_OF = SqlStatement(
    """SELECT forky.messages.conversation, replace(CAST(forky.messages.id AS TEXT), ?, ?) AS replace_1,
    forky.messages.segment, forky.messages.depth
FROM forky.messages JOIN (SELECT unnest(CAST(? AS INTEGER[])) AS conversation, unnest(CAST(? AS
    UUID[])) AS id) AS given ON forky.messages.conversation = given.conversation AND
    forky.messages.id = given.id""",
    ("replace_2", "replace_3", "conversations", "ids"),
    {"replace_2": "-", "replace_3": ""},
)

PURGE = (
    SqlStatement("DELETE FROM forky.packs WHERE forky.packs.conversation = ?", ("conversation",)),
    SqlStatement("DELETE FROM forky.derived WHERE forky.derived.conversation = ?", ("conversation",)),
    SqlStatement("DELETE FROM forky.entries WHERE forky.entries.conversation = ?", ("conversation",)),
    SqlStatement("DELETE FROM forky.generations WHERE forky.generations.conversation = ?", ("conversation",)),
    SqlStatement("DELETE FROM forky.messages WHERE forky.messages.conversation = ?", ("conversation",)),
    SqlStatement("DELETE FROM forky.segments WHERE forky.segments.conversation = ?", ("conversation",)),
    SqlStatement("DELETE FROM forky.operations WHERE forky.operations.conversation = ?", ("conversation",)),
    SqlStatement(
        "DELETE FROM forky.conversations WHERE forky.conversations.conversation = ?", ("conversation",)
    ),
)

RUNNING = SqlStatement(
    """SELECT forky.conversations.id, forky.generations.id AS id_1
FROM forky.generations JOIN forky.conversations ON forky.conversations.conversation =
    forky.generations.conversation
WHERE forky.generations.status = ? ORDER BY forky.generations.started, forky.generations.id,
    forky.conversations.id""",
    ("status_1",),
    {"status_1": "running"},
)

SAYING = SqlStatement(
    """SELECT forky.conversations.id, forky.messages.id AS id_1
FROM forky.messages JOIN forky.conversations ON forky.conversations.conversation =
    forky.messages.conversation
WHERE forky.messages.role = ? AND CASE WHEN contains(forky.messages.text, ?) THEN
    trim(forky.messages.text, ?) = ? ELSE ? END ORDER BY forky.messages.conversation,
    forky.messages.message""",
    ("role", "text", "trim_1", "text", "param_1"),
    {
        "trim_1": "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000",
        "param_1": False,
    },
)

SCHEMA = SqlStatement("""SELECT max(forky.migrations.number) AS max_1
FROM forky.migrations""")

SEARCH = Family(
    (
        SqlStatement("""SELECT found.conversation, forky.conversations.id, found.id AS id_1, found.segment, found.depth,
    found.role, found.text, found.rest, found.created
FROM (SELECT forky.messages.conversation AS conversation, forky.messages.message AS message,
    forky.messages.id AS id, forky.messages.segment AS segment, forky.messages.depth AS depth,
    forky.messages.role AS role, forky.messages.text AS text, forky.messages.rest AS rest,
    forky.messages.created AS created, CAST(("""),
        Each(
            SqlStatement(
                "(strlen(lower(forky.messages.text)) - strlen(replace(lower(forky.messages.text), ?, ?))) / strlen(?)",
                ("word", "replace_1", "word"),
                {"replace_1": ""},
            ),
            " + ",
        ),
        SqlStatement(""") AS DOUBLE PRECISION) AS hits
FROM forky.messages
WHERE ("""),
        Each(SqlStatement("contains(lower(forky.messages.text), ?)", ("word",)), " AND "),
        SqlStatement(
            """) AND (forky.messages.conversation NOT IN (SELECT forky.entries.conversation
FROM forky.entries
WHERE forky.entries.key = ?)) ORDER BY hits DESC, forky.messages.created DESC,
    forky.messages.conversation DESC, forky.messages.message DESC
 LIMIT ? OFFSET ?) AS found JOIN forky.conversations ON forky.conversations.conversation =
    found.conversation ORDER BY found.hits DESC, found.created DESC, found.conversation DESC,
    found.message DESC""",
            ("key_1", "most", "skip"),
            {"key_1": "trashed"},
        ),
    )
)

SEARCH_AMONG = Family(
    (
        SqlStatement("""SELECT found.conversation, forky.conversations.id, found.id AS id_1, found.segment, found.depth,
    found.role, found.text, found.rest, found.created
FROM (SELECT forky.messages.conversation AS conversation, forky.messages.message AS message,
    forky.messages.id AS id, forky.messages.segment AS segment, forky.messages.depth AS depth,
    forky.messages.role AS role, forky.messages.text AS text, forky.messages.rest AS rest,
    forky.messages.created AS created, CAST(("""),
        Each(
            SqlStatement(
                "(strlen(lower(forky.messages.text)) - strlen(replace(lower(forky.messages.text), ?, ?))) / strlen(?)",
                ("word", "replace_1", "word"),
                {"replace_1": ""},
            ),
            " + ",
        ),
        SqlStatement(""") AS DOUBLE PRECISION) AS hits
FROM forky.messages
WHERE ("""),
        Each(SqlStatement("contains(lower(forky.messages.text), ?)", ("word",)), " AND "),
        SqlStatement(
            """) AND (forky.messages.conversation NOT IN (SELECT forky.entries.conversation
FROM forky.entries
WHERE forky.entries.key = ?)) AND forky.messages.conversation IN (SELECT
    forky.conversations.conversation
FROM forky.conversations JOIN (SELECT unnest(CAST(? AS TEXT[])) AS id) AS given ON
    forky.conversations.id = given.id) ORDER BY hits DESC, forky.messages.created DESC,
    forky.messages.conversation DESC, forky.messages.message DESC
 LIMIT ? OFFSET ?) AS found JOIN forky.conversations ON forky.conversations.conversation =
    found.conversation ORDER BY found.hits DESC, found.created DESC, found.conversation DESC,
    found.message DESC""",
            ("key_1", "ids", "most", "skip"),
            {"key_1": "trashed"},
        ),
    )
)

SEARCH_IN_ONE = Family(
    (
        SqlStatement("""SELECT found.conversation, forky.conversations.id, found.id AS id_1, found.segment, found.depth,
    found.role, found.text, found.rest, found.created
FROM (SELECT forky.messages.conversation AS conversation, forky.messages.message AS message,
    forky.messages.id AS id, forky.messages.segment AS segment, forky.messages.depth AS depth,
    forky.messages.role AS role, forky.messages.text AS text, forky.messages.rest AS rest,
    forky.messages.created AS created, CAST(("""),
        Each(
            SqlStatement(
                "(strlen(lower(forky.messages.text)) - strlen(replace(lower(forky.messages.text), ?, ?))) / strlen(?)",
                ("word", "replace_1", "word"),
                {"replace_1": ""},
            ),
            " + ",
        ),
        SqlStatement(""") AS DOUBLE PRECISION) AS hits
FROM forky.messages
WHERE ("""),
        Each(SqlStatement("contains(lower(forky.messages.text), ?)", ("word",)), " AND "),
        SqlStatement(
            """) AND (forky.messages.conversation NOT IN (SELECT forky.entries.conversation
FROM forky.entries
WHERE forky.entries.key = ?)) AND forky.messages.conversation = ? ORDER BY hits DESC,
    forky.messages.created DESC, forky.messages.conversation DESC, forky.messages.message DESC
 LIMIT ? OFFSET ?) AS found JOIN forky.conversations ON forky.conversations.conversation =
    found.conversation ORDER BY found.hits DESC, found.created DESC, found.conversation DESC,
    found.message DESC""",
            ("key_1", "conversation", "most", "skip"),
            {"key_1": "trashed"},
        ),
    )
)

SEGMENTS = SqlStatement(
    """SELECT forky.segments.segment, forky.segments.parent_segment, forky.segments.parent_depth
FROM forky.segments
WHERE forky.segments.conversation = ? ORDER BY forky.segments.segment""",
    ("conversation",),
)

SEGMENTS_OF = SqlStatement(
    """SELECT forky.segments.conversation, forky.segments.segment, forky.segments.parent_segment,
    forky.segments.parent_depth
FROM forky.segments JOIN (SELECT unnest(CAST(? AS INTEGER[])) AS conversation) AS given ON
    forky.segments.conversation = given.conversation""",
    ("conversations",),
)

SETTING = SqlStatement(
    """SELECT forky.settings.value
FROM forky.settings
WHERE forky.settings.key = ?""",
    ("key",),
)

SETTINGS = SqlStatement("""SELECT forky.settings.key, forky.settings.value
FROM forky.settings ORDER BY forky.settings.key""")

SETTINGS_OF = SqlStatement(
    """SELECT forky.settings.key, forky.settings.value
FROM forky.settings JOIN (SELECT unnest(CAST(? AS TEXT[])) AS key) AS given ON forky.settings.key =
    given.key""",
    ("keys",),
)

SET_ENTRIES = SqlStatement(
    """UPDATE forky.entries SET value=given.value, operation=given.operation FROM (SELECT unnest(CAST(? AS
    INTEGER[])) AS conversation, unnest(CAST(? AS TEXT[])) AS key, unnest(CAST(? AS TEXT[])) AS
    value, unnest(CAST(? AS INTEGER[])) AS operation) AS given WHERE forky.entries.conversation =
    given.conversation AND forky.entries.key = given.key""",
    ("conversations", "keys", "values", "operations"),
)

SET_ENTRY = SqlStatement(
    """UPDATE forky.entries SET value=?, operation=? WHERE forky.entries.conversation = ? AND
    forky.entries.key = ?""",
    ("new_value", "new_operation", "here", "at"),
)

SET_GENERATION = SqlStatement(
    """UPDATE forky.generations SET status=?, model=?, started=?, first_token=?, finished=?,
    prompt_tokens=?, completion_tokens=?, cached_tokens=?, cost=?, rest=? WHERE
    forky.generations.conversation = ? AND forky.generations.id = ?""",
    (
        "new_status",
        "new_model",
        "new_started",
        "new_first_token",
        "new_finished",
        "new_prompt_tokens",
        "new_completion_tokens",
        "new_cached_tokens",
        "new_cost",
        "new_rest",
        "here",
        "at",
    ),
)

SET_MESSAGE = SqlStatement(
    """UPDATE forky.messages SET text=?, rest=? WHERE forky.messages.conversation = ? AND forky.messages.id
    = ?::UUID""",
    ("new_text", "new_rest", "here", "at"),
)

SET_OPERATION = SqlStatement(
    """UPDATE forky.operations SET summary=?, changes=? WHERE forky.operations.conversation = ? AND
    forky.operations.number = ?""",
    ("new_summary", "new_changes", "here", "at"),
)

STEMS = SqlStatement(
    """SELECT concat(?, replace(CAST(forky.messages.id AS TEXT), ?, ?)) AS concat_1, forky.messages.parent,
    forky.messages.created, CASE WHEN (contains(forky.messages.rest, ?) OR
    contains(forky.messages.rest, ?)) THEN forky.messages.rest END AS anon_1
FROM forky.messages
WHERE forky.messages.conversation = ? ORDER BY forky.messages.message""",
    ("concat_2", "replace_1", "replace_2", "contains_1", "contains_2", "conversation"),
    {
        "concat_2": "b2:",
        "replace_1": "-",
        "replace_2": "",
        "contains_1": '"parents"',
        "contains_2": '"hidden"',
    },
)

STILL_NAMED = SqlStatement(
    """SELECT (SELECT count(*) AS count_1
FROM forky.messages
WHERE forky.messages.conversation != ? AND contains(forky.messages.rest, ?)) + (SELECT count(*) AS
    count_2
FROM forky.operations
WHERE forky.operations.conversation != ? AND contains(forky.operations.changes, ?)) AS anon_1""",
    ("conversation", "sha256", "conversation", "sha256"),
)

STRETCH = SqlStatement(
    """SELECT forky.messages.message, concat(?, replace(CAST(forky.messages.id AS TEXT), ?, ?)) AS
    concat_1, forky.messages.parent, forky.messages.role, forky.messages.text, forky.messages.rest,
    forky.messages.created
FROM forky.messages
WHERE forky.messages.conversation = ? AND forky.messages.message > ? AND forky.messages.message <= ?
    ORDER BY forky.messages.message""",
    ("concat_2", "replace_1", "replace_2", "conversation", "after", "last"),
    {"concat_2": "b2:", "replace_1": "-", "replace_2": ""},
)

TOOK = SqlStatement(
    """SELECT forky.generations.conversation, forky.generations.id, forky.generations.prompt_tokens,
    forky.generations.completion_tokens, forky.generations.cost
FROM forky.generations JOIN (SELECT unnest(CAST(? AS INTEGER[])) AS conversation, unnest(CAST(? AS
    TEXT[])) AS id) AS given ON forky.generations.conversation = given.conversation AND
    forky.generations.id = given.id""",
    ("conversations", "ids"),
)

TO_PACK = SqlStatement(
    """SELECT written.conversation, coalesce(packed.last, ?) AS coalesce_1
FROM (SELECT forky.messages.conversation AS conversation, max(forky.messages.message) AS last
FROM forky.messages GROUP BY forky.messages.conversation) AS written LEFT OUTER JOIN (SELECT
    forky.packs.conversation AS conversation, max(forky.packs.last) AS last
FROM forky.packs GROUP BY forky.packs.conversation) AS packed ON packed.conversation =
    written.conversation
WHERE written.last - coalesce(packed.last, ?) >= ? ORDER BY written.conversation""",
    ("coalesce_2", "coalesce_2", "least"),
    {"coalesce_2": 0},
)

VIEW = SqlStatement(
    """SELECT forky.entries.key, forky.entries.value, forky.entries.operation
FROM forky.entries
WHERE forky.entries.conversation = ? UNION ALL SELECT NULL AS anon_1, NULL AS anon__1,
    max(forky.operations.number) AS max_1
FROM forky.operations
WHERE forky.operations.conversation = ?""",
    ("conversation", "conversation"),
)

WHOLE = SqlStatement("""SELECT written.conversation, written.last
FROM (SELECT forky.messages.conversation AS conversation, max(forky.messages.message) AS last
FROM forky.messages GROUP BY forky.messages.conversation) AS written JOIN (SELECT
    forky.packs.conversation AS conversation, max(forky.packs.last) AS last
FROM forky.packs GROUP BY forky.packs.conversation) AS packed ON packed.conversation =
    written.conversation AND packed.last = written.last""")

WORDS_OF = Family(
    (
        SqlStatement(
            """SELECT forky.messages.message, concat(?, replace(CAST(forky.messages.id AS TEXT), ?, ?)) AS
    concat_1, forky.messages.role, forky.messages.text, forky.messages.rest, forky.messages.created
FROM forky.messages
WHERE forky.messages.conversation = ? AND (""",
            ("concat_2", "replace_1", "replace_2", "conversation"),
            {"concat_2": "b2:", "replace_1": "-", "replace_2": ""},
        ),
        Each(SqlStatement("forky.messages.message = ?", ("number",)), " OR "),
        SqlStatement(")"),
    )
)
