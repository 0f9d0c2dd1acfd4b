"""Exact counts outlive the process that made them, and nothing is ever counted by what is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.conversation import counts
from forky_core.conversation.conversation import Conversation
from forky_core.conversation.counts import WORTH, Counts
from forky_core.forky import Forky
from forky_core.llm.contract import ModelInfo
from forky_core.llm.failures import CallContext
from forky_core.llm.litellm_model import LiteLLMModel, ModelConnection
from forky_core.llm.tokens import Vocabulary, estimate_tokens, read_vocabulary

TEXTS = [f"Number {at} of many, with an emoji 🍴 and half \ud800 a pair." for at in range(WORTH)]
KEY = "tokens/o200k_base"


@pytest.fixture
def exact() -> Vocabulary:
    """One that has counted nothing yet."""
    read_vocabulary("o200k_base").join()
    return Vocabulary("o200k_base")


def counted(chat: Conversation, vocabulary: Vocabulary) -> list[int]:
    count = Counts(chat._session.store, chat.id, vocabulary)
    told = list(map(count, TEXTS))
    count.keep()
    return told


def misses(vocabulary: Vocabulary) -> int:
    return vocabulary.count.cache_info().misses


def test_a_new_process_counts_nothing_again(tmp_path: Path, exact: Vocabulary) -> None:
    with Forky.open(tmp_path / "forky.duckdb") as forky:
        chat = forky.create("Long")
        first = counted(chat, exact)
        id = chat.id
    assert first == [exact.count(text) for text in TEXTS]
    later = Vocabulary("o200k_base")
    with Forky.open(tmp_path / "forky.duckdb") as forky:
        assert counted(forky.conversation(id), later) == first
        assert forky.verify().clean
    assert misses(later) == 0


def test_a_few_counts_are_not_worth_a_write(exact: Vocabulary) -> None:
    with Forky.open(":memory:") as forky:
        chat = forky.create("Short")
        count = Counts(chat._session.store, chat.id, exact)
        assert count("tokenization") == 2
        count.keep()
        assert chat._session.store.derived(chat.id, [KEY]) == {}


@pytest.mark.parametrize("damaged", ["no base64!", "AAAA", "é"])
def test_what_is_damaged_is_counted_again(damaged: str, exact: Vocabulary) -> None:
    with Forky.open(":memory:") as forky:
        chat = forky.create("Long")
        chat._session.store.keep_derived(chat.id, {KEY: damaged})
        assert counted(chat, exact) == [exact.count(text) for text in TEXTS]
        assert chat._session.store.derived(chat.id, [KEY])[KEY] != damaged


def test_there_is_an_end_to_what_is_kept(exact: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "MOST", WORTH)
    with Forky.open(":memory:") as forky:
        chat = forky.create("Long")
        counted(chat, exact)
        kept = chat._session.store.derived(chat.id, [KEY])
        many = Counts(chat._session.store, chat.id, exact)
        more = [f"{text} And more." for text in TEXTS]
        assert list(map(many, more)) == [exact.count(text) for text in more]
        many.keep()
        assert chat._session.store.derived(chat.id, [KEY]) == kept


def test_a_deleted_conversation_takes_its_counts_along(exact: Vocabulary) -> None:
    with Forky.open(":memory:") as forky:
        chat = forky.create("Long")
        count = Counts(chat._session.store, chat.id, exact)
        assert count("tokenization") == 2
        chat.trash()
        forky.purge(chat.id)
        assert list(map(count, TEXTS)) == [exact.count(text) for text in TEXTS]
        count.keep()
        assert chat._session.store.derived_under(KEY) == {}


def test_only_a_vocabulary_is_remembered_in_the_file(exact: Vocabulary) -> None:
    def model(name: str) -> LiteLLMModel:
        return LiteLLMModel(ModelInfo(name, name, ""), ModelConnection(name, CallContext(name, "")))

    with Forky.open(":memory:") as forky:
        session = forky.create("Two")._session
        assert session.counting(model("claude-of-nobody")) is estimate_tokens
        assert isinstance(session.counting(model("gpt-4o")), Counts)
        assert session.counting(model("gpt-4o")) is session.as_person("Ana").counting(model("gpt-4o-mini"))
