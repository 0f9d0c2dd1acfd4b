"""A store whose file is closed whenever nobody uses it keeps every law, and is lost by nobody."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forky_core.model.errors import StoreError
from forky_core.store.contract import Store
from forky_core.store.document_contract import DocumentKeeper
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.sleeping_store import FileStore, SleepingDocuments, SleepingFile, SleepingStore
from tests.builders import workspace
from tests.hangs import HANG
from tests.store.laws import StoreLaws
from tests.store.talk import HERE, begin


class _Drowsy(SleepingFile):
    """Closes its file before every few calls, unless another one is going on."""

    calls = 0

    @contextmanager
    def awake(self) -> Iterator[FileStore]:
        self.calls += 1
        if self.calls % 5 == 0:
            self.sleep()
        with super().awake() as store:
            yield store


def drowsy(folder: Path) -> _Drowsy:
    file = folder / "sleeping.duckdb"
    return _Drowsy(lambda: DuckDBStore.open(file), file)


class TestSleepingStore(StoreLaws):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = drowsy(tmp_path)
        yield store
        store.close()

    test_later_calls_return_the_same_message_objects = None  # type: ignore[assignment]
    test_what_was_read_is_at_hand = None  # type: ignore[assignment]
    """Nothing is remembered while the file is closed."""


def test_every_method_of_the_contracts_is_passed_on() -> None:
    for contract, kind in ((Store, SleepingStore), (DocumentKeeper, SleepingDocuments)):
        assert {name for name in dir(contract) if not name.startswith("_")} <= set(dir(kind))


def test_the_file_is_opened_at_the_first_call_and_closed_when_nobody_called_for_long(tmp_path: Path) -> None:
    at, told = [0.0], list[str]()
    file = tmp_path / "one.duckdb"
    store = SleepingFile(
        lambda: DuckDBStore.open(file),
        file,
        woke=lambda: told.append("woke"),
        slept=lambda: told.append("slept"),
        clock=lambda: at[0],
    )
    assert not file.exists() and store.status().writes
    begin(store)
    assert file.exists() and told == ["woke"]
    at[0] = 9.0
    assert not store.sleep(idle=10.0)
    at[0] = 10.0
    assert store.sleep(idle=10.0) and told == ["woke", "slept"]
    with DuckDBStore.open(file) as other:  # Nobody else could, as long as it was open.
        assert other.view(HERE).version == 1
    assert store.view(HERE).version == 1 and told == ["woke", "slept", "woke"]
    store.close()
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.view(HERE)


def test_it_does_not_sleep_in_the_middle_of_a_call(tmp_path: Path) -> None:
    store = drowsy(tmp_path)
    begin(store)
    inside, go_on = threading.Event(), threading.Event()

    def call() -> None:
        with SleepingFile.awake(store) as opened:
            inside.set()
            go_on.wait(HANG)
            assert opened.view(HERE).version == 1

    thread = threading.Thread(target=call)
    thread.start()
    inside.wait(HANG)
    assert not store.sleep()
    go_on.set()
    thread.join(HANG)
    assert store.sleep()
    store.close()


def test_a_reply_lands_while_the_file_is_closed_between_its_words(tmp_path: Path) -> None:
    store = drowsy(tmp_path)
    forky, models = workspace(store)
    heard: list[str] = []
    store.hear(heard.append)
    chat = forky.create("Boats", model="scripted/one")
    answer = chat.ask("Why do boats float?")
    assert answer.text == "one says: Why do boats float?" and models.one.info().name == "scripted/one"
    assert store.sleep() or not store.is_awake
    assert forky.conversation(chat.id).path()[-1] == answer
    assert chat.id in heard and forky.verify().clean
    forky.close()


def test_what_a_process_remembers_of_it_is_forgotten_when_it_slept(tmp_path: Path) -> None:
    store = drowsy(tmp_path)
    first = store.identity
    store.sleep()
    assert store.identity is not first
    store.close()
