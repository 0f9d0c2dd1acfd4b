"""Streams of events: one member of a team leaves room for the others."""

from __future__ import annotations

import asyncio
from typing import Any

from forky_core.gateway.asgi import Receive, Send
from forky_core.gateway.events import EventStream
from tests.loops import finished


class Waiting(EventStream[str]):
    """A stream that lasts until the test ends it."""

    unknown = "Nothing."

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.over = asyncio.Event()

    async def _found(self, id: str, person: str) -> str:
        return f"{id} {person}"

    async def _tell(self, thing: str, known: int, /, receive: Receive, send: Send) -> None:
        del thing, known, receive
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await self.over.wait()


async def opened(stream: Waiting, person: str, client: str = "") -> tuple[int, asyncio.Task[None]]:
    """The status of one more stream of this person, and the request."""
    status: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            status.set_result(message["status"])

    async def receive() -> Any:
        await asyncio.sleep(3600)

    headers = [(b"x-forky-person", person.encode())] if person else []
    scope: Any = {
        "type": "http",
        "method": "GET",
        "headers": headers,
        "query_string": b"",
        "path_params": {"id": "x"},
        "client": (client, 1) if client else None,
    }
    task = asyncio.ensure_future(stream(scope, receive, send))
    return await status, task


def test_one_viewer_does_not_shut_the_others_out() -> None:
    async def crowd() -> None:
        stream = Waiting(50)
        first = [await opened(stream, "person:mallory") for _ in range(60)]
        assert [status for status, _ in first].count(200) == 10
        others = [await opened(stream, f"person:{number}") for number in range(40)]
        assert {status for status, _ in others} == {200}
        late, late_task = await opened(stream, "person:late")
        assert late == 503, "the server has room for fifty"
        stream.over.set()
        await asyncio.gather(*(task for _, task in (*first, *others)), late_task)
        assert (stream.watchers, len(stream._of)) == (0, 0)

    finished(crowd())


def test_on_the_server_of_one_person_every_tab_is_theirs() -> None:
    async def tabs() -> None:
        stream = Waiting(50)
        found = [await opened(stream, "") for _ in range(51)]
        assert [status for status, _ in found] == [*[200] * 50, 503]
        stream.over.set()
        await asyncio.gather(*(task for _, task in found))

    finished(tabs())


def test_whoever_follows_without_signing_in_leaves_room_for_other_networks() -> None:
    async def crowd() -> None:
        stream = Waiting(20)
        first = [await opened(stream, "", f"2001:db8::{number + 1}") for number in range(15)]
        assert [status for status, _ in first].count(200) == 10, "one network"
        others = [await opened(stream, "", f"203.0.113.{number}") for number in range(9)]
        assert {status for status, _ in others} == {200}
        stream.over.set()
        await asyncio.gather(*(task for _, task in (*first, *others)))
        assert (stream.watchers, len(stream._of)) == (0, 0)

    finished(crowd())
