"""LiteLLM itself, with Forky's callback: every call is recorded, and a program never fails because of it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forky_core.formats.importing.landing import import_file
from forky_core.llm import loading
from forky_core.process.scheduling import short_switch_interval
from tests.builders import workspace
from tests.gateway.served import Served
from tests.hangs import HANG, eventually
from tests.llm import wire
from tests.llm.third_party import ANSWER, Aimock, free_port

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture
def litellm() -> Iterator[Any]:
    module = loading.litellm()
    before = list(module.callbacks)
    # It asks for this thread's event loop, makes one where there is none, and leaves it open.
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield module
    asyncio.set_event_loop(None)
    loop.close()
    module.callbacks = before
    for name in (
        "success_callback",
        "failure_callback",
        "_async_success_callback",
        "_async_failure_callback",
    ):
        setattr(module, name, [one for one in getattr(module, name) if type(one).__name__ != "ForkyLogger"])


def logger(**named: Any) -> Any:
    from forky_core.integrations.litellm import ForkyLogger  # noqa: PLC0415 - LiteLLM must be muzzled first

    return ForkyLogger(**named)


def call(litellm: Any, aimock: Aimock, *texts: str, **more: Any) -> Any:
    roles = ("user", "assistant")
    messages = [{"role": roles[number % 2], "content": text} for number, text in enumerate(texts)]
    return litellm.completion(
        model="openai/gpt-4o",
        messages=messages,
        api_base=aimock.base_url,
        api_key="sk-x",
        max_retries=0,
        **more,
    )


def test_calls_reach_a_running_forky(litellm: Any, aimock: Aimock, gateway: Served) -> None:
    records = logger(url=gateway.url, token=gateway.key)
    litellm.callbacks = [records]
    call(litellm, aimock, "say hello", temperature=0)
    eventually(lambda: gateway.paths() == [["say hello", ANSWER]])
    list(call(litellm, aimock, "say hello", ANSWER, "say hello, then", stream=True))
    eventually(lambda: gateway.paths() == [["say hello", ANSWER, "say hello, then", ANSWER]])
    records.close()
    (first,) = (one for one in gateway.forky.conversations() if one.title == "say hello")
    generations = gateway.forky.store.generations(first.id)
    assert [one.status for one in generations] == ["done", "done"]
    assert generations[0].client == "test (litellm)"
    assert generations[0].parameters["temperature"] == 0


def run_to_its_end(program: str, *arguments: str) -> None:
    """One that hangs says where, in each of its threads."""
    watch = f"import faulthandler; faulthandler.dump_traceback_later({0.8 * HANG}, exit=True)"
    subprocess.run(
        [sys.executable, "-c", f"{watch}\n{program}", *arguments], cwd=CHECKOUT, check=True, timeout=HANG
    )


ASYNCHRONOUS = """
import asyncio, sys
from forky_core.integrations.litellm import ForkyLogger
from forky_core.llm import loading

litellm = loading.litellm()
litellm.callbacks = [records := ForkyLogger(url=sys.argv[1], token=sys.argv[2])]

async def main():
    messages = [{"role": "user", "content": "use a tool"}]
    await litellm.acompletion(model="openai/gpt-4o", messages=messages, api_base=sys.argv[3], api_key="sk-x")
    await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
records.close()
"""
"""A program of its own: LiteLLM logs in a task of the program's loop, and keeps one queue for the whole process."""


def test_an_asynchronous_call_reaches_a_running_forky(aimock: Aimock, gateway: Served) -> None:
    program = [sys.executable, "-c", ASYNCHRONOUS, gateway.url, gateway.key, aimock.base_url]
    # Else LiteLLM fetches prices in a thread while it is imported, and on a slow machine the two meet.
    alone = os.environ | {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with subprocess.Popen(
        program, cwd=CHECKOUT, env=alone, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        try:
            eventually(lambda: bool(gateway.forky.conversations()) or running.poll() is not None)
        finally:
            _, said = running.communicate()
    assert running.returncode == 0, said.decode()
    assert [path[0] for path in gateway.paths()] == ["use a tool"]


MANY_LOOPS = """
import asyncio, sys
from forky_core.llm import loading
litellm = loading.litellm()
from forky_core.integrations.litellm import ForkyLogger
url, spool = sys.argv[1:]
litellm.callbacks = [ForkyLogger(spool=spool, client="program")]
model = {"model": "openai/gpt-4o", "api_base": url, "api_key": "sk-x"}
router = litellm.Router(model_list=[{"model_name": "routed", "litellm_params": model}])
asked = iter(range(99))
def messages():
    return [{"role": "user", "content": f"say hello, {next(asked)}"}]
async def stream():
    async for _ in await litellm.acompletion(messages=messages(), stream=True, **model):
        pass
async def several():
    await asyncio.gather(*[litellm.acompletion(messages=messages(), **model) for _ in range(4)])
litellm.completion(messages=messages(), **model)
asyncio.run(litellm.acompletion(messages=messages(), **model))
asyncio.run(stream())
asyncio.run(several())
asyncio.run(router.acompletion(model="routed", messages=messages()))
for _ in litellm.completion(messages=messages(), stream=True, **model):
    pass
asyncio.run(litellm.acompletion(messages=messages(), **model))
"""


def test_calls_of_event_loops_that_end_at_once_are_recorded_too(aimock: Aimock, tmp_path: Path) -> None:
    """LiteLLM's own report of an asynchronous call is lost where the loop ends before it."""
    spool = tmp_path / "calls.jsonl"
    run_to_its_end(MANY_LOOPS, aimock.base_url, str(spool))
    calls = [json.loads(line) for line in spool.read_text("utf-8").splitlines()]
    asked = sorted(call["request"]["messages"][0]["content"] for call in calls)
    assert asked == [f"say hello, {number}" for number in range(10)]
    for call in calls:
        assert call["response"]["choices"][0]["message"]["content"] == ANSWER
        assert isinstance(call["cost"], float)
        assert call["finished"] >= call["started"] > 0


LEFT = """
import asyncio, gc, sys
gc.disable()
from forky_core.llm import loading
litellm = loading.litellm()
from forky_core.integrations.litellm import ForkyLogger
url, spool = sys.argv[1:]
litellm.callbacks = [ForkyLogger(spool=spool)]
named = {"api_base": url, "api_key": "sk-x", "stream": True}
model = {"model": "openai/gpt-4o", **named}
router = litellm.Router(model_list=[{"model_name": "routed", "litellm_params": model}])
def asked(text):
    return [{"role": "user", "content": text}]
def after(stream, chunks):
    for number, _ in enumerate(stream, 1):
        if number == chunks:
            break
    del stream
    gc.collect()
async def left(opening, chunks):
    number = 0
    async for _ in await opening:
        number += 1
        if number == chunks:
            return
after(litellm.completion(messages=asked("say hello, left"), **model), 3)
asyncio.run(left(litellm.acompletion(messages=asked("say hello, left, asynchronous"), **model), 3))
after(router.completion(model="routed", messages=asked("say hello, routed"), stream=True), 3)
asyncio.run(left(router.acompletion(model="routed", messages=asked("say hello, both"), stream=True), 3))
for chunk in litellm.completion(messages=asked("say hello, read"), **model):
    if chunk.choices[0].finish_reason:
        break
gc.collect()
list(litellm.completion(messages=asked("say hello, whole"), **model))
try:
    list(litellm.completion(messages=asked("break off"), max_retries=0, **model))
except Exception:
    pass
held = litellm.completion(messages=asked("say hello, held"), **model)
next(held), next(held)
"""
"""It collects where it says so and nowhere else: a collection that finds a left stream while httpcore holds its lock
waits for that lock for ever, with Forky or without (httpcore 1.0.9, its issue 990)."""


def test_streams_that_a_program_leaves_are_kept_as_interrupted(aimock: Aimock, tmp_path: Path) -> None:
    """LiteLLM reports them to nobody."""
    spool = tmp_path / "calls.jsonl"
    run_to_its_end(LEFT, aimock.base_url, str(spool))
    assert os.name == "nt" or spool.stat().st_mode & 0o777 == 0o600, "others could read what was said"
    calls = [json.loads(line) for line in spool.read_text("utf-8").splitlines()]
    told = {
        call["request"]["messages"][0]["content"]: (
            call["response"]["choices"][0]["message"]["content"],
            call["error"],
        )
        for call in calls
    }
    assert len(calls) == 8, "each once"
    whole = {"say hello, read", "say hello, whole"}
    assert {told.pop(one) for one in whole} == {(ANSWER, "")}
    cut, error = told.pop("break off")
    assert ANSWER.startswith(cut) and error
    for said, why in told.values():
        assert said and said != ANSWER and ANSWER.startswith(said)
        assert "left the stream" in why
    forky, _ = workspace()
    import_file(forky, spool)
    statuses = [
        generation.status
        for summary in forky.conversations()
        for generation in forky.store.generations(summary.id)
    ]
    assert sorted(statuses) == ["done"] * 2 + ["interrupted"] * 6
    forky.close()


def test_a_failed_call_is_recorded_as_failed(litellm: Any, aimock: Aimock, gateway: Served) -> None:
    records = logger(url=gateway.url, token=gateway.key)
    litellm.callbacks = [records]
    with pytest.raises(Exception, match="maximum context length"):
        call(litellm, aimock, "overflow")
    eventually(lambda: gateway.paths() == [["overflow"]])
    records.close()
    (summary,) = gateway.forky.conversations()
    (generation,) = gateway.forky.store.generations(summary.id)
    assert generation.status == "failed"
    assert generation.failure is not None and "context" in generation.failure.sentence


def test_without_a_forky_calls_are_spooled_and_imported_as_a_tree(
    litellm: Any, aimock: Aimock, tmp_path: Path
) -> None:
    spool = tmp_path / "calls.jsonl"
    records = logger(url=f"http://127.0.0.1:{free_port()}", token="forky-x", spool=spool)
    litellm.callbacks = [records]
    call(litellm, aimock, "say hello")
    call(litellm, aimock, "say hello", ANSWER, "say hello, then")
    call(litellm, aimock, "say hello", ANSWER, "use a tool")
    eventually(lambda: spool.exists() and len(spool.read_text().splitlines()) == 3)
    records.close()
    assert "sk-x" not in spool.read_text() and "forky-x" not in spool.read_text()
    forky, _ = workspace()
    done = import_file(forky, spool)
    (id,) = done.conversations
    chat = forky.conversation(id)
    paths = sorted(
        [message.text for message in forky.conversation(id, name).path()] for name in chat.branches
    )
    assert paths == [
        ["say hello", ANSWER, "say hello, then", ANSWER],
        ["say hello", ANSWER, "use a tool", ""],
    ]
    assert not import_file(forky, spool).conversations


def test_a_program_goes_on_where_nothing_can_be_recorded(
    litellm: Any, aimock: Aimock, caplog: pytest.LogCaptureFixture
) -> None:
    records = logger(url=f"http://127.0.0.1:{free_port()}", token="forky-x")
    litellm.callbacks = [records]
    assert call(litellm, aimock, "say hello").choices[0].message.content == ANSWER
    eventually(lambda: 'call.unsent reason="no answer"' in caplog.text)
    records.close()


def test_a_redirect_does_not_carry_the_token_away(
    litellm: Any, aimock: Aimock, caplog: pytest.LogCaptureFixture
) -> None:
    with wire.serving([wire.answer("200 OK", {})]) as elsewhere:
        moved = (
            f"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{elsewhere.port}/\r\nContent-Length: 0\r\n\r\n"
        )
        with wire.serving([moved.encode()]) as server:
            records = logger(url=f"http://127.0.0.1:{server.port}", token="forky-x")
            litellm.callbacks = [records]
            call(litellm, aimock, "say hello")
            eventually(lambda: "call.unsent" in caplog.text)
            records.close()
            assert "bearer forky-x" in server.heads[0].lower()
        assert elsewhere.heads == []


def test_a_listener_may_come_while_streams_begin(litellm: Any) -> None:
    from forky_core.llm.litellm_streams import Streams  # noqa: PLC0415 - LiteLLM must be muzzled first

    def listener() -> Streams:
        return Streams(lambda: False, lambda _: None)

    heard = [listener() for _ in range(500)]
    over = threading.Event()

    def come_and_go() -> None:
        while not over.is_set():
            heard[:50] = [listener() for _ in range(50)]

    coming = threading.Thread(target=come_and_go)
    with short_switch_interval():
        coming.start()
        try:
            for _ in range(100):
                stream = litellm.completion(
                    "openai/gpt-4o", [{"role": "user", "content": "Hi"}], mock_response="Hello", stream=True
                )
                assert "".join(piece.choices[0].delta.content or "" for piece in stream) == "Hello"
        finally:
            over.set()
            coming.join()


def test_a_logger_needs_somewhere_to_put_things(litellm: Any) -> None:
    with pytest.raises(ValueError, match="token"):
        logger()


def test_the_record_endpoint_takes_a_call_once(gateway: Served) -> None:
    told = {
        "forky": "call",
        "id": "one",
        "session": "s",
        "client": "script",
        "request": {"model": "m", "messages": [{"role": "user", "content": "Hi"}]},
        "response": {
            "choices": [
                {"message": {"content": "One."}, "finish_reason": "stop"},
                {"message": {"content": "Two."}},
            ]
        },
        "cost": 0.5,
    }
    with gateway.client() as client:
        first = client.post("/forky/record", json=told).json()
        again = client.post("/forky/record", content=json.dumps(told)).json()
        assert first["recorded"] and again["replies"] == first["replies"]
        for bad in ({}, {**told, "forky": "x"}, {**told, "request": {"messages": [{"role": "king"}]}}):
            assert client.post("/forky/record", json=bad).status_code == 400
        odd = client.post("/forky/record", content=json.dumps({**told, "id": "\ud83d", "session": "\ud83d"}))
        assert odd.json()["recorded"], "half a character in a name"
    generations = gateway.forky.store.generations(first["conversation"])
    messages = gateway.forky.store.messages(first["conversation"]).values()
    assert sorted(message.text for message in messages) == ["Hi", "One.", "Two."]
    assert len(generations) == 2
    assert sum(one.usage.cost or 0 for one in generations) == 0.5
