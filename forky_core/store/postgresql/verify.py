"""`verify` over the rows of a workspace, past every cache: the checks of auditing.py, and those about rows only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import MappingProxyType

from forky_core.model import ConversationId, View
from forky_core.store.auditing import (
    EARLY_END,
    astray,
    blob_finding,
    content_findings,
    naming_findings,
    place_findings,
)
from forky_core.store.contract import Finding, Verification
from forky_core.store.deciding import content_elsewhere
from forky_core.store.postgresql import statements as sql
from forky_core.store.postgresql.connection import Connection, fetch, run
from forky_core.store.postgresql.database import Database
from forky_core.store.postgresql.rewriting import stored_conversation
from forky_core.store.postgresql.texts import said
from forky_core.store.rows import id_from_key, places_from_rows


def verify_workspace(database: Database, conversation: ConversationId | None) -> Verification:
    """Verify one conversation, or all of a workspace; each is read as of one moment.

    Raises:
        StoreError: the server cannot be asked.
    """
    workspace = database.workspace
    ids = [
        ConversationId(id)
        for (id,) in database.rows(sql.IDS, workspace=workspace)
        if conversation is None or id == conversation
    ]
    blobs = frozenset(sha256 for (sha256,) in database.rows(sql.BLOB_NAMES, workspace=workspace))
    findings: list[Finding] = []
    remarks: list[Finding] = []
    messages = operations = newest = 0
    for id in ids:

        def read(connection: Connection, id: ConversationId = id) -> _Audited | None:
            return _audit(connection, workspace, id, blobs)

        found = database.snapshot(read)
        if found is None:
            continue  # It was purged in the meantime.
        findings += [Finding(id, what) for what in found.findings]
        remarks += [Finding(id, found.astray)] if found.astray is not None else []
        messages += found.messages
        operations += found.operations
        newest = max(newest, found.newest)
    if conversation is None:
        findings += [Finding(None, what) for what in _blob_findings(database, blobs)]
    if remarks:
        remarks.append(Finding(None, EARLY_END))
    checked = len(blobs) if conversation is None else 0
    return Verification(len(ids), messages, operations, checked, tuple(findings), tuple(remarks), newest)


class _Audited:
    """What was found in one conversation."""

    def __init__(self, findings: list[str], astray: str | None, counts: tuple[int, int, int]) -> None:
        self.findings = findings
        self.astray = astray
        self.messages, self.operations, self.newest = counts


def _audit(
    connection: Connection, workspace: str, id: ConversationId, blobs: frozenset[str]
) -> _Audited | None:
    here = {"workspace": workspace, "conversation": id}
    head = run(connection, sql.CONVERSATION, **here)
    if not head:
        return None
    ((version, last, _, updated, many, _),) = head
    rows = fetch(connection, sql.AUDITED, **here)
    stored = stored_conversation(connection, workspace, id, rows)
    segments = run(connection, sql.SEGMENTS, **here)
    entries = {said(key): json.loads(value) for key, value, _ in run(connection, sql.ENTRIES, **here)}
    log = stored.operations
    findings = [*place_findings(places_from_rows(rows), segments)]
    if [row["message"] for row in rows] != list(range(1, many + 1)):
        findings.append(
            f"{many} messages are counted, but {len(rows)} are stored, or their numbers have a gap."
        )
    findings += [
        f"The searchable text of the message {message.id} is not its text."
        for message, row in zip(stored.messages, rows, strict=True)
        if row["rest"] is not None and message.text != row["text"]
    ]
    if not log:
        findings.append("The log is empty.")
    elif (log[-1].number, log[-1].id, log[-1].at) != (version, id_from_key(last), updated):
        findings.append(
            f"The conversation is at operation {version}, the log ends at operation {log[-1].number}."
        )
    view = View(MappingProxyType(entries), log[-1].number if log else 0)
    findings += content_findings(stored.messages, log, view)
    findings += naming_findings(stored.messages, view, stored.generations, blobs.__contains__)
    newest = max((operation.at for operation in log), default=0)
    return _Audited(findings, astray(stored.messages, log), (len(rows), len(log), newest))


def _blob_findings(database: Database, names: frozenset[str]) -> Iterator[str]:
    for sha256 in sorted(names):
        rows = database.rows(sql.BLOB, workspace=database.workspace, sha256=sha256)
        if not rows:
            continue  # It was removed in the meantime.
        ((_, name, content, outside),) = rows
        if outside is not None:
            yield str(content_elsewhere(said(name), outside))
        elif (what := blob_finding(sha256, bytes(content))) is not None:
            yield what
