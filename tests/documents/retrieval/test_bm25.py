from __future__ import annotations

import math

import numpy as np
import pytest

from forky_core.documents.retrieval.bm25 import question_terms, rank, term_counts
from forky_core.model.document import Postings


def postings(rows: list[tuple[int, int, int, int]], chunks: int, mean: float) -> Postings:
    """(chunk, term, frequency, length) each."""
    chunk, term, frequency, length = np.array(rows, np.int64).reshape(-1, 4).T
    return Postings(chunk, term, frequency, length, chunks, mean)


def test_scores_are_those_of_the_formula() -> None:
    found = rank([7, 9], postings([(4, 7, 2, 10), (4, 9, 1, 10), (5, 7, 1, 30)], 100, 20.0), 5)
    rare, rarer = math.log(1 + 98.5 / 2.5), math.log(1 + 99.5 / 1.5)
    first = rare * 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 0.5)) + rarer * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 0.5))
    second = rare * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 1.5))
    assert [one.key for one in found] == [4, 5]
    assert [one.score for one in found] == pytest.approx([first, second])
    assert found[0].coverage == pytest.approx(1.0)
    assert found[1].coverage == pytest.approx(rare / (rare + rarer))


def test_a_term_nobody_has_lowers_the_coverage() -> None:
    (found,) = rank([7, 8], postings([(1, 7, 1, 1)], 1, 1.0), 5)
    assert 0.3 < found.coverage < 0.5


def test_of_equals_the_first_comes_first_and_no_more_than_asked_for() -> None:
    rows = [(key, 7, 1, 4) for key in range(10, 30)]
    assert [one.key for one in rank([7], postings(rows, 20, 4.0), 3)] == [10, 11, 12]
    assert rank([7], postings([], 20, 4.0), 3) == () and rank([7], postings(rows, 20, 4.0), 0) == ()


def test_a_text_and_a_question_agree_on_their_terms() -> None:
    assert set(question_terms("merging branches")) <= set(
        term_counts("He merged two branches: merges, merge!")
    )
    assert max(term_counts("merged, merging").values()) == 2
