"""Erasing what a message says from the rows of the file (store/erasing.py says what that changes)."""

from __future__ import annotations

import json
from typing import Any

import duckdb

from forky_core.model import ConversationId, Message, MessageId
from forky_core.model.erasure import ERASED
from forky_core.model.parts import canonical_json
from forky_core.model.view import FORKED_FROM
from forky_core.store.contract import Erased
from forky_core.store.deciding import no_conversation
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.blobs_and_settings import write_setting
from forky_core.store.duckdb.read.packs import drop_packs
from forky_core.store.duckdb.running import execute, fetch, insert
from forky_core.store.duckdb.write.batch import setting_generation
from forky_core.store.duckdb.write.purging import drop_unnamed_blobs
from forky_core.store.duckdb.write.writer import ERASED_BYTES
from forky_core.store.erasing import (
    Rewriting,
    StoredConversation,
    erased,
    related,
    rewrite_all,
    rewritten_entries,
)
from forky_core.store.rows import (
    Row,
    generation_from_row,
    id_from_key,
    id_key,
    message_body,
    message_from_row,
    operation_row,
    operations_from_rows,
)


def erase_rows(
    cursor: duckdb.DuckDBPyConnection, conversation: ConversationId, message: MessageId, by: str, at: int
) -> Erased:
    """Erase what a message says; to be called inside a transaction.

    Raises:
        NotFound: there is no such conversation or message.
        NothingToDo: it was erased already.
    """
    ids: dict[int, ConversationId] = {
        number: ConversationId(id) for id, number in execute(cursor, sql.CONVERSATIONS).fetchall()
    }
    here = next((number for number, id in ids.items() if id == conversation), None)
    if here is None:
        raise no_conversation(conversation)
    numbers = {id: number for number, id in ids.items()}
    origins = execute(cursor, sql.ENTRIES_NAMED, key=FORKED_FROM).fetchall()
    family = related(conversation, {ids[n]: json.loads(value) for n, value in origins if n in ids})
    grafted = {row[0] for row in execute(cursor, sql.GRAFTED, of=conversation).fetchall()}
    done, passages = rewrite_all(
        _stored(cursor, here, conversation),
        message,
        [id for number, id in ids.items() if id in family or number in grafted],
        lambda id: _stored(cursor, numbers[id], id),
        lambda stored, new: _write(cursor, numbers[stored.id], stored, new),
        family=family,
        by=by,
        at=at,
    )
    for key, value in execute(cursor, sql.SETTINGS).fetchall():
        cut = passages.cut_encoded(value)
        if cut != value:
            write_setting(cursor, key, cut)
    before = _blobs(cursor)
    drop_unnamed_blobs(cursor, frozenset(file for new in done for file in new.files))
    write_setting(cursor, ERASED_BYTES, "1")
    return erased(conversation, done, before - _blobs(cursor), passages)


def _stored(cursor: duckdb.DuckDBPyConnection, number: int, id: ConversationId) -> StoredConversation:
    def rows(statement: str, **more: Any) -> list[Row]:
        return fetch(cursor, statement, conversation=number, **more)

    ids: dict[int, MessageId] = {}
    messages: list[Message] = []
    for row in rows(sql.AUDITED_MESSAGES):
        id_here = ids[row["message"]] = id_from_key(row["id"])
        above = ids.get(row["parent"]) if row["parent"] is not None else None
        messages.append(
            message_from_row(id_here, above, row["role"], row["text"], row["rest"], row["created"])
        )
    log = operations_from_rows(id, rows(sql.OPERATIONS, first=0), None)
    calls = [generation_from_row(row) for row in rows(sql.GENERATIONS)]
    derived = {row["key"]: row["value"] for row in rows(sql.ALL_DERIVED)}
    return StoredConversation(id, messages, log, calls, derived)


def _write(cursor: duckdb.DuckDBPyConnection, here: int, stored: StoredConversation, new: Rewriting) -> None:
    for message in new.messages:
        text, rest = message_body(message)
        execute(cursor, sql.SET_MESSAGE, conversation=here, id=id_key(message.id), text=text, rest=rest)
    for operation in new.operations:
        changes = canonical_json([[c.key, c.before, c.after] for c in operation.changes])
        execute(
            cursor,
            sql.SET_OPERATION,
            conversation=here,
            number=operation.number,
            summary=operation.summary,
            changes=changes,
        )
    for call in new.generations:
        execute(cursor, *setting_generation(here, call))
    if new.derived:
        execute(cursor, sql.DROP_DERIVED, conversation=here, keys=list(new.derived))
    insert(cursor, "operations", {"conversation": here, **operation_row(new.operation)})
    _write_entries(cursor, here, stored, new)
    drop_packs(cursor, here)


def _write_entries(
    cursor: duckdb.DuckDBPyConnection, here: int, stored: StoredConversation, new: Rewriting
) -> None:
    numbers = {row["key"]: row["operation"] for row in fetch(cursor, sql.ENTRIES, conversation=here)}
    for key, value in rewritten_entries(stored, new).items():
        execute(
            cursor,
            sql.SET_ENTRY,
            conversation=here,
            key=key,
            value=canonical_json(value),
            operation=numbers[key],
        )
    number = new.operation.number
    for change in new.operation.changes:
        assert change.key.startswith(ERASED)
        assert change.after is not None
        if change.before is not None:
            execute(cursor, sql.DROP_ENTRY, conversation=here, key=change.key)
        value = canonical_json(change.after)
        insert(
            cursor,
            "entries",
            {"conversation": here, "key": change.key, "value": value, "operation": number},
        )


def _blobs(cursor: duckdb.DuckDBPyConnection) -> int:
    return len(execute(cursor, sql.BLOB_NAMES).fetchall())
