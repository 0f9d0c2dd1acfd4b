from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from forky_core.documents.retrieval.rank import Question, rank


def test_the_text_that_speaks_of_the_question_comes_first() -> None:
    texts = ["The weather is fine.", "The database is DuckDB, in one file.", "A database can be slow."]
    assert next(match.index for match in rank("Which file is the database in?", texts)) == 1


def test_a_rare_word_covers_more_than_a_common_one() -> None:
    texts = [f"release number {n}" for n in range(30)] + ["the zebra"]
    asked = Question.over("zebra release", texts)
    assert asked.match("zebra").coverage > asked.match("release").coverage


def test_nothing_shared_is_no_match() -> None:
    assert rank("capital of France", ["the name is bough", ""]) == ()


@given(st.text(), st.lists(st.text(), max_size=8))
def test_scores_fall_and_coverage_stays_between_nothing_and_all(question: str, texts: list[str]) -> None:
    matches = rank(question, texts)
    assert [m.score for m in matches] == sorted((m.score for m in matches), reverse=True)
    assert all(0 < m.coverage <= 1.000001 for m in matches)
