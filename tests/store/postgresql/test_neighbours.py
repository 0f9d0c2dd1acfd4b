"""What two servers of one database tell each other about who is present and what has changed."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import NamedTuple

import pytest

from forky_core.gateway.neighbours import Neighbours
from forky_core.gateway.presence import Here, Presence
from forky_core.store.contract import Talk, TalkingStore
from forky_core.store.postgresql.store import PostgresStore
from tests.hangs import HANG
from tests.loops import finished

ADA = Here("person:ada", "room", "main", "b2:1", False, 0.0)


class _Server(NamedTuple):
    presence: Presence
    neighbours: Neighbours
    woken: list[str]
    looks: list[str]


class _Interrupted:
    """A store whose caller is interrupted until the talk that it asked for has begun on another thread."""

    def __init__(self, store: TalkingStore) -> None:
        self._store = store

    def talk(self, topic: str, heard: Callable[[str], None], met: Callable[[Talk], None]) -> Talk:
        begun = threading.Event()

        def noted(talk: Talk) -> None:
            met(talk)
            begun.set()

        talk = self._store.talk(topic, heard, noted)
        assert begun.wait(HANG)
        return talk


@asynccontextmanager
async def joined(url: str, *, interrupted: bool = False) -> AsyncIterator[_Server]:
    woken: list[str] = []
    looks: list[str] = []
    presence = Presence(str)
    neighbours = Neighbours(presence, woken.append, lambda: looks.append("look"))
    with await asyncio.to_thread(PostgresStore.open, url) as store:
        assert isinstance(store, TalkingStore)
        neighbours.join(_Interrupted(store) if interrupted else store)
        neighbours.join(store)
        yield _Server(presence, neighbours, woken, looks)


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(int(HANG / 0.01)):
        if holds():
            return
        await asyncio.sleep(0.01)
    pytest.fail("It did not come about.")


async def meet(one: _Server, other: _Server) -> None:
    """Until the other one hears what this one tells."""
    one.presence.put("ada 1", now(ADA))
    await until(lambda: names(other) == ["person:ada"])


async def settle(one: _Server, other: _Server) -> None:
    """Until each has heard what the other one was asked and what it answered."""
    for teller, hearer in ((other, one), (one, other)):
        teller.neighbours.changed("settled")
        await until(partial(hearer.woken.__contains__, "settled"))
        await asyncio.sleep(0)  # What was heard before is noted now.


def now(here: Here) -> Here:
    return Here(here.person, here.conversation, here.branch, here.message, here.typing, time.monotonic())


def names(server: _Server) -> list[object]:
    return [one["person"] for one in server.presence.others("room", "person:ben")]


def test_who_is_at_one_server_is_seen_at_the_other_and_leaves_there(url: str) -> None:
    async def go() -> None:
        async with joined(url) as one, joined(url) as other:
            one.presence.put("ada 1", now(ADA))
            await until(lambda: names(other) == ["person:ada"])
            assert names(one) == ["person:ada"] and not other.presence.connected()
            one.presence.leave("ada 1")
            await until(lambda: names(other) == [])

    finished(go())


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_server_that_comes_later_is_told_who_is_there(url: str, interrupted: bool) -> None:
    async def go() -> None:
        async with joined(url) as one:
            one.presence.put("ada 1", now(ADA))
            async with joined(url, interrupted=interrupted) as other:
                await until(lambda: names(other) == ["person:ada"])

    finished(go())


def test_a_tab_that_goes_on_at_the_other_server_is_there_once(url: str) -> None:
    async def go() -> None:
        async with joined(url) as one, joined(url) as other:
            await meet(one, other)
            await settle(one, other)
            other.presence.put("ada 1", now(ADA))
            await until(lambda: not one.presence.connected())
            assert names(one) == names(other) == ["person:ada"] and set(other.presence.connected()) == {
                "ada 1"
            }

    finished(go())


def test_whoever_watches_at_another_server_looks_again_and_not_at_what_was_known(url: str) -> None:
    async def go() -> None:
        async with joined(url) as one, joined(url) as other:
            await meet(one, other)
            one.neighbours.changed("club/person:ben")
            await until(lambda: other.woken == ["club/person:ben"])
            assert other.looks == ["look"] and one.woken == []

    finished(go())


def test_what_is_too_long_to_be_passed_on_is_left_out(url: str) -> None:
    async def go() -> None:
        async with joined(url) as one, joined(url) as other:
            await meet(one, other)
            one.neighbours.changed("x" * 9_000)
            one.neighbours.changed("y")
            await until(lambda: other.woken == ["y"])

    finished(go())
