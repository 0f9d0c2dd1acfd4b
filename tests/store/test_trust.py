"""Which errors mean that the file is damaged, and which do not: after the first kind nothing is written any more."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path

import duckdb
import pytest

from forky_core.model import Change, ConversationId, Message
from forky_core.model.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreTooNew
from forky_core.store.contract import Commit
from forky_core.store.duckdb.file.trouble import store_error
from forky_core.store.duckdb.read import packs
from forky_core.store.duckdb.store import DuckDBStore
from tests.store.by_hand import by_hand
from tests.store.packing import packed
from tests.store.talk import ELSEWHERE, HERE, at, begin, generation, move, now, point, said, thread
from tests.store.trouble import a_full_disk

PLACE = Path("/home/ada/corrupt checksum/forky.duckdb")
"""A folder whose name holds what DuckDB says of damage."""
_PACKED = ConversationId("01890000-0000-7000-8000-000000000003")
Read = Callable[[DuckDBStore], object]


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        (
            duckdb.Error("Corrupt database file: computed checksum 1 does not match stored checksum 2"),
            StoreDamaged,
        ),
        (duckdb.Error("Corrupted RLE segment: rle_count_offset is corrupted"), StoreDamaged),
        (duckdb.SerializationException("Serialization Error: Failed to deserialize"), StoreDamaged),
        (duckdb.IOException('IO Error: Could not read enough bytes from file "a": attempted'), StoreDamaged),
        (duckdb.IOException('IO Error: Could not read from file "a": Input/output error'), StoreDamaged),
        (duckdb.IOException("IO Error: Failed to scan dictionary string"), StoreDamaged),
        (
            duckdb.FatalException("FATAL Error: This block was written with a mode that is not known"),
            StoreDamaged,
        ),
        (duckdb.InternalException("INTERNAL Error: Attempted to access index 5 within vector"), StoreDamaged),
        (duckdb.CatalogException("Catalog Error: Table with name messages does not exist!"), StoreDamaged),
        (
            duckdb.TransactionException("TransactionContext Error: Failed to commit: Corrupt database file"),
            StoreDamaged,
        ),
        (duckdb.IOException('IO Error: Could not set lock on file "a": held in p (PID 7)'), StoreBusy),
        (duckdb.ResourceInUseException("Unique file handle conflict: a is already attached"), StoreBusy),
        (duckdb.IOException('IO Error: Could not write file "a": No space left on device'), StoreFull),
        (duckdb.TransactionException("Failed to commit: Could not write file: File too large"), StoreFull),
        (
            duckdb.FatalException(
                "FATAL Error: database has been invalidated because of a previous fatal error. "
                'Original error: "Could not write file: No space left on device"'
            ),
            StoreFull,
        ),
        (duckdb.IOException(f'IO Error: Cannot open file "{PLACE}": Permission denied'), StoreFull),
        (duckdb.IOException(f'IO Error: Cannot open file "{PLACE}": Too many open files'), StoreError),
        (duckdb.OutOfMemoryException("Out of Memory Error: could not allocate block"), StoreError),
        (duckdb.FatalException("FATAL Error: Out of Memory Error: failed to allocate data"), StoreError),
        (duckdb.TransactionException("TransactionContext Error: Conflict on update!"), StoreError),
        (duckdb.InterruptException("INTERRUPT Error: Interrupted!"), StoreError),
        (duckdb.ConversionException("Could not convert string 'Corrupt checksum' to INT32"), StoreError),
        (duckdb.InvalidInputException("Serialization Error, said somebody"), StoreError),
        (duckdb.ConstraintException('Constraint Error: duplicate key "checksum"'), StoreError),
        (duckdb.BinderException('Binder Error: no column "corrupt"'), StoreError),
        (duckdb.CatalogException("Catalog Error: Corrupt is no function"), StoreError),
        (duckdb.Error(f'Invalid configuration of "{PLACE}"'), StoreError),
        (duckdb.IOException("IO Error: it has version number 99, a newer version"), StoreTooNew),
    ],
)
def test_an_error_says_what_it_means(error: duckdb.Error, meaning: type[StoreError]) -> None:
    found = store_error(error, PLACE)
    assert type(found) is meaning
    assert found.message.endswith(".") or type(found) is StoreError


@pytest.fixture
def path(path: Path) -> Path:
    """Two conversations; the first has two branches, an edited line of its log, a model call and an attachment."""
    with DuckDBStore.open(path) as store:
        run = thread(4)
        begin(store, *run)
        point(store, "side", run[1])
        move(store, run[1], *thread(2, run[1], word="side"), branch="side")
        store.record(HERE, generation(1, "done", message=run[3].id))
        begin(store, said("elsewhere"), here=ELSEWHERE)
        store.put_blob(b"bytes", "text/plain")
    return path


def write(store: DuckDBStore) -> None:
    store.set_setting("a choice", "written")


def side(store: DuckDBStore) -> object:
    """The path of the second branch."""
    return store.path(HERE, store.view(HERE).branches["side"].head)  # type: ignore[arg-type]


def a_conflict(store: DuckDBStore) -> None:
    update = "UPDATE forky.settings SET value = 'other'"
    write(store)
    with store._file.cursor() as first:
        first.execute("BEGIN TRANSACTION")
        first.execute(update)
        try:
            with store._file.cursor() as second:
                second.execute(update)
        finally:
            first.execute("ROLLBACK")


def an_interrupted_query(store: DuckDBStore) -> None:
    with store._file.cursor() as cursor:
        timer = threading.Timer(0.1, cursor.interrupt)
        timer.start()
        cursor.execute(
            "SELECT count(*) FROM range(100000) a, range(1000000) b WHERE hash(a.range + b.range) = 1"
        )
        cursor.fetchall()


def a_refused_value(store: DuckDBStore) -> None:
    with store._file.cursor() as cursor:
        cursor.execute("SELECT CAST(? AS INTEGER)", ["Corrupt database file: checksum"]).fetchall()


def too_little_memory(store: DuckDBStore) -> None:
    with store._file.cursor() as cursor:
        cursor.execute("SET max_temp_directory_size = '0KB'")
        cursor.execute("SET memory_limit = '10MB'")
        try:
            cursor.execute("SELECT list(hash(range)) FROM range(10000000)").fetchall()
        finally:
            cursor.execute("RESET memory_limit")
            cursor.execute("RESET max_temp_directory_size")


def a_disk_that_fills(store: DuckDBStore) -> None:
    with a_full_disk(store.location.stat().st_size // 2):
        store.put_blob(bytes(range(256)) * 4000, "application/octet-stream")


@pytest.mark.parametrize(
    "trouble", [a_conflict, an_interrupted_query, a_refused_value, too_little_memory, a_disk_that_fills]
)
def test_trouble_that_is_no_damage_lets_the_next_write_through(
    path: Path, trouble: Callable[[DuckDBStore], None]
) -> None:
    with DuckDBStore.open(path) as store:
        with pytest.raises(StoreError) as told:
            trouble(store)
        assert not isinstance(told.value, StoreDamaged)
        write(store)
        assert store.rest() and store.verify().clean
    with DuckDBStore.open(path) as again:
        assert again.setting("a choice") == "written"


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("UPDATE entries SET value = '{' WHERE key = 'title'", lambda store: store.view(HERE)),
        ("UPDATE entries SET value = '{' WHERE key = 'title'", lambda store: store.entries("title")),
        ("UPDATE entries SET value = '{' WHERE key = 'title'", DuckDBStore.conversations),
        ("UPDATE operations SET changes = '[' WHERE number = 2", lambda store: store.operations(HERE)),
        ("DELETE FROM operations WHERE number = 2", lambda store: store.operations(HERE)),
        (
            "UPDATE operations SET number = number + 1 WHERE number > 1",
            lambda store: store.stretch_of_log(HERE, after=0, most=9),
        ),
        ("UPDATE messages SET rest = '{' WHERE message = 2", lambda store: store.messages(HERE)),
        ("UPDATE messages SET rest = '{' WHERE message = 2", lambda store: store.search("turn")),
        ("DELETE FROM messages WHERE message < 3", lambda store: store.stems(HERE)),
        ("DELETE FROM messages WHERE message = 2", lambda store: store.messages(HERE)),
        ("DELETE FROM messages WHERE message = 4", lambda store: store.messages(HERE)),
        ("DELETE FROM messages WHERE message = 2", lambda store: store.stretch(HERE, after=0, most=9)),
        ("UPDATE generations SET rest = 'x'", lambda store: store.generations(HERE)),
        ("DROP TABLE generations", lambda store: store.generations(HERE)),
        ("INSERT INTO conversations SELECT * FROM conversations", DuckDBStore.verify),
    ],
    ids=count(),
)
def test_rows_that_make_no_sense_are_damage(path: Path, statement: str, read: Read) -> None:
    sound = path.read_bytes()
    by_hand(path, statement)
    damaged = path.read_bytes()
    with DuckDBStore.open(path, idle_seconds=0.01) as store:
        if read is DuckDBStore.verify:
            assert not store.verify().clean
        else:
            with pytest.raises(StoreDamaged, match=r"forky\.duckdb is damaged"):
                read(store)
        with pytest.raises(StoreDamaged, match=r"nothing was saved.*verify.*repair.*backup"):
            write(store)
        assert store.setting("a choice") is None
        assert store.blob(hashlib.sha256(b"bytes").hexdigest()).content == b"bytes"
    assert path.read_bytes() == damaged
    path.write_bytes(sound)
    with DuckDBStore.open(path) as again:
        read(again)
        write(again)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE segments SET parent_segment = segment WHERE segment = 2",
        "DELETE FROM segments WHERE segment = 2",
        "DELETE FROM messages WHERE message = 1",
    ],
)
def test_a_path_with_a_hole_is_damage_and_no_shorter_path(
    path: Path, statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forky_core.store.duckdb.store._SHORT", 1)
    by_hand(path, statement)
    with DuckDBStore.open(path) as store:
        with pytest.raises(StoreDamaged):
            side(store)
        with pytest.raises(StoreDamaged, match="nothing was saved"):
            write(store)


def test_what_verify_finds_altered_refuses_writes_until_the_file_is_opened_anew(path: Path) -> None:
    by_hand(path, "UPDATE messages SET text = 'forged' WHERE message = 2")
    with DuckDBStore.open(path) as store:
        write(store)
        (finding,) = store.verify().findings
        assert "content its id was made from" in finding.what
        with pytest.raises(StoreDamaged, match="nothing was saved"):
            write(store)
    with DuckDBStore.open(path) as again:
        write(again)


def test_a_name_that_leads_nowhere_is_a_finding_and_no_damage(path: Path) -> None:
    """A program may give a store such names."""
    with DuckDBStore.open(path) as store:
        missing = Change("heads/astray", None, at(said("never written")))
        store.commit(Commit(HERE, "fork", "Forked", (missing,), at=now()))
        (finding,) = store.verify().findings
        assert "which is not stored" in finding.what
        write(store)


def test_what_a_commit_is_built_on_is_read_before_it_is_written(path: Path) -> None:
    """The writer finds the damage itself: nobody had read that conversation."""
    by_hand(path, "UPDATE entries SET value = '{' WHERE key = 'title' AND conversation = 1")
    before = path.read_bytes()
    with DuckDBStore.open(path) as store:
        begun = Change("heads/new", None, at(None))
        both = [Commit(id, "fork", "Forked", (begun,), at=now()) for id in (HERE, ELSEWHERE)]
        with pytest.raises(StoreDamaged):
            store.commit_all(both)
        with pytest.raises(StoreDamaged, match="nothing was saved"):
            store.record(ELSEWHERE, generation(5))
        assert "new" not in store.view(ELSEWHERE).branches
    assert path.read_bytes() == before


@pytest.fixture
def in_packs(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """The messages of a third conversation that is in packs."""
    monkeypatch.setattr(packs, "WORTH", 1)
    run = thread(40)
    with DuckDBStore.open(path) as store:
        begin(store, *run, here=_PACKED)
        assert store.rest() and packed(store, _PACKED) == 40
    return run


def test_a_bad_pack_of_sound_messages_is_made_anew_and_is_no_damage(
    path: Path, in_packs: list[Message]
) -> None:
    by_hand(path, "UPDATE packs SET texts = replace(texts, 'turn', 'torn')")
    with DuckDBStore.open(path) as store:
        assert list(store.messages(_PACKED).values()) == in_packs
        write(store)
        assert store.rest() and packed(store, _PACKED) == 40


def test_a_bad_pack_of_altered_messages_is_damage_and_stays(path: Path, in_packs: list[Message]) -> None:
    by_hand(path, "UPDATE packs SET texts = replace(texts, 'turn', 'torn')")
    by_hand(path, "UPDATE messages SET text = 'forged' WHERE message = 2 AND conversation = 3")
    before = path.read_bytes()
    with DuckDBStore.open(path) as store:
        store.messages(_PACKED)
        with pytest.raises(StoreDamaged, match="nothing was saved"):
            write(store)
        assert not store.rest()
    assert path.read_bytes() == before
    assert in_packs
