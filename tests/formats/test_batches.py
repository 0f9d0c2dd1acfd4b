from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core.formats.account import ImportAccount
from forky_core.formats.importing.batches import Batches, PendingCommit, RefusedBatch, without
from forky_core.model import Change, ConversationId, Message, Operation, seal
from forky_core.model.errors import StoreError
from forky_core.model.parts import AttachmentPart, Draft, TextPart
from forky_core.store.contract import Commit, Store
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.memory.store import MemoryStore


@pytest.fixture(params=["memory", "duckdb"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: Store = MemoryStore() if request.param == "memory" else DuckDBStore.open(tmp_path / "a.duckdb")
    yield opened
    opened.close()


def said(text: str, *parents: Message) -> Message:
    return seal(Draft("user", (TextPart(text),)), [parent.id for parent in parents])


def waiting(number: int, *messages: Message) -> PendingCommit:
    id = ConversationId(f"00000000-0000-7000-8000-{number:012d}")
    change = Change("title", None, f"talk {number}")
    return PendingCommit(
        Commit(id, "import", "Imported", (change,), messages, at=number),
        f"talk {number}",
        (),
        ImportAccount(conversations=1, seen=len(messages), imported=len(messages)),
    )


def test_a_refused_conversation_stops_none_of_its_batch(store: Store) -> None:
    outcomes: list[Operation | RefusedBatch] = []
    batches = Batches(store, lambda _waiting, outcome: outcomes.append(outcome))
    root = said("root")
    batches.add(waiting(1, root))
    batches.add(waiting(2, said("its parent is missing", root)))
    batches.add(waiting(3, said("another")))
    assert batches.holds(waiting(3).commit.conversation)
    batches.flush()
    batches.close()
    assert not batches.holds(waiting(3).commit.conversation)
    assert [isinstance(outcome, RefusedBatch) for outcome in outcomes] == [False, True, False]
    assert sorted(summary.title for summary in store.conversations()) == ["talk 1", "talk 3"]
    refused = outcomes[1]
    assert isinstance(refused, RefusedBatch)
    account = without(ImportAccount(conversations=3, seen=3, imported=3), refused)
    assert (account.imported, account.unreadable, account.adds_up) == (2, 1, True)


def test_bytes_are_read_when_they_are_kept_and_not_before(store: Store) -> None:
    reads: list[str] = []

    def read() -> bytes:
        reads.append("a.txt")
        return b"words"

    batches = Batches(store, lambda _waiting, _outcome: None)
    one = waiting(1, said("root"))
    part = AttachmentPart(store.put_blob(b"words", "text/plain"), "text/plain", "a.txt")
    batches.add(PendingCommit(one.commit, one.title, ((part, read),), one.account))
    assert reads == []
    batches.flush()
    assert reads == ["a.txt"]
    batches.close()


def test_a_store_that_cannot_keep_it_is_heard_of(tmp_path: Path) -> None:
    store = DuckDBStore.open(tmp_path / "a.duckdb")
    batches = Batches(store, lambda _waiting, _outcome: None)
    store.close()
    batches.add(waiting(1, said("root")))
    with pytest.raises(StoreError):
        batches.flush()
    batches.close()
