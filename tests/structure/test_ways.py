"""Each way can be walked, and leads where docs/architecture.md says."""

from __future__ import annotations

import re

import pytest

from tests.structure.trace import CHECKOUT
from tests.structure.ways import WAYS, traced

PAGE = (CHECKOUT / "docs" / "architecture.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| `(\w+)` \|.*\| (`[^|]+) \|$", PAGE, re.MULTILINE))


@pytest.mark.parametrize("way", WAYS)
def test_a_way_begins_and_ends_where_the_page_says(way: str) -> None:
    found = [f"`{file.removeprefix('forky_core/')}`" for file in traced(way).files]
    first, last = ROWS[way].split(" … ")
    # Which of several threads calls last depends on the machine; that the way leads there does not.
    assert found[0] == first and last in found
