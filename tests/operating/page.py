"""The blocks of docs/operating.md that are marked as tested, with its paths replaced by those of a test."""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.programs import CHECKOUT

PAGE = (CHECKOUT / "docs" / "operating.md").read_text("utf-8")
_BLOCK = re.compile(r"(?:<!-- tested(?:: (\w+))? -->\n)?```(\w*)\n(.*?)```", re.DOTALL)


class Block(NamedTuple):
    """A fenced block."""

    kind: str | None
    """What follows the mark; "" for shell commands, None where it has no mark."""
    language: str
    text: str


BLOCKS = tuple(
    Block(None if not match[0].startswith("<!--") else match[1] or "", match[2], match[3])
    for match in _BLOCK.finditer(PAGE)
)


def blocks(kind: str) -> list[str]:
    """The texts of the tested blocks of a kind, in the order of the page."""
    return [block.text for block in BLOCKS if block.kind == kind]
