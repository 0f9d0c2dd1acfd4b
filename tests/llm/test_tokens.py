from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from forky_core.llm.contract import ModelInfo
from forky_core.llm.failures import CallContext
from forky_core.llm.litellm_model import LiteLLMModel, ModelConnection, counting
from forky_core.llm.tokens import (
    count_each,
    estimate_tokens,
    message_text,
    prompt_tokens,
    read_vocabulary,
)


def test_four_letters_are_about_a_token_and_a_chinese_character_is_one() -> None:
    assert estimate_tokens("a" * 400) == 100
    assert estimate_tokens("分叉与合并") == 5
    assert estimate_tokens("") == 0


@given(st.text(), st.text())
def test_a_longer_text_never_counts_less(text: str, more: str) -> None:
    assert estimate_tokens(text) <= estimate_tokens(text + more)


@given(st.lists(st.text()))
def test_many_texts_count_as_each_of_them_does(texts: list[str]) -> None:
    assert count_each(texts, estimate_tokens) == [estimate_tokens(text) for text in texts]


def test_an_openai_model_is_counted_exactly_once_its_vocabulary_is_read() -> None:
    read_vocabulary("o200k_base").join()
    assert counting("gpt-4o")("Forks are cheap because messages are shared.") == 9
    assert counting("gpt-4o")("tokenization") == 2
    assert counting("llama-of-nobody")("tokenization") == estimate_tokens("tokenization")


def test_what_was_estimated_is_counted_again_once_the_vocabulary_is_read() -> None:
    model = LiteLLMModel(
        ModelInfo("gpt-4o", "GPT-4o", "OpenAI"), ModelConnection("gpt-4o", CallContext("gpt-4o", "OpenAI"))
    )
    read_vocabulary("o200k_base").join()
    assert model.count_tokens == model.count_tokens, "the counts of a path are kept by the function"
    assert model.count_tokens != estimate_tokens
    assert model.count_tokens("tokenization") == 2


def test_counting_a_megabyte_without_spaces_or_a_lone_surrogate_ends() -> None:
    read_vocabulary("o200k_base").join()
    assert counting("gpt-4o")("a" * 1_000_000) > 1000
    assert counting("gpt-4o")("half \ud800 a pair") > 0


def test_a_message_counts_its_words_and_tool_calls_and_no_images() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    message = {"role": "user", "content": [{"type": "text", "text": "look"}, picture]}
    call = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}],
    }
    assert message_text(message) == "look"
    assert message_text(call) == "f {}"
    assert prompt_tokens((message, call)) == 2
