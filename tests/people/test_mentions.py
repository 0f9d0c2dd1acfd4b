"""Which words of a text are mentions."""

from __future__ import annotations

import pytest

from forky_core.people.mentions import handles_in, pieces_of


@pytest.mark.parametrize(
    ("text", "handles"),
    [
        ("@ada", ("ada",)),
        ("(@ada, @Ben!) and @ada again", ("ada", "ben")),
        ("ada@example.org", ()),
        ("https://example.org/@ada", ()),
        ("@@ada", ()),
        ("@ada-lovelace: yes", ("ada-lovelace",)),
        ("@ada.", ("ada",)),
        ("@ada@example.org", ()),
        ("@" + "a" * 40, ()),
        ("@<b>ada</b> @-ada @", ()),
        ("@ada's", ("ada",)),
    ],
)
def test_a_mention_is_a_handle_after_a_sign_of_its_own(text: str, handles: tuple[str, ...]) -> None:
    assert handles_in(text) == handles


def test_only_those_who_are_known_stand_out_and_the_text_stays_whole() -> None:
    text = "<b>@ada</b> and @eve, @ADA"
    pieces = list(pieces_of(text, {"ada": "person:1"}))
    assert "".join(piece for piece, _ in pieces) == text
    assert [piece for piece, person in pieces if person] == ["@ada", "@ADA"]
