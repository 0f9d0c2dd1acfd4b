"""`verify` over the rows of a file, bypassing every cache: the checks of auditing.py, and those about rows only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import duckdb

from forky_core.model import ConversationId, Message, MessageId, View
from forky_core.model.errors import StoreDamaged
from forky_core.store.auditing import (
    EARLY_END,
    astray,
    blob_finding,
    content_findings,
    cut_off_remark,
    message_findings,
    naming_findings,
    place_findings,
)
from forky_core.store.contract import Finding, Verification
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.read.packs import BadPack, read_packs
from forky_core.store.duckdb.running import execute, fetch
from forky_core.store.duckdb.write.ledger import stored_entries
from forky_core.store.rows import (
    Row,
    generation_from_row,
    id_from_key,
    message_from_row,
    operations_from_rows,
    places_from_rows,
)


@dataclass(slots=True)
class _Audit:
    """What was read so far and the findings."""

    findings: list[Finding] = field(default_factory=list)
    remarks: list[Finding] = field(default_factory=list)
    messages: int = 0
    operations: int = 0
    newest: int = 0
    ends_early: bool = False
    damaged: bool = False

    def found(self, conversation: ConversationId | None, what: str, *, damage: bool) -> None:
        """Add a finding. `damage` marks what Forky never writes; other findings can stem from a
        caller, or are rebuilt.
        """
        self.findings.append(Finding(conversation, what))
        self.damaged = self.damaged or damage


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
    audit = _Audit()
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
    if audit.ends_early or audit.remarks:
        audit.remarks.append(Finding(None, EARLY_END))
    return Verification(
        len(known),
        audit.messages,
        audit.operations,
        len(blobs) if conversation is None and blobs is not None else 0,
        tuple(audit.findings),
        tuple(audit.remarks),
        audit.newest,
    )


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
    audit: _Audit,
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
    audit: _Audit,
    distrust: Callable[[int], None],
) -> None:
    with file.snapshot() as cursor:

        def rows(statement: str) -> list[tuple[Any, ...]]:
            return execute(cursor, statement, conversation=number).fetchall()

        message_rows = fetch(cursor, sql.AUDITED_MESSAGES, conversation=number)
        packed = _packed(cursor, number)
        segment_rows = rows(sql.SEGMENTS)
        operation_rows = fetch(cursor, sql.OPERATIONS, conversation=number, first=0)
        entry_rows = rows(sql.ENTRIES)
        generation_rows = fetch(cursor, sql.GENERATIONS, conversation=number)
        if not execute(cursor, sql.CONVERSATION, id=id).fetchall():
            return  # It was purged in the meantime.
    with file.decoding():
        messages, findings = _messages(message_rows)
        operations = operations_from_rows(id, operation_rows, None)
        stored = stored_entries(entry_rows)
        generations = [generation_from_row(row) for row in generation_rows]
    findings.extend(place_findings(places_from_rows(message_rows), segment_rows))
    last = operations[-1].number if operations else 0
    early = list(_end_findings(messages, packed, last, entry_rows))
    if len({key for key, _, _ in entry_rows}) != len(entry_rows):
        findings.append("A key of the view is stored twice.")
    if len({generation.id for generation in generations}) != len(generations):
        findings.append("A generation is stored twice.")
    if not operations:
        findings.append("The log is empty.")
    view = View(MappingProxyType(stored), last)
    has_blob = (lambda _: True) if blobs is None else blobs.__contains__
    findings.extend(content_findings(messages, operations, view))
    for what in (*findings, *early):
        audit.found(id, what, damage=True)
    for what in naming_findings(messages, view, generations, has_blob):
        audit.found(id, what, damage=False)
    if not early and not _fits(packed, messages, view):
        audit.found(
            id,
            "What is packed of the messages is not what is stored; it is dropped and made anew.",
            damage=False,
        )
        distrust(number)
    if (remark := astray(messages, operations)) is not None:
        audit.remarks.append(Finding(id, remark))
    audit.messages += len(messages)
    audit.operations += len(operations)
    audit.newest = max([audit.newest, *(operation.at for operation in operations)])
    audit.ends_early = audit.ends_early or bool(early) or not operations


def _end_findings(
    messages: list[Message], packed: list[Message] | None, last: int, entries: list[tuple[Any, ...]]
) -> Iterator[str]:
    """Report operations or messages that the view and the packs name beyond the end of the log or of the messages."""
    moved = max((number for _, _, number in entries), default=0)
    if moved > last:
        yield f"The view holds what operation {moved} changed, but the log ends at operation {last}."
    if packed is not None and len(packed) > len(messages) and packed[: len(messages)] == messages:
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


def _fits(packed: list[Message] | None, messages: list[Message], view: View) -> bool:
    """Whether packs may be kept; packs of messages that were altered later still hold the original text."""
    if packed is None:
        return False
    return packed == messages[: len(packed)] or any(message_findings(messages, view.erasures))


def _messages(rows: list[Row]) -> tuple[list[Message], list[str]]:
    ids: dict[int, MessageId] = {}
    messages: list[Message] = []
    findings: list[str] = []
    for expected, row in enumerate(rows, start=1):
        number, parent, text, rest = row["message"], row["parent"], row["text"], row["rest"]
        id = ids[number] = id_from_key(row["id"])
        if number != expected:
            findings.append(f"The message {id} is stored as number {number} where {expected} should be.")
        if parent is not None and parent not in ids:
            findings.append(f"The message {id} hangs below number {parent}, which is not stored before it.")
        above = ids.get(parent) if parent is not None else None
        message = message_from_row(id, above, row["role"], text, rest, row["created"])
        if rest is not None and message.text != text:
            findings.append(f"The searchable text of the message {id} is not its text.")
        messages.append(message)
    return messages, findings


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
