-- What a cluster of Citus gets, once the tables and functions are there and still empty: each workspace is on one node, with
-- all its rows and what is done there by functions. Row security goes: it compares a setting of the connection, which Citus
-- does not pass on to the nodes. That every statement names its workspace is what keeps workspaces apart there.

-- Each step waits for the one before on all nodes, as a transaction that makes types and functions has to.
SET LOCAL citus.multi_shard_modify_mode = 'sequential';

-- What is not logged cannot be moved to another node while it is written to.
ALTER TABLE forky.progress SET LOGGED;

DO $$
DECLARE
    named text;
    wrote regprocedure;
    beside text := 'none';
BEGIN
    FOREACH named IN ARRAY ARRAY['conversations', 'messages', 'segments', 'operations', 'entries', 'generations', 'processes', 'progress',
        'derived', 'blobs', 'settings', 'documents', 'chunks', 'postings', 'vectors']
    LOOP
        EXECUTE format('DROP POLICY own_workspace ON forky.%I', named);
        EXECUTE format('ALTER TABLE forky.%I NO FORCE ROW LEVEL SECURITY', named);
        EXECUTE format('ALTER TABLE forky.%I DISABLE ROW LEVEL SECURITY', named);
        PERFORM create_distributed_table(format('forky.%I', named), 'workspace', colocate_with => beside);
        beside := 'forky.conversations';
    END LOOP;
    PERFORM create_reference_table('forky.process_schemas');
    FOR wrote IN
        SELECT oid::regprocedure FROM pg_proc
        WHERE pronamespace = 'forky'::regnamespace AND proname IN ('append', 'keep_calls', 'record') AND 'me' = ANY(proargnames)
    LOOP
        PERFORM create_distributed_function(wrote, 'w', colocate_with => 'forky.conversations');
    END LOOP;
END
$$;
