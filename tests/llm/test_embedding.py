from __future__ import annotations

import asyncio
import sys

import numpy as np
import pytest

from forky_core.errors import ModelError
from forky_core.llm.embedding import LiteLLMEmbedder
from forky_core.llm.failures import Asked
from forky_core.llm.litellm_model import Connection
from tests.llm.wire import answer, serving


def embedder(base_url: str) -> LiteLLMEmbedder:
    asked = Asked("small", "Test", base_url=base_url, local=True)
    return LiteLLMEmbedder("test/small", Connection("openai/small", asked, base_url=base_url))


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


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="nobody is given a new loop there")
def test_the_calling_thread_is_left_without_an_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    asyncio.set_event_loop_policy(None)  # As in a program that has had none.
    with serving([vectors([1.0])]) as wire:
        embedder(wire.base_url).embed(["one"])

    def make() -> asyncio.AbstractEventLoop:
        raise LookupError("There is none yet.")

    monkeypatch.setattr(asyncio.get_event_loop_policy(), "new_event_loop", make)
    with pytest.raises(LookupError):
        asyncio.get_event_loop()


def test_a_failure_and_a_short_answer_are_said() -> None:
    with (
        serving([answer("401 Unauthorized", {"error": {"message": "no"}})]) as wire,
        pytest.raises(ModelError),
    ):
        embedder(wire.base_url).embed(["one"])
    with serving([vectors([1.0])]) as wire, pytest.raises(ModelError):
        embedder(wire.base_url).embed(["one", "two"])
    keyless = Connection("openai/small", Asked("small", "Test", "TEST_KEY"), needs_key=True)
    with pytest.raises(ModelError, match="TEST_KEY"):
        LiteLLMEmbedder("test/small", keyless).embed(["one"])
