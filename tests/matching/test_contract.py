"""The examples of docs/matching.md run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CONTRACT = Path(__file__).parents[2] / "docs" / "matching.md"
EXAMPLES = re.findall(r"<!-- tested -->\n```python\n(.*?)```", CONTRACT.read_text(), re.DOTALL)


def test_the_contract_has_examples() -> None:
    assert len(EXAMPLES) == 3


@pytest.mark.parametrize("source", EXAMPLES)
def test_an_example_of_the_contract_holds(source: str) -> None:
    exec(compile(source, str(CONTRACT), "exec"), {})  # noqa: S102 - that is the point
