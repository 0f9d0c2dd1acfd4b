"""Statements that change earlier rows: settings, a purge, an erasure, and the removal of blobs that nothing names.

Each function is called within a transaction. Those that change a conversation lock its row first, so that no other
process appends to it meanwhile.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from forky_core.model import ConversationId, Message, MessageId
from forky_core.model.errors import InTheWay
from forky_core.model.parts import canonical_json
from forky_core.model.view import FORKED_FROM
from forky_core.store.contract import Erased
from forky_core.store.deciding import no_conversation
from forky_core.store.erasing import (
    Rewriting,
    StoredConversation,
    erased,
    related,
    rewrite_all,
    rewritten_entries,
)
from forky_core.store.postgresql import statements as sql
from forky_core.store.postgresql.connection import Connection, fetch, run
from forky_core.store.postgresql.texts import kept, row_kept, said
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

_SHA256 = re.compile(r'"([0-9a-f]{64})"')
_LAST = 2**31 - 1


def write_setting(connection: Connection, workspace: str, key: str, value: str | None) -> None:
    """Set a setting, or remove it if `value` is None."""
    if value is None:
        run(connection, sql.DROP_SETTING, workspace=workspace, key=kept(key))
    else:
        run(connection, sql.SET_SETTING, workspace=workspace, key=kept(key), value=kept(value))


def change_setting(
    connection: Connection, workspace: str, key: str, change: Callable[[str | None], str | None]
) -> str | None:
    """Set a setting to what `change` makes of its value, and return that. Its row is locked meanwhile, also where there
    was none before.
    """
    here = {"workspace": workspace, "key": kept(key)}
    while True:
        rows = run(connection, sql.LOCK_SETTING, **here)
        if rows or run(connection, sql.ADD_SETTING, **here):
            break  # Else another process has added the setting in this moment.
    value = said(rows[0][0]) if rows else None
    changed = change(value)
    if changed is None or changed != value:
        write_setting(connection, workspace, key, changed)
    return changed


def drop_unnamed_blobs(connection: Connection, workspace: str, names: frozenset[str]) -> int:
    """Remove those of these blobs that no message and no stash names; returns how many that were."""
    return _drop_blobs(connection, workspace, names.difference(*_named_blobs(connection, workspace).values()))


def _named_blobs(connection: Connection, workspace: str) -> Mapping[str, set[str]]:
    """What looks like the name of a blob, by the conversation that has it; false positives are harmless."""
    named: dict[str, set[str]] = defaultdict(set)
    for statement in (sql.NAMING_MESSAGES, sql.NAMING_OPERATIONS):
        for conversation, text in run(connection, statement, workspace=workspace):
            named[conversation].update(_SHA256.findall(text))
    return named


def _drop_blobs(connection: Connection, workspace: str, names: AbstractSet[str]) -> int:
    return len(run(connection, sql.DROP_BLOBS, workspace=workspace, names=sorted(map(kept, names))))


def purge_rows(connection: Connection, workspace: str, id: ConversationId) -> None:
    """Remove a conversation that is in the trash, and the blobs that only it names.

    Raises:
        NotFound: there is none.
        InTheWay: it is not in the trash.
    """
    here = {"workspace": workspace, "conversation": id}
    if not run(connection, sql.LOCK, **here):
        raise no_conversation(id)
    if "trashed" not in {key for key, _, _ in run(connection, sql.ENTRIES, **here)}:
        raise InTheWay(
            "Only a conversation in the trash can be deleted for good.", "Move it to the trash first."
        )
    named = dict(_named_blobs(connection, workspace))
    own = named.pop(id, set())
    for statement in sql.PURGE:
        run(connection, statement, **here)
    _drop_blobs(connection, workspace, own.difference(*named.values()))


def stored_conversation(
    connection: Connection, workspace: str, id: ConversationId, audited: Sequence[Row] | None = None
) -> StoredConversation:
    """All rows of a conversation as values; `audited` are those of its messages, where they were read already."""

    def rows(statement: str, **more: object) -> list[Row]:
        return fetch(connection, statement, workspace=workspace, conversation=id, **more)

    ids: dict[int, MessageId] = {}
    messages: list[Message] = []
    for row in rows(sql.AUDITED) if audited is None else audited:
        id_here = ids[row["message"]] = id_from_key(row["id"])
        above = ids.get(row["parent"]) if row["parent"] is not None else None
        messages.append(
            message_from_row(id_here, above, row["role"], row["text"], row["rest"], row["created"])
        )
    log = operations_from_rows(id, rows(sql.OPERATIONS, first=0, last=_LAST), None)
    calls = [generation_from_row(row) for row in rows(sql.GENERATIONS)]
    derived = {row["key"]: row["value"] for row in rows(sql.ALL_DERIVED)}
    return StoredConversation(id, messages, log, calls, derived)


def erase_rows(
    connection: Connection,
    workspace: str,
    conversation: ConversationId,
    message: MessageId,
    by: str,
    at: int,
    *,
    process: str,
) -> Erased:
    """Erase what a message says from every row (store/erasing.py says what that changes).

    `process` names whoever does so.

    Raises:
        NotFound: there is no such conversation or message.
        NothingToDo: it was erased already.
    """
    every = [ConversationId(id) for (id,) in run(connection, sql.IDS, workspace=workspace)]
    if conversation not in every:
        raise no_conversation(conversation)
    origins = run(connection, sql.ENTRIES_NAMED, workspace=workspace, key=FORKED_FROM)
    family = related(conversation, {ConversationId(id): json.loads(value) for id, value in origins})
    grafted = {
        id for (id,) in run(connection, sql.GRAFTED, workspace=workspace, of=canonical_json(conversation))
    }
    concerned = [id for id in every if id in family or id in grafted]
    # All in one order, so that two erasures cannot wait for each other.
    for id in sorted(concerned):
        run(connection, sql.LOCK, workspace=workspace, conversation=id)
    done, passages = rewrite_all(
        stored_conversation(connection, workspace, conversation),
        message,
        concerned,
        lambda id: stored_conversation(connection, workspace, id),
        lambda stored, new: _write(connection, workspace, process, stored, new),
        family=family,
        by=by,
        at=at,
    )
    for key, stored_value in run(connection, sql.SETTINGS, workspace=workspace):
        value = said(stored_value)
        cut = passages.cut_encoded(value)
        if cut != value:
            write_setting(connection, workspace, said(key), cut)
    files = drop_unnamed_blobs(connection, workspace, frozenset(file for new in done for file in new.files))
    return erased(conversation, done, files, passages)


def _write(
    connection: Connection, workspace: str, process: str, stored: StoredConversation, new: Rewriting
) -> None:
    here = {"workspace": workspace, "conversation": stored.id}
    for message in new.messages:
        text, rest = message_body(message)
        run(connection, sql.SET_MESSAGE, id=id_key(message.id), text=kept(text), rest=rest, **here)
    for operation in new.operations:
        changes = canonical_json([[c.key, c.before, c.after] for c in operation.changes])
        given = {"number": operation.number, "summary": kept(operation.summary), "changes": changes}
        run(connection, sql.SET_OPERATION, **given, **here)
    if new.generations:
        calls = json.dumps([row_kept(generation_row(call)) for call in new.generations], ensure_ascii=False)
        run(connection, sql.KEEP_CALLS, calls=calls, process=process, **here)
    if new.derived:
        run(connection, sql.DROP_DERIVED, keys=[*map(kept, new.derived)], **here)
    row = row_kept(operation_row(new.operation))
    run(connection, sql.ADD_OPERATION, **row, **here)
    _write_entries(connection, workspace, stored, new)
    run(connection, sql.ERASED, version=row["number"], last=row["id"], updated=row["made"], **here)


def _write_entries(
    connection: Connection, workspace: str, stored: StoredConversation, new: Rewriting
) -> None:
    here = {"workspace": workspace, "conversation": stored.id}
    numbers = {said(key): number for key, _, number in run(connection, sql.ENTRIES, **here)}
    changed = {key: (value, numbers[key]) for key, value in rewritten_entries(stored, new).items()}
    changed |= {change.key: (change.after, new.operation.number) for change in new.operation.changes}
    for key, (value, number) in changed.items():
        given = {"key": kept(key), "value": canonical_json(value), "operation": number}
        run(connection, sql.SET_ENTRY, **given, **here)
