"""`verify` over the rows of a file, bypassing every cache: the checks of auditing.py, and those about rows only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import duckdb

from forky_core.model import ConversationId, Message, View
from forky_core.model.errors import StoreDamaged
from forky_core.store.auditing import (
    blob_finding,
    cut_off_remark,
    message_findings,
    place_findings,
    text_findings,
)
from forky_core.store.base.audit import StoreAudit
from forky_core.store.base.rewriting import stored_conversation
from forky_core.store.contract import Finding, Verification
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.read.packs import BadPack, read_packs
from forky_core.store.duckdb.running import FileSession
from forky_core.store.duckdb.write.ledger import stored_entries
from forky_core.store.rows import Row, places_from_rows


def verify_file(
    file: DatabaseFile, conversation: ConversationId | None, distrust: Callable[[int], None]
) -> Verification:
    """Verify one conversation, or all; `distrust` is called with the number of each whose packs are damaged.

    Data that cannot be read is a finding, and the rest is checked all the same. If something is damaged, the file
    refuses further writes.

    Raises:
        StoreDamaged: the list of conversations cannot be read.
    """
    known = [
        (number, ConversationId(id))
        for id, number in file.rows(sql.CONVERSATIONS)
        if conversation is None or id == conversation
    ]
    audit = StoreAudit()
    blobs = _blob_names(file)
    for number, id in known:
        try:
            _conversation(file, number, id, blobs, audit, distrust)
        except StoreDamaged:
            audit.found(id, "Some of it cannot be read: the file is damaged there.", damage=True)
    if conversation is None:
        _whole_file(file, known, blobs or frozenset(), audit)
    if audit.damaged:
        file.distrust()
    if file.cut_off:
        audit.remarks.append(Finding(None, cut_off_remark(file.cut_off)))
    checked = len(blobs) if conversation is None and blobs is not None else 0
    return audit.verification(conversations=len(known), blobs=checked)


def _blob_names(file: DatabaseFile) -> frozenset[str] | None:
    """The sha256 of all blobs; None if they cannot be read."""
    try:
        return frozenset(str(row[0]) for row in file.rows(sql.BLOB_NAMES))
    except StoreDamaged:
        return None


def _whole_file(
    file: DatabaseFile,
    known: Sequence[tuple[int, ConversationId]],
    blobs: frozenset[str],
    audit: StoreAudit,
) -> None:
    """Check every table in full, rows that belong to no conversation, and the bytes of attachments."""
    numbers = [number for number, _ in known]
    if len(set(numbers)) != len(numbers) or len({id for _, id in known}) != len(known):
        audit.found(None, "Two conversations have the same number or id.", damage=True)
    for table, statement in sql.READ_ALL.items():
        try:
            file.rows(statement)
            orphans = file.rows(sql.ORPHANS[table])[0][0] if table in sql.ORPHANS else 0
        except StoreDamaged:
            audit.found(
                None, f"Some of the table “{table}” cannot be read: the file is damaged there.", damage=True
            )
        else:
            if orphans:
                what = f"The table “{table}” has rows of conversations that are not stored: {orphans:,}."
                audit.found(None, what, damage=True)
    with suppress(StoreDamaged):  # That the table cannot be read has been reported already.
        for what in _blob_findings(file, blobs):
            audit.found(None, what, damage=True)


def _conversation(
    file: DatabaseFile,
    number: int,
    id: ConversationId,
    blobs: frozenset[str] | None,
    audit: StoreAudit,
    distrust: Callable[[int], None],
) -> None:
    with file.snapshot() as cursor:
        session = FileSession(cursor)
        message_rows = session.fetch(sql.AUDITED_MESSAGES, conversation=number)
        packed = _packed(cursor, number)
        segment_rows = session.rows(sql.SEGMENTS, conversation=number)
        entry_rows = session.rows(sql.ENTRIES, conversation=number)
        with file.decoding():
            conversation = stored_conversation(session, number, id, message_rows)
        if not session.rows(sql.CONVERSATION, id=id):
            return  # It was purged in the meantime.
    messages, operations = conversation.messages, conversation.operations
    with file.decoding():
        stored = stored_entries(entry_rows)
    findings = [*_number_findings(messages, message_rows), *text_findings(messages, message_rows)]
    findings.extend(place_findings(places_from_rows(message_rows), segment_rows))
    last = operations[-1].number if operations else 0
    early = list(_end_findings(messages, packed, last, entry_rows))
    if len({key for key, _, _ in entry_rows}) != len(entry_rows):
        findings.append("A key of the view is stored twice.")
    if len({generation.id for generation in conversation.generations}) != len(conversation.generations):
        findings.append("A generation is stored twice.")
    if not operations:
        findings.append("The log is empty.")
    view = View(MappingProxyType(stored), last)
    has_blob = (lambda _: True) if blobs is None else blobs.__contains__
    audit.take(conversation, view, has_blob, findings, early)
    if not early and not _fits(packed, messages, view):
        audit.found(
            id,
            "What is packed of the messages is not what is stored; it is dropped and made anew.",
            damage=False,
        )
        distrust(number)
    audit.ends_early = audit.ends_early or bool(early) or not operations


def _end_findings(
    messages: Sequence[Message], packed: list[Message] | None, last: int, entries: list[tuple[Any, ...]]
) -> Iterator[str]:
    """Report operations or messages that the view and the packs name beyond the end of the log or of the messages."""
    moved = max((number for _, _, number in entries), default=0)
    if moved > last:
        yield f"The view holds what operation {moved} changed, but the log ends at operation {last}."
    if packed is not None and len(packed) > len(messages) and packed[: len(messages)] == list(messages):
        yield (
            f"{len(messages)} messages are stored, but {len(packed)} were packed: the last ones are missing, "
            "and the packs still have them."
        )


def _packed(cursor: duckdb.DuckDBPyConnection, conversation: int) -> list[Message] | None:
    """The packed messages of a conversation; None if they cannot be read."""
    try:
        return read_packs(cursor, conversation)
    except BadPack:
        return None


def _fits(packed: list[Message] | None, messages: Sequence[Message], view: View) -> bool:
    """Whether packs may be kept; packs of messages that were altered later still hold the original text."""
    if packed is None:
        return False
    return packed == list(messages[: len(packed)]) or any(message_findings(messages, view.erasures))


def _number_findings(messages: Sequence[Message], rows: Sequence[Row]) -> Iterator[str]:
    """Report gaps in the numbers of messages, and numbers of parents that are not stored before."""
    known: set[int] = set()
    for expected, (message, row) in enumerate(zip(messages, rows, strict=True), start=1):
        number, parent = row["message"], row["parent"]
        known.add(number)
        if number != expected:
            yield f"The message {message.id} is stored as number {number} where {expected} should be."
        if parent is not None and parent not in known:
            yield f"The message {message.id} hangs below number {parent}, which is not stored before it."


def _blob_findings(file: DatabaseFile, names: frozenset[str]) -> Iterator[str]:
    for sha256 in sorted(names):
        rows = file.fetch(sql.BLOB, sha256=sha256)
        if not rows:
            continue  # It was purged in the meantime.
        if len(rows) > 1:
            yield f"The attachment {sha256[:12]}… is stored twice."
        what = blob_finding(sha256, bytes(rows[0]["content"]))
        if what is not None:
            yield what
