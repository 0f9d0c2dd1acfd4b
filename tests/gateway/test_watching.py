"""A reply over HTTP, as a browser would watch it: a real server on a real socket."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

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
from forky_core.render.trees import text_of
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

    def address(self, job: ReplyJob) -> str:
        return f"{self.url}{PREFIX}/{job.generation.id}"


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
def watched(url: str) -> Iterator[Iterator[tuple[str, dict[str, Any]]]]:
    """The events of a stream: kind and data."""
    with httpx.stream("GET", url, timeout=HANG, trust_env=False) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        yield events(response.iter_lines())


def events(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    kind, data = "message", ""
    for line in lines:
        if line.startswith("event: "):
            kind = line[7:]
        elif line.startswith("data:"):
            data = line[5:].strip()
        elif not line:
            yield kind, json.loads(data or "{}")
            kind, data = "message", ""


@dataclass
class Reader:
    """What somebody who watches has of a reply."""

    at: int = -1
    blocks: list[list[Any]] = field(default_factory=list)
    rest: str = ""

    def take(self, told: dict[str, Any]) -> None:
        assert told["at"] > self.at and told["first"] == len(self.blocks)
        self.at, (same, rest) = told["at"], told["rest"]
        self.blocks += told["blocks"]
        self.rest = self.rest[:same] + rest

    @property
    def words(self) -> str:
        return "\n".join(
            text_of(tree) for block in (*self.blocks, json.loads(self.rest)["last"]) for tree in block
        )

    @property
    def reasoning(self) -> object:
        return json.loads(self.rest)["reasoning"]


def heard(url: str, then: Callable[[], None] = lambda: None) -> Reader:
    """All of a stream up to its end. `then` is called once it is open."""
    reader = Reader()
    with watched(url) as stream:
        then()
        for kind, told in stream:
            if kind == "end":
                return reader
            if kind == "message":
                reader.take(told)
    raise AssertionError("The stream was cut.")


def first(url: str, pieces: int) -> Reader:
    """What somebody has who leaves when so many pieces are drawn."""
    reader = Reader()
    with watched(url) as stream:
        while reader.at < pieces:
            kind, told = next(stream)
            if kind == "message":
                reader.take(told)
    return reader


def test_the_words_come_drawn_as_they_are_said_and_then_the_end(server: Served) -> None:
    gate = threading.Event()
    job = server.ask(ReasoningDelta("Hm. "), "# Hel", "lo\n\nto **y", Until(gate), "ou** all")
    reader = Reader()
    with watched(server.address(job)) as stream:
        for kind, told in stream:
            if kind == "message":
                reader.take(told)
            if reader.at == 3:
                assert [tree for block in reader.blocks for tree in block] == [["h1", 0, "Hello"]]
                assert json.loads(reader.rest)["last"] == [["p", 0, "to ", ["strong", 0, "y"]]]
                gate.set()
            if kind == "end":
                break
    assert (reader.words, reader.reasoning) == ("Hello\nto you all", "Hm. ")
    eventually(lambda: not job.running)
    eventually(lambda: server.watching.watchers == 0)


def test_an_event_has_what_is_new_and_no_more(server: Served) -> None:
    gate = threading.Event()
    job = server.ask("```\n" + "code\n" * 2_000, Until(gate), "more")
    with watched(server.address(job)) as stream:
        sizes: list[int] = []
        for kind, told in stream:
            if kind == "message" and told["at"]:
                sizes.append(len(json.dumps(told)))
                gate.set()
    assert sizes[0] > 10_000 and sizes[-1] < 300


def test_whoever_comes_again_is_sent_all_that_is_drawn(server: Served) -> None:
    gate = threading.Event()
    job = server.ask("one\n\n", ReasoningDelta("why"), "two ", Until(gate), "three ", "four")
    reader = first(server.address(job), 3)
    assert (reader.words, reader.reasoning) == ("one\ntwo", "why")
    again = heard(server.address(job), gate.set)
    assert (again.words, again.reasoning) == ("one\ntwo three four", "why")


def test_half_a_character_at_the_end_of_a_piece_survives(server: Served) -> None:
    gate = threading.Event()
    job = server.ask("\ud83d", Until(gate), "\ude00 <b>\u2028x\n\n", "data: x")
    assert first(server.address(job), 1).words == ""
    assert heard(server.address(job), gate.set).words == "😀 <b>\u2028x\ndata: x"


def test_a_resumed_reply_begins_with_what_it_had_said(server: Served) -> None:
    server.models.one.enqueue("Once", Hang())
    chat = server.forky.create()
    begun = chat.send("Tell me")
    eventually(lambda: begun.text == "Once")
    begun.stop()
    begun.wait(HANG)
    gate = threading.Event()
    server.models.one.enqueue(Until(gate), " upon a time")
    job = chat.replies.resume()
    server.open.append(job)
    assert first(server.address(job), 1).words == "Once"
    assert heard(server.address(job), gate.set).words == "Once upon a time"


def test_a_stopped_reply_ends_the_stream(server: Served) -> None:
    job = server.ask("Half", Hang())
    eventually(lambda: job.text == "Half")
    with watched(server.address(job)) as stream:
        assert "Half" in next(stream)[1]["rest"][1]
        job.stop()
        assert "end" in [kind for kind, _ in stream]


def test_silence_is_broken_by_a_sign_of_life(server: Served) -> None:
    job = server.ask("Well", Hang())
    eventually(lambda: job.text == "Well")
    with watched(server.address(job)) as stream:
        assert [next(stream)[0], next(stream)[0]] == ["message", "alive"]


def test_whoever_comes_after_the_end_of_a_short_reply_gets_it_and_its_end(server: Served) -> None:
    job = server.ask("Done")
    job.wait(HANG)
    eventually(lambda: not server.forky.replies.running())
    assert heard(server.address(job)).words == "Done"


def test_unknown_and_old_replies_are_not_found(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "_ENDED", 1)
    one, other = server.ask("One"), server.ask("Two")
    for job in (one, other):
        job.wait(HANG)
    eventually(lambda: server.forky.replies.find(one.generation.id) is None)
    for url in (server.address(one), f"{server.url}{PREFIX}/nothing", f"{server.url}{PREFIX}/%00"):
        assert httpx.get(url, trust_env=False).status_code == 404


def test_only_our_own_pages_may_watch(server: Served) -> None:
    job = server.ask("Secret", Hang())
    for headers in ({"origin": "https://evil.example"}, {"origin": "null"}, {"host": "evil.example"}):
        answer = httpx.get(server.address(job), headers=headers, trust_env=False)
        assert answer.status_code == 403 and "Secret" not in answer.text
    assert httpx.post(server.address(job), trust_env=False).status_code == 405


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
