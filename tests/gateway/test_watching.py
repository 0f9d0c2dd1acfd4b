"""A reply over HTTP, as a browser would watch it: a real server on a real socket."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from forky_core.conversation.replies import replies
from forky_core.conversation.replies.reply_job import ReplyJob
from forky_core.conversation.workspace import Workspace
from forky_core.gateway import events as streams
from forky_core.gateway import watching
from forky_core.gateway.access.gate import Gate
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.sign_in import SignIn
from forky_core.gateway.watching import PREFIX, Watching
from forky_core.llm.contract import ReasoningDelta
from forky_core.llm.scripted import Hang, Step, Until
from tests.builders import ScriptedModels, workspace
from tests.gateway.served import listening
from tests.hangs import HANG, eventually
from tests.loops import finished


@dataclass
class Served:
    """A workspace behind a server."""

    url: str
    forky: Workspace
    models: ScriptedModels
    watching: Watching
    open: list[ReplyJob] = field(default_factory=list)

    def ask(self, *steps: Step) -> ReplyJob:
        self.models.one.enqueue(*steps)
        job = self.forky.create().send("Go on")
        self.open.append(job)
        return job

    def address(self, job: ReplyJob, after: int | str = 0) -> str:
        return f"{self.url}{PREFIX}/{job.generation.id}?after={after}"


@contextmanager
def serving(most: int = watching.MOST) -> Iterator[Served]:
    forky, models = workspace()
    endpoint = Watching(lambda id, _person: forky.replies.find(id), most=most)
    guard = Middleware(Gate, sign_in=SignIn(Origins()))
    app = Starlette(routes=[Route(f"{PREFIX}/{{id}}", endpoint)], middleware=[guard])
    with listening(app) as url:
        served = Served(url, forky, models, endpoint)
        try:
            yield served
        finally:
            for job in served.open:
                job.stop()


@pytest.fixture
def server() -> Iterator[Served]:
    with serving() as served:
        yield served


@contextmanager
def watched(url: str) -> Iterator[Iterator[tuple[str, dict[str, object]]]]:
    """The events of a stream: kind and data."""
    with httpx.stream("GET", url, timeout=HANG, trust_env=False) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        yield events(response.iter_lines())


def events(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, object]]]:
    kind, data = "message", ""
    for line in lines:
        if line.startswith("event: "):
            kind = line[7:]
        elif line.startswith("data:"):
            data = line[5:].strip()
        elif not line:
            yield kind, json.loads(data or "{}")
            kind, data = "message", ""


def heard(url: str, then: Callable[[], None] = lambda: None) -> tuple[str, str, int]:
    """All of a stream up to its end: text, reasoning, position. `then` is called once it is open."""
    text = reasoning = ""
    at = -1
    with watched(url) as stream:
        then()
        for kind, told in stream:
            if kind == "end":
                return text, reasoning, at
            if kind == "message":
                text += str(told.get("text", ""))
                reasoning += str(told.get("reasoning", ""))
                assert isinstance(told["at"], int) and told["at"] > at
                at = told["at"]
    raise AssertionError("The stream was cut.")


def test_the_words_come_as_they_are_said_and_then_the_end(server: Served) -> None:
    gate = threading.Event()
    job = server.ask(ReasoningDelta("Hm. "), "Hello", Until(gate), " you")
    with watched(server.address(job)) as stream:
        text = ""
        for kind, told in stream:
            text += str(told.get("text", ""))
            if text == "Hello":
                gate.set()
            if kind == "end":
                break
        assert text == "Hello you"
    eventually(lambda: not job.running)
    eventually(lambda: server.watching.watchers == 0)


def test_whoever_comes_again_misses_and_repeats_nothing(server: Served) -> None:
    gate = threading.Event()
    job = server.ask("one ", ReasoningDelta("why"), "two ", Until(gate), "three ", "four")
    eventually(lambda: job.since(0).position == 3)
    with watched(server.address(job)) as stream:
        kind, told = next(stream)
    assert (kind, told) == ("message", {"at": 3, "text": "one two ", "reasoning": "why"})
    assert heard(server.address(job, 3), gate.set)[:2] == ("three four", "")


def test_half_a_character_at_the_end_of_a_piece_survives(server: Served) -> None:
    gate = threading.Event()
    job = server.ask("\ud83d", Until(gate), "\ude00 <b>\u2028\n\n", "data: x")
    with watched(server.address(job)) as stream:
        assert next(stream)[1]["text"] == "\ud83d"
    assert heard(server.address(job, 1), gate.set)[0] == "\ude00 <b>\u2028\n\ndata: x"


def test_a_resumed_reply_begins_with_what_it_had_said(server: Served) -> None:
    server.models.one.enqueue("Once", Hang())
    chat = server.forky.create()
    first = chat.send("Tell me")
    eventually(lambda: first.text == "Once")
    first.stop()
    first.wait(HANG)
    gate = threading.Event()
    server.models.one.enqueue(Until(gate), " upon a time")
    job = chat.replies.resume()
    server.open.append(job)
    with watched(server.address(job)) as stream:
        assert next(stream)[1] == {"at": 1, "text": "Once"}
    assert heard(server.address(job, 1), gate.set)[0] == " upon a time"


def test_a_stopped_reply_ends_the_stream(server: Served) -> None:
    job = server.ask("Half", Hang())
    with watched(server.address(job)) as stream:
        assert next(stream)[1]["text"] == "Half"
        job.stop()
        assert "end" in [kind for kind, _ in stream]


def test_silence_is_broken_by_a_sign_of_life(server: Served) -> None:
    job = server.ask("Well", Hang())
    with watched(server.address(job)) as stream:
        assert [next(stream)[0], next(stream)[0]] == ["message", "alive"]


@pytest.mark.parametrize("after", [0, 1])
def test_whoever_comes_after_the_end_gets_what_is_missing_and_the_end(server: Served, after: int) -> None:
    job = server.ask("Done")
    job.wait(HANG)
    eventually(lambda: not server.forky.replies.running())
    with watched(server.address(job, after)) as stream:
        told = list(stream)
    assert told[-1][0] == "end"
    assert [one[1].get("text") for one in told[:-1]] == ["Done"][after:]


def test_unknown_and_old_replies_are_not_found(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "_ENDED", 1)
    first, second = server.ask("One"), server.ask("Two")
    for job in (first, second):
        job.wait(HANG)
    eventually(lambda: server.forky.replies.find(first.generation.id) is None)
    for url in (server.address(first), f"{server.url}{PREFIX}/nothing", f"{server.url}{PREFIX}/%00"):
        assert httpx.get(url, trust_env=False).status_code == 404


def test_only_our_own_pages_may_watch(server: Served) -> None:
    job = server.ask("Secret", Hang())
    for headers in ({"origin": "https://evil.example"}, {"origin": "null"}, {"host": "evil.example"}):
        answer = httpx.get(server.address(job), headers=headers, trust_env=False)
        assert answer.status_code == 403 and "Secret" not in answer.text
    assert httpx.post(server.address(job), trust_env=False).status_code == 405


@pytest.mark.parametrize("after", ["-1", "x", "", "1e3", "٣", "9" * 40])
def test_a_position_that_is_none_begins_anew(server: Served, after: str) -> None:
    job = server.ask("All", Hang())
    eventually(lambda: job.text == "All")
    with watched(server.address(job, after)) as stream:
        assert next(stream)[1] == {"at": 1, "text": "All"}


def test_a_position_beyond_the_end_is_put_right(server: Served) -> None:
    job = server.ask("All", Hang())
    eventually(lambda: job.text == "All")
    with watched(server.address(job, 99)) as stream:
        assert next(stream)[1] == {"at": 1}


def test_nothing_is_left_behind_by_a_client_that_leaves(server: Served) -> None:
    job = server.ask("Well", Hang())
    with watched(server.address(job)) as stream:
        next(stream)
        assert server.watching.watchers == 1
    eventually(lambda: server.watching.watchers == 0 and job._waiting == [])
    assert job.running


def test_one_too_many_is_asked_to_come_again() -> None:
    with serving(most=1) as server:
        job = server.ask("Well", Hang())
        with watched(server.address(job)) as stream:
            next(stream)
            answer = httpx.get(server.address(job), trust_env=False)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        eventually(lambda: server.watching.watchers == 0)
        with watched(server.address(job)) as stream:
            next(stream)


def test_a_client_that_takes_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "STUCK", 0.05)
    forky, models = workspace()
    models.one.enqueue("Well", Hang())
    job = forky.create().send("Go on")
    endpoint = Watching(lambda id, _person: forky.replies.find(id))

    async def silent() -> dict[str, object]:
        await asyncio.Event().wait()
        return {}

    async def stuck(message: object) -> None:
        if isinstance(message, dict) and message["type"] == "http.response.body":
            await asyncio.Event().wait()

    scope = {
        "type": "http",
        "method": "GET",
        "path_params": {"id": job.generation.id},
        "headers": [],
        "query_string": b"",
    }
    finished(asyncio.wait_for(endpoint(scope, silent, stuck), HANG))
    assert endpoint.watchers == 0
    job.stop()


def test_a_server_that_is_told_to_stop_does_not_wait_for_those_who_watch(
    monkeypatch: pytest.MonkeyPatch, server: Served
) -> None:
    job = server.ask("Well", Hang())
    with watched(server.address(job)) as stream:
        next(stream)
        monkeypatch.setattr(watching, "server_stops", lambda: True)
        assert "end" not in [kind for kind, _ in stream]
    assert job.running
