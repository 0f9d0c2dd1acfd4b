from __future__ import annotations

import copy
from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

import pytest

from forky_core.llm import loading
from forky_core.llm.contract import (
    Done,
    Failed,
    ModelEvent,
    ModelInfo,
    ReasoningDelta,
    Request,
    TextDelta,
    ToolCallDone,
)
from forky_core.llm.failures import CallContext
from forky_core.llm.litellm_model import LiteLLMModel, ModelConnection, Patience
from forky_core.model import Failure
from tests.hangs import HANG
from tests.llm import wire
from tests.llm.third_party import ANSWER, Aimock, free_port

KEY = "sk-test-0123456789abcdef"


def model(
    base_url: str, name: str = "openai/gpt-4o", *, key: str | None = KEY, patience: Patience | None = None
) -> LiteLLMModel:
    info = ModelInfo(name, name, "OpenAI", input_price=2e-6, output_price=1e-5, cached_input_price=5e-7)
    asked = CallContext(name, "OpenAI", "OPENAI_API_KEY", secrets=(key,) if key else ())
    style = name.partition("/")[0]
    return LiteLLMModel(info, ModelConnection(name, asked, key, True, base_url, style), patience)


def ask(text: str, **parameters: Any) -> Request:
    messages = ({"role": "system", "content": "Be brief."}, {"role": "user", "content": text})
    return Request("gpt-4o", messages, parameters, cache_key="conversation-1")


def run(asked: LiteLLMModel, request: Request) -> list[ModelEvent]:
    return list(asked.stream(request, Event()))


def text(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def failure(events: list[ModelEvent]) -> Failure:
    end = events[-1]
    assert isinstance(end, Failed)
    assert not any(isinstance(event, Done | Failed) for event in events[:-1])
    return end.failure


@pytest.fixture(params=["openai/gpt-4o", "anthropic/claude-sonnet-4-5"])
def either(request: pytest.FixtureRequest, aimock: Aimock) -> LiteLLMModel:
    """The same server, spoken to in OpenAI's and in Anthropic's protocol."""
    name = request.param
    return model(aimock.base_url if name.startswith("openai") else aimock.url, name)


@pytest.mark.aimock
def test_an_answer_arrives_in_pieces_and_ends_once(either: LiteLLMModel) -> None:
    events = run(either, ask("say hello"))
    assert text(events) == ANSWER
    assert len(events) > 3
    assert isinstance(events[-1], Done)
    assert events[-1].finish_reason == "stop"


@pytest.mark.aimock
def test_a_tool_call_arrives_whole(either: LiteLLMModel) -> None:
    events = run(either, ask("use a tool"))
    (call,) = [event for event in events if isinstance(event, ToolCallDone)]
    assert call == ToolCallDone("call_1", "look_up", '{"city":"Oslo"}')
    assert isinstance(events[-1], Done)
    assert events[-1].finish_reason == "tool_calls"


@pytest.mark.aimock
def test_thinking_comes_apart_from_the_answer(either: LiteLLMModel) -> None:
    events = run(either, ask("think first"))
    assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == "Two and two."
    assert text(events) == "Four."


@pytest.mark.aimock
def test_an_answer_that_ran_out_of_room_says_so(aimock: Aimock) -> None:
    end = run(model(aimock.base_url), ask("run out of room"))[-1]
    assert isinstance(end, Done)
    assert end.finish_reason == "length"


@pytest.mark.aimock
def test_usage_is_what_the_provider_counted_and_has_a_price(aimock: Aimock) -> None:
    end = run(model(aimock.base_url), ask("count my tokens"))[-1]
    assert isinstance(end, Done)
    assert (end.usage.prompt_tokens, end.usage.completion_tokens) == (2000, 10)
    assert end.usage.cost is not None
    assert end.usage.cost > 0


@pytest.mark.aimock
@pytest.mark.parametrize(
    ("question", "kind", "says"),
    [
        ("reject my key", "bad_key", "OPENAI_API_KEY"),
        ("limit me", "rate_limited", "Try again in 7 seconds"),
        ("empty my account", "rate_limited", "quota"),
        ("fall over", "overloaded", "500"),
        ("be overloaded", "overloaded", "503"),
        ("overflow", "context_overflow", "longer than"),
        ("lose the model", "not_found", "no model"),
        ("break the policy", "refused", "content rules"),
        ("dislike a parameter", "bad_request", "Invalid value for 'seed'"),
    ],
)
def test_each_refusal_is_a_kind_with_a_way_on(aimock: Aimock, question: str, kind: str, says: str) -> None:
    failed = failure(run(model(aimock.base_url), ask(question)))
    assert failed.kind == kind
    assert says in failed.sentence
    assert failed.sentence.endswith((".", "'seed'"))
    assert "sk-" not in failed.sentence


@pytest.mark.aimock
def test_a_rate_limit_tells_when_to_come_back(either: LiteLLMModel) -> None:
    assert failure(run(either, ask("limit me"))).retry_after == 7.0


@pytest.mark.aimock
def test_a_stream_cut_in_the_middle_keeps_what_had_arrived(either: LiteLLMModel) -> None:
    events = run(either, ask("break off"))
    assert failure(events).kind == "cut_off"
    assert ANSWER.startswith(text(events))
    assert text(events)


@pytest.mark.aimock
def test_stopping_ends_the_stream_without_an_end_event(either: LiteLLMModel) -> None:
    stop = Event()
    events = []
    for event in either.stream(ask("say it slowly"), stop):
        events.append(event)
        if len(events) == 3:
            stop.set()
    assert len(events) == 3
    assert all(isinstance(event, TextDelta) for event in events)


@pytest.mark.aimock
def test_the_cache_key_reaches_openai(aimock: Aimock) -> None:
    run(model(aimock.base_url), ask("say hello"))
    assert aimock.journal()[-1]["body"]["prompt_cache_key"] == "conversation-1"


def test_a_clean_end_without_a_finish_reason_is_no_answer() -> None:
    with wire.serving([wire.HEAD, wire.chunk("Half of "), wire.chunk("it")]) as server:
        events = run(model(server.base_url), ask("hello"))
    assert text(events) == "Half of it"
    assert failure(events).kind == "cut_off"


def test_a_stalled_stream_times_out_and_keeps_what_had_arrived() -> None:
    impatient = Patience(first=30.0, gap=0.2)
    with wire.serving([wire.HEAD, wire.chunk("Just a ")], keep_open=True) as server:
        events = run(model(server.base_url, patience=impatient), ask("hello"))
        assert server.hung_up.wait(HANG)
    assert text(events) == "Just a "
    assert failure(events).kind == "timeout"


def test_a_server_that_never_answers_times_out() -> None:
    with wire.serving([], keep_open=True) as server:
        events = run(model(server.base_url, patience=Patience(first=0.2)), ask("hello"))
        assert server.hung_up.wait(HANG)
    assert failure(events).kind == "timeout"


def test_stopping_closes_the_connection() -> None:
    with wire.serving([wire.HEAD, wire.chunk("One "), wire.chunk("two")], keep_open=True) as server:
        stop = Event()
        stream = model(server.base_url).stream(ask("hello"), stop)
        assert [next(stream), next(stream)] == [TextDelta("One "), TextDelta("two")]
        stop.set()
        assert list(stream) == []
        assert server.hung_up.wait(HANG)


def test_closing_the_iterator_closes_the_connection() -> None:
    with wire.serving([wire.HEAD, wire.chunk("One ")], keep_open=True) as server:
        stream: Any = model(server.base_url).stream(ask("hello"), Event())
        assert next(stream) == TextDelta("One ")
        stream.close()
        assert server.hung_up.wait(HANG)


def test_a_stop_while_waiting_for_the_first_word_is_heard() -> None:
    with wire.serving([], keep_open=True) as server:
        stop = Event()
        events: list[ModelEvent] = []
        listener = Thread(target=lambda: events.extend(model(server.base_url).stream(ask("hello"), stop)))
        listener.start()
        while not server.heads:
            listener.join(0.01)
        stop.set()
        listener.join()
        assert server.hung_up.wait(HANG)
    assert events == []


def test_a_refused_connection_is_unreachable() -> None:
    failed = failure(run(model(f"http://127.0.0.1:{free_port()}/v1"), ask("hello")))
    assert failed.kind == "unreachable"
    assert "cannot be reached" in failed.sentence


def test_a_local_server_that_is_off_is_named_with_its_address() -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    asked = CallContext("llama3", "Ollama", base_url=url, local=True)
    off = LiteLLMModel(ModelInfo("a", "a", "b"), ModelConnection("openai/llama3", asked, base_url=url))
    assert failure(run(off, ask("hello"))).sentence.startswith(f"Nothing answers at {url}. Start Ollama")


def test_an_unknown_host_is_unreachable() -> None:
    assert failure(run(model("http://nobody.invalid/v1"), ask("hello"))).kind == "unreachable"


def test_a_missing_key_is_told_before_anything_is_sent() -> None:
    with wire.serving([wire.HEAD]) as server:
        failed = failure(run(model(server.base_url, key=None), ask("hello")))
        assert server.heads == []
    assert failed.kind == "no_key"
    assert "OPENAI_API_KEY" in failed.sentence


def test_a_key_never_stands_in_a_sentence() -> None:
    body = {"error": {"message": f"Bad request with {KEY} and Authorization: Bearer abcdefghij"}}
    with wire.serving([wire.answer("400 Bad Request", body)]) as server:
        sentence = failure(run(model(server.base_url), ask("hello"))).sentence
    assert KEY not in sentence
    assert "abcdefghij" not in sentence
    assert "[key]" in sentence


@pytest.mark.parametrize("name", ["openai/gpt-4o", "anthropic/claude-sonnet-4-5"])
def test_the_messages_of_a_request_are_left_as_they_were(name: str) -> None:
    request = ask("hello", tools=[{"type": "function", "function": {"name": "f", "parameters": {}}}])
    before = copy.deepcopy(request.messages)
    with wire.serving([wire.answer("400 Bad Request", {"error": {"message": "no"}})]) as server:
        run(model(server.base_url, name), request)
    assert request.messages == before


def test_a_request_cannot_send_the_key_elsewhere() -> None:
    elsewhere = f"http://127.0.0.1:{free_port()}/v1"
    with wire.serving([wire.HEAD, wire.chunk("Here.", finish="stop"), wire.DONE]) as server:
        events = run(
            model(server.base_url), ask("hello", api_base=elsewhere, base_url=elsewhere, api_key="x")
        )
        assert len(server.heads) == 1
        assert f"authorization: bearer {KEY}" in server.heads[0].lower()
    assert text(events) == "Here."


def test_what_a_server_did_not_count_is_not_known_rather_than_nothing() -> None:
    with wire.serving([wire.HEAD, wire.chunk("Yes.", finish="stop"), wire.DONE]) as server:
        end = run(model(server.base_url), ask("hello"))[-1]
    assert isinstance(end, Done)
    assert (end.usage.prompt_tokens, end.usage.completion_tokens) == (None, None)


def test_what_the_cache_saved_is_counted() -> None:
    usage = {
        "prompt_tokens": 2000,
        "completion_tokens": 10,
        "total_tokens": 2010,
        "prompt_tokens_details": {"cached_tokens": 1500},
    }
    reply = [wire.HEAD, wire.chunk("Yes.", finish="stop"), wire.chunk(usage=usage), wire.DONE]
    with wire.serving(reply) as server:
        end = run(model(server.base_url), ask("hello"))[-1]
    assert isinstance(end, Done)
    assert end.usage.cached_tokens == 1500
    assert end.usage.saved == pytest.approx(1500 * (2e-6 - 5e-7))


def test_claude_is_told_where_to_cache_and_at_most_four_times() -> None:
    messages = [{"role": "system", "content": "Be brief."}]
    for number in range(5):
        messages += [
            {"role": "user", "content": f"q{number}"},
            {"role": "assistant", "content": f"a{number}"},
        ]
    request = Request("claude", (*messages, {"role": "user", "content": "last"}))
    with wire.serving([wire.answer("400 Bad Request", {"error": {"message": "no"}})]) as server:
        run(model(server.base_url, "anthropic/claude-sonnet-4-5"), request)
        sent = str(server.requests[0])
    assert 1 <= sent.count("cache_control") <= 4
    assert "q4" in sent


def test_a_reply_that_is_no_stream_of_ours_is_a_failure_not_an_answer() -> None:
    with wire.serving([wire.answer("200 OK", "<html>Log in to the wifi</html>", "text/html")]) as server:
        events = run(model(server.base_url), ask("hello"))
    assert text(events) == ""
    assert failure(events).kind


WORDS = [f"word{number} " for number in range(1000)]
USAGE = {"prompt_tokens": 7, "completion_tokens": 1000, "total_tokens": 1007}


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """LiteLLM's streams, as they begin, where nobody else listens: other tests leave callbacks behind."""
    kept: list[Any] = []
    for name in ("callbacks", "success_callback", "_async_success_callback"):
        monkeypatch.setattr(loading.litellm(), name, [])
    kind = loading.litellm().CustomStreamWrapper
    begin = kind.__init__

    def begun(self: Any, *args: Any, **named: Any) -> None:
        begin(self, *args, **named)
        kept.append(self)

    monkeypatch.setattr(kind, "__init__", begun)
    return kept


@pytest.fixture
def long_reply() -> Iterator[LiteLLMModel]:
    """Whose usage comes in the middle, which some servers do, and not again."""
    pieces = [wire.chunk(word) for word in WORDS]
    pieces.insert(300, wire.chunk(usage=USAGE))
    with wire.serving([wire.HEAD, *pieces, wire.chunk(finish="stop"), wire.DONE]) as server:
        yield model(server.base_url)


def test_of_a_long_answer_litellm_keeps_what_it_needs(long_reply: LiteLLMModel, streams: list[Any]) -> None:
    said = run(long_reply, ask("hello"))
    assert text(said) == "".join(WORDS)
    assert isinstance(said[-1], Done)
    assert (said[-1].usage.prompt_tokens, said[-1].usage.completion_tokens) == (7, 1000)
    (stream,) = streams
    assert len(stream.chunks) < 100


def test_callbacks_of_the_process_get_all_of_a_long_answer(
    long_reply: LiteLLMModel, streams: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading.litellm(), "success_callback", [lambda *_: None])
    assert text(run(long_reply, ask("hello"))) == "".join(WORDS)
    assert len(streams[0].chunks) > len(WORDS)
