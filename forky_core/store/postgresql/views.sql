-- The tables for whoever analyses a database, in PostgreSQL itself: docs/analysis.md describes them, column by column.
-- Before those columns each has the workspace. `_…` are steps on the way. The same views for DuckDB are in
-- store/analysis/views.sql.
--
-- They are read with the rights of their owner, which is Forky's own role: row security shows the rows of the workspace
-- that the session has set (`forky.workspace`), and whoever may read them needs no right on the tables themselves.
--
-- Texts are as they are stored: U+0000 is U+F8FE and a "0", U+F8FE itself is U+F8FE and a "1" (texts.py).

CREATE SCHEMA IF NOT EXISTS forky_v1;
COMMENT ON SCHEMA forky_v1 IS 'Forky''s tables for analysis, described in docs/analysis.md';

-- JSON, with the escape of a text for what jsonb cannot hold; null where it is broken.
CREATE OR REPLACE FUNCTION forky_v1._json(stored text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    escape CONSTANT text := U&'\F8FE';
    made text := replace(stored, escape, escape || '1');
BEGIN
    IF strpos(made, '\u0000') > 0 THEN
        made := replace(replace(replace(made, '\\', escape || '2'), '\u0000', escape || '0'), escape || '2', '\\');
    END IF;
    RETURN made::jsonb;
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
END
$$;

-- The items of a JSON list; null for whatever else.
CREATE OR REPLACE FUNCTION forky_v1._items(list jsonb) RETURNS jsonb[] LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT CASE WHEN jsonb_typeof(list) = 'array' THEN ARRAY(
        SELECT item FROM jsonb_array_elements(list) WITH ORDINALITY AS i (item, place) ORDER BY place
    ) END;
$$;

CREATE OR REPLACE FUNCTION forky_v1._texts(list jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT CASE WHEN jsonb_typeof(list) = 'array' THEN ARRAY(
        SELECT item FROM jsonb_array_elements_text(list) WITH ORDINALITY AS i (item, place) ORDER BY place
    ) END;
$$;

CREATE OR REPLACE FUNCTION forky_v1._whole_number(number jsonb) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN number #>> '{}' ~ '^-?[0-9]{1,18}$' THEN (number #>> '{}')::bigint END;
$$;

CREATE OR REPLACE FUNCTION forky_v1._uuid(id text) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN id ~ '^b2:[0-9a-f]{32}$' THEN substr(id, 4)::uuid END;
$$;

CREATE OR REPLACE FUNCTION forky_v1._id(id uuid) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT 'b2:' || encode(uuid_send(id), 'hex');
$$;

-- A time in UTC of microseconds since the epoch; null for one that no calendar has.
CREATE OR REPLACE FUNCTION forky_v1._time(microseconds bigint) RETURNS timestamp LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN microseconds BETWEEN -210866803200000000 AND 9223372036854775806 THEN
        timestamp 'epoch' + microseconds / 1000000 * interval '1 second' + microseconds % 1000000 * interval '1 microsecond'
    END;
$$;

CREATE OR REPLACE FUNCTION forky_v1._seconds(first bigint, last bigint) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
    SELECT (last::numeric - first)::double precision / 1000000;
$$;

-- The sha256 of a text as it was said.
CREATE OR REPLACE FUNCTION forky_v1._hash(stored text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT encode(sha256(decode(
        replace(replace(encode(convert_to(stored, 'UTF8'), 'hex'), 'efa3be30', '00'), 'efa3be31', 'efa3be'), 'hex'
    )), 'hex');
$$;

-- Where each reference points to: heads, tags, kept answers, stashes.
CREATE OR REPLACE VIEW forky_v1._tips AS
SELECT n.workspace, n.conversation, n.key, m.message, m.segment, m.depth
FROM (
    SELECT workspace, conversation, key, forky_v1._json(value) ->> 'at' AS id FROM forky.entries
    WHERE starts_with(key, 'heads/') OR starts_with(key, 'tags/')
    UNION ALL
    SELECT workspace, conversation, key, substr(key, 6) FROM forky.entries WHERE starts_with(key, 'kept/')
    UNION ALL
    SELECT workspace, conversation, key, forky_v1._json(value) #>> '{messages,-1}' FROM forky.entries
    WHERE starts_with(key, 'stash/')
) n
JOIN forky.messages m ON m.workspace = n.workspace AND m.conversation = n.conversation AND m.id = forky_v1._uuid(n.id);

-- Up to which depth of each segment a branch's own line goes.
CREATE OR REPLACE VIEW forky_v1._reach AS
WITH RECURSIVE reach (workspace, conversation, branch, segment, depth) AS (
    SELECT workspace, conversation, substr(key, 7), segment, depth FROM forky_v1._tips WHERE starts_with(key, 'heads/')
    UNION
    SELECT r.workspace, r.conversation, r.branch, s.parent_segment, s.parent_depth
    FROM reach r
    JOIN forky.segments s ON s.workspace = r.workspace AND s.conversation = r.conversation AND s.segment = r.segment
    WHERE s.parent_segment IS NOT NULL
)
SELECT * FROM reach;

-- Up to which depth of each segment anything is visible, through merges, too.
CREATE OR REPLACE VIEW forky_v1._visible AS
WITH RECURSIVE
merged AS (
    SELECT m.workspace, m.conversation, m.segment, m.depth, p.segment AS parent_segment, p.depth AS parent_depth
    FROM (
        SELECT workspace, conversation, segment, depth, unnest(forky_v1._texts(forky_v1._json(rest) -> 'parents')) AS parent
        FROM forky.messages WHERE strpos(rest, '"parents"') > 0
    ) m
    JOIN forky.messages p
        ON p.workspace = m.workspace AND p.conversation = m.conversation AND p.id = forky_v1._uuid(m.parent)
),
steps AS MATERIALIZED (
    SELECT workspace, conversation, segment, 0 AS depth, parent_segment, parent_depth
    FROM forky.segments WHERE parent_segment IS NOT NULL
    UNION ALL
    SELECT * FROM merged
),
seen (workspace, conversation, segment, depth) AS (
    SELECT workspace, conversation, segment, depth FROM forky_v1._tips
    UNION
    SELECT s.workspace, s.conversation, t.parent_segment, t.parent_depth
    FROM seen s
    JOIN steps t ON t.workspace = s.workspace AND t.conversation = s.conversation AND t.segment = s.segment AND t.depth <= s.depth
)
SELECT workspace, conversation, segment, max(depth) AS depth FROM seen GROUP BY workspace, conversation, segment;

-- The merges among the parts of messages.
CREATE OR REPLACE VIEW forky_v1._merges AS
SELECT workspace, conversation, id, segment, depth, created, part
FROM (
    SELECT workspace, conversation, id, segment, depth, created, unnest(forky_v1._items(forky_v1._json(rest) -> 'parts')) AS part
    FROM forky.messages WHERE strpos(rest, '"merge"') > 0
) p
WHERE part ->> 'type' = 'merge';

-- Who brought a message in: the actor of the first operation that put a branch on it by speaking.
CREATE OR REPLACE VIEW forky_v1._authors AS
SELECT DISTINCT ON (workspace, conversation, id) workspace, conversation, id, actor AS author
FROM (
    SELECT workspace, conversation, number, actor, forky_v1._uuid(change #>> '{2,at}') AS id, change ->> 0 AS key
    FROM (
        SELECT workspace, conversation, number, actor, unnest(forky_v1._items(forky_v1._json(changes))) AS change
        FROM forky.operations
        WHERE verb IN ('ask', 'say', 'edit', 'receive', 'merge', 'fuse', 'revert')
    ) c
) o
WHERE starts_with(key, 'heads/') AND id IS NOT NULL
ORDER BY workspace, conversation, id, number;

CREATE OR REPLACE VIEW forky_v1.branches AS
SELECT e.workspace, e.conversation, substr(e.key, 7) AS branch, forky_v1._json(e.value) ->> 'at' AS head,
    CASE WHEN x.key IS NOT NULL THEN split_part(substr(e.key, 7), '/', 1) END AS experiment,
    forky_v1._json(r.value) ->> 'model' AS model, forky_v1._json(r.value) ->> 'system' AS system,
    coalesce(t.depth + 1, 0) AS messages, forky_v1._time(o.made) AS moved
FROM forky.entries e
LEFT JOIN forky_v1._tips t ON t.workspace = e.workspace AND t.conversation = e.conversation AND t.key = e.key
LEFT JOIN forky.entries r
    ON r.workspace = e.workspace AND r.conversation = e.conversation AND r.key = 'rules/' || substr(e.key, 7)
LEFT JOIN forky.entries x
    ON x.workspace = e.workspace AND x.conversation = e.conversation AND strpos(substr(e.key, 7), '/') > 0
    AND x.key = 'experiments/' || split_part(substr(e.key, 7), '/', 1)
LEFT JOIN forky.operations o
    ON o.workspace = e.workspace AND o.conversation = e.conversation AND o.number = e.operation
WHERE starts_with(e.key, 'heads/');

CREATE OR REPLACE VIEW forky_v1.messages AS
WITH on_branches AS (
    SELECT m.workspace, m.conversation, m.message, array_agg(r.branch ORDER BY r.branch COLLATE "C") AS branches
    FROM forky.messages m
    JOIN forky_v1._reach r
        ON r.workspace = m.workspace AND r.conversation = m.conversation AND r.segment = m.segment AND m.depth <= r.depth
    GROUP BY m.workspace, m.conversation, m.message
)
SELECT m.workspace, m.conversation, forky_v1._id(m.id) AS message, forky_v1._id(p.id) AS parent,
    coalesce(forky_v1._texts(m.rest -> 'parents'), '{}') AS merge_parents, m.role, a.author, m.rest ->> 'name' AS name,
    m.text, forky_v1._time(m.created) AS time, m.depth, v.depth IS NOT NULL AND m.rest ->> 'hidden' IS NULL AS visible,
    coalesce(b.branches, '{}') AS branches, forky_v1._hash(m.text) AS text_hash
FROM (
    SELECT workspace, conversation, message, id, segment, depth, parent, role, text, forky_v1._json(rest) AS rest, created
    FROM forky.messages
) m
LEFT JOIN forky.messages p ON p.workspace = m.workspace AND p.conversation = m.conversation AND p.message = m.parent
LEFT JOIN forky_v1._visible v
    ON v.workspace = m.workspace AND v.conversation = m.conversation AND v.segment = m.segment AND m.depth <= v.depth
LEFT JOIN on_branches b ON b.workspace = m.workspace AND b.conversation = m.conversation AND b.message = m.message
LEFT JOIN forky_v1._authors a ON a.workspace = m.workspace AND a.conversation = m.conversation AND a.id = m.id;

CREATE OR REPLACE VIEW forky_v1.conversations AS
SELECT c.workspace, c.conversation, coalesce(v.title, '') AS title, forky_v1._time(t.created) AS created,
    forky_v1._time(t.changed) AS changed, coalesce(v.trashed, false) AS trashed, coalesce(v.program, '') AS program,
    c.messages::bigint AS messages, coalesce(v.branches, 0) AS branches
FROM forky.conversations c
CROSS JOIN LATERAL (
    SELECT max(forky_v1._json(e.value) #>> '{}') FILTER (WHERE e.key = 'title') AS title,
        bool_or(e.key = 'trashed') AS trashed,
        max(forky_v1._json(e.value) #>> '{}') FILTER (WHERE e.key = 'program') AS program,
        count(*) FILTER (WHERE starts_with(e.key, 'heads/')) AS branches
    FROM forky.entries e WHERE e.workspace = c.workspace AND e.conversation = c.conversation
) v
CROSS JOIN LATERAL (
    SELECT min(o.made) AS created, max(o.made) AS changed
    FROM forky.operations o WHERE o.workspace = c.workspace AND o.conversation = c.conversation
) t;

CREATE OR REPLACE VIEW forky_v1.generations AS
SELECT workspace, conversation, id AS generation, rest ->> 'message' AS message, rest ->> 'parent' AS question,
    coalesce(rest ->> 'branch', '') AS branch, model, status, prompt_tokens, completion_tokens, cached_tokens,
    forky_v1._whole_number(rest -> 'reasoning_tokens') AS reasoning_tokens, cost, forky_v1._time(started) AS started,
    forky_v1._seconds(started, first_token) AS seconds_to_first_token, forky_v1._seconds(started, finished) AS seconds,
    rest ->> 'finish_reason' AS finish_reason, rest #>> '{failure,0}' AS failure, rest ->> 'client' AS program,
    rest ->> 'reused' AS reused, rest ->> 'prompt' AS prompt_hash,
    (
        SELECT forky_v1._hash(a.text) FROM forky.messages a
        WHERE a.workspace = g.workspace AND a.conversation = g.conversation AND a.id = forky_v1._uuid(g.rest ->> 'message')
    ) AS response_hash,
    rest ->> 'parent' AS path_hash
FROM (
    SELECT g.workspace, g.conversation, g.id, g.status, coalesce(p.model, g.model) AS model,
        coalesce(p.started, g.started) AS started, coalesce(p.first_token, g.first_token) AS first_token,
        coalesce(p.finished, g.finished) AS finished, coalesce(p.prompt_tokens, g.prompt_tokens) AS prompt_tokens,
        coalesce(p.completion_tokens, g.completion_tokens) AS completion_tokens,
        coalesce(p.cached_tokens, g.cached_tokens) AS cached_tokens, coalesce(p.cost, g.cost) AS cost,
        forky_v1._json(coalesce(p.rest, g.rest)) AS rest
    FROM forky.generations g
    LEFT JOIN forky.progress p
        ON g.status = 'running' AND p.workspace = g.workspace AND p.conversation = g.conversation AND p.id = g.id
) g;

-- An answer is an assistant's message right below a person's.
CREATE OR REPLACE VIEW forky_v1.turns AS
SELECT a.workspace, a.conversation, q.message AS question, a.message AS answer, q.author, q.text AS question_text,
    a.text AS answer_text, q.time AS asked, a.time AS answered, a.branches, a.visible,
    g.generation, g.model, g.prompt_tokens, g.completion_tokens, g.cost,
    q.text_hash AS question_hash, g.prompt_hash, a.text_hash AS response_hash, q.message AS path_hash
FROM forky_v1.messages a
JOIN forky_v1.messages q ON q.workspace = a.workspace AND q.conversation = a.conversation AND q.message = a.parent
LEFT JOIN forky_v1.generations g ON g.workspace = a.workspace AND g.conversation = a.conversation AND g.message = a.message
WHERE a.role = 'assistant' AND q.role = 'user';

CREATE OR REPLACE VIEW forky_v1.merges AS
SELECT p.workspace, p.conversation, forky_v1._id(p.id) AS message, p.part ->> 'strategy' AS strategy,
    p.part ->> 'source' AS source_branch, coalesce(p.part ->> 'conversation', p.conversation) AS source_conversation,
    coalesce(p.part ->> 'made_by', '') AS model, p.part ->> 'text' AS text, forky_v1._texts(p.part -> 'messages') AS cites,
    coalesce(forky_v1._texts(p.part -> 'omitted'), '{}') AS omitted, forky_v1._time(p.created) AS time,
    v.depth IS NOT NULL AS visible
FROM forky_v1._merges p
LEFT JOIN forky_v1._visible v
    ON v.workspace = p.workspace AND v.conversation = p.conversation AND v.segment = p.segment AND p.depth <= v.depth;

CREATE OR REPLACE VIEW forky_v1.citations AS
SELECT p.workspace, p.conversation, forky_v1._id(p.id) AS message,
    coalesce(p.part ->> 'conversation', p.conversation) AS source_conversation, c.cited, c.position
FROM forky_v1._merges p
CROSS JOIN LATERAL unnest(forky_v1._texts(p.part -> 'messages')) WITH ORDINALITY AS c (cited, position);

-- What the sides of a conflict say, word for word; and the claims of former versions.
CREATE OR REPLACE VIEW forky_v1.claims AS
SELECT a.workspace, a.conversation, a.message,
    row_number() OVER (PARTITION BY a.workspace, a.conversation, a.message ORDER BY a.place, a.said) AS position,
    a.type, a.text, a.key, a.value, a.polarity, a.status, a.cites
FROM (
    SELECT p.workspace, p.conversation, forky_v1._id(p.id) AS message, c.place, 0::bigint AS said, c.claim ->> 'type' AS type,
        c.claim ->> 'text' AS text, coalesce(c.claim ->> 'key', '') AS key, coalesce(c.claim ->> 'value', '') AS value,
        coalesce(c.claim ->> 'polarity', 'affirmed') AS polarity, coalesce(c.claim ->> 'status', 'settled') AS status,
        forky_v1._texts(c.claim -> 'cites') AS cites
    FROM forky_v1._merges p
    CROSS JOIN LATERAL unnest(forky_v1._items(p.part #> '{claims,claims}')) WITH ORDINALITY AS c (claim, place)
    UNION ALL
    SELECT p.workspace, p.conversation, forky_v1._id(p.id), c.place, s.place, 'conflict', s.said ->> 'text',
        coalesce(c.conflict ->> 'about', ''), '', 'affirmed', CASE WHEN c.conflict ->> 'holds' IS NULL THEN 'open' ELSE 'settled' END,
        ARRAY[s.said ->> 'message']
    FROM forky_v1._merges p
    CROSS JOIN LATERAL unnest(forky_v1._items(p.part #> '{claims,conflicts}')) WITH ORDINALITY AS c (conflict, place)
    CROSS JOIN LATERAL unnest(forky_v1._items(c.conflict -> 'says')) WITH ORDINALITY AS s (said, place)
) a;

-- What two branches said differently about one thing when they were merged, while nobody has settled it; and what was
-- settled. A three-way merge records its conflicts; of any other merge, landing stores them.
CREATE OR REPLACE VIEW forky_v1.conflicts AS
WITH settled AS (
    SELECT e.workspace, e.conversation, e.value ->> 'key' AS key, forky_v1._texts(e.value -> 'values') AS texts,
        e.value ->> 'text' AS result, forky_v1._time(o.made) AS time
    FROM (
        SELECT workspace, conversation, forky_v1._json(value) AS value, operation FROM forky.entries
        WHERE starts_with(key, 'resolutions/')
    ) e
    LEFT JOIN forky.operations o
        ON o.workspace = e.workspace AND o.conversation = e.conversation AND o.number = e.operation
),
landed AS (
    SELECT DISTINCT workspace, conversation, message, time FROM forky_v1.merges WHERE visible
),
found AS (
    SELECT c.workspace, c.conversation, c.message, (array_agg(c.key ORDER BY c.position))[1] AS key,
        array_agg(DISTINCT c.text COLLATE "C" ORDER BY c.text COLLATE "C") AS texts, min(m.time) AS time
    FROM forky_v1.claims c
    JOIN landed m ON m.workspace = c.workspace AND m.conversation = c.conversation AND m.message = c.message
    WHERE c.key <> '' AND (
        c.type IN ('constraint', 'correction', 'decision', 'result', 'preference', 'fact')
        OR c.type = 'conflict' AND c.status = 'open'
    )
    GROUP BY c.workspace, c.conversation, c.message, lower(trim(c.key))
    HAVING count(DISTINCT (c.polarity, lower(trim(coalesce(nullif(c.value, ''), c.text))))) > 1
    UNION ALL
    SELECT e.workspace, e.conversation, m.message, i.one ->> 'key', forky_v1._texts(i.one -> 'values'), m.time
    FROM (
        SELECT workspace, conversation, substr(key, 11) AS message, forky_v1._json(value) AS value FROM forky.entries
        WHERE starts_with(key, 'conflicts/')
    ) e
    JOIN landed m ON m.workspace = e.workspace AND m.conversation = e.conversation AND m.message = e.message
    CROSS JOIN LATERAL unnest(forky_v1._items(e.value)) AS i (one)
)
SELECT workspace, conversation, message, key, texts, false AS settled, NULL::text AS result, NULL::timestamp AS time
FROM found f
WHERE NOT EXISTS (
    SELECT FROM settled s
    WHERE s.workspace = f.workspace AND s.conversation = f.conversation AND lower(trim(s.key)) = lower(trim(f.key))
        AND s.time >= f.time
)
UNION ALL
SELECT workspace, conversation, NULL, key, texts, true, result, time FROM settled;

CREATE OR REPLACE VIEW forky_v1.operations AS
SELECT workspace, conversation, number, forky_v1._id(id) AS operation, forky_v1._time(made) AS time, actor, verb, summary,
    gesture AS "group",
    ARRAY(
        SELECT forky_v1._whole_number(r.item)::integer
        FROM unnest(forky_v1._items(forky_v1._json(reverts))) WITH ORDINALITY AS r (item, place) ORDER BY r.place
    ) AS reverts
FROM forky.operations;

CREATE OR REPLACE VIEW forky_v1.documents AS
SELECT d.workspace, d.id AS document, d.name, d.media_type, d.size AS bytes, d.chunks, forky_v1._time(d.added) AS added,
    coalesce(u.conversations, '{}') AS conversations
FROM forky.documents d
LEFT JOIN (
    SELECT workspace, document, array_agg(DISTINCT conversation ORDER BY conversation) AS conversations
    FROM (
        SELECT workspace, conversation, unnest(forky_v1._texts(forky_v1._json(value))) AS document
        FROM forky.entries WHERE key = 'documents'
    ) e
    GROUP BY workspace, document
) u ON u.workspace = d.workspace AND u.document = d.id
WHERE d.whole;

CREATE OR REPLACE VIEW forky_v1.tags AS
SELECT e.workspace, e.conversation, substr(e.key, 6) AS tag, forky_v1._json(e.value) ->> 'at' AS message,
    forky_v1._time(o.made) AS time
FROM forky.entries e
LEFT JOIN forky.operations o
    ON o.workspace = e.workspace AND o.conversation = e.conversation AND o.number = e.operation
WHERE starts_with(e.key, 'tags/');

-- A number in a key; null for whatever else stands there.
CREATE OR REPLACE FUNCTION forky_v1._number(digits text) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN digits ~ '^[0-9]{1,9}$' THEN digits::integer END;
$$;

CREATE OR REPLACE VIEW forky_v1.stashes AS
SELECT workspace, conversation, forky_v1._number(substr(key, 7)) AS stash, coalesce(value ->> 'note', '') AS note,
    coalesce(value ->> 'draft', '') AS draft, coalesce(forky_v1._texts(value -> 'messages'), '{}') AS messages,
    forky_v1._time(forky_v1._whole_number(value -> 'created')) AS time
FROM (
    SELECT workspace, conversation, key, forky_v1._json(value) AS value FROM forky.entries WHERE starts_with(key, 'stash/')
) e;

-- Votes are read when everybody may read them: those of a blind poll after its reveal.
CREATE OR REPLACE VIEW forky_v1.votes AS
WITH entries AS MATERIALIZED (
    SELECT workspace, conversation, key, forky_v1._json(value) AS value FROM forky.entries WHERE starts_with(key, 'polls/')
)
SELECT v.workspace, v.conversation, forky_v1._number(split_part(v.key, '/', 2)) AS poll,
    coalesce(p.value ->> 'title', '') AS title, substr(v.key, length(p.key) + 8) AS person, v.value ->> 'choice' AS choice,
    coalesce(v.value ->> 'note', '') AS note, forky_v1._time(forky_v1._whole_number(v.value -> 'at')) AS time,
    r.key IS NOT NULL AS revealed
FROM entries v
JOIN entries p
    ON p.workspace = v.workspace AND p.conversation = v.conversation AND p.key = 'polls/' || split_part(v.key, '/', 2)
LEFT JOIN entries r
    ON r.workspace = v.workspace AND r.conversation = v.conversation AND r.key = p.key || '/revealed'
WHERE split_part(v.key, '/', 3) = 'votes' AND (r.key IS NOT NULL OR coalesce(p.value ->> 'blind', '') = 'false');

CREATE OR REPLACE VIEW forky_v1.requests AS
SELECT workspace, conversation, forky_v1._number(substr(key, 10)) AS request,
    ARRAY[value ->> 'source'] || ARRAY(
        SELECT o.item ->> 0 FROM unnest(forky_v1._items(value -> 'others')) WITH ORDINALITY AS o (item, place) ORDER BY o.place
    ) AS source_branches,
    coalesce(value #>> '{graft,0}', conversation) AS source_conversation, value ->> 'into' AS target_branch,
    value ->> 'by' AS author, coalesce(value ->> 'note', '') AS note, value ->> 'strategy' AS strategy,
    value ->> 'state' AS state, coalesce(value ->> 'answered_by', '') AS answered_by,
    forky_v1._time(forky_v1._whole_number(value -> 'at')) AS time
FROM (
    SELECT workspace, conversation, key, forky_v1._json(value) AS value FROM forky.entries
    WHERE starts_with(key, 'requests/')
) e;

-- The last review of each person, as an operation of theirs made it; the log has them, and undo leaves them alone.
CREATE OR REPLACE VIEW forky_v1.reviews AS
SELECT workspace, conversation, forky_v1._number(split_part(key, '/', 2)) AS request, actor AS reviewer,
    value ->> 'state' AS state, coalesce(value ->> 'text', '') AS text, value ->> 'lands' AS lands,
    forky_v1._time(forky_v1._whole_number(value -> 'at')) AS time, coalesce(value ->> 'findings', '[]') AS findings
FROM (
    SELECT DISTINCT ON (workspace, conversation, key) workspace, conversation, actor, key, value
    FROM (
        SELECT workspace, conversation, number, actor, change ->> 0 AS key, change -> 2 AS value
        FROM (
            SELECT workspace, conversation, number, actor, unnest(forky_v1._items(forky_v1._json(changes))) AS change
            FROM forky.operations WHERE verb = 'review'
        ) c
    ) o
    WHERE starts_with(key, 'reviews/') AND key = 'reviews/' || split_part(key, '/', 2) || '/' || actor
    ORDER BY workspace, conversation, key, number DESC
) r
WHERE value ->> 'state' IN ('approved', 'changes');
