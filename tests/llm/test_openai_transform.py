from __future__ import annotations

import importlib
from typing import Any

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
