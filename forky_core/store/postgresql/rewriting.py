"""Statements that change earlier rows: settings, a purge, and an erasure.

Each function is called within a transaction. Those that change a conversation lock its row first, so that no other
process appends to it meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial

from forky_core.model import ConversationId, MessageId
from forky_core.store.base import rewriting
from forky_core.store.contract import Erased, NewSetting
from forky_core.store.deciding import no_conversation
from forky_core.store.erasing import Rewriting, StoredConversation
from forky_core.store.postgresql import statements as sql
from forky_core.store.postgresql.connection import Connection
from forky_core.store.postgresql.texts import row_kept
from forky_core.store.rows import Row, generation_row, id_key


def write_setting(connection: Connection, key: str, value: str | None) -> None:
    """Set a setting, or remove it if `value` is None."""
    if value is None:
        connection.rows(sql.DROP_SETTING, key=key)
    else:
        connection.rows(sql.SET_SETTING, key=key, value=value)


def set_setting(connection: Connection, key: str, value: NewSetting) -> str | None:
    """See `Store.set_setting`. The row is locked while a function makes the value, also if there was none before."""
    if not callable(value):
        write_setting(connection, key, value)
        return value
    while True:
        rows = connection.rows(sql.LOCK_SETTING, key=key)
        if rows or connection.rows(sql.ADD_SETTING, key=key):
            break  # Else another process has added the setting in this moment.
    before = rows[0][0] if rows else None
    made = value(before)
    if made is None or made != before:
        write_setting(connection, key, made)
    return made


def lock(connection: Connection, id: ConversationId) -> None:
    """Hold off others that would change a conversation. Raises NotFound if there is none."""
    if not connection.rows(sql.LOCK, conversation=id):
        raise no_conversation(id)


def erase_rows(
    connection: Connection,
    conversation: ConversationId,
    message: MessageId,
    by: str,
    at: int,
    *,
    process: str,
) -> Erased:
    """Erase what a message says; `process` names whoever does so. It raises what `erase_rows` of the base raises."""

    def lock_all(ids: Iterable[str]) -> None:
        # All in one order, so that two erasures cannot wait for each other.
        for id in sorted(ids):
            connection.rows(sql.LOCK, conversation=id)

    def write(here: str, stored: StoredConversation, new: Rewriting) -> None:
        if new.generations:
            calls = json.dumps(
                [row_kept(generation_row(call)) for call in new.generations], ensure_ascii=False
            )
            connection.rows(sql.KEEP_CALLS, calls=calls, process=process, conversation=here)

        def insert(row: Row) -> None:
            connection.rows(sql.ADD_OPERATION, **row)

        rewriting.rewrite_rows(connection, here, stored, new, insert)
        last = new.operation
        given = {"version": last.number, "last": id_key(last.id), "updated": last.at}
        connection.rows(sql.ERASED, conversation=here, **given)

    return rewriting.erase_rows(
        connection,
        {ConversationId(id): str(id) for (id,) in connection.rows(sql.IDS)},
        conversation,
        message,
        by=by,
        at=at,
        lock=lock_all,
        write=write,
        write_setting=partial(write_setting, connection),
    )
