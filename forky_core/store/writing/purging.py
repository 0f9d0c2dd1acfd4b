"""Removing a conversation for good: its rows, and the attachments that no other conversation names."""

from __future__ import annotations

import re

import duckdb

from forky_core.errors import InTheWay
from forky_core.model import ConversationId
from forky_core.store.deciding import no_conversation
from forky_core.store.sql import statements as sql

_SHA256 = re.compile(r'"([0-9a-f]{64})"')


def purge_rows(cursor: duckdb.DuckDBPyConnection, id: ConversationId) -> None:
    """Inside a transaction."""
    rows = cursor.execute(sql.CONVERSATION.text, [id]).fetchall()
    if not rows:
        raise no_conversation(id)
    ((_, number),) = rows
    keys = {key for key, _, _ in cursor.execute(sql.ENTRIES.text, [number]).fetchall()}
    if "trashed" not in keys:
        raise InTheWay(
            "Only a conversation in the trash can be deleted for good.", "Move it to the trash first."
        )
    for sha256 in sorted(_named_blobs(cursor, number)):
        given = sql.STILL_NAMED.values(conversation=number, sha256=sha256)
        if not cursor.execute(sql.STILL_NAMED.text, given).fetchall()[0][0]:
            cursor.execute(sql.DROP_BLOB.text, [sha256])
    for statement in sql.PURGE:
        cursor.execute(statement.text, [number])


def _named_blobs(cursor: duckdb.DuckDBPyConnection, number: int) -> set[str]:
    """Whatever looks like an attachment's name in this conversation; more than there are does no harm."""
    statement = sql.NAMED_BLOBS
    rows = cursor.execute(statement.text, statement.values(conversation=number)).fetchall()
    return {sha256 for (text,) in rows for sha256 in _SHA256.findall(text)}
