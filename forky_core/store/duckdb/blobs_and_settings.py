"""What is stored outside the history and without an operation: blobs, derived values, and settings.

The functions that write take the writer's cursor; its transaction makes each of them atomic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import duckdb

from forky_core.model import Blob, ConversationId
from forky_core.store.deciding import no_blob, no_conversation
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.running import execute, insert
from forky_core.store.duckdb.write.batch import replacing_derived


def write_blob(cursor: duckdb.DuckDBPyConnection, blob: Blob) -> None:
    """Store a blob; does nothing if it is already stored."""
    if not execute(cursor, sql.HAS_BLOB, sha256=blob.sha256).fetchall()[0][0]:
        row = {
            "sha256": blob.sha256,
            "media_type": blob.media_type,
            "name": blob.name,
            "content": blob.content,
        }
        insert(cursor, "blobs", row)


def read_blob(file: DatabaseFile, sha256: str) -> Blob:
    rows = file.fetch(sql.BLOB, sha256=sha256)
    if not rows:
        raise no_blob(sha256)
    with file.decoding():
        row = rows[0]
        return Blob(sha256, row["media_type"], row["name"], bytes(row["content"]))


def write_derived(
    cursor: duckdb.DuckDBPyConnection, conversation: ConversationId, entries: Mapping[str, str]
) -> None:
    """Insert derived values, replacing those with the same key."""
    rows = execute(cursor, sql.CONVERSATION, id=conversation).fetchall()
    if not rows:
        raise no_conversation(conversation)
    ((_, number),) = rows
    for step in replacing_derived(number, entries):
        execute(cursor, *step)


def write_setting(cursor: duckdb.DuckDBPyConnection, key: str, value: str | None) -> None:
    """Set a setting, or remove it if `value` is None."""
    execute(cursor, sql.DROP_SETTING, key=key)
    if value is not None:
        insert(cursor, "settings", {"key": key, "value": value})


def change_setting(
    cursor: duckdb.DuckDBPyConnection, key: str, change: Callable[[str | None], str | None]
) -> str | None:
    """Set a setting to what `change` makes of its value; returns that."""
    rows = execute(cursor, sql.SETTING, key=key).fetchall()
    value = str(rows[0][0]) if rows else None
    changed = change(value)
    if changed != value:
        write_setting(cursor, key, changed)
    return changed
