-- The tables of Forky's conversations on PostgreSQL that an empty database gets; later columns are in the migrations that add
-- them (migrations.py), and what writes into the tables is in functions.sql. Every key begins with the workspace, but in tables
-- that are not about one: it is what row security compares. Times are microseconds since the epoch, UTC. JSON is kept as text, as it was hashed. A text that holds U+0000
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
    outside text,
    PRIMARY KEY (workspace, sha256)
);
COMMENT ON COLUMN forky.blobs.outside IS 'the address of the content, where that is not here';

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
