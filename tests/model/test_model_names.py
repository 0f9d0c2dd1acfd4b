"""The name of a model without the address of its server."""

from __future__ import annotations

import pytest

from forky_core.model.model_names import without_server


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("127.0.0.1:8762/slowpoke", "slowpoke"),
        ("192.168.1.20:8000/meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B"),
        ("[fd00::7]:8000/qwen", "qwen"),
        ("10.0.0.7/qwen", "qwen"),
        ("localhost/qwen", "qwen"),
        ("gpu:8000/qwen:8b", "qwen:8b"),
        ("models.office.example/qwen", "qwen"),
        ("hosted_vllm/10.0.0.7:8000/qwen", "qwen"),
    ],
)
def test_the_address_of_a_server_is_left_out(name: str, shown: str) -> None:
    assert without_server(name) == shown


@pytest.mark.parametrize(
    "name",
    [
        "openai/gpt-4o",
        "gpt-4.1",
        "openai/gpt-4.1",
        "ollama/llama3:8b",
        "openrouter/z.ai/glm-4.5",
        "ollama/hf.co/org/model:8b",
        "offline/quotes",
        "10.0.0.7:8000/",
        "",
    ],
)
def test_any_other_name_stays(name: str) -> None:
    assert without_server(name) == name
