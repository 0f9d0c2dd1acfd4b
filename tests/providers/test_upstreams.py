"""The ends of answers that `/v1` passes on from an upstream unchanged, and of those that it writes itself.

An upstream's bytes are read by Forky, not by LiteLLM, and come to the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from forky_core.llm.contract import Done, ModelEvent, TextDelta
from forky_core.model import Usage
from forky_core.wire.anthropic import MESSAGES
from forky_core.wire.chat import CHAT
from forky_core.wire.contract import ClientRequest, ProtocolAdapter, Response
from forky_core.wire.responses import RESPONSES
from tests.providers.scripted import (
    WIRES,
    Call,
    End,
    Mark,
    Piece,
    Raw,
    Refusal,
    Text,
    chat_chunk,
    event_bytes,
)
from tests.providers.test_ends import CALLS, COMPLETE, GIVEN_UP, REASONS, TAGGED, Answer, summary

UPSTREAMS: dict[str, ProtocolAdapter] = {
    "openai-chat": CHAT,
    "deepseek": CHAT,
    "local": CHAT,
    "openai-responses": RESPONSES,
    "anthropic": MESSAGES,
}
"""The protocol of each upstream whose bytes are passed on."""


def read(wire: str, script: Sequence[Piece], cut_at: int = 0) -> Answer:
    """What Forky reads of an upstream's answer whose bytes arrive in two pieces."""
    content = b"".join(map(event_bytes, WIRES[wire].events(script)))
    parser = UPSTREAMS[wire].event_parser()

    def events() -> Iterator[ModelEvent]:
        for piece in (content[:cut_at], content[cut_at:]):
            yield from (event for _, event in parser.feed(piece))
        yield from (event for _, event in parser.close())

    return summary(list(events()))


@pytest.mark.parametrize(("wire", "word", "reason", "own"), REASONS)
def test_every_reason_of_an_upstream_is_stored_as_what_it_is(
    wire: str, word: str, reason: str, own: str
) -> None:
    if wire not in UPSTREAMS:
        pytest.skip("asked through LiteLLM alone")
    given = read(wire, (Text("Part of it"), End(word), Mark()))
    assert given == Answer("Part of it", "", (), ("done", reason, own))


@pytest.mark.parametrize(("wire", "word"), GIVEN_UP)
def test_an_answer_that_an_upstream_gives_up_is_not_complete(wire: str, word: str) -> None:
    if wire not in UPSTREAMS:
        pytest.skip("asked through LiteLLM alone")
    given = read(wire, (Text("Part of it"), End(word), Mark()))
    assert given == Answer("Part of it", "", (), ("failed", "cut_off", word))


@pytest.mark.parametrize("wire", UPSTREAMS)
def test_an_upstream_that_breaks_off_is_an_interruption(wire: str) -> None:
    script = (Text("All "), Text("of it."), End(COMPLETE[wire]), Mark())
    size = len(b"".join(map(event_bytes, WIRES[wire].events(script))))
    whole = read(wire, script)
    assert (whole.text, whole.end[:2]) == ("All of it.", ("done", "stop"))
    assert all(read(wire, script, at) == whole for at in range(size))
    assert read(wire, script[:2]).end == ("failed", "cut_off", "")


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses"])
def test_a_refusal_of_an_upstream_is_no_complete_answer(wire: str) -> None:
    given = read(wire, (Refusal("I cannot "), Refusal("help."), End(COMPLETE[wire]), Mark()))
    assert given == Answer("I cannot help.", "", (), ("done", "content_filter", "refusal"))


def test_a_mark_of_the_end_without_a_reason_is_an_end() -> None:
    assert read("local", (Text("All of it."), Mark())).end == ("done", "stop", "")


def test_an_error_before_the_mark_of_the_end_is_a_failure() -> None:
    error = Raw({"error": {"message": "out of memory"}})
    assert read("local", (Text("Half"), error, Mark())).end[0] == "failed"


@pytest.mark.parametrize(("sent", "thoughts", "text"), TAGGED)
def test_thoughts_between_tags_of_an_upstream_are_no_answer(sent: str, thoughts: str, text: str) -> None:
    for at in range(len(sent)):
        pieces = [Text(piece) for piece in (sent[:at], sent[at:]) if piece]
        given = read("local", (*pieces, End("stop"), Mark()))
        assert (given.text, given.thoughts) == (text, thoughts)


@pytest.mark.parametrize("pieces", CALLS.values(), ids=CALLS)
def test_parallel_calls_of_an_upstream_stay_apart(pieces: tuple[Raw, ...]) -> None:
    assert read("local", (*pieces, End("tool_calls"), Mark())).calls == (
        ("first", '{"x":1}'),
        ("second", '{"y":2}'),
    )


def test_a_content_of_an_upstream_that_is_a_list_is_read() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    blocks = Raw(chat_chunk({"content": [thinking, {"type": "text", "text": "It is 8080."}]}))
    given = read("local", (blocks, End("stop"), Mark()))
    assert (given.thoughts, given.text) == ("Hm.", "It is 8080.")


def test_a_call_of_an_upstream_that_breaks_off_is_not_made() -> None:
    for wire in UPSTREAMS:
        given = read(wire, (Text("Looking."), Call("call_1", "look_up", ('{"ci',))))
        assert (given.calls, given.end[:2]) == ((), ("failed", "cut_off"))


WRITTEN: tuple[tuple[ProtocolAdapter, str, str, str], ...] = (
    (CHAT, "stop", "", '"finish_reason":"stop"'),
    (CHAT, "length", "model_context_window_exceeded", '"finish_reason":"length"'),
    (
        CHAT,
        "length",
        "model_context_window_exceeded",
        '"native_finish_reason":"model_context_window_exceeded"',
    ),
    (CHAT, "reason_of_next_year", "", '"finish_reason":"reason_of_next_year"'),
    (MESSAGES, "stop", "STOP", '"stop_reason":"end_turn"'),
    (MESSAGES, "length", "MAX_TOKENS", '"stop_reason":"max_tokens"'),
    (MESSAGES, "length", "model_context_window_exceeded", '"stop_reason":"model_context_window_exceeded"'),
    (MESSAGES, "content_filter", "SAFETY", '"stop_reason":"refusal"'),
    (MESSAGES, "reason_of_next_year", "", '"stop_reason":"reason_of_next_year"'),
    (RESPONSES, "stop", "end_turn", '"status":"completed"'),
    (RESPONSES, "tool_calls", "", '"status":"completed"'),
    (RESPONSES, "length", "MAX_TOKENS", '"incomplete_details":{"reason":"max_output_tokens"}'),
    (RESPONSES, "content_filter", "SAFETY", '"incomplete_details":{"reason":"content_filter"}'),
    (RESPONSES, "reason_of_next_year", "", '"incomplete_details":{"reason":"reason_of_next_year"}'),
)
"""Protocol, the finish reason, the provider's own word, what the client is sent."""


@pytest.mark.parametrize(("protocol", "reason", "own", "sent"), WRITTEN)
def test_a_client_is_sent_the_reason(protocol: ProtocolAdapter, reason: str, own: str, sent: str) -> None:
    call = ClientRequest("scripted", ({"role": "user", "content": "Which port?"},), {})
    response = Response()
    writer = protocol.response_writer(call, "id")
    streamed = writer.begin()
    for event in (TextDelta("Part of it"), Done(reason, Usage(), own)):
        response.take(event)
        streamed += writer.write(0, event)
    streamed += writer.end([response])
    body: Any = protocol.response_body(call, "id", [response])
    assert sent in streamed.decode()
    assert sent in json.dumps(body, separators=(",", ":"))
