from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from forky_core.model import Message
from forky_core.model.errors import RequestError, StoreBusy, StoreDamaged, StoreError, StoreFull
from forky_core.store.duckdb.file.repair import repair
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.memory.store import MemoryStore
from forky_core.store.opening import open_store
from tests.store.talk import HERE, begin, ids, move, said, thread
from tests.store.trouble import a_full_disk, held_elsewhere, noise


def big(word: str, below: Message) -> Message:
    return said(word + noise(), below)


def test_a_second_process_is_told_who_holds_the_file(path: Path) -> None:
    with held_elsewhere(path) as holder, pytest.raises(StoreBusy) as busy:
        DuckDBStore.open(path)
    assert busy.value.holder == holder
    assert f"forky.duckdb is open in another Forky (process {holder})" in str(busy.value)
    DuckDBStore.open(path).close()


def test_a_second_opening_in_one_process_is_refused_plainly(tmp_path: Path) -> None:
    (tmp_path / "link.duckdb").symlink_to(tmp_path / "forky.duckdb")
    with DuckDBStore.open(tmp_path / "forky.duckdb") as store:
        for path in (tmp_path / "forky.duckdb", tmp_path / "link.duckdb"):
            with pytest.raises(StoreBusy, match="already open in this process"):
                DuckDBStore.open(path)
        begin(store)
    DuckDBStore.open(tmp_path / "link.duckdb").close()


def test_a_full_disk_refuses_the_commit_and_keeps_everything_else(tmp_path: Path) -> None:
    store = DuckDBStore.open(tmp_path / "forky.duckdb")
    hello = said("hello")
    begin(store, hello)
    with a_full_disk(200_000):
        with pytest.raises(StoreFull, match="no room"):
            move(store, hello, big("lost", hello))
        assert ids(store.path(HERE, hello.id)) == [hello.id]
        assert store.view(HERE).version == 1
        small = said("small", hello)
        move(store, hello, small)
    later = big("later", small)
    move(store, small, later)
    assert store.verify().clean
    store.close()
    with DuckDBStore.open(tmp_path / "forky.duckdb") as again:
        assert again.path(HERE, later.id) == (hello, small, later)
        assert len(again.operations(HERE)) == 3
        assert again.verify().clean


def test_a_disk_that_fills_while_the_log_is_folded_in_loses_nothing(tmp_path: Path) -> None:
    store = DuckDBStore.open(tmp_path / "forky.duckdb")
    hello = said("hello")
    begin(store, hello)
    large = big("large", hello)
    move(store, hello, large)
    with a_full_disk(100_000):
        store.rest()
        assert store.verify().clean
        with pytest.raises(StoreFull):
            move(store, large, big("lost", large))
    move(store, large, kept := said("kept", large))
    assert store.rest()
    store.close()
    with DuckDBStore.open(tmp_path / "forky.duckdb") as again:
        assert again.path(HERE, kept.id) == (hello, large, kept)


def test_closing_on_a_full_disk_keeps_the_log(path: Path) -> None:
    store = DuckDBStore.open(path)
    begin(store, hello := said("hello"))
    move(store, hello, large := big("large", hello))
    with a_full_disk(100_000):
        store.close()
    with DuckDBStore.open(path) as again:
        assert again.path(HERE, large.id) == (hello, large)


def test_one_bad_commit_does_not_fail_the_others_of_its_group(tmp_path: Path) -> None:
    with DuckDBStore.open(tmp_path / "forky.duckdb") as store:
        begin(store, hello := said("hello"))
        with pytest.raises(ValueError, match="not a message id"):
            move(store, hello, Message("x", (hello.id,), "user", ()))  # type: ignore[arg-type]
        with pytest.raises(UnicodeEncodeError):
            move(store, hello, said("lone", hello), summary="\ud800")
        move(store, hello, fine := said("fine", hello))
        assert ids(store.path(HERE, fine.id)) == [hello.id, fine.id]


@pytest.mark.parametrize("content", [b"", b"hello world" * 1000])
def test_a_file_that_is_no_database_is_left_as_it_is(path: Path, tmp_path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreDamaged, match="nothing was changed"):
        DuckDBStore.open(path)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_a_damaged_file_is_left_as_it_is(path: Path) -> None:
    with DuckDBStore.open(path) as store:
        begin(store, *thread(20))
    damaged = bytearray(path.read_bytes())
    for at in range(12_288, len(damaged), 1000):
        damaged[at] ^= 0xFF
    path.write_bytes(damaged)
    with pytest.raises(StoreDamaged):
        DuckDBStore.open(path)
    with pytest.raises(StoreDamaged):
        repair(path)
    assert path.read_bytes() == damaged


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreError, match="cannot be made"):
        DuckDBStore.open(tmp_path / "file" / "forky.duckdb")


@pytest.mark.skipif(
    not Path("/proc/version").exists(), reason="needs a folder nobody may write to: Linux's /proc"
)
def test_a_read_only_folder_is_a_sentence() -> None:
    with pytest.raises(StoreFull, match=r"cannot open .* for writing"):
        DuckDBStore.open("/proc/forky.duckdb")


def test_repairing_a_sound_file_does_nothing(path: Path) -> None:
    with DuckDBStore.open(path) as store:
        begin(store)
    before = path.read_bytes()
    assert repair(path).copies == ()
    assert path.read_bytes() == before


def test_nobody_else_can_open_the_file_between_calls(tmp_path: Path) -> None:
    with DuckDBStore.open(tmp_path / "forky.duckdb") as store:
        begin(store)
        assert store.rest()
        with pytest.raises(duckdb.Error):
            duckdb.connect(str(tmp_path / "forky.duckdb"))


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = DuckDBStore.open(tmp_path / "forky.duckdb")
    begin(store)
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.conversations()
    with pytest.raises(StoreError, match="closed"):
        store.set_setting("a", "b")


def test_a_location_says_which_store_it_means(tmp_path: Path) -> None:
    assert isinstance(open_store(":memory:"), MemoryStore)
    store = open_store(str(tmp_path / "new" / "folder" / "forky.duckdb"))
    assert isinstance(store, DuckDBStore)
    store.close()
    with pytest.raises(RequestError, match="one workspace"):
        open_store(":memory:", workspace="other")
