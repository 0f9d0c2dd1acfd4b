"""The scripted model keeps the contract it stands in for."""

from __future__ import annotations

from threading import Event, Thread

from forky_core.llm.contract import Done, Failed, Model, ReasoningDelta, Request, TextDelta, ToolCallDone
from forky_core.llm.scripted import Fail, Hang, Pause, ScriptedModel, Until, words


def ask(text: str = "hello") -> Request:
    return Request("scripted/model", ({"role": "user", "content": text},))


def test_replies_come_in_the_order_they_were_enqueued_and_end_once() -> None:
    model = ScriptedModel()
    model.enqueue("one ", "two")
    model.enqueue(*words("three four"))
    first = list(model.stream(ask(), Event()))
    second = list(model.stream(ask(), Event()))
    assert [e.text for e in first if isinstance(e, TextDelta)] == ["one ", "two"]
    assert [e.text for e in second if isinstance(e, TextDelta)] == ["three ", "four"]
    assert isinstance(first[-1], Done) and first[-1].finish_reason == "stop"
    assert sum(isinstance(e, Done | Failed) for e in first + second) == 2


def test_a_failure_comes_after_the_text_before_it() -> None:
    model = ScriptedModel()
    model.enqueue("half a sen", Fail("rate_limited", "Wait a little.", 7.0), "never said")
    *said, end = model.stream(ask(), Event())
    assert said == [TextDelta("half a sen")]
    assert isinstance(end, Failed)
    assert (end.failure.kind, end.failure.retry_after) == ("rate_limited", 7.0)


def test_reasoning_and_tool_calls_pass_through() -> None:
    model = ScriptedModel()
    model.enqueue(ReasoningDelta("hm"), ToolCallDone("c1", "look", "{}"))
    events = list(model.stream(ask(), Event()))
    assert events[:2] == [ReasoningDelta("hm"), ToolCallDone("c1", "look", "{}")]
    assert isinstance(events[2], Done) and events[2].finish_reason == "tool_calls"


def test_a_hanging_reply_ends_without_an_end_event_when_it_is_stopped() -> None:
    model = ScriptedModel()
    model.enqueue("before", Hang(), "after")
    stop, seen = Event(), []
    started = Event()

    def listen() -> None:
        for event in model.stream(ask(), stop):
            seen.append(event)
            started.set()

    listener = Thread(target=listen)
    listener.start()
    started.wait()
    stop.set()
    listener.join()
    assert seen == [TextDelta("before")]


def test_a_pause_is_cut_short_by_stop() -> None:
    model = ScriptedModel()
    model.enqueue(Pause(3600.0), "late")
    stop = Event()
    stop.set()
    assert list(model.stream(ask(), stop)) == []


def test_a_reply_waits_for_the_event_it_was_given() -> None:
    gate = Event()
    model = ScriptedModel()
    model.enqueue("first", Until(gate), "second")
    stream = model.stream(ask(), Event())
    assert next(stream) == TextDelta("first")
    gate.set()
    assert next(stream) == TextDelta("second")


def test_requests_are_remembered_as_they_came_in() -> None:
    message = {"role": "user", "content": "hello"}
    model = ScriptedModel(answer=lambda request: f"you said {request.messages[-1]['content']}")
    events = list(model.stream(Request("scripted/model", (message,)), Event()))
    message["content"] = "changed later"
    assert events[0] == TextDelta("you said hello")
    assert model.requests[0].messages[0]["content"] == "hello"


def test_an_unscripted_request_fails_and_says_so() -> None:
    (end,) = ScriptedModel().stream(ask(), Event())
    assert isinstance(end, Failed) and "scripted" in end.failure.sentence


def test_usage_counts_the_request_and_what_was_said() -> None:
    model: Model = ScriptedModel(answer=lambda _: "12345678")
    *_, end = model.stream(ask("1234"), Event())
    assert isinstance(end, Done)
    assert (end.usage.prompt_tokens, end.usage.completion_tokens, end.usage.cost) == (1, 2, 0.0)
