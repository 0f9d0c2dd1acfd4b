"""What is special about a form: code in Markdown that ends, formulas on pages, slides that hold what fits."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from forky_core.publishing.forms.fitting import slides_of
from forky_core.publishing.forms.plain_markdown import PlainMarkdown, harmless_markdown, plain_line
from forky_core.publishing.forms.slides import Slides
from forky_core.publishing.forms.web_page import WebPage
from forky_core.publishing.report import (
    DataTable,
    Prose,
    Report,
    ReportColumn,
    ReportSection,
    SideBySide,
)
from tests.publishing.test_every_form import rendered_faults


def report(*blocks: Prose | SideBySide | DataTable) -> Report:
    return Report(
        "comparison", "Ports", ("One.",), (ReportSection("First", blocks),), DataTable(("a",), (("b",),))
    )


def page(made: Report) -> str:
    return b"".join(WebPage().write(made)).decode()


def test_every_colour_that_a_page_names_is_in_its_style() -> None:
    beside = SideBySide(tuple(ReportColumn(name, "", (Prose(name),)) for name in ("main", "debug")))
    for form in (WebPage(), Slides()):
        made = b"".join(form.write(report(beside))).decode()
        named = set(re.findall(r'class="column (c\d+)"', made))
        assert named == {"c0", "c1"}
        assert all(f".{one} {{ --lane:" in made for one in named)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "**bold** and `a < b` and [docs](https://example.org)",
            "**bold** and `a < b` and [docs](https://example.org)",
        ),
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
            (
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
            )
        ),
        max_size=14,
    ).map("".join)
)
def test_no_text_makes_markdown_load_or_run_anything(text: str) -> None:
    assert rendered_faults(f"# x\n\n{harmless_markdown(text)}\n") == []


@for_all(st.text(max_size=60))
def test_a_line_of_text_is_text_in_markdown(text: str) -> None:
    assert rendered_faults(f"# {plain_line(text)}\n\n| {plain_line(text)} |\n|---|\n") == []


def test_formulas_are_drawn_on_pages_and_their_source_is_kept_in_markdown() -> None:
    made = report(Prose("So $\\frac{a}{b}$ it is, for $5 and $6."))
    assert "<mfrac><mi>a</mi><mi>b</mi></mfrac>" in page(made) and "for $5 and $6." in page(made)
    assert "$\\frac{a}{b}$" in b"".join(PlainMarkdown().write(made)).decode()


def test_a_long_text_is_on_a_page_to_its_end_and_on_slides_as_far_as_it_fits() -> None:
    text = "\n".join(f"Line {number} of a long answer." for number in range(5_000))
    made = report(
        SideBySide((ReportColumn("main", "", (Prose(text),)), ReportColumn("side", "", (Prose("Short."),))))
    )
    assert "Line 4999 of" in page(made)
    slides = b"".join(Slides().write(made)).decode()
    assert 3 <= slides.count('<section class="slide') <= 10
    assert "The web page and the Markdown have all of it." in slides and "Line 4999" not in slides


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 6, 9])
def test_no_slide_has_more_than_four_columns_and_none_is_lost(columns: int) -> None:
    some = tuple(ReportColumn(f"column {at}", "", (Prose("A word. " * 900),)) for at in range(columns))
    slides = list(slides_of([SideBySide(some)]))
    shown = [block.columns for slide in slides for block in slide if isinstance(block, SideBySide)]
    assert all(len(one) <= 4 for one in shown)
    assert {column.title for one in shown for column in one} == {column.title for column in some}


def test_code_that_is_cut_goes_on_as_code() -> None:
    text = "Before.\n\n```python\n" + "\n".join(f"line_{at} = {at}" for at in range(60)) + "\n```\n\nAfter."
    pieces = [block.text for slide in slides_of([Prose(text)]) for block in slide if isinstance(block, Prose)]
    assert len(pieces) > 3
    for piece in pieces:
        assert piece.count("```") % 2 == 0
    numbers = [int(number) for piece in pieces for number in re.findall(r"line_(\d+)", piece)]
    assert all(later == earlier + 1 for earlier, later in pairwise(numbers)) and len(numbers) == 60


def test_a_table_is_cut_between_rows_and_keeps_its_head() -> None:
    table = DataTable(("Name", "Number"), tuple((f"row {at}", at) for at in range(40)))
    parts = [block for slide in slides_of([table]) for block in slide if isinstance(block, DataTable)]
    assert len(parts) > 2 and {part.head for part in parts} == {table.head}
    assert tuple(row for part in parts for row in part.rows) == table.rows
