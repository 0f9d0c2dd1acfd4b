from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.text.plain_words import plain_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("**Use** `git bisect`, *then* __look__", "Use git bisect, then look"),
        ("## Why it fails\n\nBecause", "Why it fails\n\nBecause"),
        ("- one\n* two\n+ [ ] three", "one\ntwo\nthree"),
        ("> quoted **twice**", "quoted twice"),
        ("See [the *docs*](https://example.org/a_b) and ![a chart](x.png)", "See the docs and a chart"),
        ("```python\nprint(1)\n```", "\nprint(1)\n"),
        ("Cut in a [link](https://exa", "Cut in a link"),
        ("snake_case and 2**3 and a * b * c", "snake_case and 2**3 and a * b * c"),
        ("`**stays**` and \\*stays\\*", "**stays** and *stays*"),
        ("~~gone~~ <https://example.org>", "gone https://example.org"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", " a | b \n\n 1 | 2 "),
        ("1. First\n2. Second", "1. First\n2. Second"),
        ("it says: ## Heading in a line", "it says: Heading in a line"),
    ],
)
def test_only_the_words_are_left(text: str, words: str) -> None:
    assert plain_words(text) == words


@given(st.text(alphabet="ab*_`[]()#>-\\|~! \n<", max_size=400))
def test_no_text_is_too_odd_and_nothing_is_made_up(text: str) -> None:
    said = plain_words(text)
    assert len(said) <= len(text)
    assert said.count("a") == text.count("a") or "(" in text or "[" in text or "`" in text or "~" in text
