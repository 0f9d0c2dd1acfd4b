"""A line of a message by itself, as people read it: Markdown is drawn and nothing of it becomes HTML."""

from __future__ import annotations

import pytest

from forky_core.merge.headings import UNRESOLVED
from pages.ui.wording import bare, cells_of, inline, speaker_named, titled, unlisted


@pytest.mark.parametrize(
    ("said", "drawn"),
    [
        ("Then **8 GB** is the limit.", "Then <b>8 GB</b> is the limit."),
        ("Use `zstd -T8 -9`, *not* `-19`.", "Use <code>zstd -T8 -9</code>, <i>not</i> <code>-19</code>."),
        ("See [the manual](https://example.org/a_b).", "See the manual."),
        ("![a picture](https://example.org/x.png)", "a picture"),
        ("`**not bold**`", "<code>**not bold**</code>"),
        ("Enum.__members__ and 2 ** 3 * 4 and 2**3 ** x", "Enum.__members__ and 2 ** 3 * 4 and 2**3 ** x"),
        ("<b>x</b> & **<i>**", "&lt;b&gt;x&lt;/b&gt; &amp; <b>&lt;i&gt;</b>"),
        ("これは**「太字」**と~~旧い~~で、5~10", "これは<b>「太字」</b>と<s>旧い</s>で、5~10"),
        ("**bold with `code` inside**", "<b>bold with <code>code</code> inside</b>"),
    ],
)
def test_markdown_within_a_line_is_drawn(said: str, drawn: str) -> None:
    assert inline(said) == drawn


def test_a_line_that_opens_many_signs_is_drawn_in_no_time() -> None:
    assert inline("**" * 20_000)
    assert inline("[" * 20_000)
    assert inline("*a " * 20_000)


@pytest.mark.parametrize(
    ("line", "words", "is_item"),
    [
        ("- measure it", "measure it", True),
        ("## Result", "Result", False),
        ("--long eats memory", "--long eats memory", False),
        ("-19 is slow", "-19 is slow", False),
        ("- [ ] call *her*", "☐ call *her*", True),
        ("* [x] paid", "☑ paid", True),
        ("[ ] alone", "[ ] alone", False),
    ],
)
def test_the_sign_before_an_item_or_a_heading_is_no_word(line: str, words: str, is_item: bool) -> None:
    assert unlisted(line) == (words, is_item)


def test_rows_of_tables_labels_titles_and_speakers_are_read_as_people_do() -> None:
    assert cells_of("| `zstd -T8 -9` | 310 | 6.2 |") == ("`zstd -T8 -9`", "310", "6.2")
    assert cells_of("pg_dump orders | zstd -9 > orders.zst") == cells_of("|x|") == ()
    assert bare("**Never** use `-19` ([why](https://example.org))") == "Never use -19 (why)"
    assert titled(UNRESOLVED) == "Unresolved: nobody has decided yet" and titled("Facts") == "Facts"
    assert [speaker_named(name) for name in ("user", "assistant", "Ana")] == ["You", "Assistant", "Ana"]
