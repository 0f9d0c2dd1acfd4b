"""What a codec encodes it decodes again: answers in one piece and as a stream, and the messages of a conversation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from forky_core.formats.exporting.writers.message_arrays import DIALECTS, Messages
from forky_core.formats.forky_file.writing import chat_of
from forky_core.gateway.v1.stored_responses import items_of
from forky_core.llm.contract import Done, ModelEvent, ReasoningDelta, TextDelta, ToolCallDone
from forky_core.matching.keys import path_keys
from forky_core.model import Usage
from forky_core.wire.anthropic import MESSAGES, anthropic_call
from forky_core.wire.chat import CHAT, chat_call
from forky_core.wire.contract import ClientRequest, ProtocolAdapter, Response
from forky_core.wire.responses import RESPONSES, responses_call
from tests.builders import workspace
from tests.providers.test_ends import Answer, summary
from tests.wire.test_requests import CHAT as CHAT_REQUEST

TEXT = (TextDelta("Port "), TextDelta("8443 — “https-alt”."))
CALLS = (
    ToolCallDone("c1", "look_up", '{"city":"Oslo"}'),
    ToolCallDone("c2", "look_up", "{}"),
)
STOP = Done("stop", Usage(12, 3))
ANSWERS: dict[str, tuple[ModelEvent, ...]] = {
    "text": (*TEXT, STOP),
    "a thought before it": (ReasoningDelta("Hm. "), ReasoningDelta("8443?"), *TEXT, STOP),
    "parallel calls": (*CALLS, Done("tool_calls", Usage(12, 3))),
    "a thought, text and calls": (ReasoningDelta("Hm."), *TEXT, *CALLS, Done("tool_calls", Usage(12, 3))),
    "cut at the limit": (*TEXT, Done("length", Usage(12, 3))),
    "cut by a filter": (*TEXT, Done("content_filter", Usage(12, 3))),
    "nothing but its end": (STOP,),
}
PROTOCOLS = (CHAT, RESPONSES, MESSAGES)
CALL = ClientRequest("scripted", ({"role": "user", "content": "Which port?"},), {})


def written(protocol: ProtocolAdapter, events: Sequence[ModelEvent]) -> tuple[bytes, bytes]:
    """An answer as a stream, and in one piece."""
    response, writer = Response(), protocol.response_writer(CALL, "id")
    streamed = writer.begin()
    for event in events:
        response.take(event)
        streamed += writer.write(0, event)
    streamed += writer.end([response])
    body: Any = protocol.response_body(CALL, "id", [response])
    return streamed, json.dumps(body, separators=(",", ":")).encode()


def read_back(protocol: ProtocolAdapter, content: bytes, *, streamed: bool) -> list[ModelEvent]:
    parser = protocol.event_parser()
    events = [event for _, event in (parser.feed if streamed else parser.parse)(content)]
    assert parser.complete or not streamed
    return [*events, *(event for _, event in parser.close())]


@pytest.mark.parametrize("events", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda one: one.path)
def test_an_answer_is_read_back_as_it_was_written(
    protocol: ProtocolAdapter, events: tuple[ModelEvent, ...]
) -> None:
    *_, end = events
    assert isinstance(end, Done)
    for streamed, content in zip((True, False), written(protocol, events), strict=True):
        found = read_back(protocol, content, streamed=streamed)
        expected = summary(list(events))
        assert summary(found) == Answer(expected.text, expected.thoughts, expected.calls, summary(found).end)
        assert isinstance(found[-1], Done)
        assert (found[-1].finish_reason, found[-1].usage.completion_tokens) == (end.finish_reason, 3)


def test_signed_and_sealed_thoughts_of_anthropics_are_read_back() -> None:
    thoughts = (
        ReasoningDelta("I must look."),
        ReasoningDelta("", '{"signature":"c2ln"}'),
        ReasoningDelta("", '{"data":"c2VhbGVk"}', redacted=True),
    )
    for streamed, content in zip((True, False), written(MESSAGES, (*thoughts, *TEXT, STOP)), strict=True):
        found = read_back(MESSAGES, content, streamed=streamed)
        assert tuple(found[:3]) == thoughts


def test_the_messages_of_a_conversation_are_read_back_as_each_api_has_them() -> None:
    forky, _ = workspace()
    chat = forky.create()
    asked = chat_call(CHAT_REQUEST)
    chat.calls.find_or_create(asked)
    path = chat.path()
    openai, anthropic = (
        json.loads(b"".join(Messages(dialect=dialect).write(chat_of(forky.store, chat.id))))
        for dialect in DIALECTS[:2]
    )
    items = list(items_of(path, forky.store.blob))
    for call in (chat_call(openai), anthropic_call(anthropic), responses_call({"input": items})):
        assert path_keys(call.turns) == path_keys(asked.turns)


WRITTEN: tuple[tuple[ProtocolAdapter, str, str, str], ...] = (
    (CHAT, "stop", "", '"finish_reason":"stop"'),
    (CHAT, "length", "model_context_window_exceeded", '"finish_reason":"length"'),
    (CHAT, "length", "context_window_exceeded", '"native_finish_reason":"context_window_exceeded"'),
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
    for content in written(protocol, (TextDelta("Part of it"), Done(reason, Usage(), own))):
        assert sent in content.decode()
