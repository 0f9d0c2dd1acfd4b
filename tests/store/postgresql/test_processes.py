"""Several processes on one database, walls between workspaces, and a server that comes and goes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from forky_core.forky import Forky
from forky_core.model import Change, ConversationId
from forky_core.model.errors import NotFound, Outdated, RequestError, StoreError
from forky_core.store.base.writer import Alone
from forky_core.store.contract import Commit
from forky_core.store.opening import open_store
from forky_core.store.postgresql import connections, writer
from forky_core.store.postgresql.store import PostgresStore
from forky_core.welcome import make_welcome
from tests.hangs import HANG
from tests.programs import CHECKOUT
from tests.store.postgresql.server import CUT, TEMPLATE, Server, only_read, running_server
from tests.store.talk import HERE, begin, change, move, said, thread

Two = tuple[PostgresStore, PostgresStore]


@pytest.fixture
def two(shared: str, workspace: str) -> Iterator[Two]:
    """Two stores of one workspace, as two processes have them."""
    first, second = (PostgresStore.open(shared, workspace=workspace) for _ in range(2))
    yield first, second
    first.close()
    second.close()


def test_each_sees_at_once_what_the_other_has_written(two: Two) -> None:
    first, second = two
    hello, mine, theirs = said("hello"), said("mine"), said("theirs")
    begin(first, hello)
    assert second.view(HERE).branch("main").head == hello.id
    assert list(second.messages(HERE)) == [hello.id]
    move(second, hello, theirs)
    assert list(first.messages(HERE)) == [hello.id, theirs.id]
    with pytest.raises(Outdated):
        move(first, hello, mine)
    move(first, theirs, said("on", theirs))
    assert len(second.operations(HERE)) == 3
    assert second.conversations()[0].messages == 3
    change(first, Change("trashed", None, True))
    assert second.conversations() == ()
    second.purge(HERE)
    for call in (first.view, first.messages, first.operations, first.generations):
        with pytest.raises(NotFound):
            call(HERE)


def test_whoever_was_slower_is_told_who_came_first_whatever_they_remember(two: Two) -> None:
    first, second = two
    begin(first, said("hello"))
    first.view(HERE)
    change(second, Change("title", "A talk", "B"), summary="Renamed it")
    with pytest.raises(Outdated) as lost:
        change(first, Change("title", "A talk", "C"))
    assert lost.value.first is not None and lost.value.first.summary == "Renamed it"
    # What is true now is accepted, though the writer remembers an older view.
    change(second, Change("title", "B", "D"))
    change(first, Change("title", "D", "E"))
    assert second.view(HERE).title == "E"


def test_many_threads_of_two_processes_lose_nothing(two: Two) -> None:
    begin(two[0], said("hello"))
    ids = [ConversationId(f"c{at}") for at in range(4)]
    for id in ids:
        two[0].commit(Commit(id, "create", "", (Change("count", None, 0),), at=1))

    def count(store: PostgresStore, id: ConversationId) -> None:
        for _ in range(25):
            while True:
                now = store.view(id).entries["count"]
                assert isinstance(now, int)
                try:
                    store.commit(Commit(id, "vote", "", (Change("count", now, now + 1),), at=2))
                except Outdated:
                    continue
                break

    with ThreadPoolExecutor(16) as pool:
        jobs = [pool.submit(count, store, id) for store in two for id in ids for _ in range(2)]
        for job in jobs:
            job.result(HANG)
    for id in ids:
        assert two[1].view(id).entries["count"] == 100
    assert two[0].verify().clean


def test_a_workspace_never_sees_another_ones_rows(shared: str, workspace: str) -> None:
    with (
        PostgresStore.open(shared, workspace=workspace) as mine,
        PostgresStore.open(shared, workspace=f"{workspace}x") as theirs,
    ):
        begin(mine, said("a secret"))
        name = mine.put_blob(b"secret", "text/plain")
        mine.set_setting("key", "value")
        assert theirs.conversations() == () and theirs.search("secret") == ()
        assert theirs.setting("key") is None and theirs.running() == ()
        for call in (lambda: theirs.view(HERE), lambda: theirs.blob(name)):
            with pytest.raises(NotFound):
                call()
        begin(theirs, said("another"))  # The same id is no clash.
        assert next(iter(mine.messages(HERE).values())).text == "a secret"


def test_row_security_holds_also_where_a_statement_forgets_the_workspace(server: Server, shared: str) -> None:
    database = shared.partition("@/")[2].partition("?")[0]
    server.execute(
        "DO $$ BEGIN CREATE ROLE plain LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
        "GRANT USAGE ON SCHEMA forky TO plain",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA forky TO plain",
        database=database,
    )
    with PostgresStore.open(shared, workspace="walled") as store:
        begin(store, said("a secret"))
    url = server.url(database, user="plain")
    with psycopg.connect(url, options="-c forky.workspace=other", autocommit=True) as connection:
        for table in ("conversations", "messages", "operations", "entries"):
            assert connection.execute(f"SELECT count(*) FROM forky.{table}").fetchone() == (0,)  # noqa: S608
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO forky.settings VALUES ('walled', 'key', 'value')")
    with psycopg.connect(url, options="-c forky.workspace=walled") as connection:
        assert connection.execute("SELECT count(*) FROM forky.messages").fetchone() == (1,)


def test_a_text_with_nul_and_every_other_character_comes_back(shared: str, workspace: str) -> None:
    text = "nul \0 and \uf8fe0 and \uf8fe, Ä ß İ 文字 😀 % _ \\ ' \" \n\t\x01"
    with PostgresStore.open(shared, workspace=workspace) as store:
        message = said(text)
        begin(store, message, title=text)
        change(store, Change(f"tags/{text}", None, {"at": message.id}), summary=text)
    with PostgresStore.open(shared, workspace=workspace) as store:
        assert store.message(HERE, message.id).text == text
        assert store.view(HERE).title == text and store.operations(HERE)[-1].summary == text
        assert len(store.search('"nul \0 and"')) == len(store.search("ä ß 文字 %")) == 1
        assert store.search("%x") == () and store.verify().clean


def test_the_app_s_library_works_on_it(shared: str, workspace: str) -> None:
    with Forky.open(shared, workspace=workspace) as forky:
        chat = make_welcome(forky)
        side = chat.fork("side")
        side.ask("How large is it?")
        before = [message.id for message in chat.path()]
        chat.merge(chat.plan_merge("side"))
        assert chat.path()[-1].merges and len(chat.path()) == len(before) + 1
        chat.undo()
        assert [message.id for message in chat.path()] == before
        assert forky.location is None
        with pytest.raises(NotFound, match="kept by a server"):
            forky.backup()
        log = [operation.id for operation in chat.history.operations]
    with Forky.open(shared, workspace=workspace) as forky:
        again = forky.conversation(chat.id)
        assert [operation.id for operation in again.history.operations] == log
        assert forky.store.verify().clean


def test_a_file_has_no_workspaces_by_name(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="one workspace"):
        open_store(tmp_path / "forky.duckdb", workspace="other")


def test_two_processes_make_the_tables_at_once(server: Server) -> None:
    url = server.database()
    barrier = threading.Barrier(4)

    def opened() -> int:
        barrier.wait(HANG)
        with PostgresStore.open(url, connections=2) as store:
            return len(store.conversations())

    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(opened) for _ in range(4)]
        assert [job.result(HANG) for job in jobs] == [0, 0, 0, 0]
    server.drop(url)


@pytest.mark.parametrize(
    ("change_url", "sentence"),
    [
        (lambda _url: "postgresql://postgres@/x?host=/nowhere", "cannot be reached"),
        (lambda url: urlsplit(url)._replace(path="/missing").geturl(), "There is no database of this name"),
        (lambda url: url.replace("postgres@", "nobody_here@"), "refuses this user or password"),
        (lambda _url: "postgresql://localhost:1/x?connect_timeout=2", "cannot be reached"),
    ],
    ids=["socket", "database", "user", "port"],
)
def test_what_is_wrong_is_said_in_a_sentence(shared: str, change_url: object, sentence: str) -> None:
    assert callable(change_url)
    with pytest.raises(StoreError, match=sentence) as said:
        PostgresStore.open(change_url(shared))
    assert said.value.hint and "postgresql://" not in str(said.value)


def test_another_encoding_is_refused(server: Server) -> None:
    server.execute(
        "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'"
    )
    with pytest.raises(StoreError, match="LATIN1"):
        PostgresStore.open(server.url("latin"))
    server.execute("DROP DATABASE latin WITH (FORCE)")


def test_a_database_that_can_only_be_read_says_so_and_goes_on_when_it_can_be_written(url: str) -> None:
    with PostgresStore.open(url) as store:
        begin(store, said("hello"))
        with only_read(url):
            with pytest.raises(StoreError, match="can only be read"):
                change(store, Change("title", "A talk", "B"))
            assert store.view(HERE).title == "A talk"
        change(store, Change("title", "A talk", "C"))
        assert store.view(HERE).title == "C"


@pytest.mark.long
def test_cut_connections_are_made_anew_and_nothing_is_written_twice(url: str) -> None:
    stop = threading.Event()

    def cut() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            while not stop.wait(0.15):
                connection.execute(CUT)

    with PostgresStore.open(url) as store:
        messages = thread(120)
        begin(store, messages[0])
        cutter = threading.Thread(target=cut)
        cutter.start()
        try:
            for before, message in pairwise(messages):
                move(store, before, message)
        finally:
            stop.set()
            cutter.join(HANG)
        assert [message.id for message in store.path(HERE, messages[-1].id)] == [one.id for one in messages]
        assert len(store.operations(HERE)) == 120
        assert store.verify().clean


def test_who_stops_in_the_middle_of_a_change_keeps_others_waiting_no_longer_than_that(
    shared: str, workspace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HELD_UP", 0.2)
    stopped, goes_on, tries = threading.Event(), threading.Event(), list[str]()

    def stop_in_the_middle(connection: Any) -> str:
        connection.execute(
            "UPDATE forky.conversations SET version = version WHERE workspace = %s", [workspace]
        )
        tries.append("began")
        stopped.set()
        assert goes_on.wait(HANG)
        connection.execute("SELECT 1")
        return "done"

    with (
        PostgresStore.open(shared, workspace=workspace) as first,
        PostgresStore.open(shared, workspace=workspace) as second,
        ThreadPoolExecutor(1) as apart,
    ):
        begin(first, said("hello"))
        asked = apart.submit(first._writer.ask, Alone(stop_in_the_middle))
        assert stopped.wait(HANG)
        change(second, Change("title", "A talk", "Not kept waiting for ever"))
        goes_on.set()
        assert asked.result(HANG) == "done"
        assert tries == ["began", "began"], "it was done again, since nothing of it was kept"
        assert first.view(HERE).title == "Not kept waiting for ever"
        assert first.verify().clean


WRITER = """
import sys
from forky_core.model import Change, ConversationId
from forky_core.store.base.writer import Alone
from forky_core.store.contract import Commit
from forky_core.store.postgresql.store import PostgresStore

store = PostgresStore.open(sys.argv[1])
id = ConversationId(sys.argv[2])
store.commit(Commit(id, "create", "", (Change("count", None, 0),), at=1))
for count in range(1, 1_000_000):
    store.commit(Commit(id, "vote", "", (Change("count", count - 1, count),), at=2))
    print(count, flush=True)
"""


@pytest.mark.long
def test_what_was_acknowledged_survives_a_crash_of_the_server_and_of_its_writers(tmp_path: Path) -> None:
    with running_server() as server:
        server.stop()
        server.start(fsync="on", synchronous_commit="on", full_page_writes="on")
        url = server.database(TEMPLATE)
        outs = [(tmp_path / f"{at}.txt").open("wb") for at in range(3)]
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, url, f"c{at}"],
                cwd=CHECKOUT,
                env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
                stdout=out,
            )
            for at, out in enumerate(outs)
        ]
        try:
            for at in range(3):
                _wait_for(tmp_path / f"{at}.txt", writers[at])
            writers[0].kill()
            server.stop(signal.SIGQUIT)  # As a crash: nothing is written out.
        finally:
            for writer in writers:
                writer.kill()
                writer.wait(HANG)
        server.start(fsync="on", synchronous_commit="on", full_page_writes="on")
        with PostgresStore.open(url) as store:
            for at, out in enumerate(outs):
                out.close()
                lines = [line for line in (tmp_path / f"{at}.txt").read_text().split("\n")[:-1] if line]
                count = store.view(ConversationId(f"c{at}")).entries["count"]
                assert isinstance(count, int)
                assert int(lines[-1]) <= count <= int(lines[-1]) + 1
                assert len(store.operations(ConversationId(f"c{at}"))) == count + 1
            assert store.verify().clean


def _wait_for(file: Path, writer: subprocess.Popen[bytes]) -> None:
    """Until a writer has said that it wrote thirty times."""
    ended = threading.Event()
    for _ in range(int(HANG / 0.05)):
        if file.read_bytes().count(b"\n") > 30:
            return
        assert writer.poll() is None, "the writer has ended"
        ended.wait(0.05)
    pytest.fail("The writer wrote nothing.")


@pytest.mark.long
def test_a_server_that_is_away_for_a_moment_is_waited_for_by_whoever_writes() -> None:
    with running_server() as server:
        url = server.database(TEMPLATE)
        with PostgresStore.open(url) as store, ThreadPoolExecutor(3) as pool:
            begin(store, said("hello"))
            server.stop()
            asked: list[Future[Any]] = [
                pool.submit(store.set_setting, "key", "value"),
                pool.submit(store.put_blob, b"a file", "text/plain"),
                pool.submit(change, store, Change("title", "A talk", "B")),
            ]
            wait(asked, 0.3)
            server.start()
            for one in asked:
                one.result(HANG)
            assert store.view(HERE).title == "B" and store.setting("key") == "value"
            assert store.verify().clean and store.verify().operations == 2


@pytest.mark.long
def test_a_server_that_stays_away_is_said_once_for_all_that_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_CUT_FOR", 0.1)
    with running_server() as server:
        url = server.database(TEMPLATE)
        with PostgresStore.open(url) as store:
            begin(store, said("hello"))
            server.stop()
            commits = [
                Commit(HERE, "rename", "", (Change(f"note/{at}", None, at),), at=at + 10) for at in range(40)
            ]
            with pytest.raises(StoreError, match=r"cannot be reached|starting or stopping"):
                store.commit_all(commits)
            with pytest.raises(StoreError, match=r"cannot be reached|starting or stopping"):
                store.set_setting("key", "value")
            server.start()
            assert store.commit_all(commits)[-1].number == 41
