"""Blocks of answers with marks as trees: what is marked, what a block is found by, and that nothing in it is obeyed."""

from __future__ import annotations

import re

import pytest

from forky_core.render.marked_prose import marked_prose
from forky_core.render.trees import ATTRIBUTES, TAGS, html_of
from forky_core.views.answers.blocks import blocks_of
from forky_core.views.answers.marks import marked, unmarked
from tests.hostile_texts import REFUSED, mixed
from tests.render.test_prose import AWAY, elements

_NUMBER = re.compile(r' data-b="\d+"')


def drawn(text: str) -> str:
    return "".join(map(html_of, marked_prose(unmarked(blocks_of(text)))))


@pytest.mark.parametrize(
    ("written", "html"),
    [
        (
            "a **b** *c* `d` ~~e~~\\\nf",
            "<p>a <strong>b</strong> <em>c</em> <code>d</code> <s>e</s><br>f</p>",
        ),
        ("# a\n#### b", "<h3>a</h3><h4>b</h4>"),
        (
            "3. a\n   - b\n4. c\n\n> d",
            (
                '<ol start="3"><li><p>a</p><ul><li><p>b</p></li></ul></li><li><p>c</p></li></ol>'
                "<blockquote><p>d</p></blockquote>"
            ),
        ),
        (
            "- [x] a",
            '<ul><li class="task-list-item"><p><input type="checkbox" disabled aria-label="Done" checked>a</p></li></ul>',
        ),
        (
            "|a|b|\n|--|-:|\n|1|2|\n|3|4|",
            (
                '<div class="fk-table" tabindex="0"><table><thead><tr><th>a</th><th style="text-align:right">b</th></tr>'
                '</thead><tbody><tr><td>1</td><td style="text-align:right">2</td></tr>'
                '<tr><td>3</td><td style="text-align:right">4</td></tr></tbody></table></div>'
            ),
        ),
        (
            "All of this is said [there](https://a.io).",
            f'<p>All of this is said <a href="https://a.io" {AWAY}>there</a>.</p>',
        ),
        ("<b>no</b>\n\n---", "<p>&lt;b&gt;no&lt;/b&gt;</p><hr>"),
        (
            "[it](https://a.example/a/much/longer/address?than=words)",
            f'<p><a href="https://a.example/a/much/longer/address?than=words" {AWAY}>it</a></p>',
        ),
    ],
)
def test_what_is_written_is_drawn(written: str, html: str) -> None:
    assert _NUMBER.sub("", drawn(written)) == html


def test_each_block_has_its_number_and_a_mark_says_what_it_means() -> None:
    one, other = marked(["It takes two days.\n\nPack light.", "It takes nine hours."], 0)
    assert 'takes <mark class="only" title="Only this one says it">two days</mark>.' in "".join(
        map(html_of, marked_prose(one))
    )
    found = "".join(map(html_of, marked_prose(other)))
    assert '<del class="gone" title="The pinned one says this">two days</del>' in found
    blocks = [given for _, given, *_ in elements(tuple(marked_prose(one))) if given and "data-b" in given]
    assert [given["data-b"] for given in blocks] == ["0", "1"] and blocks[1]["class"] == "only"


def test_code_that_another_has_in_part_is_a_diff_by_lines() -> None:
    one, _ = marked(["```py\na = 1\nb = 2\n```", "```py\na = 1\nb = 3\n```"], 0)
    html = html_of(marked_prose(one)[0])
    assert html.startswith('<div class="fk-code diff"') and html.count('<span class="ln only">') == 1
    assert "ln" not in drawn("```py\na = 1\n```").split("<code>")[1]


def test_a_diagram_is_drawn_unless_its_text_is_still_growing() -> None:
    blocks = unmarked(blocks_of("```mermaid\nflowchart LR\n  A --> B\n```"))
    assert "data-diagram" in html_of(marked_prose(blocks)[0])
    assert "data-diagram" not in html_of(marked_prose(blocks, growing=True)[0])


def test_hostile_texts_hold_only_elements_and_addresses_that_are_known() -> None:
    for text in (*REFUSED, *mixed(1_000, seed=7)):
        for tag, attributes, *_ in elements(tuple(marked_prose(unmarked(blocks_of(text))))):
            given = attributes or {}
            assert tag in TAGS and given.keys() <= ATTRIBUTES, text
            assert "href" not in given or re.match(r"https?://|mailto:", given["href"], re.IGNORECASE), text
