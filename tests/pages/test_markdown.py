from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.ui.components.markdown import _TOKEN, plain_label, safe_markdown


@pytest.mark.parametrize(
    ("written", "safe"),
    [
        ("$5 and $10", r"\$5 and \$10"),
        ("`echo $HOME :red[x]`", "`echo $HOME :red[x]`"),
        ("```sh\necho $HOME\n```\n$5", "```sh\necho $HOME\n```\n\\$5"),
        (
            "1. run\n   ```sh\n   echo $A\n   ```\n2. pay $5",
            "1. run\n   ```sh\n   echo $A\n   ```\n2. pay \\$5",
        ),
        (r"\(a+b\) and \[c\] and $$d$$", "$a+b$ and $$c$$ and $$d$$"),
        ("![cat](http://x.example/c.png)", "🖼 [cat](http://x.example/c.png)"),
        ("![cat][ref]", "🖼 [cat][ref]"),
        ("![](http://x.example)", "🖼 [image](http://x.example)"),
        ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
        ("| a |\n|:-:|\n| b |", "| a |\n|:-:|\n| b |"),
        ("see <https://a.example> at 12:30", "see <https://a.example> at 12:30"),
        ("> ```\n> $a\npaid $b", "> ```\n> $a\npaid \\$b"),
        ("a\x00b\u202ec\ud800", "a\ufffdb\ufffdc\ufffd"),
    ],
)
def test_what_is_written_is_what_is_shown(written: str, safe: str) -> None:
    assert safe_markdown(written) == safe


CITED = {1: "./documents?d=ab&n=3", 2: "./?c=x&m=cd"}


@pytest.mark.parametrize(
    ("written", "safe"),
    [
        ("In spring [1].", "In spring \\[[1](./documents?d=ab&n=3)\\]."),
        ("Both [1, 2].", "Both \\[[1](./documents?d=ab&n=3), [2](./?c=x&m=cd)\\]."),
        ("One of them [1; 9].", "One of them \\[[1](./documents?d=ab&n=3); 9\\]."),
        ("Nothing [7], a year [2024], a box [ ].", "Nothing [7], a year [2024], a box [ ]."),
        ("`row[1]` and ``a[2]``", "`row[1]` and ``a[2]``"),
        ("```py\nrow[1]\n```\nsee [2]", "```py\nrow[1]\n```\nsee \\[[2](./?c=x&m=cd)\\]"),
        ("$$x[1]$$ and \\[1]", "$$x[1]$$ and \\[1]"),
        ("[1](http://a.example), [1][2], [text][1]", "[1](http://a.example), [1][2], [text][1]"),
        ("[1]: http://a.example", "[1]: http://a.example"),
        ("![1]", "🖼 [1]"),
    ],
)
def test_a_number_that_cites_is_a_link_outside_code(written: str, safe: str) -> None:
    assert safe_markdown(written, CITED) == safe
    assert safe_markdown(written, {}) == safe_markdown(written)


@pytest.mark.parametrize("written", [":red[x]", ":smile:", ":material/home:", "::: note", ":streamlit:"])
def test_directives_are_broken(written: str) -> None:
    assert written not in safe_markdown(written)


@pytest.mark.parametrize(
    "written",
    [
        "- `\n- ![x](http://leak.example) `",
        "    ```\n![x](http://leak.example)",
        "```\n```\n![x](http://leak.example)",
        "- ```\n\nout ![x](http://leak.example)",
        "| ` | ![x](http://leak.example) ` |\n|---|---|",
        "`` ` ![x](http://leak.example)",
    ],
)
def test_an_image_cannot_hide_in_what_only_looks_like_code(written: str) -> None:
    assert not re.search(r"(?<!\\)!\[", safe_markdown(written))


@given(st.text(alphabet="`~$:[]()!<>\\ \n-a1.*|#{}", max_size=80))
def test_outside_code_nothing_is_left_to_obey(written: str) -> None:
    if "`" in written or "~~~" in written:
        safe_markdown(written)
        return
    safe = safe_markdown(written)
    assert not re.search(r"(?<!\\)(?:\\\\)*!\[", safe)
    assert not re.search(r"(?<!\\)(?:\\\\)*<", safe)


@given(st.text(max_size=300))
def test_a_label_is_one_line_without_formatting(text: str) -> None:
    label = plain_label(text)
    assert "\n" not in label
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]$]", label)
    label.encode()


@given(st.text(alphabet="`\\$<!:[]()~{}> \n,;a1/|", max_size=60))
def test_no_token_begins_with_a_sign_that_is_not_looked_for_first(text: str) -> None:
    first = r"(?=[`\\$<!:\[\]~])"
    assert _TOKEN.pattern.startswith(first)
    anywhere = re.compile(_TOKEN.pattern.removeprefix(first), _TOKEN.flags)
    assert [found.span() for found in _TOKEN.finditer(text)] == [
        found.span() for found in anywhere.finditer(text)
    ]


def test_streamlit_finds_the_same_emphasis_and_strikes_nothing_out_by_one_tilde() -> None:
    joiner = "\u2060"
    assert safe_markdown("**「太字」**が") == f"**「太字」{joiner}**が"
    assert safe_markdown("が**「太字」**") == f"が**{joiner}「太字」**"
    assert safe_markdown("5~10, 3~4, ~~gone~~") == "5\\~10, 3\\~4, ~~gone~~"
    for kept in (
        "`cp ~/a ~/b`",
        "$$a~b ~ c$$",
        "https://a.example/~x/~y",
        "[l](https://a.example/~x/~y)",
        "**bold**, *em* が",
        "```\ncp ~/a ~/b **「太字」**が\n```",
    ):
        assert safe_markdown(kept) == kept
