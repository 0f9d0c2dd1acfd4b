"""A log that ends early: what `verify` can see of it, what it says, and what nobody can see."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from forky_core.model import Message, Operation
from forky_core.model.errors import StoreDamaged
from forky_core.store.auditing import EARLY_END
from forky_core.store.contract import Verification
from forky_core.store.duckdb.file.repair import repair
from forky_core.store.duckdb.file.wal import log_of, log_state
from forky_core.store.duckdb.read import packs
from forky_core.store.duckdb.store import DuckDBStore
from tests.store.by_hand import by_hand
from tests.store.document_laws import keep
from tests.store.packing import packed
from tests.store.talk import HERE, begin, generation, move, said, thread
from tests.store.test_damage import COMMITTED


@dataclass(frozen=True)
class Crashed:
    """What a crash leaves, and what had been confirmed before it."""

    file: bytes
    log: bytes
    older: bytes
    """A copy of the file from before its last messages, without a log."""
    messages: Sequence[Message]
    operations: Sequence[Operation]

    def put(self, path: Path, log: bytes | None, file: bytes | None = None) -> None:
        path.write_bytes(self.file if file is None else file)
        log_of(path).unlink(missing_ok=True)
        if log is not None:
            log_of(path).write_bytes(log)

    def commits(self) -> list[int]:
        """The bytes of the log at which a commit ends."""
        ends, at = [], 0
        while (at := self.log.find(COMMITTED, at)) >= 0:
            at += len(COMMITTED)
            ends.append(at)
        return ends


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Crashed:
    path = tmp_path_factory.mktemp("crashed") / "forky.duckdb"
    with DuckDBStore.open(path, idle_seconds=600) as store:
        run = thread(20)
        begin(store, *run)
        assert store.rest()
        older = path.read_bytes()
        for number in range(10):
            move(store, run[-1], later := said(f"later {number}", run[-1]))
            run.append(later)
        return Crashed(path.read_bytes(), log_of(path).read_bytes(), older, run, store.operations(HERE))


def verified(path: Path) -> tuple[Verification, int]:
    """What `verify` says, and how many messages there are."""
    with DuckDBStore.open(path, idle_seconds=600) as store:
        return store.verify(), len(store.messages(HERE))


def remarks(result: Verification) -> str:
    return " ".join(remark.what for remark in result.remarks)


@pytest.mark.parametrize(
    ("log", "messages", "newest"),
    [
        (lambda crashed: crashed.log, 30, -1),
        (lambda crashed: crashed.log[: crashed.commits()[5]], 26, -5),
        (lambda _crashed: None, 20, 0),
        (lambda _crashed: b"", 20, 0),
    ],
    ids=["whole", "cut between two commits", "not there", "empty"],
)
def test_a_log_that_ends_with_a_commit_shows_how_far_it_reaches_by_the_newest_change_alone(
    path: Path, crashed: Crashed, log: Callable[[Crashed], bytes | None], messages: int, newest: int
) -> None:
    """Nobody can know from the file that there was more, and `verify` does not claim to."""
    crashed.put(path, log(crashed))
    result, found = verified(path)
    assert found == messages and result.clean and result.remarks == ()
    assert result.newest == crashed.operations[newest].at


@pytest.mark.parametrize("lost", [1, 7, 20, 60])
def test_a_log_cut_in_the_middle_of_a_commit_is_remarked_upon_with_what_it_can_mean(
    path: Path, crashed: Crashed, lost: int
) -> None:
    crashed.put(path, crashed.log[:-lost])
    before = crashed.commits()[-2]
    assert log_state(log_of(path)).cut_off == len(crashed.log) - lost - before
    result, messages = verified(path)
    assert messages == 29 and result.clean
    assert f"the last {len(crashed.log) - lost - before} bytes were left out" in remarks(result)
    for meaning in ("crash", ".wal file was cut", "older copy", "edited", "cannot be known", "backup"):
        assert meaning in EARLY_END and EARLY_END in remarks(result)
    assert result.newest == crashed.operations[-2].at
    result, messages = verified(path)
    assert messages == 29 and result.remarks == (), "the log was folded in meanwhile"


def test_a_log_cut_far_from_its_end_says_how_many_bytes_were_left_out(path: Path, crashed: Crashed) -> None:
    ends = crashed.commits()
    crashed.put(path, crashed.log[: ends[4] + 30])
    result, messages = verified(path)
    assert messages == 25 and "the last 30 bytes were left out" in remarks(result)


def test_an_older_copy_beside_a_newer_log_is_refused_and_repair_opens_what_it_holds(path: Path) -> None:
    with DuckDBStore.open(path, idle_seconds=600) as store:
        begin(store, hello := said("hello"))
        backup = store.backup()
        move(store, hello, again := said("again", hello))
        assert store.rest()
        move(store, again, said("and again", again))
        log = log_of(path).read_bytes()
    shutil.copy(backup, path)
    log_of(path).write_bytes(log)
    with pytest.raises(StoreDamaged, match=r"belongs to another database.*Put the files back.*repair"):
        DuckDBStore.open(path)
    assert (path.read_bytes(), log_of(path).read_bytes()) == (backup.read_bytes(), log)
    assert repair(path).cut == len(log)
    result, messages = verified(path)
    assert messages == 1 and result.clean


def test_an_older_copy_with_the_log_that_followed_it_holds_everything(path: Path, crashed: Crashed) -> None:
    crashed.put(path, crashed.log, crashed.older)
    assert verified(path)[1] == 30


def whole(path: Path, crashed: Crashed) -> None:
    crashed.put(path, crashed.log)
    DuckDBStore.open(path).close()


def test_a_view_that_is_newer_than_the_log_says_that_the_log_ends_early(path: Path, crashed: Crashed) -> None:
    whole(path, crashed)
    by_hand(path, "DELETE FROM operations WHERE number > 8")
    result, _ = verified(path)
    found = " ".join(finding.what for finding in result.findings)
    assert "holds what operation 11 changed, but the log ends at operation 8" in found
    assert EARLY_END in remarks(result)


def test_messages_newer_than_a_log_that_ends_early_are_remarked_upon(path: Path, crashed: Crashed) -> None:
    """The view was put back, too, so that nothing contradicts the log but what is said behind its end."""
    whole(path, crashed)
    head, last = crashed.messages[26].id, crashed.messages[-1].id
    by_hand(
        path,
        "DELETE FROM operations WHERE number > 8",
        "UPDATE entries SET operation = 8 WHERE operation > 8",
        f"UPDATE entries SET value = replace(value, '{last}', '{head}')",  # noqa: S608 - ids of our own
    )
    result, _ = verified(path)
    assert result.clean
    assert (
        f"3 messages are stored that no operation of the log leads to (the first is {crashed.messages[27].id})"
        in (remarks(result))
    )
    assert EARLY_END in remarks(result)


def test_packs_that_hold_more_than_is_stored_are_a_finding_and_are_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "WORTH", 1)
    with DuckDBStore.open(path) as store:
        begin(store, *thread(40))
        assert store.rest() and packed(store) == 40
    by_hand(path, "DELETE FROM messages WHERE message > 35")
    with DuckDBStore.open(path) as store:
        result = store.verify()
        assert "35 messages are stored, but 40 were packed" in " ".join(one.what for one in result.findings)
        assert EARLY_END in remarks(result)
        assert packed(store) == 40


def test_rows_of_a_conversation_that_is_not_stored_are_found(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "WORTH", 1)
    with DuckDBStore.open(path) as store:
        begin(store, *thread(40))
        store.record(HERE, generation(1))
        store.keep_derived(HERE, {"a": "reading"})
        assert store.rest()
    by_hand(path, "DELETE FROM conversations")
    with DuckDBStore.open(path) as store:
        found = {finding.what.split("”")[0].split("“")[-1] for finding in store.verify().findings}
    assert found == {"messages", "operations", "entries", "generations", "segments", "derived", "packs"}


@pytest.mark.parametrize("table", ["settings", "derived", "documents", "chunks", "blobs"])
def test_verify_reads_every_table_in_full(path: Path, table: str) -> None:
    mark = b"a-mark-that-is-found-in-the-file"
    text = mark.decode()
    with DuckDBStore.open(path) as store:
        begin(store)
        store.set_setting("a choice", text if table == "settings" else "plain")
        store.keep_derived(HERE, {"a": text if table == "derived" else "plain"})
        store.put_blob(mark if table == "blobs" else b"plain", "text/plain")
        name = text if table == "documents" else "plain"
        keep(store, name, text if table == "chunks" else "plain")
    content = bytearray(path.read_bytes())
    content[content.index(mark)] ^= 0x10
    path.write_bytes(content)
    with DuckDBStore.open(path) as store:
        assert any(f"“{table}” cannot be read" in finding.what for finding in store.verify().findings)
