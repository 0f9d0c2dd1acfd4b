"""What is special about a form: code in Markdown that ends, formulas on pages."""

from __future__ import annotations

import re

import pytest
from hypothesis import example
from hypothesis import given as for_all
from hypothesis import strategies as st

from forky_core.formats.reports.plain_markdown import harmless_markdown, plain_line, plain_markdown
from forky_core.formats.reports.registry import web_page
from forky_core.formats.reports.report import Prose, Report, ReportColumn, ReportSection, SideBySide
from tests.formats.reports.test_every_form import rendered_faults


def report(*blocks: Prose | SideBySide) -> Report:
    return Report("comparison", "Ports", ("One.",), (ReportSection("First", blocks),))


def page(made: Report) -> str:
    return b"".join(web_page(made)).decode()


def test_every_colour_that_a_page_names_is_in_its_style() -> None:
    beside = SideBySide(tuple(ReportColumn(name, "", (Prose(name),)) for name in ("main", "debug")))
    made = page(report(beside))
    named = set(re.findall(r'class="column (c\d+)"', made))
    assert named == {"c0", "c1"}
    assert all(f".{one} {{ --lane:" in made for one in named)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        *((same, same) for same in ("**bold** and `a < b`", "[docs](https://example.org)")),
        ("`<b>` is a tag", "`<b>` is a tag"),
        ("```html\n<b>x</b>\n```", "```html\n<b>x</b>\n```"),
        ("```\nnever closed", "```\nnever closed\n```"),
        ("$a<b$", "$a\\lt b$"),
        ("a <b>", "a &lt;b>"),
        ("a < b", "a < b"),
        ("![x](https://example.org/x.png)", "\\![x](https://example.org/x.png)"),
    ],
)
def test_markdown_keeps_what_is_harmless(text: str, kept: str) -> None:
    assert harmless_markdown(text) == kept


@for_all(
    st.text(alphabet="ab <>/!`~[]()#:\\$\n-=\"'", max_size=120)
    | st.lists(
        st.sampled_from(
            [
                "<img src=x>",
                "`",
                "``",
                "```",
                "\n",
                "- ",
                "  ",
                "> ",
                "![",
                "](",
                "[a]: javascript:x",
                "\\",
                "$",
                "x",
            ]
        ),
        max_size=14,
    ).map("".join)
)
@example("\\``<img src=x>`<img src=x>`")
def test_no_text_makes_markdown_load_or_run_anything(text: str) -> None:
    assert rendered_faults(f"# x\n\n{harmless_markdown(text)}\n") == []


@for_all(st.text(max_size=60))
def test_a_line_of_text_is_text_in_markdown(text: str) -> None:
    assert rendered_faults(f"# {plain_line(text)}\n\n| {plain_line(text)} |\n|---|\n") == []


def test_formulas_are_drawn_on_pages_and_their_source_is_kept_in_markdown() -> None:
    made = report(Prose("So $\\frac{a}{b}$ it is, for $5 and $6."))
    assert "<mfrac><mi>a</mi><mi>b</mi></mfrac>" in page(made) and "for $5 and $6." in page(made)
    assert "$\\frac{a}{b}$" in b"".join(plain_markdown(made)).decode()


def test_a_long_text_is_on_a_page_to_its_end() -> None:
    text = "\n".join(f"Line {number} of a long answer." for number in range(5_000))
    columns = (ReportColumn("main", "", (Prose(text),)), ReportColumn("side", "", (Prose("Short."),)))
    assert "Line 4999 of" in page(report(SideBySide(columns)))
