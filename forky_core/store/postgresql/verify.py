"""`verify` over the rows of a workspace, past every cache: the checks of auditing.py, and those about rows only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from types import MappingProxyType

from forky_core.model import ConversationId, View
from forky_core.store.auditing import blob_finding, place_findings, text_findings
from forky_core.store.base.audit import StoreAudit
from forky_core.store.base.rewriting import stored_conversation
from forky_core.store.contract import Verification
from forky_core.store.deciding import content_elsewhere
from forky_core.store.postgresql import statements as sql
from forky_core.store.postgresql.connection import Connection
from forky_core.store.postgresql.database import Database
from forky_core.store.rows import id_from_key, places_from_rows


def verify_workspace(database: Database, conversation: ConversationId | None) -> Verification:
    """Verify one conversation, or all of a workspace; each is read as of one moment.

    Raises:
        StoreError: the server cannot be asked.
    """
    ids = [
        ConversationId(id) for (id,) in database.rows(sql.IDS) if conversation is None or id == conversation
    ]
    blobs = frozenset(sha256 for (sha256,) in database.rows(sql.BLOB_NAMES))
    audit = StoreAudit()
    for id in ids:
        database.at_once(partial(_audit, audit, id=id, blobs=blobs))
    if conversation is None:
        for what in _blob_findings(database, blobs):
            audit.found(None, what, damage=True)
    return audit.verification(conversations=len(ids), blobs=len(blobs) if conversation is None else 0)


def _audit(audit: StoreAudit, connection: Connection, id: ConversationId, blobs: frozenset[str]) -> None:
    here = {"conversation": id}
    head = connection.rows(sql.CONVERSATION, **here)
    if not head:
        return  # It was purged in the meantime.
    ((version, last, _, updated, many, _),) = head
    rows = connection.fetch(sql.AUDITED_MESSAGES, **here)
    stored = stored_conversation(connection, id, id, rows)
    entries = {key: json.loads(value) for key, value, _ in connection.rows(sql.ENTRIES, **here)}
    log = stored.operations
    findings = [*place_findings(places_from_rows(rows), connection.rows(sql.SEGMENTS, **here))]
    if [row["message"] for row in rows] != list(range(1, many + 1)):
        findings.append(
            f"{many} messages are counted, but {len(rows)} are stored, or their numbers have a gap."
        )
    findings += text_findings(stored.messages, rows)
    if not log:
        findings.append("The log is empty.")
    elif (log[-1].number, log[-1].id, log[-1].at) != (version, id_from_key(last), updated):
        findings.append(
            f"The conversation is at operation {version}, the log ends at operation {log[-1].number}."
        )
    view = View(MappingProxyType(entries), log[-1].number if log else 0)
    audit.take(stored, view, blobs.__contains__, findings)


def _blob_findings(database: Database, names: frozenset[str]) -> Iterator[str]:
    for sha256 in sorted(names):
        rows = database.rows(sql.BLOB, sha256=sha256)
        if not rows:
            continue  # It was removed in the meantime.
        ((_, name, content, outside),) = rows
        if outside is not None:
            yield str(content_elsewhere(name, outside))
        elif (what := blob_finding(sha256, bytes(content))) is not None:
            yield what
