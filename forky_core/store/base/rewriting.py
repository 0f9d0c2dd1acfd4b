"""Work that changes earlier rows: a purge, an erasure, and the removal of blobs that nothing names.

Each function is called within a transaction. A conversation is given by its key, what names it in the engine's tables.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from forky_core.model import ConversationId, MessageId
from forky_core.model.errors import InTheWay
from forky_core.model.parts import canonical_json
from forky_core.model.view import FORKED_FROM
from forky_core.store.base.session import EVERY, EngineSession
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
from forky_core.store.rows import (
    Row,
    changes_as_json,
    generation_from_row,
    id_key,
    message_body,
    messages_from_rows,
    operation_row,
    operations_from_rows,
)

K = TypeVar("K", int, str)
_SHA256 = re.compile(r'"([0-9a-f]{64})"')


def drop_unnamed_blobs(session: EngineSession, names: frozenset[str]) -> int:
    """Remove those of these blobs that no message and no stash names; returns how many that were.

    All names are read at once: asking for each by itself would scan every message that many times.
    """
    return _drop_blobs(session, names.difference(*_named_blobs(session).values()))


def _named_blobs(session: EngineSession) -> dict[Any, set[str]]:
    """What looks like the name of a blob, by the conversation that has it; false positives are harmless."""
    named: dict[Any, set[str]] = defaultdict(set)
    for statement in (session.sql.NAMING_MESSAGES, session.sql.NAMING_OPERATIONS):
        for key, text in session.rows(statement):
            named[key].update(_SHA256.findall(text))
    return named


def _drop_blobs(session: EngineSession, names: Iterable[str]) -> int:
    return len(session.rows(session.sql.DROP_BLOBS, names=sorted(names)))


def purge_rows(session: EngineSession, key: int | str) -> None:
    """Remove a conversation, and the blobs that only it names. Raises InTheWay if it is not in the trash."""
    if "trashed" not in {name for name, _, _ in session.rows(session.sql.ENTRIES, conversation=key)}:
        raise InTheWay(
            "Only a conversation in the trash can be deleted for good.", "Move it to the trash first."
        )
    named = _named_blobs(session)
    own = named.pop(key, set())
    for statement in session.sql.PURGE:
        session.rows(statement, conversation=key)
    _drop_blobs(session, own.difference(*named.values()))


def stored_conversation(
    session: EngineSession, key: int | str, id: ConversationId, audited: list[Row] | None = None
) -> StoredConversation:
    """All rows of a conversation as values. `audited` are those of its messages, where they were read already; then its
    derived values are left out.
    """
    sql, derived = session.sql, {}
    if audited is None:
        audited = session.fetch(sql.AUDITED_MESSAGES, conversation=key)
        derived = dict(session.rows(sql.ALL_DERIVED, conversation=key))
    operations = session.fetch(sql.OPERATIONS, conversation=key, first=0, last=EVERY)
    calls = session.fetch(sql.GENERATIONS, conversation=key)
    return StoredConversation(
        id,
        messages_from_rows(audited),
        operations_from_rows(id, operations, None),
        [generation_from_row(row) for row in calls],
        derived,
    )


def erase_rows(  # noqa: PLR0913 - what is erased, and how an engine does it
    session: EngineSession,
    keys: Mapping[ConversationId, K],
    conversation: ConversationId,
    message: MessageId,
    *,
    by: str,
    at: int,
    lock: Callable[[Iterable[K]], None],
    write: Callable[[K, StoredConversation, Rewriting], None],
    write_setting: Callable[[str, str], None],
) -> Erased:
    """Erase what a message says from every row (store/erasing.py says what that changes).

    `keys` has every conversation that is stored. `lock` is called with those that may be changed, `write` for each that
    is; it calls `rewrite_rows`.

    Raises:
        NotFound: there is no such conversation or message.
        NothingToDo: it was erased already.
    """
    if conversation not in keys:
        raise no_conversation(conversation)
    sql, ids = session.sql, {key: id for id, key in keys.items()}
    origins = session.rows(sql.ENTRIES_NAMED, key=FORKED_FROM)
    family = related(conversation, {ids[key]: json.loads(value) for key, value in origins if key in ids})
    grafted = {key for (key,) in session.rows(sql.GRAFTED, json=canonical_json(conversation))}
    concerned = [id for id, key in keys.items() if id in family or key in grafted]
    lock(keys[id] for id in concerned)
    done, passages = rewrite_all(
        stored_conversation(session, keys[conversation], conversation),
        message,
        concerned,
        lambda id: stored_conversation(session, keys[id], id),
        lambda stored, new: write(keys[stored.id], stored, new),
        family=family,
        by=by,
        at=at,
    )
    for name, value in session.rows(sql.SETTINGS):
        cut = passages.cut_encoded(value)
        if cut != value:
            write_setting(name, cut)
    files = drop_unnamed_blobs(session, frozenset(file for new in done for file in new.files))
    return erased(conversation, done, files, passages)


def rewrite_rows(
    session: EngineSession,
    key: int | str,
    stored: StoredConversation,
    new: Rewriting,
    insert: Callable[[Row], object],
) -> None:
    """Write what an erasure changes in one conversation, but for its model calls; `insert` gets the operation's row."""
    sql, here = session.sql, {"conversation": key}
    for message in new.messages:
        text, rest = message_body(message)
        session.rows(sql.SET_MESSAGE, id=id_key(message.id), text=text, rest=rest, **here)
    for operation in new.operations:
        given = {"number": operation.number, "summary": operation.summary}
        session.rows(sql.SET_OPERATION, changes=changes_as_json(operation), **given, **here)
    if new.derived:
        session.rows(sql.DROP_DERIVED, keys=list(new.derived), **here)
    insert({**here, **operation_row(new.operation)})
    numbers = {name: number for name, _, number in session.rows(sql.ENTRIES, **here)}
    changed = {name: (value, numbers[name]) for name, value in rewritten_entries(stored, new).items()}
    changed |= {change.key: (change.after, new.operation.number) for change in new.operation.changes}
    for name, (value, number) in changed.items():
        statement = sql.SET_ENTRY if name in numbers else sql.ADD_ENTRY
        session.rows(statement, key=name, json=canonical_json(value), operation=number, **here)
