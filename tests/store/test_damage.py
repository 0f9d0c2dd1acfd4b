"""A database whose bytes were changed by a disk, a cloud folder or a person: refused in a sentence, or read whole."""

from __future__ import annotations

import os
import random
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from forky_core.model import Change, MessageId
from forky_core.model.errors import StoreDamaged, StoreError, StoreFull
from forky_core.store.contract import Commit
from forky_core.store.duckdb.file.repair import repair
from forky_core.store.duckdb.file.wal import log_of, passed_over_from
from forky_core.store.duckdb.store import DuckDBStore
from tests.store.talk import HERE, begin, ids, move, said, thread

COMMITTED = bytes.fromhex("e7fe7d722fed3d5e640064ffff")
"""What ends a commit in DuckDB's log, its length left out."""


@dataclass(frozen=True)
class Crashed:
    """The bytes a crash leaves: a file, and a log that was not folded in."""

    file: bytes
    log: bytes
    folded: list[MessageId]
    """The messages of the file alone."""
    all: list[MessageId]

    def put(self, path: Path, *, file: bytes | None = None, log: bytes | None = None) -> None:
        for old in path.parent.glob(f"{path.name}*"):
            old.unlink()
        path.write_bytes(self.file if file is None else file)
        log_of(path).write_bytes(self.log if log is None else log)

    def lengths(self) -> list[int]:
        """Where the lengths of the entries that end a commit stand, but for the last few commits."""
        return [found.start() - 8 for found in re.finditer(re.escape(COMMITTED), self.log)][:-3]


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Crashed:
    path = tmp_path_factory.mktemp("crashed") / "forky.duckdb"
    with DuckDBStore.open(path, idle_seconds=600) as store:
        run = thread(60)
        begin(store, *run)
        store.put_blob(random.randbytes(100_000), "application/octet-stream")
        assert store.rest()
        folded, head = ids(run), run[-1]
        for number in range(30):
            later = said(f"later {number}", head)
            move(store, head, later)
            head = later
        return Crashed(path.read_bytes(), log_of(path).read_bytes(), folded, list(store.messages(HERE)))


def everything(path: Path) -> list[MessageId]:
    """All messages, after every row was read and verified. StoreDamaged where something is wrong."""
    with DuckDBStore.open(path) as store:
        if findings := store.verify().findings:
            raise StoreDamaged(" ".join(finding.what for finding in findings))
        return list(store.messages(HERE))


def refused(path: Path) -> str | None:
    """Why it cannot be opened or read; None where it can."""
    try:
        everything(path)
    except StoreDamaged as refusal:
        return str(refusal)
    return None


def files(path: Path) -> dict[str, bytes]:
    return {found.name: found.read_bytes() for found in path.parent.iterdir()}


def test_the_bytes_of_a_crash_hold_everything(path: Path, crashed: Crashed) -> None:
    crashed.put(path)
    assert everything(path) == crashed.all
    assert len(crashed.all) == len(crashed.folded) + 30
    assert len(crashed.lengths()) == 27


def test_no_damage_of_the_log_loses_a_commit_in_silence(tmp_path: Path, crashed: Crashed) -> None:
    path, chance = tmp_path / "forky.duckdb", random.Random(1)
    places = [0, 7, 20, 36, *(at + 1 for at in chance.sample(crashed.lengths(), 2))]
    places += chance.sample(range(40, len(crashed.log)), 3)
    for place in places:
        damaged = bytearray(crashed.log)
        damaged[place] ^= 0x10
        crashed.put(path, log=bytes(damaged))
        before = files(path)
        refusal = refused(path)
        if refusal is None:
            assert everything(path) == crashed.all
            continue
        assert "nothing was changed" in refusal and "repair" in refusal
        assert files(path) == before
        done = repair(path)
        assert [copy.read_bytes() for copy in done.copies] == [crashed.file, bytes(damaged)]
        left = everything(path)
        assert left == crashed.all[: len(left)] and len(left) >= len(crashed.folded)


@pytest.mark.parametrize("lost", [16, 4096, 10_000])
def test_a_log_whose_beginning_was_zeroed_is_refused(path: Path, crashed: Crashed, lost: int) -> None:
    crashed.put(path, log=bytes(lost) + crashed.log[lost:])
    assert passed_over_from(log_of(path)) == 0
    with pytest.raises(StoreDamaged, match=r"The log beside .* is damaged.*nothing was changed"):
        DuckDBStore.open(path)
    assert repair(path).cut == len(crashed.log)
    assert everything(path) == crashed.folded


@pytest.mark.parametrize("tail", [b"", b"x", bytes(5000), random.Random(2).randbytes(5000)])
def test_what_a_cut_off_write_leaves_at_the_end_is_no_damage(
    path: Path, crashed: Crashed, tail: bytes
) -> None:
    crashed.put(path, log=crashed.log + tail)
    assert everything(path) == crashed.all


def test_a_log_that_ends_in_mid_commit_opens_at_the_one_before(path: Path, crashed: Crashed) -> None:
    crashed.put(path, log=crashed.log[:-7])
    assert everything(path) == crashed.all[:-1]


def test_the_log_of_another_database_is_refused_and_can_be_left_out(tmp_path: Path, crashed: Crashed) -> None:
    other = tmp_path / "other" / "forky.duckdb"
    with DuckDBStore.open(other, idle_seconds=600) as store:
        begin(store, *thread(3, word="other"))
        log = log_of(other).read_bytes()
    path = tmp_path / "forky.duckdb"
    crashed.put(path, log=log)
    with pytest.raises(StoreDamaged, match=r"belongs to another database.*Put the files back"):
        DuckDBStore.open(path)
    assert (path.read_bytes(), log_of(path).read_bytes()) == (crashed.file, log)
    assert repair(path).cut == len(log)
    assert everything(path) == crashed.folded


def test_a_file_cut_short_anywhere_is_a_sentence(tmp_path: Path, crashed: Crashed) -> None:
    path, chance = tmp_path / "forky.duckdb", random.Random(3)
    for size in [1, 4095, 12_288, *chance.sample(range(len(crashed.file)), 6)]:
        crashed.put(path, file=crashed.file[:size])
        before = files(path)
        with pytest.raises(StoreDamaged, match="damaged"):
            everything(path)
        assert files(path) == before
        with suppress(StoreDamaged):
            assert repair(path).copies == ()
        assert files(path) == before


def test_a_damaged_file_names_the_newest_backup_beside_it(path: Path) -> None:
    with DuckDBStore.open(path) as store:
        begin(store)
        old, new = store.backup(), store.backup()
    os.utime(old, (0, 0))
    path.write_bytes(b"no database")
    with pytest.raises(StoreDamaged, match=f"Restore a backup: {re.escape(new.name)} is the newest"):
        DuckDBStore.open(path)
    shutil.copy(new, path)
    DuckDBStore.open(path).close()


@pytest.mark.parametrize("what", ["file", "folder"])
def test_nothing_is_acknowledged_once_the_file_has_gone(tmp_path: Path, what: str) -> None:
    folder = tmp_path / "folder"
    path = folder / "forky.duckdb"
    with DuckDBStore.open(path) as store:
        begin(store, hello := said("hello"))
        moved = path if what == "file" else folder
        aside = moved.rename(tmp_path / "aside")
        for _ in range(2):
            with pytest.raises(StoreError, match=r"is gone; nothing was saved.*Put the file back"):
                move(store, hello, said("lost", hello))
            with pytest.raises(StoreError, match="is gone"):
                store.rest()
            with pytest.raises(StoreError, match="is gone"):
                store.backup()
        assert ids(store.path(HERE, hello.id)) == [hello.id]
        assert not path.exists()
        aside.rename(moved)
        move(store, hello, kept := said("kept", hello))
        assert store.rest()
    assert everything(path) == [hello.id, kept.id]


def test_a_file_put_in_its_place_is_not_written_to(path: Path, crashed: Crashed) -> None:
    store = DuckDBStore.open(path)
    begin(store, hello := said("hello"))
    crashed.put(path)
    with pytest.raises(StoreError, match=r"was replaced by another file; nothing was saved.*Restart"):
        move(store, hello, said("lost", hello))
    store.close()
    assert (path.read_bytes(), log_of(path).read_bytes()) == (crashed.file, crashed.log)
    assert everything(path) == crashed.all


@contextmanager
def without_privileges() -> Iterator[None]:
    """As a person who is not root, to whom permissions mean something."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder everybody may read, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs permissions of the POSIX kind")
@pytest.mark.parametrize(("of_file", "of_folder"), [(0o444, 0o555), (0o000, 0o555), (0o644, 0o000)])
def test_what_may_not_be_written_is_a_sentence_and_is_left_alone(
    shared_folder: Path, of_file: int, of_folder: int
) -> None:
    path = shared_folder / "forky.duckdb"
    with DuckDBStore.open(path) as store:
        begin(store)
    before = path.read_bytes()
    path.chmod(of_file)
    shared_folder.chmod(of_folder)
    try:
        with without_privileges(), pytest.raises(StoreError, match=r"writ|Permission") as refusal:
            DuckDBStore.open(path)
    finally:
        shared_folder.chmod(0o755)
    assert "make" in str(refusal.value).lower() or "another" in str(refusal.value)
    assert path.read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs permissions of the POSIX kind")
def test_a_log_that_may_not_be_read_is_a_sentence(shared_folder: Path, crashed: Crashed) -> None:
    path = shared_folder / "forky.duckdb"
    crashed.put(path)
    before = files(path)
    for found, mode in ((path, 0o666), (shared_folder, 0o777), (log_of(path), 0)):
        found.chmod(mode)
    with without_privileges(), pytest.raises(StoreFull, match=r"cannot read .*\.wal: Permission denied"):
        DuckDBStore.open(path)
    assert files(path) == before


def test_a_path_too_long_for_the_system_is_a_sentence(tmp_path: Path) -> None:
    for place in (tmp_path / ("x" * 300), tmp_path.joinpath(*["folder"] * 1000), tmp_path / ("x" * 253)):
        with pytest.raises(StoreError):
            DuckDBStore.open(place)


def test_a_repair_that_has_no_room_for_its_copies_changes_nothing(
    shared_folder: Path, crashed: Crashed
) -> None:
    path = shared_folder / "forky.duckdb"
    crashed.put(path, log=bytes(16) + crashed.log[16:])
    before = files(path)
    for found in shared_folder.iterdir():
        found.chmod(0o666)
    shared_folder.chmod(0o555)
    try:
        with without_privileges(), pytest.raises(StoreFull, match="Nothing was changed"):
            repair(path)
    finally:
        shared_folder.chmod(0o755)
    assert files(path) == before


def test_a_clock_that_goes_backwards_disturbs_nothing(path: Path) -> None:
    with DuckDBStore.open(path) as store:
        begin(store, head := said("hello"))
        for moment in (10**15, 0, -(10**15), 5):
            later = said(f"at {moment}", head)
            moved = Change("heads/main", {"at": head.id}, {"at": later.id})
            store.commit(Commit(HERE, "ask", "Asked", (moved,), (later,), at=moment))
            head = later
        whole = ids(store.path(HERE, head.id))
        numbers = [operation.number for operation in store.operations(HERE)]
        assert store.conversations()[0].id == HERE
    with DuckDBStore.open(path) as again:
        assert ids(again.path(HERE, head.id)) == whole and len(whole) == 5
        assert [operation.number for operation in again.operations(HERE)] == numbers == [1, 2, 3, 4, 5]
        assert again.conversations()[0].id == HERE
        assert again.verify().clean
