-- The functions that write into the tables, as the last of the migrations (migrations.py) leaves them: whichever changes one
-- of them runs this file again, and an older one may run it before the tables are as it wants them. `w` is the workspace,
-- `c` the conversation, `me` the process that writes. All that a function asks for is in its arguments.

SET LOCAL check_function_bodies = off;

-- One append is one trip: a conversation moves from the version that its author saw to the next, with all rows of it, or
-- nothing happens and FK001 says that somebody came first.
CREATE OR REPLACE FUNCTION forky.append(
    w text, c text, seen integer, reached integer, newest uuid, began bigint, moved bigint, many integer, runs integer,
    new_messages json, new_segments json, new_operations json, gone text[], new_entries json, new_derived json, calls json,
    me text
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    one record;
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
    INSERT INTO forky.messages
        (workspace, conversation, message, id, segment, depth, parent, role, text, rest, created)
    SELECT w, c, r.message, r.id, r.segment, r.depth, r.parent, r.role, r.text, r.rest, r.created
    FROM json_populate_recordset(NULL::forky.messages, new_messages) AS r;
    FOR one IN SELECT * FROM json_populate_recordset(NULL::forky.segments, new_segments) LOOP
        INSERT INTO forky.segments (workspace, conversation, segment, parent_segment, parent_depth)
        VALUES (w, c, one.segment, one.parent_segment, one.parent_depth);
    END LOOP;
    INSERT INTO forky.operations
        (workspace, conversation, number, id, made, actor, verb, summary, changes, gesture, reverts)
    SELECT w, c, r.number, r.id, r.made, r.actor, r.verb, r.summary, r.changes, r.gesture, r.reverts
    FROM json_populate_recordset(NULL::forky.operations, new_operations) AS r;
    IF gone IS NOT NULL THEN
        DELETE FROM forky.entries WHERE workspace = w AND conversation = c AND key = ANY(gone);
    END IF;
    FOR one IN SELECT * FROM json_populate_recordset(NULL::forky.entries, new_entries) LOOP
        INSERT INTO forky.entries (workspace, conversation, key, value, operation)
        VALUES (w, c, one.key, one.value, one.operation)
        ON CONFLICT (workspace, conversation, key) DO UPDATE SET value = excluded.value, operation = excluded.operation;
    END LOOP;
    FOR one IN SELECT * FROM json_populate_recordset(NULL::forky.derived, new_derived) LOOP
        INSERT INTO forky.derived (workspace, conversation, key, value) VALUES (w, c, one.key, one.value)
        ON CONFLICT (workspace, conversation, key) DO UPDATE SET value = excluded.value;
    END LOOP;
    IF calls IS NOT NULL THEN
        PERFORM forky.keep_calls(w, c, calls, me);
    END IF;
END
$$;

-- A call that another process is writing is refused with FK003. One whose process was gone may be ended by another one,
-- once: what that one wrote stays.
CREATE OR REPLACE FUNCTION forky.keep_calls(w text, c text, calls json, me text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    one record;
    dead text[];
BEGIN
    dead := ARRAY(
        SELECT g.process FROM forky.generations g
        WHERE g.workspace = w AND g.conversation = c AND g.status = 'running' AND g.process <> me AND NOT EXISTS (
            SELECT 1 FROM forky.processes p
            WHERE p.workspace = w AND p.process = g.process AND p.seen > clock_timestamp() - interval '10 s'
        )
    );
    FOR one IN SELECT * FROM json_populate_recordset(NULL::forky.generations, calls) LOOP
        INSERT INTO forky.generations AS g
            (workspace, conversation, id, status, model, started, first_token, finished, prompt_tokens, completion_tokens,
            cached_tokens, cost, rest, process)
        VALUES (
            w, c, one.id, one.status, one.model, one.started, one.first_token, one.finished, one.prompt_tokens,
            one.completion_tokens, one.cached_tokens, one.cost, one.rest, CASE WHEN one.status = 'running' THEN me END
        )
        ON CONFLICT (workspace, conversation, id) DO UPDATE SET status = excluded.status, model = excluded.model,
            started = excluded.started, first_token = excluded.first_token, finished = excluded.finished,
            prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens,
            cached_tokens = excluded.cached_tokens, cost = excluded.cost, rest = excluded.rest, process = excluded.process,
            former = CASE WHEN g.process <> me THEN g.process ELSE g.former END
        WHERE g.former IS NULL AND (g.process IS NULL OR g.process = me OR g.process = ANY(dead));
        IF NOT FOUND THEN
            RAISE EXCEPTION 'another process writes this reply' USING ERRCODE = 'FK003';
        END IF;
        DELETE FROM forky.progress WHERE workspace = w AND conversation = c AND id = one.id;
    END LOOP;
END
$$;

-- Saves how far a call is: in the table that is not logged where the call is known to run, else for good.
CREATE OR REPLACE FUNCTION forky.record(w text, c text, call json, me text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    one record;
BEGIN
    -- The lock holds off a purge, so that no call is left of a conversation that is gone.
    PERFORM 1 FROM forky.conversations WHERE workspace = w AND conversation = c FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such conversation' USING ERRCODE = 'FK002';
    END IF;
    SELECT * INTO one FROM json_populate_record(NULL::forky.progress, call);
    IF one.status = 'running' AND EXISTS (
        SELECT 1 FROM forky.generations g
        WHERE g.workspace = w AND g.conversation = c AND g.id = one.id AND g.status = 'running' AND g.process = me
    ) THEN
        INSERT INTO forky.progress
            (workspace, conversation, id, status, model, started, first_token, finished, prompt_tokens, completion_tokens,
            cached_tokens, cost, rest)
        VALUES (
            w, c, one.id, one.status, one.model, one.started, one.first_token, one.finished, one.prompt_tokens,
            one.completion_tokens, one.cached_tokens, one.cost, one.rest
        )
        ON CONFLICT (workspace, conversation, id) DO UPDATE SET status = excluded.status, model = excluded.model,
            started = excluded.started, first_token = excluded.first_token, finished = excluded.finished,
            prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens,
            cached_tokens = excluded.cached_tokens, cost = excluded.cost, rest = excluded.rest;
    ELSE
        PERFORM forky.keep_calls(w, c, json_build_array(call), me);
    END IF;
END
$$;

-- What programs of schema 2 or earlier call, which say who they are by a setting of their connections.

CREATE OR REPLACE FUNCTION forky.append(
    w text, c text, seen integer, reached integer, newest uuid, began bigint, moved bigint, many integer, runs integer,
    new_messages json, new_segments json, new_operations json, gone text[], new_entries json, new_derived json, calls json
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM forky.append(
        w, c, seen, reached, newest, began, moved, many, runs, new_messages, new_segments, new_operations, gone, new_entries,
        new_derived, calls, current_setting('forky.process', true)
    );
END
$$;

CREATE OR REPLACE FUNCTION forky.keep_calls(w text, c text, calls json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM forky.keep_calls(w, c, calls, current_setting('forky.process', true));
END
$$;

CREATE OR REPLACE FUNCTION forky.record(w text, c text, call json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM forky.record(w, c, call, current_setting('forky.process', true));
END
$$;

CREATE OR REPLACE FUNCTION forky.is_alive(w text, named text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT 1 FROM forky.processes p
        WHERE p.workspace = w AND p.process = named AND p.seen > clock_timestamp() - interval '10 s'
    );
$$;
