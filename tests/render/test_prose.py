"""Markdown as trees of elements: what is drawn, and that nothing in it is obeyed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from forky_core.render.live_prose import ProseWriter
from forky_core.render.markdown import markdown
from forky_core.render.marked_prose import marked_prose
from forky_core.render.prose import prose
from forky_core.render.trees import ATTRIBUTES, TAGS, Tree, html_of, text_of, trees_of
from forky_core.views.answers.blocks import blocks_of
from forky_core.views.answers.code_colors import colored_code
from forky_core.views.answers.marks import unmarked
from tests.hostile_texts import ALLOWED, REFUSED, mixed

AWAY = 'target="_blank" rel="noopener noreferrer"'
TABLE = '<div class="fk-table"><table><thead><tr><th>a</th></tr></thead><tbody><tr>'
_WHERE = re.compile(r"(?:https?://|mailto:|#fk-)", re.IGNORECASE)


def drawn(text: str) -> str:
    return "".join(map(html_of, prose(text)))


def elements(trees: tuple[Tree, ...]) -> Iterator[list[Any]]:
    for tree in trees:
        if isinstance(tree, list):
            yield tree
            yield from elements(tuple(tree[2:]))


@pytest.mark.parametrize(
    ("written", "html"),
    [
        ("a **b** *c* `d` ~~e~~", "<p>a <strong>b</strong> <em>c</em> <code>d</code> <del>e</del></p>"),
        ("a\\\nb\nc", "<p>a<br>\nb\nc</p>"),
        ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
        ("<b>no</b> & $5", "<p>&lt;b&gt;no&lt;/b&gt; &amp; $5</p>"),
        (
            "![x](https://a.example/x.png) [![y](https://a.example/y.png)](https://a.example)",
            f'<p>🖼 <a href="https://a.example/x.png" {AWAY}>x</a> <a href="https://a.example" {AWAY}>🖼 y</a></p>',
        ),
        ("a -> b :red[x] :smile:", "<p>a -&gt; b :red[x] :smile:</p>"),
        ("a\x00b\u202ec\ud800", "<p>a\ufffdb\ufffdc\ufffd</p>"),
        ("2*3*4 *so*", "<p>2*3*4 <em>so</em></p>"),
        ("5~10 and 3~4 days; H~2~O; 約~3日", "<p>5~10 and 3~4 days; H~2~O; 約~3日</p>"),
        ("~~gone~~, ~not~", "<p><del>gone</del>, ~not~</p>"),
        ("cp ~/a ~/b", "<p>cp ~/a ~/b</p>"),
        (
            "- [ ]\n  b",
            '<ul class="contains-task-list"><li class="task-list-item"><input type="checkbox" disabled aria-label="To do">\nb</li></ul>',
        ),
        (
            "- [x] a\n\n[x]: https://e.example",
            '<ul><li><a href="https://e.example" target="_blank" rel="noopener noreferrer">x</a> a</li></ul>',
        ),
        ("**「太字」**が", "<p><strong>「太字」</strong>が</p>"),
        (
            "これは**（全角）**と*「強調」*です",
            "<p>これは<strong>（全角）</strong>と<em>「強調」</em>です</p>",
        ),
        (
            "**텍스트(text)**는 **“강조”**를",
            "<p><strong>텍스트(text)</strong>는 <strong>“강조”</strong>를</p>",
        ),
        ("这是**《书名》**，~~“旧的”~~新的", "<p>这是<strong>《书名》</strong>，<del>“旧的”</del>新的</p>"),
        ("**foo.**bar and __太字__です", "<p>**foo.**bar and __太字__です</p>"),
        (
            "公式$x$的值，价格$5和$6",
            '<p>公式<math aria-label="x"><mi>x</mi></math>的值，价格$5和$6</p>',
        ),
        ("|a|\n|-|\n|b<br>c|", f"{TABLE}<td>b<br>\nc</td></tr></tbody></table></div>"),
        ("b<br>c", "<p>b&lt;br&gt;c</p>"),
    ],
)
def test_what_is_written_is_drawn(written: str, html: str) -> None:
    assert drawn(written) == html


def test_a_text_leads_to_its_headings_and_notes_and_to_no_others() -> None:
    html = drawn(
        "# One `two`\n\nSee [it](#one-two), [no](#three), a note[^n] and [^m].\n\n[^n]: Here *it* is.\n    More."
    )
    heading = re.search(r'<h1 id="(fk-[^"]*-one-two)">', html)
    note = re.search(r'<li id="(fk-[^"]*-note-1)"><p>Here <em>it</em> is.\nMore.</p></li></ol>$', html)
    assert heading is not None and note is not None
    assert f'See <a href="#{heading[1]}">it</a>, <span>no</span>' in html
    assert f'a note<sup><a href="#{note[1]}">1</a></sup> and [^m].' in html
    assert drawn("> " * 60 + "deep") == f'<div class="fk-plain">{"&gt; " * 60}deep</div>'


def test_code_keeps_its_tabs() -> None:
    assert "\tcc x.c" in text_of(prose("```make\nall:\n\tcc x.c\n```")[0])


def test_hostile_texts_hold_only_elements_and_addresses_that_are_known() -> None:
    for text in (*REFUSED, *mixed(3_000, seed=5)):
        for tag, attributes, *_ in elements(prose(text)):
            given = attributes or {}
            assert tag in TAGS and given.keys() <= ATTRIBUTES, text
            assert "href" not in given or _WHERE.match(given["href"]), text


def test_whatever_is_cut_a_hostile_text_leads_nowhere_while_it_is_written() -> None:
    for text in (
        *REFUSED[:: len(REFUSED) // 400],
        *mixed(100, seed=6),
        "[x](./?c=a)",
        "<img src=x onerror=y>",
    ):
        writer = ProseWriter()
        for letter in text:
            writer.add(letter)
            for tag, attributes, *_ in elements(json.loads(writer.draw().last)):
                assert tag in TAGS, text
                assert "href" not in (attributes or {}) or _WHERE.match(attributes["href"]), text


def test_a_link_to_the_web_or_a_mail_stays_one() -> None:
    for text, address in ALLOWED.items():
        if not address.startswith("#"):
            assert [of["href"] for tag, of, *_ in elements(prose(text)) if tag == "a"] == [address]


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("见https://a.example/b，然后", "https://a.example/b"),
        ("看 https://a.example。下一句", "https://a.example"),
        ("https://a.example/docsを参照", "https://a.example/docs"),
        ("https://a.example/路径「括弧」", "https://a.example/%E8%B7%AF%E5%BE%84"),
        ("“https://a.example/b”后 and", "https://a.example/b"),
        ("(as https://a.example/b_(c)) says", "https://a.example/b_(c)"),
        ("**https://a.example/b?c=d** is", "https://a.example/b?c=d"),
    ],
)
def test_an_address_in_a_sentence_is_the_same_link_in_chat_in_compare_and_on_pages_for_others(
    written: str, address: str
) -> None:
    compared = "".join(map(html_of, marked_prose(unmarked(blocks_of(written)))))
    for html in (drawn(written), compared, markdown(written)):
        assert re.findall('href="([^"]*)"', html) == [address]


@pytest.mark.parametrize(
    ("text", "leads_to"),
    [
        ("[Settings](./settings)", ["./settings"]),
        ("[Settings](./settings?by=a)", []),
        ("[Settings](settings)", []),
        ("[Settings](./settings/..)", []),
        ("[Settings](./library)", []),
    ],
)
def test_settings_are_the_one_page_of_the_app_to_which_a_text_leads(text: str, leads_to: list[str]) -> None:
    assert [of["href"] for tag, of, *_ in elements(prose(text)) if tag == "a"] == leads_to


CITED = {1: "./documents?d=ab&n=3", 2: "./?c=x&m=cd"}


@pytest.mark.parametrize(
    ("written", "links"),
    [
        ("In spring [1].", ["1"]),
        ("Both [1, 2].", ["1", "2"]),
        ("One of them [1; 9].", ["1"]),
        ("Nothing [7], a year [2024], a box [ ].", []),
        ("`row[1]` and ``a[2]`` and row[1]", []),
        ("```py\nrow[1]\n```\nsee [2]", ["2"]),
        ("$$x[1]$$", []),
        ("![1] [1][2]", []),
        ("如[1]所示，[2]。", ["1", "2"]),
    ],
)
def test_a_number_that_cites_is_a_link_outside_code(written: str, links: list[str]) -> None:
    found = [one for one in elements(prose(written, CITED)) if one[0] == "a"]
    assert [one[2] for one in found] == links
    assert [one[1]["href"] for one in found] == [CITED[int(number)] for number in links]
    assert "".join(map(text_of, prose(written, CITED))) == "".join(map(text_of, prose(written)))


def test_code_is_the_same_text_in_coloured_pieces() -> None:
    text = "def f(x):\n    return 'a' + 1  # so\n"
    pieces = colored_code(text, "python")
    assert "".join(piece for piece, _ in pieces) == text
    assert {"keyword", "function", "string", "number", "comment"} <= {kind for _, kind in pieces}
    assert colored_code(text, "no such language") == ((text, ""),)


def test_html_of_ours_becomes_the_same_html_again() -> None:
    html = '<div class="fk-x" data-act="a"><button disabled>A &amp; “B”</button><br><i>c</i></div>'
    assert "".join(map(html_of, trees_of(html))) == html


@pytest.mark.parametrize(
    "html", ["<script>x</script>", '<p onclick="x">y</p>', "<p>a", "<p>a</div>", "<img>"]
)
def test_html_that_has_no_place_in_a_tree_is_refused(html: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each says what is wrong with it
        trees_of(html)
