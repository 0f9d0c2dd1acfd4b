from __future__ import annotations

import pytest

from bench.merge_answers import (
    CONDITIONS,
    QUESTIONS,
    Asked,
    NoAnswer,
    answer,
    conversation,
    is_right,
    measure,
    prompt,
    table,
)
from forky_core.llm.contract import Request
from forky_core.llm.scripted import Fail, ScriptedModel


def perfect_reader(request: Request) -> str:
    """Says all it was sent, so that an answer is right exactly where its words are in the context."""
    return "\n".join(str(message["content"]) for message in request.messages)


def test_a_reader_knows_nothing_without_a_merge_and_all_of_a_full_one() -> None:
    conversations = [conversation(seed) for seed in range(2)]
    model = ScriptedModel(answer=perfect_reader)
    found = measure(model, conversations, replicates=2)
    shares = {condition: sum(map(sum, by.values())) / (2 * 2 * QUESTIONS) for condition, by in found.items()}
    assert shares["no merge"] == 0
    assert shares["full"] == shares["source text"] == 1
    assert 0.5 <= shares["squash"] <= 1
    assert len(model.requests) == 2 * 2 * QUESTIONS * len(CONDITIONS)
    assert len(table(found, conversations)) == 1 + len(CONDITIONS)


def test_a_squash_is_asked_about_in_a_fraction_of_the_tokens() -> None:
    given = conversation(1)
    sizes = {
        condition: sum(len(str(m["content"])) for m in prompt(given, "Who?", condition))
        for condition in CONDITIONS
    }
    assert sizes["no merge"] < sizes["squash"] < sizes["full"] / 2


def test_an_answer_is_right_only_with_all_of_its_words() -> None:
    asked = Asked("Where is the boat?", ("Ghent", "412"))
    assert is_right(asked, "In ghent, at 412.") and not is_right(asked, "In Ghent.")


def test_a_failed_call_ends_the_measurement_instead_of_counting_as_wrong() -> None:
    model = ScriptedModel()
    model.enqueue(Fail("rate_limited", "Slow down."))
    with pytest.raises(NoAnswer, match="Slow down"):
        answer(model, prompt(conversation(0), "Who?", "no merge"))
