from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.text.words import stem, terms


@pytest.mark.parametrize(
    "family",
    [
        ("merge", "merges", "merged", "merging"),
        ("branch", "branches", "branching"),
        ("decide", "decided", "deciding", "decision", "decisions"),
        ("stop", "stops", "stopped", "stopping"),
        ("undo", "undone"),
        ("reply", "replies", "replied"),
    ],
)
def test_the_forms_of_a_word_share_a_stem(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


def test_words_that_say_nothing_are_no_terms() -> None:
    assert terms("What did we do about it, and why?") == ()


def test_a_compound_counts_whole_and_in_pieces() -> None:
    assert {"app.py", "app"} <= set(terms("see app.py"))


def test_text_without_spaces_becomes_bigrams_without_particles() -> None:
    assert terms("合并分支") == ("合并", "并分", "分支")
    assert terms("我的分支") == ("分支",)


@given(st.text())
def test_any_text_has_terms_that_stay_the_same_in_another_case(text: str) -> None:
    assert all(term == term.lower() for term in terms(text))
