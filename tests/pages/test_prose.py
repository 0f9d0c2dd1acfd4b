"""Safe Markdown as trees of elements: what is drawn by the notebook itself, and what is left to Streamlit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from pages.ui.components.code import colored_code
from pages.ui.components.markdown import formatted, safe_markdown
from pages.ui.components.prose import prose
from pages.ui.components.tree import ATTRIBUTES, TAGS, Tree, html_of, text_of, trees_of
from tests.browser.prose_texts import TEXTS
from tests.pages.hostile import ALLOWED, REFUSED, mixed

_WHERE = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)


def drawn(text: str) -> str:
    (piece,) = formatted(text)
    assert isinstance(piece, str)
    trees = prose(piece)
    assert trees is not None
    return "".join(map(html_of, trees))


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
        ("![x](https://a.example/x.png)", None),
        ("a -> b", "<p>a → b</p>"),
        ("5~10 and 3~4 days; H~2~O; 約~3日", "<p>5~10 and 3~4 days; H~2~O; 約~3日</p>"),
        ("~~gone~~, ~not~", "<p><del>gone</del>, ~not~</p>"),
        ("cp ~/a ~/b", "<p>cp ~/a ~/b</p>"),
        (
            "- [ ]\n  b",
            '<ul class="contains-task-list"><li class="task-list-item"><input type="checkbox" disabled>\nb</li></ul>',
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
    ],
)
def test_what_is_written_is_drawn(written: str, html: str | None) -> None:
    if html is None:
        assert "<img" not in drawn(written) and "🖼" in drawn(written)
    else:
        assert drawn(written) == html


def test_every_kind_of_text_that_is_compared_with_streamlits_is_drawn_here() -> None:
    assert [text for text in TEXTS if prose(safe_markdown(text)) is None] == []


@pytest.mark.parametrize(
    "text",
    [
        "It is $x^2$.",
        "\\(x\\)",
        "$$\nx\n$$",
        "A note[^1].\n\n[^1]: Here.",
        "See [above](#one).",
        "[above]\n\n[above]: #one",
        "> " * 60 + "deep",
    ],
)
def test_what_only_streamlit_draws_is_left_to_it(text: str) -> None:
    assert prose(safe_markdown(text)) is None


def test_hostile_texts_hold_only_elements_and_addresses_that_are_known() -> None:
    for text in (*REFUSED, *mixed(3_000, seed=5)):
        for tag, attributes, *_ in elements(prose(safe_markdown(text)) or ()):
            given = attributes or {}
            assert tag in TAGS and given.keys() <= ATTRIBUTES, text
            assert "href" not in given or _WHERE.match(given["href"]), text


def test_a_text_that_would_be_no_safe_markdown_leads_nowhere_either() -> None:
    for text in (
        *REFUSED,
        *mixed(3_000, seed=6),
        "[x](./?c=a)",
        "[x](./documents?d=1)",
        "<img src=x onerror=y>",
    ):
        for tag, attributes, *_ in elements(prose(text) or ()):
            assert tag in TAGS, text
            assert "href" not in (attributes or {}) or _WHERE.match(attributes["href"]), text


def test_a_link_to_the_web_or_a_mail_stays_one() -> None:
    for text, address in ALLOWED.items():
        trees = prose(safe_markdown(text))
        if not address.startswith("#"):
            assert trees is not None
            assert [of["href"] for tag, of, *_ in elements(trees) if tag == "a"] == [address]


def test_only_what_an_answer_cites_leads_into_the_app() -> None:
    safe = "\\[[1](./?c=a&m=b)\\] and [x](./?c=other)"
    (paragraph,) = prose(safe, ["./?c=a&m=b"]) or ()
    links = [of["href"] for tag, of, *_ in elements((paragraph,)) if tag == "a"]
    assert links == ["./?c=a&m=b"] and text_of(paragraph) == "[1] and x"


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
