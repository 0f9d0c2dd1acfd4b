"""Two processes with one workspace: who writes a reply, who may take it over, and who hears of what changed.

A process is a name here, so that both can be in this one; tests/store/postgresql/test_processes.py kills real ones.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import psycopg
import pytest

from forky_core.conversation.identity import now
from forky_core.forky import Forky
from forky_core.llm.scripted import Until
from forky_core.model import Change, ConversationId, Generation
from forky_core.model.errors import InTheWay, NotFound
from forky_core.model.parts import TextPart
from forky_core.store.contract import Commit, Store
from forky_core.store.postgresql import channel
from forky_core.store.postgresql import store as postgresql
from forky_core.store.postgresql.connection import Connection
from forky_core.store.postgresql.store import PostgresStore
from tests.builders import texts, workspace
from tests.hangs import HANG, eventually
from tests.store.postgresql.server import CUT, Server
from tests.store.talk import HERE, begin, change, generation, said


@pytest.fixture(autouse=True)
def long_awake(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server of the tests has just been started."""
    monkeypatch.setattr(postgresql, "_AWAKE", 0)


Two = tuple[PostgresStore, PostgresStore]


@pytest.fixture
def two(url: str) -> Iterator[Two]:
    with PostgresStore.open(url, process="ours") as ours, PostgresStore.open(url, process="theirs") as theirs:
        yield ours, theirs


def silence(url: str, process: str) -> None:
    """As if nothing had been heard from a process for a minute."""
    with psycopg.connect(url, options="-c forky.workspace=main", autocommit=True) as connection:
        connection.execute(
            "UPDATE forky.processes SET seen = seen - interval '1 min' WHERE process = %s", (process,)
        )


def call(store: Store) -> Generation:
    (found,) = store.generations(HERE)
    return found


def ending(store: Store, ended: Generation) -> None:
    """An operation with which a reply ends."""
    store.commit(Commit(HERE, "reply", "Answered", (Change("note/1", None, 1),), (), (ended,), at=now()))


def test_a_reply_of_a_process_that_lives_is_nobody_elses(two: Two, url: str) -> None:
    ours, theirs = two
    begin(ours, said("hello"))
    running = generation(1)
    ours.record(HERE, running)
    assert ours.running() == theirs.running() == ((HERE, running.id),)
    assert ours.running(abandoned=True) == theirs.running(abandoned=True) == ()
    with pytest.raises(InTheWay, match="Another process"):
        theirs.record(HERE, replace(running, status="stopped"))
    with pytest.raises(InTheWay, match="Another process"):
        ending(theirs, replace(running, status="stopped"))
    assert call(ours).status == "running" and theirs.view(HERE).version == 1


def test_a_reply_of_a_process_that_is_gone_is_taken_over_once_and_for_all(two: Two, url: str) -> None:
    ours, theirs = two
    begin(ours, said("hello"))
    running = replace(generation(1), partial=(TextPart("so far"),))
    ours.record(HERE, running)
    silence(url, "ours")
    assert theirs.running(abandoned=True) == ((HERE, running.id),) and ours.running(abandoned=True) == ()
    theirs.record(HERE, replace(running, status="interrupted"))
    assert theirs.running(abandoned=True) == ()
    for late in (running, replace(running, status="done")):
        with pytest.raises(InTheWay, match="Another process"):
            ours.record(HERE, late)
    with pytest.raises(InTheWay, match="Another process"):
        ending(ours, replace(running, status="done"))
    with PostgresStore.open(url, process="a third") as third, pytest.raises(InTheWay):
        third.record(HERE, replace(running, status="interrupted"))
    assert call(theirs).status == "interrupted"


def test_who_is_heard_again_before_anybody_looked_goes_on(
    two: Two, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "SIGN_EVERY", 0.05)
    ours, theirs = two
    begin(ours, said("hello"))
    ours.record(HERE, generation(1))
    silence(url, "ours")
    eventually(lambda: theirs.running(abandoned=True) == ())
    ours.record(HERE, generation(1, "done"))
    assert call(theirs).status == "done"


def test_a_server_that_has_just_been_started_knows_of_nobody_that_they_are_gone(
    two: Two, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = two
    begin(ours, said("hello"))
    ours.record(HERE, generation(1))
    silence(url, "ours")
    monkeypatch.setattr(postgresql, "_AWAKE", 1_000_000)
    assert theirs.running(abandoned=True) == ()


def test_an_app_that_opens_the_database_leaves_the_replies_of_another_one_alone(url: str) -> None:
    gate = threading.Event()
    ours, models = workspace(PostgresStore.open(url, process="ours"))
    models.one.enqueue("Because ", Until(gate), "of air.")
    chat = ours.create("Boats")
    job = chat.send("Why do they float?")
    assert job is not None
    theirs, _ = workspace(PostgresStore.open(url, process="theirs"))
    with ours, theirs:
        assert theirs.recovered == 0
        eventually(lambda: theirs.store.generations(chat.id)[-1].partial)
        assert theirs.replies.recover() == 0
        same = theirs.conversation(str(chat.id))
        assert [one.replies.is_written_elsewhere for one in (same, chat)] == [True, False]
        with pytest.raises(InTheWay, match="writes the answer"):
            same.replies.start()
        silence(url, "ours")
        assert theirs.replies.recover() == 1
        assert texts(same) == ["Why do they float?", "Because "]
        assert [one.replies.is_written_elsewhere for one in (same, chat)] == [False, False]
        gate.set()
        job.wait(HANG)
        failure = job.generation.failure
        assert failure is not None and "Another process" in failure.sentence
        assert texts(theirs.conversation(str(chat.id))) == ["Why do they float?", "Because "]


def test_what_an_import_of_another_process_has_stored_so_far_is_left_alone(url: str) -> None:
    with PostgresStore.open(url, process="ours") as ours:
        name = ours.put_blob(b"a picture", "image/png")
        ours.set_setting("imports/files", json.dumps({f"{ours.process}:1": [name]}))
        Forky.over(PostgresStore.open(url, process="theirs")).close()
        assert ours.blob(name).content == b"a picture"
        silence(url, "ours")
        Forky.over(PostgresStore.open(url, process="theirs")).close()
        with pytest.raises(NotFound):
            ours.blob(name)


def heard(store: Store) -> tuple[set[ConversationId], Callable[[], None]]:
    named: set[ConversationId] = set()
    return named, store.hear(named.add)


def test_what_another_process_changes_is_heard(two: Two) -> None:
    ours, theirs = two
    named, forget = heard(theirs)
    begin(ours, said("hello"))
    eventually(lambda: named == {HERE})
    named.clear()
    change(ours, Change("title", "A talk", "B"))
    eventually(lambda: named == {HERE})  # Nothing is under way any more that could be heard below.
    named.clear()
    change(theirs, Change("title", "B", "C"))
    assert named == {HERE}, "one's own at once"
    forget()
    named.clear()
    changed, _ = heard(theirs)
    change(ours, Change("title", "C", "D"))
    eventually(lambda: changed == {HERE})
    assert named == set()


def test_two_workspaces_hear_nothing_of_each_other(url: str) -> None:
    with (
        PostgresStore.open(url, workspace="a") as a,
        PostgresStore.open(url, workspace="b") as b,
        PostgresStore.open(url, workspace="b") as other_b,
    ):
        named, _ = heard(b)
        begin(a, said("hello"))
        other = ConversationId("another")
        begin(other_b, said("hello"), here=other)
        eventually(lambda: named == {other})


def test_news_that_were_missed_while_the_connection_was_cut_are_found(
    two: Two, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = two
    begin(ours, said("hello"))
    missed = ConversationId("another")
    cut, noticed = threading.Event(), threading.Event()
    named, _ = heard(theirs)
    change(ours, Change("title", "A talk", "B"))
    eventually(lambda: named == {HERE})
    connects = theirs._others._channel._connect

    def late() -> Connection:
        noticed.set()
        cut.wait(HANG)
        return connects()

    monkeypatch.setattr(theirs._others._channel, "_connect", late)
    try:
        with psycopg.connect(url) as asking:
            asking.execute(CUT)
        assert noticed.wait(HANG)
        begin(ours, said("hello"), here=missed)
        assert missed not in named
    finally:
        cut.set()
    eventually(lambda: missed in named)


def test_news_of_whoever_is_cut_off_are_told_over_the_next_connection(
    two: Two, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = two
    give_sign, take = ours._others.give_sign, ours._others.take
    used: list[Connection] = []
    cuts: list[int] = []

    def noted(connection: Connection, *, hears: bool) -> None:
        used.append(connection)
        give_sign(connection, hears=hears)

    def take_and_cut() -> Sequence[str]:
        messages = take()
        if messages and not cuts:
            cuts.append(1)
            used[-1].close()
        return messages

    monkeypatch.setattr(ours._others, "give_sign", noted)
    monkeypatch.setattr(ours._others, "take", take_and_cut)
    named, _ = heard(theirs)
    begin(ours, said("hello"))
    eventually(lambda: named == {HERE} and len({id(one) for one in used}) == 2)
    assert cuts == [1]


def test_a_cluster_that_cannot_listen_is_asked_from_time_to_time(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "SIGN_EVERY", 0.05)
    ours, theirs = two
    theirs._others.topic = "no such; syntax"
    begin(ours, said("hello"))
    named, _ = heard(theirs)
    change(ours, Change("title", "A talk", "B"))
    eventually(lambda: named == {HERE})
