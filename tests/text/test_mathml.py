"""Formulas as elements: what is drawn, what is left as its source, and that nothing else can come of one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.text.mathml import LONGEST, math_element, mathml

MARKUP = re.compile(
    r"</?(?:math|mfrac|mi|mmultiscripts|mn|mo|mover|mpadded|mphantom|mroot|mrow|mspace|msqrt|mstyle|msub|msubsup|msup"
    r"|mtable|mtd|mtext|mtr|munder|munderover)"
    r"(?: (?:aria-label|class|mathcolor|display|displaystyle|scriptlevel|stretchy|accent|accentunder|lspace|rspace|width"
    r"|height|depth|linethickness|mathvariant|minsize|maxsize|fence|form|largeop|movablelimits|separator|symmetric"
    r"|columnspan|rowspan|voffset)=\"[^\"<>]*\")*>"
)


@pytest.mark.parametrize(
    ("latex", "drawn"),
    [
        (r"\frac{a}{b}", "<mfrac><mi>a</mi><mi>b</mi></mfrac>"),
        (r"\sqrt[3]{x}", "<mroot><mi>x</mi><mn>3</mn></mroot>"),
        (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "<mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr>"),
        (r"\begin{aligned} a &= b \end{aligned}", '<mtd class="to-right"><mi>a</mi></mtd>'),
        (r"\color{red}{x}", '<mrow mathcolor="#FF0000"><mi>x</mi></mrow>'),
        (r"\boxed{x}", '<mrow class="boxed"><mi>x</mi></mrow>'),
        (r"\text{<script>alert(1)</script>}", "<mtext>&lt;script&gt;alert(1)&lt;/script&gt;</mtext>"),
    ],
)
def test_a_formula_is_drawn_by_elements_and_classes_alone(latex: str, drawn: str) -> None:
    made = mathml(latex, display=True)
    assert drawn in made and made.startswith('<math display="block" aria-label="') and " style=" not in made


@pytest.mark.parametrize(
    "latex",
    [
        "",
        " ",
        r"\unknown{x}",
        "x^",
        "{",
        r"\href{javascript:alert(1)}{x}",
        r"\def\a{\a\a}\a",
        r"\newcommand{\a}{\a\a}\a",
        "x" * (LONGEST + 1),
        r"\sqrt{" * 100 + "x" + "}" * 100,
    ],
)
def test_what_cannot_be_drawn_is_left_to_its_source(latex: str) -> None:
    assert mathml(latex) == "" and math_element(latex) is None


@given(
    st.lists(
        st.sampled_from(
            [
                *"ab12^_{}&\\<>\"'/=$ ",
                r"\frac",
                r"\text",
                r"\left(",
                r"\right)",
                r"\color{red}",
                "<script>",
                r"\begin{matrix}",
                r"\end{matrix}",
                r"\href",
                r"\\",
                r"\mathbb",
                "\x00",
                "é",
            ]
        ),
        max_size=30,
    ).map("".join)
)
def test_no_text_becomes_anything_but_a_formula(latex: str) -> None:
    made = mathml(latex)
    assert "<" not in MARKUP.sub("", made)
    assert made.count("<m") == made.count("</m")
