from __future__ import annotations

import importlib
from typing import Any

import pytest

from forky_core.llm import loading
from tests.loops import finished

MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {
        "role": "user",
        "content": [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": "data:,"}}],
    },
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "Nothing."},
    {"role": "user", "content": "So?", "name": "Ada", "unknown": {"to": ["the client"]}},
]


def test_the_client_sends_what_it_would_have_sent_without_walking_the_messages() -> None:
    loading.litellm()
    completions: Any = importlib.import_module("openai.resources.chat.completions.completions")
    utils: Any = importlib.import_module("openai._utils")
    types: Any = importlib.import_module("openai.types.chat.completion_create_params")
    openai: Any = importlib.import_module("openai")
    body = {
        "model": "gpt-4o",
        "messages": MESSAGES,
        "stop": ["."],
        "seed": openai.NOT_GIVEN,
        "tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}],
    }
    expected = types.CompletionCreateParamsStreaming
    walked = finished(utils.async_maybe_transform(body, expected))
    sent = finished(completions.async_maybe_transform(body, expected))
    assert sent == walked
    assert sent["messages"] is MESSAGES


def piece(delta: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
    return {
        "id": "1",
        "object": "chat.completion.chunk",
        "created": 7,
        "model": "m",
        "choices": [choice],
    } | more


CALL = {"index": 0, "id": "1", "type": "function", "function": {"name": "look", "arguments": '{"a'}}
COUNTS = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
PIECES = [
    piece({"role": "assistant", "content": ""}),
    piece({"content": "Words \ud800"}, service_tier="default", system_fingerprint="fp"),
    piece(
        {"content": None, "reasoning_content": "Let me see", "provider_specific_fields": {"a": [{"b": 1}]}}
    ),
    piece({"tool_calls": [CALL]}),
    piece({"tool_calls": [{"index": 0, "function": {"arguments": '":1}'}}]}),
    piece({}, "stop", usage={**COUNTS, "prompt_tokens_details": {"cached_tokens": 1}, "cost": 0.1}),
    piece({}, choices=[], usage=COUNTS),
]
ODD = [
    {"choices": [{"delta": {"content": "no id, no index"}}]},
    piece({"content": "ended"}, "eos"),
    piece({"content": ["a list"]}),
    piece({"tool_calls": [{"id": "1", "function": {"name": "no index"}}]}),
    piece({"content": "x"}, created=1.5, usage={"prompt_tokens": None}),
]


@pytest.mark.parametrize("data", PIECES + ODD)
def test_a_piece_of_an_answer_is_built_as_the_client_would_have_built_it(data: dict[str, Any]) -> None:
    loading.litellm()
    openai: Any = importlib.import_module("openai")
    models: Any = importlib.import_module("openai._models")
    chunk: Any = importlib.import_module("openai.types.chat").ChatCompletionChunk
    client = openai.AsyncOpenAI(api_key="none", base_url="http://127.0.0.1:9")
    built = client._process_response_data(data=data, cast_to=chunk, response=None)
    walked = models.construct_type(type_=chunk, value=data)
    assert built == walked
    assert repr(built) == repr(walked)
    assert built.model_dump(warnings=False) == walked.model_dump(warnings=False)
    assert built.model_fields_set == walked.model_fields_set
