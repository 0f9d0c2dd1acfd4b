#!/bin/sh
# Starts a standby: copies the primary the first time, then follows it. `pg_ctl promote` makes a primary of it.
set -eu
# A copy ends with this file, so that one that was broken off is made anew.
if [ ! -s "$PGDATA/global/pg_control" ]; then
    find "$PGDATA" -mindepth 1 -delete
    chmod 700 "$PGDATA"
    # The slot has the primary keep its log for as long as this standby is away.
    pg_receivewal --host=primary --username=standby --slot=standby --create-slot --if-not-exists
    pg_basebackup --host=primary --username=standby --slot=standby --pgdata="$PGDATA" \
        --wal-method=stream --checkpoint=fast --write-recovery-conf
fi
exec postgres "$@"
