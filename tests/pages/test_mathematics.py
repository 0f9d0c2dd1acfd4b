"""Inline `$…$` is drawn where it is mathematics, and left as written where it is money, a variable or a sentence."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.ui.components.markdown import safe_markdown

MATHEMATICS = (
    "$x$",
    "$x^2 + y^2 = z^2$",
    "$E = mc^2$",
    "$PV = nRT$",
    "$E = mgh$",
    r"$\alpha$",
    r"$\frac{a}{b}$",
    r"$\text{cost} = \text{tokens} \cdot p$",
    "$O(n log n)$",
    "$f(x)$",
    "$x_i$",
    "$x_{total}$",
    "$a_1, …, a_n$".replace("…", r"\dots"),
    "$2x + 3$",
    "$n!$",
    "$a/b$",
    "$x, y$",
    "$|x|$",
    "$x ≤ y$",
    "$λ$",
    r"$50\% = p$",
    "$f'(x)$",
    r"$P(A \mid B)$",
    r"$\begin{pmatrix} a \end{pmatrix}$",
    "$A^T$",
    "$(a+b)^2$",
)
NO_MATHEMATICS = (
    "$5 and $10",
    "$5",
    "It costs $5-$10 a day.",
    "between $5k and $10k",
    "$5,$6",
    "US$5 or AU$6",
    "$5 and 6$",
    "$10 = 2 hrs$",
    "$1 = 0.9 EUR$",
    "$1 = €0.9$",
    "$20$",
    "$1,000.50$",
    "5$ or 10$",
    "a 5$ b 6$ c",
    "$HOME/$USER",
    "$HOME and $PATH",
    "$PATH:$HOME",
    "$A $B",
    "$a=$b",
    "$a,$b",
    "foo($a,$_)",
    "${A}-${B}",
    "$(date)$(pwd)",
    "$FOO_BAR$",
    "$foo_bar$",
    "$HOME_DIR=$OTHER_DIR",
    "a $ b $ c",
    "$ x $",
    "$x $",
    "$ x$",
    "$and$",
    "$the price is x^2$",
    "$a = b and c = d$",
    "$x^{2$",
    "$50% = x$",
    "$$",
    "$a$$b$",
    "price$x$",
    "3$x$",
    "$x$y",
    r"\$x$",
    "$what = ?$",
    "the regex ^a$|^b$",
    "$a\n+ b$",
)


@pytest.mark.parametrize("written", MATHEMATICS)
def test_mathematics_is_drawn(written: str) -> None:
    assert safe_markdown(f"So ({written}), then.") == f"So ({written}), then."
    assert safe_markdown(written) == written


@pytest.mark.parametrize("written", NO_MATHEMATICS)
def test_everything_else_is_left_as_it_is_written(written: str) -> None:
    safe = safe_markdown(written)
    assert not re.search(r"(?<!\\)\$", safe)
    assert safe.replace("\\$", "$").replace("\\", "") == written.replace("\\", "")


@pytest.mark.parametrize(
    ("written", "safe"),
    [
        ("For $5 you get $x^2$ and for $6 $y$.", r"For \$5 you get $x^2$ and for \$6 $y$."),
        ("`$x^2$` and\n```\n$y^2$\n```\n", "`$x^2$` and\n```\n$y^2$\n```\n"),
        ("$x ![cat](http://leak.example) and so on$", r"\$x 🖼 [cat](http://leak.example) and so on\$"),
    ],
    ids=["money beside mathematics", "a formula in code", "what only begins like a formula"],
)
def test_beside_and_around_formulas_all_is_as_elsewhere(written: str, safe: str) -> None:
    assert safe_markdown(written) == safe


def test_a_formula_holds_no_picture_no_link_and_no_element() -> None:
    safe = safe_markdown("$x^2 ![c](d) a$")
    assert "![" not in safe and "](" not in safe
    assert safe_markdown("$x <img> :red[y] words$").startswith(r"\$x &lt;img>")


def test_a_bar_in_a_formula_does_not_cut_the_cell_of_a_table() -> None:
    assert r"\$|x|\$" in safe_markdown("| a | b |\n|---|---|\n| $|x|$ | 2 |\n")
    assert "$x^2$" in safe_markdown("| a | b |\n|---|---|\n| $x^2$ | 2 |\n")


@given(st.text(alphabet="$x5 ^_=\\{}[]()!<a`|\n", max_size=40))
def test_dollar_signs_that_are_left_stand_in_pairs(written: str) -> None:
    if "`" in written:
        safe_markdown(written)
        return
    safe = safe_markdown(written)
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\$", safe)) % 2 == 0
    assert not re.search(r"(?<!\\)(?:\\\\)*!\[", safe)
