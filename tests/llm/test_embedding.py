from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

from forky_core.llm.embedding import LiteLLMEmbedder
from forky_core.llm.failures import CallContext
from forky_core.llm.litellm_model import ModelConnection
from forky_core.model.errors import ModelError
from tests.llm.wire import answer, serving


def embedder(base_url: str) -> LiteLLMEmbedder:
    asked = CallContext("small", "Test", base_url=base_url, local=True)
    return LiteLLMEmbedder("test/small", ModelConnection("openai/small", asked, base_url=base_url))


def vectors(*rows: list[float]) -> bytes:
    data = [
        {"object": "embedding", "index": n, "embedding": row} for n, row in reversed(list(enumerate(rows)))
    ]
    usage = {"prompt_tokens": 2, "total_tokens": 2}
    return answer("200 OK", {"object": "list", "data": data, "model": "small", "usage": usage})


def test_texts_come_back_as_rows_of_length_1_in_their_order() -> None:
    with serving([vectors([3.0, 4.0], [0.0, 2.0])]) as wire:
        rows = embedder(wire.base_url).embed(["one", "two"])
        assert wire.requests[0]["input"] == ["one", "two"]
    assert rows.dtype == np.float32
    assert np.allclose(rows, [[0.6, 0.8], [0.0, 1.0]])


def test_the_calling_thread_is_asked_for_no_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    get, asked = asyncio.get_event_loop, []

    def noted() -> asyncio.AbstractEventLoop:
        asked.append(threading.current_thread())
        return get()

    monkeypatch.setattr(asyncio, "get_event_loop", noted)
    with serving([vectors([1.0])]) as wire:
        embedder(wire.base_url).embed(["one"])
    assert threading.current_thread() not in asked


def test_a_failure_and_a_short_answer_are_said() -> None:
    with (
        serving([answer("401 Unauthorized", {"error": {"message": "no"}})]) as wire,
        pytest.raises(ModelError),
    ):
        embedder(wire.base_url).embed(["one"])
    with serving([vectors([1.0])]) as wire, pytest.raises(ModelError):
        embedder(wire.base_url).embed(["one", "two"])
    keyless = ModelConnection("openai/small", CallContext("small", "Test", "TEST_KEY"), needs_key=True)
    with pytest.raises(ModelError, match="TEST_KEY"):
        LiteLLMEmbedder("test/small", keyless).embed(["one"])
