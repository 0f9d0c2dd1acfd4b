"""`verify` over the rows of a file, past every cache: what auditing.py checks, and what only rows can get wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import MappingProxyType

import duckdb

from forky_core.model import ConversationId, Message, MessageId, View
from forky_core.store.auditing import blob_finding, conversation_findings, message_findings
from forky_core.store.contract import Finding, Verification
from forky_core.store.file.database import DatabaseFile
from forky_core.store.reading.packs import BadPack, read_packs
from forky_core.store.reading.rows import (
    Row,
    generation_from_row,
    id_from_key,
    message_from_row,
    operations_from_rows,
)
from forky_core.store.reading.segments import Origin
from forky_core.store.sql import statements as sql
from forky_core.store.sql.running import execute
from forky_core.store.sql.statement import Statement
from forky_core.store.writing.ledger import stored_entries


def verify_file(
    file: DatabaseFile, conversation: ConversationId | None, distrust: Callable[[int], None]
) -> Verification:
    """Of one conversation, or of all; `distrust` is given the number of each whose packs are no good."""
    known = [
        (number, ConversationId(id))
        for number, id in file.rows(sql.CONVERSATIONS)
        if conversation is None or id == conversation
    ]
    names = {str(row[0]) for row in file.rows(sql.BLOB_NAMES)}
    findings: list[Finding] = []
    messages = operations = 0
    for number, id in known:
        of_messages, of_operations, what = _conversation(file, number, id, names, distrust)
        messages += of_messages
        operations += of_operations
        findings.extend(Finding(id, sentence) for sentence in what)
    if conversation is None:
        numbers = [number for number, _ in known]
        if len(set(numbers)) != len(numbers) or len({id for _, id in known}) != len(known):
            findings.append(Finding(None, "Two conversations have the same number or id."))
        findings.extend(Finding(None, what) for what in _blob_findings(file, names))
    return Verification(
        len(known), messages, operations, len(names) if conversation is None else 0, tuple(findings)
    )


def _conversation(
    file: DatabaseFile, number: int, id: ConversationId, blobs: set[str], distrust: Callable[[int], None]
) -> tuple[int, int, list[str]]:
    """How many messages and operations it has, and what is wrong with it."""
    with file.snapshot() as cursor:

        def rows(statement: Statement, **more: object) -> list[Row]:
            return execute(cursor, statement, conversation=number, **more).fetchall()

        message_rows = rows(sql.AUDITED_MESSAGES)
        packed = _packed(cursor, number)
        segment_rows = rows(sql.SEGMENTS)
        operation_rows = rows(sql.OPERATIONS, first=0)
        entry_rows = rows(sql.ENTRIES)
        generation_rows = rows(sql.GENERATIONS)
    messages, findings = _messages(message_rows)
    findings.extend(_place_findings(message_rows, segment_rows))
    if not _fits(packed, messages):
        findings.append("What is packed of the messages is not what is stored; it is dropped and made anew.")
        distrust(number)
    operations = operations_from_rows(id, operation_rows, None)
    version = operations[-1].number if operations else 0
    view = View(MappingProxyType(stored_entries(entry_rows)), version)
    generations = [generation_from_row(row) for row in generation_rows]
    if len({key for key, _, _ in entry_rows}) != len(entry_rows):
        findings.append("A key of the view is stored twice.")
    if len({generation.id for generation in generations}) != len(generations):
        findings.append("A generation is stored twice.")
    if not operations:
        findings.append("The log is empty.")
    findings.extend(conversation_findings(messages, operations, view, generations, blobs.__contains__))
    return len(messages), len(operations), findings


def _packed(cursor: duckdb.DuckDBPyConnection, conversation: int) -> list[Message] | None:
    """None where it cannot be read."""
    try:
        return read_packs(cursor, conversation)
    except BadPack:
        return None


def _fits(packed: list[Message] | None, messages: list[Message]) -> bool:
    """Whether packs may be kept: of messages that were altered they hold what was stored at first."""
    if packed is None:
        return False
    return packed == messages[: len(packed)] or any(message_findings(messages))


def _messages(rows: list[Row]) -> tuple[list[Message], list[str]]:
    ids: dict[int, MessageId] = {}
    messages: list[Message] = []
    findings: list[str] = []
    for expected, (number, key, parent, role, text, rest, created, _, _) in enumerate(rows, start=1):
        id = ids[number] = id_from_key(key)
        if number != expected:
            findings.append(f"The message {id} is stored as number {number} where {expected} should be.")
        if parent is not None and parent not in ids:
            findings.append(f"The message {id} hangs below number {parent}, which is not stored before it.")
        above = ids.get(parent) if parent is not None else None
        message = message_from_row(id, above, role, text, rest, created)
        if rest is not None and message.text != text:
            findings.append(f"The searchable text of the message {id} is not its text.")
        messages.append(message)
    return messages, findings


def _place_findings(messages: list[Row], segments: list[Row]) -> Iterator[str]:
    """Where loading a path by its segments would not follow the parents."""
    origins: dict[int, Origin] = {segment: (parent, depth) for segment, parent, depth in segments}
    if len(origins) != len(segments):
        yield "A segment is stored twice."
    numbers: dict[tuple[int, int], int] = {}
    for number, key, parent, _, _, _, _, segment, depth in messages:
        if (segment, depth) in numbers:
            yield f"The message {id_from_key(key)} stands where another one does."
        before = numbers.get((segment, depth - 1))
        if before is None:
            origin = origins.get(segment, (None, -2))
            before = numbers.get((origin[0], origin[1])) if origin[0] is not None else None
            fits = origin[1] == depth - 1 and before == parent
        else:
            fits = before == parent
        if not fits:
            yield f"The message {id_from_key(key)} stands in a place that is not below its parent."
        numbers[segment, depth] = number


def _blob_findings(file: DatabaseFile, names: set[str]) -> Iterator[str]:
    for sha256 in sorted(names):
        rows = file.rows(sql.BLOB, sha256=sha256)
        if len(rows) > 1:
            yield f"The attachment {sha256[:12]}… is stored twice."
        what = blob_finding(sha256, bytes(rows[0][2]))
        if what is not None:
            yield what
