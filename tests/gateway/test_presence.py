"""Who else is in a conversation, over a real connection."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from forky_core.gateway import presence as presence_module
from forky_core.gateway.moving import PREFIX, Moving
from forky_core.gateway.presence import GONE, PATH, Here, Presence, PresenceAt
from forky_core.store.herald import Heard
from tests.gateway.served import listening
from tests.hangs import HANG
from tests.loops import finished

ADA, BEN = {"x-forky-person": "person:ada"}, {"x-forky-person": "person:ben"}


def version(id: str, person: str) -> int | None:
    """Everybody sees `room`; only Ada sees `hers`."""
    return 1 if id == "room" or (id == "hers" and person == "person:ada") else None


def hear(_heard: Heard) -> Callable[[], None]:
    return lambda: None


@contextmanager
def served(presence: Presence) -> Iterator[httpx.Client]:
    routes = [
        Route(f"{PREFIX}/{{id}}", Moving(version, hear, presence=presence)),
        Route(PATH, PresenceAt(presence, version), methods=["POST"]),
    ]
    with listening(Starlette(routes=routes)) as url, httpx.Client(base_url=url, timeout=HANG) as client:
        yield client


def named(person: str) -> str:
    return person.removeprefix("person:").title()


def say(client: httpx.Client, who: dict[str, str], **told: object) -> int:
    said = {"tab": "1", "conversation": "room", "branch": "main", "message": "b2:1"} | told
    return client.post(PATH, headers=who, json=said).status_code


def told(lines: Iterator[str]) -> Any:
    """The next list of who is there."""
    for line in lines:
        if line == "event: here":
            return json.loads(next(lines).removeprefix("data:"))
    raise AssertionError("The stream ended.")


def test_a_watcher_learns_who_comes_types_and_goes() -> None:
    with (
        served(Presence(named)) as client,
        client.stream("GET", f"{PREFIX}/room?after=1", headers=ADA) as answer,
    ):
        lines = answer.iter_lines()
        assert say(client, ADA) == 204
        assert say(client, BEN, typing=True) == 204
        ben = {
            "person": "person:ben",
            "name": "Ben",
            "branch": "main",
            "message": "b2:1",
            "typing": True,
        }
        assert told(lines) == [ben]
        say(client, BEN, message="b2:2")
        assert told(lines) == [ben | {"message": "b2:2", "typing": False}]
        say(client, BEN, gone=True)
        assert told(lines) == []


def test_nobody_is_where_they_may_not_look_and_a_stranger_is_nowhere() -> None:
    presence = Presence(named)
    with served(presence) as client:
        assert say(client, BEN, conversation="hers") == 404
        assert say(client, {}) == 404
        assert client.post(PATH, headers=BEN, content=b"[1]").status_code == 400
        assert client.post(PATH, headers=BEN, content=b"x" * 5_000).status_code == 400
        assert say(client, BEN, tab="") == 404
    assert presence.others("hers", "person:ada") == presence.others("room", "person:ada") == []


def test_one_person_is_there_once_where_they_were_last_and_not_after_a_silence() -> None:
    moment = 0.0
    presence = Presence(named, clock=lambda: moment)
    for tab, message, seen in (("1", "b2:1", 0.0), ("2", "b2:2", 10.0)):
        presence.put(tab, Here("person:ben", "room", "main", message, False, seen))
    assert [one["message"] for one in presence.others("room", "person:ada")] == ["b2:2"]
    moment = 10.0 + GONE
    assert [one["message"] for one in presence.others("room", "person:ada")] == ["b2:2"]
    moment += 1.0
    assert presence.others("room", "person:ada") == []


def test_who_hears_no_more_has_left_and_who_connects_again_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence_module, "LINGERS", 0.0)
    presence = Presence(named)

    def who() -> list[object]:
        return [one["message"] for one in presence.others("room", "person:ada")]

    async def comes_and_goes() -> None:
        here = Here("person:ben", "room", "main", "b2:1", False, time.monotonic())
        for tab in ("1", "2"):
            presence.put(tab, here)
        presence.note("of another server", replace(here, person="person:eve", message="b2:3"))
        with presence.listening("room", "person:ben"), presence.listening("room", "person:ben"):
            pass
        with presence.listening("room", "person:ben"):
            await asyncio.sleep(0.01)
            assert who() == ["b2:1", "b2:3"], "they connected again"
        await asyncio.sleep(0.01)
        assert who() == ["b2:3"]

    finished(comes_and_goes())


def test_a_broken_connection_is_told_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence_module, "LINGERS", 0.0)
    with (
        served(Presence(named)) as client,
        client.stream("GET", f"{PREFIX}/room?after=1", headers=ADA) as answer,
    ):
        lines = answer.iter_lines()
        with client.stream("GET", f"{PREFIX}/room?after=1", headers=BEN) as of_ben:
            bens = of_ben.iter_lines()  # What reads it has to live: it would close the connection.
            next(bens)
            say(client, BEN)
            assert [one["name"] for one in told(lines)] == ["Ben"]
        assert told(lines) == []


def test_who_stays_where_they_are_wakes_nobody_and_does_not_seem_to_have_moved() -> None:
    moment, woken = 0.0, list[str]()
    presence = Presence(named, clock=lambda: moment)
    presence.changed = woken.append
    for tab, message, seen in (("1", "b2:1", 0.0), ("2", "b2:2", 10.0), ("1", "b2:1", 20.0)):
        presence.put(tab, Here("person:ben", "room", "main", message, False, seen))
    assert woken == ["room", "room"]
    assert [one["message"] for one in presence.others("room", "person:ada")] == ["b2:2"]
    presence.put("2", Here("person:ben", "room", "main", "b2:2", True, 21.0))
    assert woken == ["room", "room", "room"], "typing is news"
    presence.put("1", Here("person:ben", "room", "main", "b2:1", False, 40.0))
    moment = 22.0 + GONE
    assert [one["message"] for one in presence.others("room", "person:ada")] == ["b2:1"], "2 fell silent"


def test_nobody_moves_the_tab_of_somebody_else() -> None:
    presence = Presence(named)
    with served(presence) as client:
        say(client, BEN, tab="same")
        say(client, ADA, tab="same", gone=True)
        assert [one["name"] for one in presence.others("room", "person:ada")] == ["Ben"]


def test_what_changes_beside_the_operations_is_told_to_whom_it_is_about() -> None:
    unread = {"person:ada": 0, "person:ben": 0}
    moving = Moving(version, hear, beside=lambda _id, person: {"inbox": {"unread": unread[person]}})
    with (
        listening(Starlette(routes=[Route(f"{PREFIX}/{{id}}", moving)])) as url,
        httpx.Client(base_url=url, timeout=HANG) as client,
        client.stream("GET", f"{PREFIX}/room?after=1", headers=ADA) as of_ada,
        client.stream("GET", f"{PREFIX}/room?after=1", headers=BEN) as of_ben,
    ):
        adas, bens = of_ada.iter_lines(), of_ben.iter_lines()
        assert noticed(adas) == noticed(bens) == 0
        unread["person:ada"] = 2
        moving.wake("person:ada")
        assert noticed(adas) == 2
        unread["person:ben"] = 1
        moving.wake("room")
        assert noticed(bens) == 1


def noticed(lines: Iterator[str]) -> int:
    """The next number of notices that are not read."""
    for line in lines:
        if line == "event: inbox":
            return int(json.loads(next(lines).removeprefix("data:"))["unread"])
    raise AssertionError("The stream ended.")
