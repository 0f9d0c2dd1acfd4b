"""The writer's groups: what fails alone, what waits for whom, and what happens when nobody writes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest

from forky_core.model import Change, ConversationId, Operation
from forky_core.model.errors import Outdated, StoreError
from forky_core.store.base.writer import GROUP, Alone
from forky_core.store.contract import Commit
from forky_core.store.duckdb.file.wal import log_of
from forky_core.store.duckdb.store import DuckDBStore
from tests.hangs import HANG, eventually
from tests.store.talk import HERE, at, begin, ids, move, now, said

TOO_LARGE = 2**40
"""Fits no INTEGER column, so the database itself refuses it."""


@contextmanager
def in_one_group(store: DuckDBStore, commits: list[Commit]) -> Iterator[list[Future[Operation]]]:
    """Queue the commits, in this order, behind one that lets none of them through before all are there."""
    writer = store._writer
    gate = threading.Event()

    def hold(_: duckdb.DuckDBPyConnection) -> None:
        gate.wait(HANG)

    with ThreadPoolExecutor(len(commits) + 1) as callers:
        holding = callers.submit(writer.ask, Alone(hold))
        eventually(lambda: holding.running() and not writer._queue.qsize())
        outcomes = []
        for number, commit in enumerate(commits, start=1):
            outcomes.append(callers.submit(store.commit, commit))
            eventually(lambda expected=number: writer._queue.qsize() == expected)  # type: ignore[misc]
        gate.set()
        yield outcomes


def retitle(before: str, after: str, *, group: int | None = None, here: ConversationId = HERE) -> Commit:
    return Commit(
        here, "rename", f"Called it {after}", (Change("title", before, after),), at=now(), group=group
    )


def test_a_commit_that_the_database_refuses_fails_alone(store: DuckDBStore) -> None:
    others = [ConversationId(f"other {number}") for number in range(20)]
    for here in (HERE, *others):
        begin(store, here=here)
    commits = [retitle("A talk", "better", here=here) for here in others]
    commits.insert(10, retitle("A talk", "never", group=TOO_LARGE))
    commits.append(retitle("A talk", "mine"))
    with in_one_group(store, commits) as outcomes:
        with pytest.raises(StoreError):
            outcomes.pop(10).result(HANG)
        assert [outcome.result(HANG).number for outcome in outcomes] == [2] * 21
    assert store.view(HERE).title == "mine"
    assert {store.view(here).title for here in others} == {"better"}
    assert store.verify().clean


def test_a_refusal_of_one_is_raised_once_none_of_them_is_under_way(store: DuckDBStore) -> None:
    others = [ConversationId(f"other {number}") for number in range(2 * GROUP)]
    begin(store)
    for here in others:
        begin(store, here=here)
    commits = [retitle("not so", "never"), *(retitle("A talk", "better", here=here) for here in others)]
    with pytest.raises(Outdated):
        store.commit_all(commits)
    assert {store.view(here).title for here in others} == {"better"}


def test_what_followed_a_refused_commit_is_decided_anew(store: DuckDBStore) -> None:
    begin(store)
    commits = [
        retitle("A talk", "never", group=TOO_LARGE),
        retitle("never", "after never"),
        retitle("A talk", "mine"),
    ]
    with in_one_group(store, commits) as (refused, orphan, mine):
        with pytest.raises(StoreError):
            refused.result(HANG)
        with pytest.raises(Outdated):
            orphan.result(HANG)
        assert mine.result(HANG).number == 2
    assert [operation.summary for operation in store.operations(HERE)] == ["Created", "Called it mine"]
    assert store.verify().clean


def test_a_group_is_written_in_the_order_it_was_asked_for(store: DuckDBStore) -> None:
    begin(store)
    names = ["A talk", *(f"name {number}" for number in range(40))]
    commits = [retitle(before, after) for before, after in pairwise(names)]
    with in_one_group(store, commits) as outcomes:
        assert [outcome.result(HANG).number for outcome in outcomes] == list(range(2, 42))
    assert store.view(HERE).title == names[-1]
    assert store.verify().clean


def test_an_idle_store_folds_its_log_into_the_file_and_goes_on(path: Path) -> None:
    with DuckDBStore.open(path, idle_seconds=0.05) as store:
        hello = said("hello")
        begin(store, hello)
        eventually(lambda: not log_of(path).exists())
        assert store.path(HERE, hello.id) == (hello,)
        move(store, hello, more := said("more", hello))
        eventually(lambda: not log_of(path).exists())
        assert store.view(HERE).entries["heads/main"] == at(more)
    with DuckDBStore.open(path) as again:
        assert ids(again.path(HERE, more.id)) == [hello.id, more.id]
        assert again.verify().clean


def test_an_import_under_way_is_not_idle_between_two_of_its_groups(path: Path) -> None:
    with DuckDBStore.open(path, idle_seconds=0.5) as store:
        hello = said("hello")
        heads = (Change("heads/main", None, at(hello)),)
        store.commit(Commit(HERE, "import", "Came", heads, (hello,), in_bulk=True))
        time.sleep(1.0)
        assert log_of(path).exists()
        store.set_setting("imports", "1")
        eventually(lambda: not log_of(path).exists())


def test_folding_the_log_in_waits_for_a_reader(path: Path) -> None:
    with DuckDBStore.open(path, idle_seconds=0.05) as store:
        with store._file.snapshot() as cursor:
            counted = "SELECT count(*) FROM forky.messages"
            assert cursor.execute(counted).fetchall() == [(0,)]
            begin(store, said("hello"))
            time.sleep(0.3)
            assert cursor.execute(counted).fetchall() == [(0,)]
            assert log_of(path).exists()
        eventually(lambda: not log_of(path).exists())
        assert store.verify().clean


def test_a_rest_that_fails_is_logged_once_and_leaves_the_writer_at_work(
    path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:

    def failures() -> list[str]:
        return [said for one in caplog.records if "store.failed" in (said := one.getMessage())]

    with DuckDBStore.open(path, idle_seconds=0.05) as store:
        with store._file.snapshot() as cursor:  # It waits for a reader, until the file is gone.
            cursor.execute("SELECT count(*) FROM forky.messages")
            begin(store, hello := said("hello"))
            aside = path.rename(tmp_path / "aside")
        eventually(lambda: bool(failures()))
        time.sleep(0.5)  # It is tried a few times more.
        aside.rename(path)
        move(store, hello, kept := said("kept", hello))
        assert ids(store.path(HERE, kept.id)) == [hello.id, kept.id]
        assert ["work=rest" in failure for failure in failures()] == [True]
