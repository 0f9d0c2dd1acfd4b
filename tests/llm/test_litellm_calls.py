from __future__ import annotations

import importlib
from typing import Any

import httpx
import pytest

from forky_core.llm import litellm_calls, loading, loop
from forky_core.llm.litellm_calls import BY_HANDLER, BY_OPENAI_CLIENT
from forky_core.llm.providers import PROVIDERS
from tests.llm import wire
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


def client(server: str = "http://127.0.0.1:9/v1") -> Any:
    loading.litellm()
    return litellm_calls.openai_client("none", server, httpx.AsyncClient(trust_env=False))


def sent_by(client: Any, server: wire.Wire, body: dict[str, Any]) -> dict[str, Any]:
    async def send() -> None:
        stream = await client.chat.completions.with_raw_response.create(**body, stream=True)
        async for _ in stream.parse():
            pass
        await client.close()

    finished(send())
    return server.requests[-1]


def test_the_client_sends_what_it_would_have_sent_without_walking_the_messages() -> None:
    openai: Any = importlib.import_module("openai")
    body = {
        "model": "gpt-4o",
        "messages": MESSAGES,
        "stop": ["."],
        "seed": openai.NOT_GIVEN,
        "tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}],
        "extra_body": {"top_k": 3},
    }
    with wire.serving([wire.HEAD, wire.chunk("Yes.", finish="stop"), wire.DONE]) as server:
        theirs = openai.AsyncOpenAI(
            api_key="none", base_url=server.base_url, http_client=httpx.AsyncClient(trust_env=False)
        )
        walked = sent_by(theirs, server, body)
        sent = sent_by(client(server.base_url), server, body)
    assert sent == walked
    assert list(sent) == list(walked), "bytes that differ would miss the provider's prompt cache"
    assert sent["messages"] == MESSAGES


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
    ours = client()
    models: Any = importlib.import_module("openai._models")
    chunk: Any = importlib.import_module("openai.types.chat").ChatCompletionChunk
    built = ours._process_response_data(data=data, cast_to=chunk, response=None)
    walked = models.construct_type(type_=chunk, value=data)
    assert built == walked
    assert repr(built) == repr(walked)
    assert built.model_dump(warnings=False) == walked.model_dump(warnings=False)
    assert built.model_fields_set == walked.model_fields_set


NAMES = {"gemini": "gemini/gemini-2.5-flash", "anthropic": "claude-haiku-4-5", "openai": "gpt-4o"}


@pytest.mark.parametrize("provider", [provider.id for provider in PROVIDERS])
def test_every_provider_is_asked_by_a_client_of_ours(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    litellm = loading.litellm()
    assert (provider in BY_OPENAI_CLIENT) != (provider in BY_HANDLER)
    asked: list[str] = []

    class Nobody(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            asked.append(request.url.host)
            return httpx.Response(500, json={"error": {"message": "enough"}})

    litellm_calls._handler.cache_clear()
    monkeypatch.setattr(litellm_calls, "_http", lambda: httpx.AsyncClient(transport=Nobody()))
    name = NAMES.get(provider, f"{provider}/some-model")
    call = litellm.acompletion(
        model=name,
        messages=[{"role": "user", "content": "Hello"}],
        stream=True,
        api_key="sk-0123456789",
        client=litellm_calls.provider_client(name, "sk-0123456789", None),
        max_retries=0,
    )
    with pytest.raises(importlib.import_module("openai").APIError):
        loop.submit(_read(call)).result()
    litellm_calls._handler.cache_clear()
    assert len(asked) == 1


async def _read(call: Any) -> None:
    async for _ in await call:
        pass
