"""A text that is drawn while it is written: the same as when it is whole, and never raw in between."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it.token import Token

from forky_core.render.live_prose import LiveProse, ProseWriter
from forky_core.render.prose import prose
from forky_core.render.trees import Tree, html_of
from tests.browser.prose_texts import TEXTS
from tests.hostile_texts import mixed

LATER = re.compile(r"\]:|\[\^|\(#")
"""What leads from one block of a text to another, which may not have come."""


def trees(drawn: LiveProse) -> list[Tree]:
    return [tree for block in (*drawn.blocks, drawn.last) for tree in json.loads(block)]


def shown(writer: ProseWriter) -> str:
    return "".join(map(html_of, trees(writer.draw())))


def drawn(text: str) -> str:
    writer = ProseWriter()
    writer.add(text)
    return shown(writer)


@pytest.mark.parametrize("size", [1, 2, 7])
def test_whatever_the_pieces_are_the_end_is_the_text_as_it_is_drawn(size: int) -> None:
    for text in (*TEXTS, *mixed(300, seed=size)):
        if LATER.search(text):
            continue
        writer = ProseWriter()
        for at in range(0, len(text), size):
            writer.add(text[at : at + size])
            writer.draw()
        assert trees(writer.draw(whole=True)) == json.loads(json.dumps(prose(text))), text


@given(st.text("ab *_`~#>-1.|\\n$\\\\[]()x", max_size=60), st.integers(1, 9))
def test_what_is_whole_stays(text: str, size: int) -> None:
    writer = ProseWriter()
    before: tuple[str, ...] = ()
    for at in range(0, len(text), size):
        writer.add(text[at : at + size])
        blocks = writer.draw().blocks
        assert blocks[: len(before)] == before
        before = blocks
    if not LATER.search(text):
        assert trees(writer.draw(whole=True)) == json.loads(json.dumps(prose(text)))


@pytest.mark.parametrize(
    ("cut", "html"),
    [
        ("a **bold", "<p>a <strong>bold</strong></p>"),
        ("a **bold *and", "<p>a <strong>bold <em>and</em></strong></p>"),
        ("a **", "<p>a</p>"),
        ("a ~~gone", "<p>a <del>gone</del></p>"),
        ("a `co", "<p>a <code>co</code></p>"),
        ("a **b ``c ` d", "<p>a <strong>b <code>c ` d</code></strong></p>"),
        ("a [link](https://a.ex", "<p>a link</p>"),
        ("a ![cat](https:", "<p>a cat</p>"),
        ("a [1", "<p>a [1</p>"),
        ("a row[1", "<p>a row[1</p>"),
        ("a \\(x^2", "<p>a <code>x^2</code></p>"),
        ("a note[^1", "<p>a note</p>"),
        ("##", ""),
        ("so:\n-", "<p>so:</p>"),
        ("so:\n- [", "<p>so:</p>"),
        ("so\n```py", "<p>so</p>"),
        ("# Head *it", "<h1>Head <em>it</em></h1>"),
        ("> quoted **it", "<blockquote><p>quoted <strong>it</strong></p></blockquote>"),
        (
            "| a | b",
            '<div class="fk-table"><table><thead><tr><th>a</th><th>b</th></tr></thead></table></div>',
        ),
        ("| a |\n|--", '<div class="fk-table"><table><thead><tr><th>a</th></tr></thead></table></div>'),
        ("so\nSOURCES: [1]", "<p>so</p>"),
    ],
)
def test_what_is_open_is_drawn_as_what_it_will_be(cut: str, html: str) -> None:
    assert drawn(cut) == html


def test_a_fence_without_an_end_is_code() -> None:
    assert "<pre><code>a **b\n\n# c</code></pre>" in drawn("```\na **b\n\n# c\n``")


def test_half_a_character_waits_for_the_other() -> None:
    writer = ProseWriter()
    writer.add("\ud83d")
    assert shown(writer) == ""
    writer.add("\ude00 a\r")
    writer.add("\nb")
    assert shown(writer) == "<p>😀 a\nb</p>"


def test_a_line_without_an_end_and_a_table_of_many_columns_are_drawn() -> None:
    assert len(drawn("word " * 40_000)) > 199_000
    assert drawn("|" + " x |" * 40).count("<th>") == 40


def test_what_is_whole_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    writer = ProseWriter()
    read: list[int] = []
    parse = writer.parse

    def counted(text: str, env: dict[str, Any]) -> list[Token]:
        read.append(len(text))
        return parse(text, env)

    monkeypatch.setattr(writer, "parse", counted)
    for number in range(200):
        writer.add(f"Paragraph {number} of the text.\n\n")
        writer.draw()
    assert max(read) < 100
