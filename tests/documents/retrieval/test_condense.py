from __future__ import annotations

import pytest

from forky_core.documents.retrieval.condense import LONGEST, as_question, condensed, leans, speaks_of

PUMP = ["How do I service the X200 pump?", "Drain the X200 pump, then oil its bearing with Molykote."]


@pytest.mark.parametrize(
    ("question", "before", "named"),
    [
        ("And how often?", PUMP, ["X200", "pump"]),
        ("Why does it leak?", PUMP, ["X200", "pump"]),
        (
            "Und wie oft muss das passieren?",
            ["Wie warte ich die Pumpe X200?", "Die Pumpe X200 entleeren."],
            ["X200", "Pumpe"],
        ),
        ("Et pourquoi cela fuit-il ?", ["Comment entretenir la pompe X200 ?"], ["X200", "pompe"]),
        ("那多少钱？", ["水泵保修多久？", "水泵保修两年。"], ["水泵"]),
        ("А почему она течёт?", ["Как обслуживать насос X200?"], ["X200", "насос"]),
    ],
)
def test_a_follow_up_is_joined_by_what_was_spoken_of_in_its_own_words(
    question: str, before: list[str], named: list[str]
) -> None:
    found = condensed(question, before)
    assert found.startswith(question) and found != question
    added = found[len(question) :]
    assert [name for name in named if name not in added] == []


def test_what_an_answer_cites_is_no_subject_of_it() -> None:
    told = "Oil the pump [1], see [2, 3].\n\nSOURCES: [1] manual.md, Oil (doc:0123456789abcdef#12)"
    assert condensed("And how often?", [told]) == "And how often? (Oil, pump)"


def test_a_question_that_stands_alone_is_left_alone() -> None:
    asked = "Which grease does the manufacturer recommend for marine bearings?"
    assert not leans(asked) and condensed(asked, PUMP) == asked
    assert condensed("And how often?", []) == "And how often?"


def test_a_very_long_question_is_cut_for_the_search() -> None:
    assert len(condensed("it " * 2_000, PUMP)) <= LONGEST


def test_what_a_model_says_is_one_line_without_quotation_marks() -> None:
    assert as_question("Sure!\n\n“How often is the X200 oiled?”\n") == "How often is the X200 oiled?"
    assert as_question(" \n ") == ""


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Who won the war of 1812?", False),
        ("谁发明了青霉素？", False),
        ("How much oil does a bearing need?", True),
        ("And in winter?", True),  # It points back: what was spoken of is its subject.
        ("How often?", True),
    ],
)
def test_a_text_is_asked_to_speak_of_what_a_question_names(question: str, told: bool) -> None:
    assert speaks_of(question, "Oil the bearing every spring.") is told
