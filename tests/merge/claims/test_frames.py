"""Sentences that are alike but for one place give what fills it; what differs in more, or in kind, gives nothing."""

from __future__ import annotations

import pytest

from forky_core.merge.claims.cues import denials
from forky_core.merge.claims.frames import difference, parallel

ONE_PLACE = {
    ("Tokens are stored in Redis.", "Tokens are stored in SQLite."): ("Redis", "SQLite"),
    ("The offsite is in Lisbon.", "The offsite takes place in Porto."): ("Lisbon", "Porto"),
    ("The default branch is main.", "The default branch is now develop."): ("main", "develop"),
    ("Tickets go to the platform team.", "Tickets go to the support team."): ("platform", "support"),
    ("Das Treffen findet in Köln statt.", "Das Treffen findet in Bonn statt."): ("Köln", "Bonn"),
    ("C'est Julie qui gère le planning.", "C'est Karim qui gère le planning."): ("Julie", "Karim"),
    ("王芳负责测试工作。", "李强负责测试工作。"): ("王芳", "李强"),
}
NONE = (
    ("The API is fast.", "The API is documented."),
    ("The server is in Frankfurt.", "The server is down."),
    ("Marta owns the frontend.", "Jorge owns the backend."),
    ("Der Server ist schnell.", "Der Server ist neu."),
    ("The cache is warm.", "The cache is warm."),
    ("", "The cache is warm."),
)


@pytest.mark.parametrize("pair", ONE_PLACE)
def test_the_one_place_in_which_two_sentences_differ_is_found(pair: tuple[str, str]) -> None:
    found = difference(*pair)
    assert found is not None and (found.mine, found.theirs) == ONE_PLACE[pair]


@pytest.mark.parametrize("pair", NONE)
def test_sentences_that_differ_in_more_or_in_words_of_two_sorts_have_no_such_place(
    pair: tuple[str, str],
) -> None:
    assert difference(*pair) is None


def test_parallel_sentences_are_about_different_things() -> None:
    assert parallel("The free plan has ¤ users.", "The team plan has ¤ users.")
    assert not parallel("The plan has ¤ users.", "The plan has ¤ users.")
    assert not parallel("The sale begins on ¤.", "The sale starts on ¤.")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Il n'est pas permis de fumer.", 1),
        ("Ils ne doivent pas venir.", 1),
        ("No lo sabe nadie.", 1),
        ("It is not that nobody knows.", 2),
        ("It runs.", 0),
    ],
)
def test_two_words_that_deny_together_deny_once(text: str, count: int) -> None:
    assert denials(text) == count
