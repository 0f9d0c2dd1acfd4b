from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.model import Change
from forky_core.store.duckdb.store import DuckDBStore
from tests.store.by_hand import by_hand
from tests.store.talk import HERE, begin, change, move, point, thread

CONTENT = "does not have the content its id was made from"
TOTAL = "is not the one the log adds up to"


@pytest.fixture
def path(path: Path) -> Path:
    with DuckDBStore.open(path) as store:
        run = thread(4)
        begin(store, *run)
        side = thread(2, run[1], word="side")
        point(store, "side", run[1])
        move(store, run[1], *side, branch="side")
        change(store, Change("title", "A talk", "Another"))
        store.put_blob(b"bytes", "text/plain")
        assert store.verify().clean
    return path


def findings_after(path: Path, statement: str) -> str:
    """What `verify` says once someone has run that statement on the file by hand."""
    by_hand(path, statement)
    with DuckDBStore.open(path) as store:
        return "\n".join(finding.what for finding in store.verify().findings)


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("UPDATE messages SET text = 'forged' WHERE message = 2", CONTENT),
        ("UPDATE messages SET role = 'user' WHERE message = 2", CONTENT),
        ("UPDATE messages SET parent = 1 WHERE message = 3", "not below its parent"),
        ("UPDATE messages SET depth = 9 WHERE message = 4", "not below its parent"),
        ("DELETE FROM messages WHERE message = 2", "not stored before it"),
        ("DELETE FROM messages WHERE message = 4", "names the message"),
        ("INSERT INTO messages SELECT * FROM messages WHERE message = 4", "stored twice"),
        ("DELETE FROM segments WHERE segment = 2", "not below its parent"),
        (
            "UPDATE operations SET summary = 'forged' WHERE number = 2",
            "Operation 2 does not have the content",
        ),
        ("UPDATE operations SET actor = 'someone' WHERE number = 1", "Operation 1 does not have the content"),
        ("DELETE FROM operations WHERE number = 2", "operation 3 where operation 2 should be"),
        ("DELETE FROM operations WHERE number = 3", "operation 4 where operation 3 should be"),
        ("DELETE FROM operations WHERE number = 1", "operation 2 where operation 1 should be"),
        ("DELETE FROM operations WHERE number = 4", TOTAL),
        ("DELETE FROM operations", "The log is empty"),
        ("UPDATE entries SET value = '\"x\"' WHERE key = 'title'", f"“title” {TOTAL}"),
        ("DELETE FROM entries WHERE key = 'heads/side'", f"“heads/side” {TOTAL}"),
        (
            "INSERT INTO entries SELECT * FROM entries WHERE key = 'title'",
            "A key of the view is stored twice",
        ),
        ("UPDATE blobs SET content = 'other'::BLOB", "are not the ones that were stored"),
        ("INSERT INTO blobs SELECT * FROM blobs", "is stored twice"),
        ("INSERT INTO conversations SELECT * FROM conversations", "the same number or id"),
    ],
)
def test_verify_finds_what_was_changed_by_hand(path: Path, statement: str, finding: str) -> None:
    assert finding in findings_after(path, statement)


def test_changing_a_message_shows_in_that_message_alone(path: Path) -> None:
    with DuckDBStore.open(path) as store:
        ids = list(store.messages(HERE))
    found = findings_after(path, "UPDATE messages SET text = 'forged' WHERE message = 2").splitlines()
    assert len(found) == 1
    assert ids[1] in found[0]
