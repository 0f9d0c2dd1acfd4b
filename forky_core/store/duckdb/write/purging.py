"""Removing a conversation for good: its rows, and the attachments that no other conversation names."""

from __future__ import annotations

import re

import duckdb

from forky_core.model import ConversationId
from forky_core.model.errors import InTheWay
from forky_core.store.deciding import no_conversation
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.running import execute

_SHA256 = re.compile(r'"([0-9a-f]{64})"')


def purge_rows(cursor: duckdb.DuckDBPyConnection, id: ConversationId) -> None:
    """Remove a conversation's rows; to be called inside a transaction."""
    rows = execute(cursor, sql.CONVERSATION, id=id).fetchall()
    if not rows:
        raise no_conversation(id)
    ((_, number),) = rows
    keys = {key for key, _, _ in execute(cursor, sql.ENTRIES, conversation=number).fetchall()}
    if "trashed" not in keys:
        raise InTheWay(
            "Only a conversation in the trash can be deleted for good.", "Move it to the trash first."
        )
    for sha256 in sorted(_named_blobs(cursor, number)):
        if not execute(cursor, sql.STILL_NAMED, conversation=number, sha256=sha256).fetchall()[0][0]:
            execute(cursor, sql.DROP_BLOB, sha256=sha256)
    for statement in sql.PURGE:
        execute(cursor, statement, conversation=number)


def drop_unnamed_blobs(cursor: duckdb.DuckDBPyConnection, names: frozenset[str]) -> None:
    """Remove those of these attachments that no message and no stash names; to be called inside a transaction.

    All names are read at once: asking for each by itself would scan every message that many times.
    """
    named = {
        sha256
        for (text,) in execute(cursor, sql.NAMED_BLOBS_ANYWHERE).fetchall()
        for sha256 in _SHA256.findall(text)
    }
    for sha256 in sorted(names - named):
        execute(cursor, sql.DROP_BLOB, sha256=sha256)


def _named_blobs(cursor: duckdb.DuckDBPyConnection, number: int) -> set[str]:
    """Every text of this conversation that looks like an attachment's name; false positives are harmless."""
    rows = execute(cursor, sql.NAMED_BLOBS, conversation=number).fetchall()
    return {sha256 for (text,) in rows for sha256 in _SHA256.findall(text)}
