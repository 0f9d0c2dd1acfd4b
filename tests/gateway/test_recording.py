"""What becomes of calls in the Library: as they happen, branching where the client branched, and never lost."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from forky_core.gateway.tokens import Tokens
from forky_core.gateway.v1 import exchange
from forky_core.llm.scripted import Hang, Until
from forky_core.model import ConversationId, Generation
from forky_core.store.opening import open_store
from tests.builders import ScriptedModels
from tests.gateway.served import Served, at_upstream, forwarding, serving
from tests.hangs import HANG, eventually
from tests.llm.third_party import ANSWER, Aimock
from tests.llm.wire import HEAD, chunk


def ask(*texts: str, model: str = "scripted/one", **more: Any) -> dict[str, Any]:
    """User and assistant in turns."""
    roles = ("user", "assistant")
    messages = [{"role": roles[number % 2], "content": text} for number, text in enumerate(texts)]
    return {"model": model, "messages": messages, **more}


def post(served: Served, body: dict[str, Any], **headers: str) -> httpx.Response:
    with served.client() as client:
        return client.post("/chat/completions", json=body, headers=headers)


def generations(served: Served) -> list[Generation]:
    return [
        generation
        for summary in served.forky.conversations()
        for generation in served.forky.store.generations(summary.id)
    ]


def ended(served: Served) -> list[Generation]:
    eventually(lambda: all(one.status != "running" for one in generations(served)))
    return generations(served)


def test_a_growing_array_is_one_path_and_a_changed_one_a_branch(spoken: Served) -> None:
    first = post(spoken, ask("Hi")).json()["choices"][0]["message"]["content"]
    second = post(spoken, ask("Hi", first, "And then?")).json()["choices"][0]["message"]["content"]
    post(spoken, ask("Hi", first, "Or else?"))
    assert spoken.paths() == [
        ["Hi", first, "And then?", second],
        ["Hi", first, "Or else?", "one says: Or else?"],
    ]


def test_a_session_named_in_a_header_is_one_path_although_its_first_message_changes(spoken: Served) -> None:
    texts = ["It is 10:30. Why?"]
    for turn in range(4):
        texts[0] = f"It is 10:3{turn}. Why?"
        answer = post(spoken, ask(*texts), **{"x-forky-thread": "a"}).json()["choices"][0]["message"][
            "content"
        ]
        texts += [answer, f"And {turn}?"]
    [path] = spoken.paths()
    assert path == ["It is 10:30. Why?", *texts[1:-1]]


def test_a_recorded_call_goes_on_in_the_session_that_it_names(spoken: Served) -> None:
    post(spoken, ask("It is 10:30. Why?"), **{"x-forky-thread": "a"})
    texts = ["It is 10:31. Why?", "one says: It is 10:30. Why?"]
    told: dict[str, Any] = {}
    for turn, named in enumerate(({"session": "a"}, {})):
        texts += [f"And {turn}?"]
        told = {"forky": "call", "request": ask(*texts), **named}
        told["response"] = {"choices": [{"message": {"content": f"Because {turn}."}}]}
        headers = {} if named else {"x-forky-thread": "a"}
        with spoken.client() as client:
            assert client.post("/forky/record", json=told, headers=headers).json()["recorded"]
        texts += [f"Because {turn}."]
    [path] = spoken.paths()
    assert path == ["It is 10:30. Why?", *texts[1:]]
    with spoken.client(spoken.tokens.make("other").text) as client:
        client.post("/forky/record", json={**told, "session": "a"})
    assert len(spoken.forky.conversations()) == 2, "another token's session of the same id is another one"


def test_a_conversation_is_titled_and_says_who_asked(spoken: Served) -> None:
    post(spoken, ask("Name a port"), **{"user-agent": "aider/0.86 (Linux)"})
    (summary,) = spoken.forky.conversations()
    assert (summary.title, summary.program) == ("Name a port", "test (aider)")
    assert {operation.actor for operation in spoken.forky.store.operations(summary.id)} == {"test (aider)"}


def test_an_answer_says_where_it_was_filed(spoken: Served) -> None:
    answer = post(spoken, ask("Hi"))
    streamed = post(spoken, ask("Hello", stream=True))
    for one in (answer, streamed):
        assert one.headers["x-forky-recorded"] == "yes"
        chat = spoken.forky.conversation(one.headers["x-forky-conversation"], one.headers["x-forky-branch"])
        question, reply = chat.path()
        assert question.id == one.headers["x-forky-message"]
        assert one.headers.get("x-forky-reply", reply.id) == reply.id


def test_tokens_do_not_share_trees(spoken: Served) -> None:
    other = spoken.tokens.make("other")
    post(spoken, ask("Hi"))
    with spoken.client(other.text) as client:
        client.post("/chat/completions", json=ask("Hi"))
    assert len(spoken.forky.conversations()) == 2


def test_a_client_that_leaves_interrupts_the_reply(spoken: Served, scripted: ScriptedModels) -> None:
    scripted.one.enqueue("Half of", Hang())
    with (
        spoken.client() as client,
        client.stream("POST", "/chat/completions", json=ask("Go", stream=True)) as response,
    ):
        heard = ""
        for piece in response.iter_text():
            heard += piece
            if "Half of" in heard:
                break
    (generation,) = ended(spoken)
    assert generation.status == "interrupted"
    assert generation.failure is not None and exchange.CLIENT_LEFT in generation.failure.sentence
    assert spoken.paths() == [["Go", "Half of"]]


def test_a_client_that_leaves_a_forwarded_stream_hangs_up_the_upstream(aimock: Aimock) -> None:
    with forwarding([HEAD, chunk("Half of")], keep_open=True) as (upstream, served):
        with (
            served.client() as client,
            client.stream(
                "POST", "/chat/completions", json=ask("Go", model="gpt-4o", stream=True)
            ) as response,
        ):
            next(response.iter_raw())
        assert upstream.hung_up.wait(HANG)
        (generation,) = ended(served)
        assert generation.status == "interrupted"
        assert served.paths() == [["Go", "Half of"]]


def test_who_leaves_an_answer_in_one_piece_finds_it_whole(spoken: Served, scripted: ScriptedModels) -> None:
    go = threading.Event()
    scripted.one.enqueue("Late.", Until(go), " And whole.")
    with spoken.client() as client:
        address, body = httpx.URL(f"{spoken.base_url}/chat/completions"), json.dumps(ask("Go"))
        leaving = http.client.HTTPConnection(address.host, address.port or 80, timeout=HANG)
        head = {"content-type": "application/json", "authorization": client.headers["authorization"]}
        leaving.request("POST", address.path, body, head)
        eventually(spoken.forky.store.running)
        leaving.close()
    go.set()
    (generation,) = ended(spoken)
    assert generation.status == "done"
    assert spoken.paths() == [["Go", "Late. And whole."]]


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([HEAD, chunk("Half of")], id="silently"),
        pytest.param(
            [HEAD.replace(b"\r\n\r\n", b"\r\nContent-Length: 9999\r\n\r\n"), chunk("Half of")], id="short"
        ),
    ],
)
def test_an_upstream_that_breaks_off_leaves_an_interrupted_reply(pieces: list[bytes]) -> None:
    with forwarding(pieces) as (_upstream, served):
        response = post(served, ask("Go", model="gpt-4o", stream=True))
        assert b"Half of" in response.content
        assert b"[DONE]" not in response.content
        (generation,) = ended(served)
        assert generation.status == "interrupted"
        assert served.paths() == [["Go", "Half of"]]


def test_a_stopping_server_keeps_what_had_arrived(scripted: ScriptedModels) -> None:
    scripted.one.enqueue("Half of", Hang())
    with serving(scripted) as served:
        heard = threading.Event()

        def listen() -> bytes:
            with (
                served.client() as client,
                client.stream("POST", "/chat/completions", json=ask("Go", stream=True)) as response,
            ):
                pieces = b""
                for piece in response.iter_raw():
                    pieces += piece
                    if b"Half of" in pieces:
                        heard.set()
                return pieces

        with ThreadPoolExecutor(1) as pool, pytest.MonkeyPatch.context() as patch:
            listening = pool.submit(listen)
            assert heard.wait(HANG)
            patch.setattr(exchange, "server_stops", lambda: True)
            assert exchange.SERVER_STOPS.encode() in listening.result(HANG)
        (generation,) = ended(served)
        assert generation.status == "interrupted"
        assert served.paths() == [["Go", "Half of"]]


def test_a_person_can_stop_a_programs_reply(spoken: Served, scripted: ScriptedModels) -> None:
    go = threading.Event()
    scripted.one.enqueue("Half of", Until(go), " more", " and more")
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(post, spoken, ask("Go", stream=True))
        eventually(lambda: any(job.text for job in spoken.forky.replies.running()))
        spoken.forky.replies.running()[0].stop()
        go.set()
        assert exchange.STOPPED in answer.result(HANG).text
    (generation,) = ended(spoken)
    assert generation.status == "stopped"
    assert spoken.paths() == [["Go", "Half of"]]


def test_a_stored_answer_is_given_again_where_it_is_wanted(spoken: Served, scripted: ScriptedModels) -> None:
    exact = ask("Hi", temperature=0)
    first = post(spoken, exact)
    again = post(spoken, exact, **{"x-forky-reuse": "yes"})
    streamed = post(spoken, {**exact, "stream": True}, **{"x-forky-reuse": "yes"})
    fresh = post(spoken, exact)
    assert len(scripted.one.requests) == 2
    assert [one.headers.get("x-forky-reused") for one in (first, again, streamed, fresh)] == [
        None,
        "yes",
        "yes",
        None,
    ]
    assert again.json()["choices"] == first.json()["choices"]
    assert {one.headers["x-forky-reply"] for one in (first, again, streamed)} == {
        first.headers["x-forky-reply"]
    }
    assert len(spoken.paths()) == 1


def test_a_conversation_that_gives_answers_again_asks_no_upstream(gateway: Served) -> None:
    exact = {**ask("say hello", temperature=0), "model": "gpt-4o"}
    first = post(gateway, exact)
    conversation = ConversationId(first.headers["x-forky-conversation"])
    gateway.forky.conversation(conversation).calls.set_reuse(on=True)
    again = post(gateway, exact)
    assert (again.headers["x-forky-reused"], "x-forky-upstream" in again.headers) == ("yes", False)
    assert (
        again.json()["choices"][0]["message"]["content"] == first.json()["choices"][0]["message"]["content"]
    )
    for fresh in (
        post(gateway, exact, **{"x-forky-reuse": "no"}),
        post(gateway, {**exact, "temperature": 1}),
    ):
        assert ("x-forky-reused" in fresh.headers, "x-forky-upstream" in fresh.headers) == (False, True)
    assert gateway.forky.conversation(conversation).calls.reuse.hits == 1


def test_the_same_question_twice_at_once_may_be_answered_once_where_reuse_is_on(spoken: Served) -> None:
    exact = ask("Hi", temperature=0)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: post(spoken, exact, **{"x-forky-reuse": "yes"}), range(4)))
    assert {one.json()["choices"][0]["message"]["content"] for one in answers} == {"one says: Hi"}
    assert spoken.paths() == [["Hi", "one says: Hi"]]
    asked = len(ended(spoken))
    reuse = spoken.forky.reuse()
    assert (asked, reuse.hits + reuse.misses) == (4, 4)
    assert reuse.hits == sum("x-forky-reused" in one.headers for one in answers)


def test_the_same_question_twice_at_once_is_one_message(spoken: Served) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: post(spoken, ask("Hi")), range(8)))
    assert {one.status_code for one in answers} == {200}
    assert spoken.paths() == [["Hi", "one says: Hi"]]
    assert len(ended(spoken)) == 8


@pytest.fixture
def on_disk(aimock: Aimock, tmp_path: Path) -> Iterator[Served]:
    with serving(at_upstream(aimock.base_url), open_store(tmp_path / "forky.duckdb")) as served:
        yield served


def test_a_hundred_streams_at_once_are_all_whole_and_all_recorded(on_disk: Served) -> None:
    def stream(number: int) -> str:
        body = ask(f"{number}: say hello", model="gpt-4o", stream=True)
        with on_disk.client() as client:
            client.timeout = httpx.Timeout(HANG)
            return client.post("/chat/completions", json=body).text

    with ThreadPoolExecutor(100) as pool:
        said = list(pool.map(stream, range(100)))
    assert all(one.endswith("data: [DONE]\n\n") for one in said)
    assert sorted(on_disk.paths()) == sorted([f"{number}: say hello", ANSWER] for number in range(100))
    assert {one.status for one in ended(on_disk)} == {"done"}
    assert on_disk.forky.verify().clean


def test_what_was_spent_is_saved_when_the_server_ends(aimock: Aimock, tmp_path: Path) -> None:
    with serving(at_upstream(aimock.base_url), open_store(tmp_path / "forky.duckdb")) as served:
        post(served, {**ask("count my tokens"), "model": "gpt-4o"})
        eventually(lambda: served.tokens.account(served.made.token).in_all.dollars > 0)
        token, spent = served.made.token, served.tokens.account(served.made.token)
    with closing(open_store(tmp_path / "forky.duckdb")) as store:
        assert Tokens(store).account(token) == spent
