-- The tables of Forky's conversations on PostgreSQL, as the last of the migrations (migrations.py) leads to them. Every key
-- begins with the workspace, but in tables that are not about one: it is what a cluster is cut by, and what row security
-- compares. Times are microseconds since the epoch, UTC. JSON is kept as text, as it was hashed. A text that holds U+0000
-- is kept with an escape (texts.py).

CREATE SCHEMA IF NOT EXISTS forky;

CREATE TABLE forky.migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    applied bigint NOT NULL,
    usable_from integer NOT NULL
);

CREATE TABLE forky.conversations (
    workspace text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    last uuid NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    messages integer NOT NULL,
    segments integer NOT NULL,
    erasures integer NOT NULL DEFAULT 0,
    born bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
    PRIMARY KEY (workspace, conversation)
);

CREATE TABLE forky.messages (
    workspace text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    message integer NOT NULL,
    id uuid NOT NULL,
    segment integer NOT NULL,
    depth integer NOT NULL,
    parent integer,
    role text NOT NULL,
    text text NOT NULL,
    rest text,
    created bigint NOT NULL,
    PRIMARY KEY (workspace, conversation, message)
);
CREATE UNIQUE INDEX messages_id ON forky.messages (workspace, conversation, id);
CREATE UNIQUE INDEX messages_place ON forky.messages (workspace, conversation, segment, depth);

CREATE TABLE forky.segments (
    workspace text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    segment integer NOT NULL,
    parent_segment integer,
    parent_depth integer NOT NULL,
    PRIMARY KEY (workspace, conversation, segment)
);

CREATE TABLE forky.operations (
    workspace text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    id uuid NOT NULL,
    made bigint NOT NULL,
    actor text NOT NULL,
    verb text NOT NULL,
    summary text NOT NULL,
    changes text NOT NULL,
    gesture integer,
    reverts text,
    PRIMARY KEY (workspace, conversation, number)
);

CREATE TABLE forky.entries (
    workspace text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    value text NOT NULL,
    operation integer NOT NULL,
    PRIMARY KEY (workspace, conversation, key)
);
CREATE INDEX entries_key ON forky.entries (workspace, key);

CREATE TABLE forky.generations (
    workspace text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    status text NOT NULL,
    model text NOT NULL,
    started bigint NOT NULL,
    first_token bigint,
    finished bigint,
    prompt_tokens integer,
    completion_tokens integer,
    cached_tokens integer,
    cost double precision,
    rest text NOT NULL,
    process text,
    former text,
    PRIMARY KEY (workspace, conversation, id)
);
COMMENT ON COLUMN forky.generations.process IS 'which process writes it, while it runs';
COMMENT ON COLUMN forky.generations.former IS 'the process from which another one took it over, which ended it';
CREATE INDEX generations_running ON forky.generations (workspace) WHERE status = 'running';

-- The processes that write replies, each with its latest sign of life. One that gave none for ten seconds is gone.
CREATE TABLE forky.processes (
    workspace text COLLATE "C" NOT NULL,
    process text COLLATE "C" NOT NULL,
    seen timestamptz NOT NULL,
    PRIMARY KEY (workspace, process)
);

-- Which schema each process knows that has the database open, whichever its workspaces are, with its latest sign of life.
CREATE TABLE forky.process_schemas (
    process text COLLATE "C" PRIMARY KEY,
    schema integer NOT NULL,
    seen timestamptz NOT NULL
);

-- What has arrived of replies that are being written. It is saved twice a second and worth nothing after a crash of the
-- database, so it is not logged; that a reply runs is in `generations`.
CREATE UNLOGGED TABLE forky.progress (LIKE forky.generations INCLUDING INDEXES);

CREATE TABLE forky.derived (
    workspace text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (workspace, conversation, key)
);
CREATE INDEX derived_key ON forky.derived (workspace, key);

CREATE TABLE forky.blobs (
    workspace text COLLATE "C" NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    media_type text NOT NULL,
    name text NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (workspace, sha256)
);

CREATE TABLE forky.settings (
    workspace text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (workspace, key)
);

CREATE TABLE forky.documents (
    workspace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    media_type text NOT NULL,
    size bigint NOT NULL,
    added bigint NOT NULL,
    shelf text NOT NULL,
    whole boolean NOT NULL,
    chunks integer NOT NULL,
    terms bigint NOT NULL,
    born bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
    PRIMARY KEY (workspace, id)
);

CREATE TABLE forky.chunks (
    workspace text COLLATE "C" NOT NULL,
    chunk bigint GENERATED ALWAYS AS IDENTITY,
    document text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    place text NOT NULL,
    text text NOT NULL,
    overlap integer NOT NULL,
    length integer NOT NULL,
    PRIMARY KEY (workspace, chunk)
);
CREATE UNIQUE INDEX chunks_number ON forky.chunks (workspace, document, number);

CREATE TABLE forky.postings (
    workspace text COLLATE "C" NOT NULL,
    term bigint NOT NULL,
    chunk bigint NOT NULL,
    document text COLLATE "C" NOT NULL,
    frequency integer NOT NULL,
    PRIMARY KEY (workspace, term, chunk)
);
CREATE INDEX postings_document ON forky.postings (workspace, document);
CREATE INDEX postings_chunk ON forky.postings (workspace, chunk);

CREATE TABLE forky.vectors (
    workspace text COLLATE "C" NOT NULL,
    chunk bigint NOT NULL,
    document text COLLATE "C" NOT NULL,
    model text NOT NULL,
    size integer NOT NULL,
    vector bytea NOT NULL,
    PRIMARY KEY (workspace, chunk)
);
CREATE INDEX vectors_document ON forky.vectors (workspace, document);

-- The second wall: whatever a statement asks for, a connection sees the rows of the workspace that it was opened for.
DO $$
DECLARE named text;
BEGIN
    FOREACH named IN ARRAY ARRAY['conversations', 'messages', 'segments', 'operations', 'entries', 'generations', 'processes', 'progress',
        'derived', 'blobs', 'settings', 'documents', 'chunks', 'postings', 'vectors']
    LOOP
        EXECUTE format('ALTER TABLE forky.%I ENABLE ROW LEVEL SECURITY', named);
        EXECUTE format('ALTER TABLE forky.%I FORCE ROW LEVEL SECURITY', named);
        EXECUTE format(
            'CREATE POLICY own_workspace ON forky.%I USING (workspace = current_setting(''forky.workspace'', true))', named
        );
    END LOOP;
END
$$;

-- One append is one trip: a conversation moves from the version that its author saw to the next, with all rows of it, or
-- nothing happens and FK001 says that somebody came first.
CREATE FUNCTION forky.append(
    w text, c text, seen integer, reached integer, newest uuid, began bigint, moved bigint, many integer, runs integer,
    new_messages json, new_segments json, new_operations json, gone text[], new_entries json, new_derived json, calls json
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF seen = 0 THEN
        INSERT INTO forky.conversations (workspace, conversation, version, last, created, updated, messages, segments)
        VALUES (w, c, reached, newest, began, moved, many, runs)
        ON CONFLICT (workspace, conversation) DO NOTHING;
    ELSE
        UPDATE forky.conversations SET version = reached, last = newest, updated = moved, messages = many, segments = runs
        WHERE workspace = w AND conversation = c AND version = seen;
    END IF;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'somebody came first' USING ERRCODE = 'FK001';
    END IF;
    IF new_messages IS NOT NULL THEN
        INSERT INTO forky.messages SELECT w, c, r.* FROM json_to_recordset(new_messages) AS r (
            message integer, id uuid, segment integer, depth integer, parent integer, role text, text text, rest text,
            created bigint
        );
    END IF;
    IF new_segments IS NOT NULL THEN
        INSERT INTO forky.segments SELECT w, c, r.* FROM json_to_recordset(new_segments) AS r (
            segment integer, parent_segment integer, parent_depth integer
        );
    END IF;
    INSERT INTO forky.operations SELECT w, c, r.* FROM json_to_recordset(new_operations) AS r (
        number integer, id uuid, made bigint, actor text, verb text, summary text, changes text, gesture integer, reverts text
    );
    IF gone IS NOT NULL THEN
        DELETE FROM forky.entries WHERE workspace = w AND conversation = c AND key = ANY(gone);
    END IF;
    IF new_entries IS NOT NULL THEN
        INSERT INTO forky.entries SELECT w, c, r.* FROM json_to_recordset(new_entries) AS r (
            key text, value text, operation integer
        )
        ON CONFLICT (workspace, conversation, key) DO UPDATE SET value = excluded.value, operation = excluded.operation;
    END IF;
    IF new_derived IS NOT NULL THEN
        INSERT INTO forky.derived SELECT w, c, r.* FROM json_to_recordset(new_derived) AS r (key text, value text)
        ON CONFLICT (workspace, conversation, key) DO UPDATE SET value = excluded.value;
    END IF;
    IF calls IS NOT NULL THEN
        PERFORM forky.keep_calls(w, c, calls);
    END IF;
END
$$;

CREATE FUNCTION forky.is_alive(w text, named text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT 1 FROM forky.processes p
        WHERE p.workspace = w AND p.process = named AND p.seen > clock_timestamp() - interval '10 s'
    );
$$;

-- A call that another process is writing is refused with FK003. One whose process was gone may be ended by another one,
-- once: what that one wrote stays.
CREATE FUNCTION forky.keep_calls(w text, c text, calls json) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    me text := current_setting('forky.process', true);
    kept integer;
BEGIN
    INSERT INTO forky.generations AS g
    SELECT w, c, r.*, CASE WHEN r.status = 'running' THEN me END, NULL FROM json_to_recordset(calls) AS r (
        id text, status text, model text, started bigint, first_token bigint, finished bigint, prompt_tokens integer,
        completion_tokens integer, cached_tokens integer, cost double precision, rest text
    )
    ON CONFLICT (workspace, conversation, id) DO UPDATE SET status = excluded.status, model = excluded.model,
        started = excluded.started, first_token = excluded.first_token, finished = excluded.finished,
        prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens,
        cached_tokens = excluded.cached_tokens, cost = excluded.cost, rest = excluded.rest, process = excluded.process,
        former = CASE WHEN g.process <> me THEN g.process ELSE g.former END
    WHERE g.former IS NULL AND (g.process IS NULL OR g.process = me OR NOT forky.is_alive(w, g.process));
    GET DIAGNOSTICS kept = ROW_COUNT;
    IF kept < json_array_length(calls) THEN
        RAISE EXCEPTION 'another process writes this reply' USING ERRCODE = 'FK003';
    END IF;
    DELETE FROM forky.progress
    WHERE workspace = w AND conversation = c AND id IN (SELECT r.id FROM json_to_recordset(calls) AS r (id text));
END
$$;

-- Saves how far a call is: in the table that is not logged where the call is known to run, else for good.
CREATE FUNCTION forky.record(w text, c text, call json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- The lock holds off a purge, so that no call is left of a conversation that is gone.
    PERFORM 1 FROM forky.conversations WHERE workspace = w AND conversation = c FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such conversation' USING ERRCODE = 'FK002';
    END IF;
    IF call ->> 'status' = 'running' AND EXISTS (
        SELECT 1 FROM forky.generations
        WHERE workspace = w AND conversation = c AND id = call ->> 'id' AND status = 'running'
            AND process = current_setting('forky.process', true)
    ) THEN
        INSERT INTO forky.progress SELECT w, c, r.* FROM json_to_record(call) AS r (
            id text, status text, model text, started bigint, first_token bigint, finished bigint, prompt_tokens integer,
            completion_tokens integer, cached_tokens integer, cost double precision, rest text
        )
        ON CONFLICT (workspace, conversation, id) DO UPDATE SET status = excluded.status, model = excluded.model,
            started = excluded.started, first_token = excluded.first_token, finished = excluded.finished,
            prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens,
            cached_tokens = excluded.cached_tokens, cost = excluded.cost, rest = excluded.rest;
    ELSE
        PERFORM forky.keep_calls(w, c, json_build_array(call));
    END IF;
END
$$;
