"""Inline `$…$` is drawn where it is mathematics, and left as written where it is money, a variable or a sentence."""

from __future__ import annotations

import pytest

from forky_core.render.prose import prose
from forky_core.render.trees import html_of, text_of

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
    "$a\n+b$",
)


def html(text: str) -> str:
    return "".join(map(html_of, prose(text)))


@pytest.mark.parametrize("written", MATHEMATICS)
def test_mathematics_is_drawn(written: str) -> None:
    assert html(f"So ({written}), then.").count("<math ") == 1
    assert html(written).count("<math ") == 1


@pytest.mark.parametrize("written", NO_MATHEMATICS)
def test_everything_else_is_left_as_it_is_written(written: str) -> None:
    assert "<math" not in html(written)
    assert "".join(map(text_of, prose(written))).split() == written.replace("\\$", "$").split()


def test_money_beside_mathematics_is_money_and_mathematics() -> None:
    drawn = html("For $5 you get $x^2$ and for $6 $y$.")
    assert drawn.startswith("<p>For $5 you get <math ") and "</math> and for $6 <math " in drawn


def test_a_formula_in_code_stays_code() -> None:
    assert "<math" not in html("`$x^2$` and\n```\n$y^2$\n```\n")


def test_a_bar_in_a_formula_does_not_cut_the_cell_of_a_table() -> None:
    assert "<math " in html("| a | b |\n|---|---|\n| $x^2$ | 2 |\n")


def test_a_formula_on_several_lines_is_one_whatever_its_lines_begin_with() -> None:
    for written in ("$$\na\n- b\n= c\n$$", "\\[\na\n- b\n= c\n\\]", "so:\n$$\na\n- b = c\n$$\nthen"):
        assert html(written).count("<math ") == 1 and "<ul" not in html(written)
    assert html("$$\na\n\nb") == "<p>$$\na</p><p>b</p>"


def test_what_cannot_be_read_as_a_formula_is_shown_as_it_was_written() -> None:
    assert html("$\\unknown{x}$") == '<p><span class="fk-formula">$\\unknown{x}$</span></p>'


def test_what_only_begins_like_a_formula_is_obeyed_no_more_than_anything_else() -> None:
    assert "<img" not in html("$x ![cat](http://leak.example) <img> and so on$")
