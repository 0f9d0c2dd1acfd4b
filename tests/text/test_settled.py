from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.text.fences import settled


@pytest.mark.parametrize(
    ("whole", "rest"),
    [
        ("", ""),
        ("", "A paragraph that goes on"),
        ("", "A line\nand another\n"),
        ("One.\n\n", ""),
        ("One.\n\n", "Two"),
        ("One.\r\n\r\n", "Two"),
        ("One.\n  \n", "Two\n "),
        ("One.\n\n\n", "Two"),
        ("One.\n\n", "```py\na = 1\n\nb = 2\n"),
        ("```py\na = 1\n\nb = 2\n```\n\n", "Two"),
        ("", "````\n```\n\nstill code\n"),
        ("````\n```\n\n````\n\n", "Two"),
        ("", "- item\n  ~~~\n  code\n\n  code"),
        ("- ```py\n  a\n\n  ```\n\n", "Two"),
        ("> ```\n> a\n> ```\n\n", "Two"),
        ("`` ```inline``` `` is no fence\n\n", "Two"),
    ],
)
def test_whole_blocks_are_settled_and_code_that_is_open_is_not(whole: str, rest: str) -> None:
    assert settled(whole + rest) == len(whole)


@given(st.text("a`~\n >-\r"), st.text("a`~\n >-"))
def test_what_has_settled_stays_so_whatever_comes(text: str, more: str) -> None:
    """Or the formatted text would go back to being live."""
    assert settled(text) <= len(text)
    assert settled(text + more) >= settled(text)
