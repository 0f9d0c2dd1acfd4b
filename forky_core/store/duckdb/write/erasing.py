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
from forky_core.store.duckdb.blobs_and_settings import write_setting
from forky_core.store.duckdb.read.packs import drop_packs
from forky_core.store.duckdb.sql import statements as sql
from forky_core.store.duckdb.sql.running import execute, execute_text
from forky_core.store.duckdb.sql.statement import SqlStatement, insertion
from forky_core.store.duckdb.sql.tables import entries, generations, operations
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
    generation_row,
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
        number: ConversationId(id) for number, id in execute(cursor, sql.CONVERSATIONS).fetchall()
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
    def rows(statement: SqlStatement, **more: Any) -> list[Row]:
        return execute(cursor, statement, conversation=number, **more).fetchall()

    ids: dict[int, MessageId] = {}
    messages: list[Message] = []
    for at, key, parent, role, text, rest, created, _, _ in rows(sql.AUDITED_MESSAGES):
        ids[at] = id_from_key(key)
        above = ids.get(parent) if parent is not None else None
        messages.append(message_from_row(ids[at], above, role, text, rest, created))
    log = operations_from_rows(id, rows(sql.OPERATIONS, first=0), None)
    calls = [generation_from_row(row) for row in rows(sql.GENERATIONS)]
    return StoredConversation(id, messages, log, calls, dict(rows(sql.ALL_DERIVED)))


def _write(cursor: duckdb.DuckDBPyConnection, here: int, stored: StoredConversation, new: Rewriting) -> None:
    for message in new.messages:
        text, rest = message_body(message)
        execute(cursor, sql.SET_MESSAGE, here=here, at=id_key(message.id), new_text=text, new_rest=rest)
    for operation in new.operations:
        changes = canonical_json([[c.key, c.before, c.after] for c in operation.changes])
        execute(
            cursor,
            sql.SET_OPERATION,
            here=here,
            at=operation.number,
            new_summary=operation.summary,
            new_changes=changes,
        )
    for call in new.generations:
        row = generation_row(here, call)
        given = {f"new_{name}": value for name, value in zip(generations.columns, row, strict=True)}
        execute(cursor, sql.SET_GENERATION, here=here, at=call.id, **given)
    if new.derived:
        execute(cursor, sql.DROP_DERIVED, conversation=here, keys=list(new.derived))
    execute_text(cursor, insertion(operations, 1), list(operation_row(here, new.operation)))
    _write_entries(cursor, here, stored, new)
    drop_packs(cursor, here)


def _write_entries(
    cursor: duckdb.DuckDBPyConnection, here: int, stored: StoredConversation, new: Rewriting
) -> None:
    numbers = {row[0]: row[2] for row in execute(cursor, sql.ENTRIES, conversation=here).fetchall()}
    for key, value in rewritten_entries(stored, new).items():
        execute(
            cursor,
            sql.SET_ENTRY,
            here=here,
            at=key,
            new_value=canonical_json(value),
            new_operation=numbers[key],
        )
    number = new.operation.number
    for change in new.operation.changes:
        assert change.key.startswith(ERASED)
        assert change.after is not None
        if change.before is not None:
            execute(cursor, sql.DROP_ENTRY, conversation=here, key=change.key)
        row = [here, change.key, canonical_json(change.after), number]
        execute_text(cursor, insertion(entries, 1), row)


def _blobs(cursor: duckdb.DuckDBPyConnection) -> int:
    return len(execute(cursor, sql.BLOB_NAMES).fetchall())
