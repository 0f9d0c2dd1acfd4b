"""Word that a conversation has moved, over a real connection."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from forky_core.gateway.moving import PREFIX, Moving
from forky_core.model import ConversationId
from forky_core.store.herald import Heard, Herald
from tests.gateway.served import listening
from tests.hangs import HANG


class Conversations:
    """Versions by id."""

    def __init__(self) -> None:
        self.at = {"here": 3}

        self._herald = Herald()

    def __call__(self, id: str, person: str = "") -> int | None:
        return self.at.get(id)

    def hear(self, heard: Heard) -> Callable[[], None]:
        return self._herald.hear(heard)

    def move(self, id: str, to: int | None) -> None:
        """Give it another version, or delete it, as a store does that tells its listeners."""
        if to is None:
            del self.at[id]
        else:
            self.at[id] = to
        self._herald.tell([ConversationId(id)])


def watching(known: Conversations) -> Moving:
    return Moving(known, known.hear)


@contextmanager
def served(endpoint: Moving) -> Iterator[str]:
    with listening(Starlette(routes=[Route(f"{PREFIX}/{{id}}", endpoint)])) as url:
        yield f"{url}{PREFIX}"


def news(lines: Iterator[str]) -> int:
    """The number in the next event that has one."""
    for line in lines:
        if line.startswith("data:") and line != "data:":
            return int(json.loads(line.removeprefix("data:"))["at"])
    raise AssertionError("The stream ended.")


def test_a_watcher_hears_what_it_does_not_know_and_then_each_move() -> None:
    known = Conversations()
    with served(watching(known)) as url, httpx.stream("GET", f"{url}/here?after=1", timeout=HANG) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        assert news(lines) == 3
        known.move("here", 4)
        assert news(lines) == 4


@pytest.mark.parametrize(("id", "at"), [("here", 3), ("library", 1_795_296_480_511_771)])
def test_whoever_knows_all_hears_nothing_but_that_the_connection_lives(id: str, at: int) -> None:
    known = Conversations()
    known.at[id] = at
    with (
        served(watching(known)) as url,
        httpx.stream("GET", f"{url}/{id}?after={at}", timeout=HANG) as answer,
    ):
        lines = answer.iter_lines()
        assert next(lines) == "event: alive"
        known.move(id, at + 2)
        assert news(lines) == at + 2


def test_whoever_watches_one_conversation_is_told_of_the_list_of_all() -> None:
    known = Conversations()
    known.at["elsewhere"] = 1
    watched = Moving(known, known.hear, beside=lambda _id, _person: {"chats": {"at": known.at["elsewhere"]}})
    with served(watched) as url, httpx.stream("GET", f"{url}/here?after=3", timeout=HANG) as answer:
        lines = answer.iter_lines()
        assert news(lines) == 1
        known.move("elsewhere", 2)
        assert news(lines) == 2


def test_an_unknown_conversation_is_404_and_only_get_is_answered() -> None:
    with served(watching(Conversations())) as url:
        assert httpx.get(f"{url}/elsewhere", timeout=HANG).status_code == 404
        assert httpx.post(f"{url}/here", timeout=HANG).status_code == 405


def test_a_conversation_that_is_deleted_ends_the_stream() -> None:
    known = Conversations()
    with served(watching(known)) as url, httpx.stream("GET", f"{url}/here", timeout=HANG) as answer:
        lines = answer.iter_lines()
        assert news(lines) == 3
        known.move("here", None)
        assert [line for line in lines if line.startswith("data: {")] == []
