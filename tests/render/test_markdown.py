from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.render.markdown import inline_markdown, markdown

ELEMENTS = re.compile(
    r"</?(?:p|h[3-5]|ul|ol|li|span|pre|code|blockquote|hr|div|table|thead|tbody|tr|th|td|strong|em|s|a|br)"
    r"(?: (?:dir=\"auto\"|class=\"?(?:wide|right|formula)\"?|start=\"\d+\"|data-language=\"[\w+#.-]*\"|target=\"_blank\""
    r"|rel=\"noopener noreferrer\"|href=\"https?://[^\"<>]*\"))*>"
)


MATHEMATICS = re.compile(
    r"</?(?:math|mfrac|mi|mn|mo|mover|mphantom|mroot|mrow|mspace|msqrt|msub|msubsup|msup|mtable|mtd|mtext|mtr|munder"
    r"|munderover)(?: [a-z-]+=\"[^\"<>]*\")*>"
)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("Hello", '<p dir="auto">Hello</p>'),
        ("one\ntwo", '<p dir="auto">one<br>two</p>'),
        ("## Why", "<h4>Why</h4>"),
        ("**bold** and *so* and ~~not~~", "<strong>bold</strong> and <em>so</em> and <s>not</s>"),
        ("`a*b*c`", "<code>a*b*c</code>"),
        ("snake_case_name 2 * 3 * 4", "snake_case_name 2 * 3 * 4"),
        ("- one\n  - two\n- three", "<li><span"),
        ("3. three\n4. four", '<ol start="3">'),
        ("- [x] done", "☑ done"),
        ("- [ ]\n  to do", "☐<br>to do"),
        ("```sh\nls <x>\n```", '<pre data-language="sh"><code>ls &lt;x&gt;</code></pre>'),
        ("```\nnever closed", "<pre><code>never closed</code></pre>"),
        ("> quoted\n> > twice", "<blockquote>"),
        ("| a | b |\n|---|--:|\n| 1 | 2 |", '<td class="right">2</td>'),
        ("[docs](https://example.org/a_b)", 'href="https://example.org/a_b"'),
        ("See https://example.org.", ">https://example.org</a>."),
        ("---", "<hr>"),
        ("So $x^2$ it is", "<msup><mi>x</mi><mn>2</mn></msup>"),
        ("\\(a\\)", "<mi>a</mi>"),
        ("$$\n\\frac{a}{b}\n$$", '<p class="formula"><math display="block"'),
        ("\\[\n\\sqrt{x}\n\\]", "<msqrt><mi>x</mi></msqrt>"),
        ("from $5 to $10", '<p dir="auto">from $5 to $10</p>'),
        ("$HOME and $PATH", "$HOME and $PATH"),
        ("$\\unknown{x}$", "$\\unknown{x}$"),
        ("`$x^2$`", "<code>$x^2$</code>"),
    ],
)
def test_what_models_write_is_marked_up(text: str, html: str) -> None:
    assert html in markdown(text)


def test_a_fence_in_an_item_is_code_and_the_numbers_go_on() -> None:
    html = markdown("1. Run\n   ```sh\n   ls\n   ```\n2. Look")
    assert html.startswith(
        '<ol><li><span dir="auto">Run</span><pre data-language="sh"><code>ls</code></pre></li><li>'
    )
    assert html.count("<ol") == 1


def test_a_link_or_a_picture_without_an_address_is_its_words() -> None:
    assert markdown("[words]() and ![a cat]() and []()") == '<p dir="auto">words and 🖼 a cat and </p>'


def test_a_picture_is_a_link_to_it_and_is_not_loaded() -> None:
    assert '<a href="https://example.org/x.png"' in markdown("![a cat](https://example.org/x.png)")
    assert "<img" not in markdown("![a cat](https://example.org/x.png)")


@pytest.mark.parametrize("sign", ["- ", "> "])
def test_a_text_that_is_nested_too_deep_is_whole_and_as_it_was_written(sign: str) -> None:
    text = (
        "\n".join(f"{'  ' * depth}{sign}level {depth}" for depth in range(40))
        if sign == "- "
        else f"{sign * 40}deep"
    )
    drawn = markdown(f"**First.**\n\n{text}\n\nLast.")
    assert "**First.**" in drawn and "Last." in drawn
    assert ("level 39" if sign == "- " else "deep") in drawn


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        '[x](https://example.org/"onmouseover="alert(1))',
        "![x](https://example.org/leak.png)",
        "<img src=x onerror=alert(1)>",
        "``` <script>\nx\n```",
        "**<b onclick=x>**",
        "| <i> |\n|---|\n| </td><script> |",
        "$\\text{<script>alert(1)</script>}$",
        "$$\n\\text{<img src=x onerror=alert(1)>}\n$$",
        "\\(\\href{javascript:alert(1)}{x}\\)",
    ],
)
def test_nothing_that_somebody_wrote_is_markup(text: str) -> None:
    assert "<" not in MATHEMATICS.sub("", ELEMENTS.sub("", markdown(text)))


@given(st.text(alphabet="ab*_~`[]()<>#-|:1.>\\ \n\"'&https/$^{}", max_size=300))
def test_every_text_gives_our_elements_alone_and_they_are_closed(text: str) -> None:
    html = markdown(text)
    assert "<" not in MATHEMATICS.sub("", ELEMENTS.sub("", html))
    for element in ("p", "ul", "ol", "li", "pre", "blockquote", "table", "strong", "em", "a"):
        assert len(re.findall(rf"<{element}[ >]", html)) == html.count(f"</{element}>"), element


PIECES = (
    "*",
    "`",
    "[",
    "> ",
    "- ",
    "|",
    "**a",
    "_a ",
    "1. ",
    "~~",
    "https://",
    "$",
    "$$",
    "$a",
    "\\(",
    "\\[",
)


@pytest.mark.parametrize("piece", [*PIECES, "$x^2$ "])
def test_a_long_hostile_text_is_drawn(piece: str) -> None:
    assert markdown(piece * (50_000 // len(piece)))
    assert markdown((piece + "\n") * (15_000 // len(piece)))


def test_emphasis_between_words_without_spaces_is_drawn_and_one_tilde_strikes_nothing_out() -> None:
    assert inline_markdown("が**「太字」**が、*強調*と") == "が<strong>「太字」</strong>が、<em>強調</em>と"
    assert inline_markdown("5~10, 3~4, H~2~O, ~~gone~~") == "5~10, 3~4, H~2~O, <s>gone</s>"
    assert inline_markdown("2*3*4 = 24") == "2*3*4 = 24"
