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
        ("**bold with `code` inside**", "<b>bold with <code>code</code> inside</b>"),
    ],
)
def test_markdown_within_a_line_is_drawn(said: str, drawn: str) -> None:
    assert inline(said) == drawn


def test_a_line_that_opens_many_signs_is_drawn_in_no_time() -> None:
    assert inline("**" * 20_000)
    assert inline("[" * 20_000)
    assert inline("*a " * 20_000)


def test_the_sign_before_an_item_or_a_heading_is_no_word() -> None:
    assert unlisted("- measure it") == ("measure it", True)
    assert unlisted("## Result") == ("Result", False)
    assert unlisted("--long eats memory") == ("--long eats memory", False)
    assert unlisted("-19 is slow") == ("-19 is slow", False)


def test_a_row_of_a_table_has_cells_and_a_pipe_in_a_sentence_has_none() -> None:
    assert cells_of("| `zstd -T8 -9` | 310 | 6.2 |") == ("`zstd -T8 -9`", "310", "6.2")
    assert cells_of("pg_dump orders | zstd -9 > orders.zst") == ()
    assert cells_of("|x|") == ()


def test_a_label_has_the_words_without_the_signs() -> None:
    assert bare("**Never** use `-19` ([why](https://example.org))") == "Never use -19 (why)"


def test_what_only_models_read_has_a_name_for_people() -> None:
    assert titled(UNRESOLVED) == "Unresolved: nobody has decided yet" and titled("Facts") == "Facts"
    assert [speaker_named(name) for name in ("user", "assistant", "Ana")] == ["You", "Assistant", "Ana"]
