-- The tables for whoever analyses a database: docs/analysis.md describes them, column by column.
-- `_…` are steps on the way. Ids are written as everywhere else in Forky, times are UTC.

CREATE VIEW forky_v1._entries AS
SELECT c.id AS conversation, e.conversation AS number, e.key, TRY_CAST(e.value AS JSON) AS value, e.operation
FROM main.entries e JOIN main.conversations c ON c.conversation = e.conversation;

CREATE VIEW forky_v1._ids AS
SELECT conversation, message, 'b2:' || replace(id::TEXT, '-', '') AS id, segment, depth
FROM main.messages;

-- Where each reference points to: heads, tags, kept answers, stashes.
CREATE VIEW forky_v1._tips AS
WITH named AS (
    SELECT number, key, value ->> '$.at' AS id FROM forky_v1._entries
    WHERE starts_with(key, 'heads/') OR starts_with(key, 'tags/')
    UNION ALL
    SELECT number, key, substr(key, 6) FROM forky_v1._entries WHERE starts_with(key, 'kept/')
    UNION ALL
    SELECT number, key, value ->> '$.messages[#-1]' FROM forky_v1._entries WHERE starts_with(key, 'stash/')
)
SELECT n.number, n.key, m.message, m.segment, m.depth
FROM named n
JOIN main.messages m ON m.conversation = n.number AND m.id = TRY_CAST(substr(n.id, 4) AS UUID);

-- Up to which depth of each segment a branch's own line goes.
CREATE VIEW forky_v1._reach AS
WITH RECURSIVE reach(number, branch, segment, depth) AS (
    SELECT number, substr(key, 7), segment, depth FROM forky_v1._tips WHERE starts_with(key, 'heads/')
    UNION
    SELECT r.number, r.branch, s.parent_segment, s.parent_depth
    FROM reach r JOIN main.segments s ON s.conversation = r.number AND s.segment = r.segment
    WHERE s.parent_segment IS NOT NULL
)
SELECT * FROM reach;

-- Up to which depth of each segment anything is visible, through merges, too.
CREATE VIEW forky_v1._visible AS
WITH RECURSIVE
merged AS (
    SELECT m.conversation AS number, m.segment, m.depth, p.segment AS parent_segment, p.depth AS parent_depth
    FROM (
        SELECT conversation, segment, depth, unnest(from_json(TRY_CAST(rest AS JSON) -> '$.parents', '["VARCHAR"]')) AS parent
        FROM main.messages WHERE rest IS NOT NULL
    ) m
    JOIN main.messages p ON p.conversation = m.conversation AND p.id = TRY_CAST(substr(m.parent, 4) AS UUID)
),
steps AS (
    SELECT conversation AS number, segment, 0 AS depth, parent_segment, parent_depth
    FROM main.segments WHERE parent_segment IS NOT NULL
    UNION ALL
    SELECT * FROM merged
),
seen(number, segment, depth) AS (
    SELECT number, segment, depth FROM forky_v1._tips
    UNION
    SELECT s.number, t.parent_segment, t.parent_depth
    FROM seen s JOIN steps t ON t.number = s.number AND t.segment = s.segment AND t.depth <= s.depth
)
SELECT number, segment, max(depth) AS depth FROM seen GROUP BY ALL;

-- The parts of messages that are more than one text.
CREATE VIEW forky_v1._parts AS
SELECT conversation AS number, message, segment, depth, created,
    unnest(from_json(TRY_CAST(rest AS JSON) -> '$.parts', '["JSON"]')) AS part
FROM main.messages WHERE rest IS NOT NULL;

-- Who brought a message in: the actor of the first operation that put a branch on it by speaking.
CREATE VIEW forky_v1._authors AS
SELECT number, id, arg_min(actor, operation) AS author
FROM (
    SELECT conversation AS number, number AS operation, actor, change ->> '$[2].at' AS id, change ->> '$[0]' AS key
    FROM (
        SELECT conversation, number, actor, unnest(from_json(TRY_CAST(changes AS JSON), '["JSON"]')) AS change
        FROM main.operations
        WHERE verb IN ('ask', 'say', 'edit', 'receive', 'merge', 'fuse', 'revert')
    )
)
WHERE starts_with(key, 'heads/') AND id IS NOT NULL
GROUP BY ALL;

CREATE VIEW forky_v1.branches AS
SELECT e.conversation, substr(e.key, 7) AS branch, e.value ->> '$.at' AS head,
    CASE WHEN x.key IS NOT NULL THEN split_part(substr(e.key, 7), '/', 1) END AS experiment,
    r.value ->> '$.model' AS model, r.value ->> '$.system' AS system,
    coalesce(t.depth + 1, 0) AS messages, TRY(make_timestamp(o.made)) AS moved
FROM forky_v1._entries e
LEFT JOIN forky_v1._tips t ON t.number = e.number AND t.key = e.key
LEFT JOIN forky_v1._entries r ON r.number = e.number AND r.key = 'rules/' || substr(e.key, 7)
LEFT JOIN forky_v1._entries x ON x.number = e.number AND contains(substr(e.key, 7), '/')
    AND x.key = 'experiments/' || split_part(substr(e.key, 7), '/', 1)
LEFT JOIN main.operations o ON o.conversation = e.number AND o.number = e.operation
WHERE starts_with(e.key, 'heads/');

CREATE VIEW forky_v1.messages AS
WITH on_branches AS (
    SELECT m.conversation, m.message, list(r.branch ORDER BY r.branch) AS branches
    FROM main.messages m
    JOIN forky_v1._reach r ON r.number = m.conversation AND r.segment = m.segment AND m.depth <= r.depth
    GROUP BY ALL
)
SELECT c.id AS conversation, 'b2:' || replace(m.id::TEXT, '-', '') AS message,
    'b2:' || replace(p.id::TEXT, '-', '') AS parent,
    coalesce(from_json(TRY_CAST(m.rest AS JSON) -> '$.parents', '["VARCHAR"]'), []) AS merge_parents,
    m.role, a.author, TRY_CAST(m.rest AS JSON) ->> '$.name' AS name, m.text, TRY(make_timestamp(m.created)) AS time, m.depth,
    v.depth IS NOT NULL AND TRY_CAST(m.rest AS JSON) ->> '$.hidden' IS NULL AS visible,
    coalesce(b.branches, []) AS branches, sha256(m.text) AS text_hash
FROM main.messages m
JOIN main.conversations c ON c.conversation = m.conversation
LEFT JOIN main.messages p ON p.conversation = m.conversation AND p.message = m.parent
LEFT JOIN forky_v1._visible v ON v.number = m.conversation AND v.segment = m.segment AND m.depth <= v.depth
LEFT JOIN on_branches b ON b.conversation = m.conversation AND b.message = m.message
LEFT JOIN forky_v1._authors a
    ON a.number = m.conversation AND a.id = 'b2:' || replace(m.id::TEXT, '-', '');

CREATE VIEW forky_v1.conversations AS
WITH view AS (
    SELECT conversation, max(value ->> '$') FILTER (key = 'title') AS title,
        bool_or(key = 'trashed') AS trashed, max(value ->> '$') FILTER (key = 'program') AS program,
        count(*) FILTER (starts_with(key, 'heads/')) AS branches
    FROM forky_v1._entries GROUP BY ALL
),
times AS (
    SELECT conversation, min(made) AS created, max(made) AS changed FROM main.operations GROUP BY ALL
),
sizes AS (SELECT conversation, count(*) AS messages FROM main.messages GROUP BY ALL)
SELECT c.id AS conversation, coalesce(v.title, '') AS title, TRY(make_timestamp(t.created)) AS created,
    TRY(make_timestamp(t.changed)) AS changed, coalesce(v.trashed, false) AS trashed, coalesce(v.program, '') AS program,
    coalesce(s.messages, 0) AS messages, coalesce(v.branches, 0) AS branches
FROM main.conversations c
LEFT JOIN view v ON v.conversation = c.id
LEFT JOIN times t ON t.conversation = c.conversation
LEFT JOIN sizes s ON s.conversation = c.conversation;

CREATE VIEW forky_v1.generations AS
SELECT c.id AS conversation, g.id AS generation, g.rest ->> '$.message' AS message, g.rest ->> '$.parent' AS question,
    coalesce(g.rest ->> '$.branch', '') AS branch, g.model, g.status, g.prompt_tokens, g.completion_tokens, g.cached_tokens,
    (g.rest ->> '$.reasoning_tokens')::BIGINT AS reasoning_tokens, g.cost, TRY(make_timestamp(g.started)) AS started,
    (g.first_token - g.started) / 1e6 AS seconds_to_first_token, (g.finished - g.started) / 1e6 AS seconds,
    g.rest ->> '$.finish_reason' AS finish_reason, g.rest ->> '$.failure[0]' AS failure, g.rest ->> '$.client' AS program,
    g.rest ->> '$.reused' AS reused, g.rest ->> '$.prompt' AS prompt_hash, sha256(a.text) AS response_hash,
    g.rest ->> '$.parent' AS path_hash
FROM (SELECT * EXCLUDE (rest), TRY_CAST(rest AS JSON) AS rest FROM main.generations) g
JOIN main.conversations c ON c.conversation = g.conversation
LEFT JOIN main.messages a
    ON a.conversation = g.conversation AND a.id = TRY_CAST(substr(g.rest ->> '$.message', 4) AS UUID);

-- An answer is an assistant's message right below a person's. Calls that gave the same answer have a row each.
CREATE VIEW forky_v1.turns AS
SELECT a.conversation, q.message AS question, a.message AS answer, q.author, q.text AS question_text,
    a.text AS answer_text, q.time AS asked, a.time AS answered, a.branches, a.visible,
    g.generation, g.model, g.prompt_tokens, g.completion_tokens, g.cost,
    q.text_hash AS question_hash, g.prompt_hash, a.text_hash AS response_hash, q.message AS path_hash
FROM forky_v1.messages a
JOIN forky_v1.messages q ON q.conversation = a.conversation AND q.message = a.parent
LEFT JOIN forky_v1.generations g ON g.conversation = a.conversation AND g.message = a.message
WHERE a.role = 'assistant' AND q.role = 'user';

CREATE VIEW forky_v1.merges AS
SELECT c.id AS conversation, i.id AS message, p.part ->> '$.strategy' AS strategy, p.part ->> '$.source' AS source_branch,
    coalesce(p.part ->> '$.conversation', c.id) AS source_conversation,
    coalesce(p.part ->> '$.made_by', '') AS model, p.part ->> '$.text' AS text,
    from_json(p.part -> '$.messages', '["VARCHAR"]') AS cites,
    coalesce(from_json(p.part -> '$.omitted', '["VARCHAR"]'), []) AS omitted,
    TRY(make_timestamp(p.created)) AS time, v.depth IS NOT NULL AS visible
FROM forky_v1._parts p
JOIN main.conversations c ON c.conversation = p.number
JOIN forky_v1._ids i ON i.conversation = p.number AND i.message = p.message
LEFT JOIN forky_v1._visible v ON v.number = p.number AND v.segment = p.segment AND p.depth <= v.depth
WHERE p.part ->> '$.type' = 'merge';

CREATE VIEW forky_v1.citations AS
SELECT conversation, message, source_conversation, cited, position
FROM (
    SELECT conversation, message, source_conversation, unnest(cites) AS cited,
        unnest(range(1, len(cites) + 1)) AS position
    FROM forky_v1.merges
);

CREATE VIEW forky_v1._claims AS
SELECT c.id AS conversation, i.id AS message, p.part -> '$.claims' AS claims
FROM forky_v1._parts p
JOIN main.conversations c ON c.conversation = p.number
JOIN forky_v1._ids i ON i.conversation = p.number AND i.message = p.message
WHERE p.part ->> '$.type' = 'merge';

-- What the sides of a conflict say, word for word; and the claims of former versions.
CREATE VIEW forky_v1.claims AS
SELECT conversation, message, row_number() OVER (PARTITION BY conversation, message) AS position, type, text, key, value,
    polarity, status, cites
FROM (
    SELECT conversation, message, claim ->> '$.type' AS type, claim ->> '$.text' AS text,
        coalesce(claim ->> '$.key', '') AS key, coalesce(claim ->> '$.value', '') AS value,
        coalesce(claim ->> '$.polarity', 'affirmed') AS polarity, coalesce(claim ->> '$.status', 'settled') AS status,
        from_json(claim -> '$.cites', '["VARCHAR"]') AS cites
    FROM (
        SELECT conversation, message, unnest(from_json(claims -> '$.claims', '["JSON"]')) AS claim
        FROM forky_v1._claims
    )
    UNION ALL
    SELECT conversation, message, 'conflict', said ->> '$.text', coalesce(conflict ->> '$.about', ''), '', 'affirmed',
        CASE WHEN conflict ->> '$.holds' IS NULL THEN 'open' ELSE 'settled' END, [said ->> '$.message']
    FROM (
        SELECT conversation, message, conflict, unnest(from_json(conflict -> '$.says', '["JSON"]')) AS said
        FROM (
            SELECT conversation, message, unnest(from_json(claims -> '$.conflicts', '["JSON"]')) AS conflict
            FROM forky_v1._claims
        )
    )
);

-- What two branches said differently about one thing when they were merged, while nobody has settled it; and what was
-- settled. A three-way merge records its conflicts; of any other merge, landing stores them.
CREATE VIEW forky_v1.conflicts AS
WITH settled AS (
    SELECT e.conversation, e.value ->> '$.key' AS key, from_json(e.value -> '$.values', '["VARCHAR"]') AS texts,
        e.value ->> '$.text' AS result, TRY(make_timestamp(o.made)) AS time
    FROM forky_v1._entries e
    LEFT JOIN main.operations o ON o.conversation = e.number AND o.number = e.operation
    WHERE starts_with(e.key, 'resolutions/')
),
found AS (
    SELECT c.conversation, c.message, any_value(c.key) AS key, list(DISTINCT c.text ORDER BY c.text) AS texts,
        any_value(m.time) AS time
    FROM forky_v1.claims c
    JOIN forky_v1.merges m ON m.conversation = c.conversation AND m.message = c.message AND m.visible
    WHERE c.key <> '' AND (
        c.type IN ('constraint', 'correction', 'decision', 'result', 'preference', 'fact')
        OR c.type = 'conflict' AND c.status = 'open'
    )
    GROUP BY c.conversation, c.message, lower(trim(c.key))
    HAVING count(DISTINCT (c.polarity, lower(trim(coalesce(nullif(c.value, ''), c.text))))) > 1
    UNION ALL
    SELECT e.conversation, e.message, e.one ->> '$.key', from_json(e.one -> '$.values', '["VARCHAR"]'), m.time
    FROM (
        SELECT conversation, substr(key, 11) AS message, unnest(from_json(value, '["JSON"]')) AS one
        FROM forky_v1._entries WHERE starts_with(key, 'conflicts/')
    ) e
    JOIN (SELECT DISTINCT conversation, message, time FROM forky_v1.merges WHERE visible) m
        ON m.conversation = e.conversation AND m.message = e.message
)
SELECT conversation, message, key, texts, false AS settled, NULL::VARCHAR AS result, NULL::TIMESTAMP AS time
FROM found f
WHERE NOT EXISTS (
    FROM settled s
    WHERE s.conversation = f.conversation AND lower(trim(s.key)) = lower(trim(f.key)) AND s.time >= f.time
)
UNION ALL
SELECT conversation, NULL, key, texts, true, result, time FROM settled;

CREATE VIEW forky_v1.operations AS
SELECT c.id AS conversation, o.number, 'b2:' || replace(o.id::TEXT, '-', '') AS operation, TRY(make_timestamp(o.made)) AS time,
    o.actor, o.verb, o.summary, o.gesture AS "group", coalesce(from_json(TRY_CAST(o.reverts AS JSON), '["INTEGER"]'), []) AS reverts
FROM main.operations o JOIN main.conversations c ON c.conversation = o.conversation;

CREATE VIEW forky_v1.documents AS
SELECT d.id AS document, d.name, d.media_type, d.size AS bytes, d.chunks, TRY(make_timestamp(d.added)) AS added,
    coalesce(u.conversations, []) AS conversations
FROM main.documents d
LEFT JOIN (
    SELECT document, list(DISTINCT conversation ORDER BY conversation) AS conversations
    FROM (
        SELECT conversation, unnest(from_json(value, '["VARCHAR"]')) AS document
        FROM forky_v1._entries WHERE key = 'documents'
    )
    GROUP BY ALL
) u ON u.document = d.id
WHERE d.whole;

CREATE VIEW forky_v1.tags AS
SELECT e.conversation, substr(e.key, 6) AS tag, e.value ->> '$.at' AS message, TRY(make_timestamp(o.made)) AS time
FROM forky_v1._entries e
LEFT JOIN main.operations o ON o.conversation = e.number AND o.number = e.operation
WHERE starts_with(e.key, 'tags/');

CREATE VIEW forky_v1.stashes AS
SELECT conversation, TRY_CAST(substr(key, 7) AS INTEGER) AS stash, coalesce(value ->> '$.note', '') AS note,
    coalesce(value ->> '$.draft', '') AS draft, coalesce(from_json(value -> '$.messages', '["VARCHAR"]'), []) AS messages,
    TRY(make_timestamp(TRY_CAST(value ->> '$.created' AS BIGINT))) AS time
FROM forky_v1._entries WHERE starts_with(key, 'stash/');

-- Votes are read when everybody may read them: those of a blind poll after its reveal.
CREATE VIEW forky_v1.votes AS
SELECT v.conversation, TRY_CAST(split_part(v.key, '/', 2) AS INTEGER) AS poll, coalesce(p.value ->> '$.title', '') AS title,
    substr(v.key, length(p.key) + 8) AS person, v.value ->> '$.choice' AS choice, coalesce(v.value ->> '$.note', '') AS note,
    TRY(make_timestamp(TRY_CAST(v.value ->> '$.at' AS BIGINT))) AS time, r.key IS NOT NULL AS revealed
FROM forky_v1._entries v
JOIN forky_v1._entries p ON p.number = v.number AND p.key = 'polls/' || split_part(v.key, '/', 2)
LEFT JOIN forky_v1._entries r ON r.number = v.number AND r.key = p.key || '/revealed'
WHERE starts_with(v.key, 'polls/') AND split_part(v.key, '/', 3) = 'votes'
    AND (r.key IS NOT NULL OR coalesce(p.value ->> '$.blind', '') = 'false');

CREATE VIEW forky_v1.requests AS
SELECT conversation, TRY_CAST(substr(key, 10) AS INTEGER) AS request,
    list_concat(
        [value ->> '$.source'],
        coalesce(list_transform(from_json(value -> '$.others', '["JSON"]'), lambda other: other ->> '$[0]'), [])
    ) AS source_branches,
    coalesce(value ->> '$.graft[0]', conversation) AS source_conversation, value ->> '$.into' AS target_branch,
    value ->> '$.by' AS author, coalesce(value ->> '$.note', '') AS note, value ->> '$.strategy' AS strategy,
    value ->> '$.state' AS state, coalesce(value ->> '$.answered_by', '') AS answered_by,
    TRY(make_timestamp(TRY_CAST(value ->> '$.at' AS BIGINT))) AS time
FROM forky_v1._entries WHERE starts_with(key, 'requests/');

-- The last review of each person, as an operation of theirs made it; the log has them, and undo leaves them alone.
CREATE VIEW forky_v1.reviews AS
SELECT conversation, TRY_CAST(split_part(key, '/', 2) AS INTEGER) AS request, actor AS reviewer, value ->> '$.state' AS state,
    coalesce(value ->> '$.text', '') AS text, value ->> '$.lands' AS lands,
    TRY(make_timestamp(TRY_CAST(value ->> '$.at' AS BIGINT))) AS time, coalesce(value ->> '$.findings', '[]') AS findings
FROM (
    SELECT conversation, actor, key, value,
        row_number() OVER (PARTITION BY conversation, key ORDER BY number DESC) AS newest
    FROM (
        SELECT c.id AS conversation, o.number, o.actor, o.change ->> '$[0]' AS key, o.change -> '$[2]' AS value
        FROM (
            SELECT conversation, number, actor, unnest(from_json(TRY_CAST(changes AS JSON), '["JSON"]')) AS change
            FROM main.operations WHERE verb = 'review'
        ) o
        JOIN main.conversations c ON c.conversation = o.conversation
    )
    WHERE starts_with(key, 'reviews/') AND key = 'reviews/' || split_part(key, '/', 2) || '/' || actor
)
WHERE newest = 1 AND value ->> '$.state' IN ('approved', 'changes');
