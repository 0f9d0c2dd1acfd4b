from __future__ import annotations

import pytest

from bench.merge_answers import (
    CONDITIONS,
    QUESTIONS,
    WRITTEN,
    Asked,
    NoAnswer,
    answer,
    conversation,
    is_right,
    measure,
    opened,
    prompt,
    repeater,
    table,
    write,
)
from forky_core.llm.scripted import Fail, ScriptedModel


def test_a_reader_knows_nothing_without_a_merge_and_all_of_a_full_one() -> None:
    conversations = [conversation(seed) for seed in range(2)]
    model = repeater()
    found = measure(model, conversations, replicates=2)
    shares = {condition: sum(map(sum, by.values())) / (2 * 2 * QUESTIONS) for condition, by in found.items()}
    assert shares["no merge"] == 0
    assert shares["full"] == shares["source text"] == 1
    assert 0.5 <= shares["squash"] <= 1
    assert isinstance(model, ScriptedModel) and len(model.requests) == 2 * 2 * QUESTIONS * len(CONDITIONS)
    assert len(table(found, conversations)) == 1 + len(CONDITIONS)


def test_a_summary_that_fails_the_checks_is_asked_about_as_its_quoted_lines_and_counted() -> None:
    conversations = [conversation(seed) for seed in range(2)]
    model = repeater()
    written = [write(model, given) for given in conversations]
    assert all(plan.badge for plan in written), "it repeats the transcript instead of summing it up"
    found = measure(model, conversations, 1, written)
    assert found[WRITTEN] == found["squash"]
    assert table(found, conversations, written)[-1] == "2 of 2 summaries failed the checks"


@pytest.mark.aimock
def test_the_harness_asks_a_model_over_the_wire() -> None:
    conversations = [conversation(0)]
    with opened("aimock", conversations) as model:
        found = measure(model, conversations, replicates=1)
    assert {condition: sum(by[0]) for condition, by in found.items()} == dict.fromkeys(CONDITIONS, QUESTIONS)


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
