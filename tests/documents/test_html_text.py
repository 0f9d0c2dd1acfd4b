"""HTML of an export is text in time that grows with its length, whatever stands in it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from forky_core.documents.html_text import markdown_of
from tests.hangs import HANG

ROOT = Path(__file__).parents[2]
BEGINNINGS = (
    "<a ",
    "<!--",
    "</a",
    "<?",
    '<a href="',
    "<a b='",
    "<!DOCTYPE ",
    "<![CDATA[",
    "<!----",
    "<![<",
    "&#",
)
ENDS = ("", ">", '">', "-->", "]]>", "</script>")


def test_tags_and_comments_that_nothing_ends_take_no_longer_than_others() -> None:
    script = """
from forky_core.documents.html_text import LONGEST, markdown_of
from tests.documents.test_html_text import BEGINNINGS, ENDS
for beginning in BEGINNINGS:
    for end in ENDS:
        markdown_of(beginning * (400_000 // len(beginning)) + end)
"""
    # Each of them took hours, and Python's lock with it: no limit inside of the process would end it.
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, timeout=HANG)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one<!-- two --> three</p>", "one three"),
        ("a < b <b>c</b> < d", "a < b **c** < d"),
        ("<p>one</p> <a href=", "one\n\n <a href="),
        ("one <!-- two", "one <!-- two"),
        ("<!-- one --> <!-- two", "<!-- two"),
        ("<![if !IE]>one<![endif]> <![odd]> two", "one <![odd]> two"),
        ("<![CDATA[one]]>two", "two"),
    ],
)
def test_what_only_begins_like_a_tag_is_text(html: str, text: str) -> None:
    assert markdown_of(html) == text
