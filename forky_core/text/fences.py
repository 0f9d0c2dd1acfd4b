"""Blocks of code in a Markdown text, line by line, for readers that need to know which lines are code and no more.

The rules are CommonMark's (https://spec.commonmark.org/0.31.2/#fenced-code-blocks), at the top of a text and in
quotations; tests/text/test_fences.py compares them with markdown-it-py. Below the items of lists they are simpler: a
fence counts however far it is indented, since models indent such code by any number of spaces, and only a fence ends
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal

Part = Literal["prose", "opens", "code", "closes"]

_FENCE = re.compile(
    r"""
    (?P<around>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+){0,12})      # quotation marks, and items of lists
    (?P<marker>`{3,}(?=[^`]*$)|~{3,})
    [ \t]*(?P<info>.*)
    """,
    re.VERBOSE | re.DOTALL,
)


class CodeBlocks:
    """Says of each line of a text, one after the other, what it is of a block of code."""

    __slots__ = ("_around", "info", "marker")

    def __init__(self) -> None:
        self.marker = ""
        """The fence of the block that is open; "" if none is."""
        self.info = ""
        """What stands behind the last fence that opened: mostly a language."""
        self._around = ""

    @property
    def end(self) -> str:
        """The line that would close the open block."""
        return re.sub(r"[^ \t>]", " ", self._around) + self.marker

    def take(self, line: str) -> Part:
        """What the next line of the text is; with or without its line break."""
        if self.marker and _quotes(line) < self._around.count(">"):
            self.marker = ""  # The quotation is over, and so is the code in it.
        found = _FENCE.match(line.rstrip()) if "```" in line or "~~~" in line else None
        if not self.marker:
            if found is None:
                return "prose"
            self._around, self.marker, self.info = found["around"], found["marker"], found["info"]
            return "opens"
        if (
            found is None
            or found["info"]
            or not found["marker"].startswith(self.marker)
            or not self._fits(found["around"])
        ):
            return "code"
        self.marker = ""
        return "closes"

    def _fits(self, around: str) -> bool:
        """Whether a fence with this before it can close the open block: in as many quotations, hardly further in."""
        begun, indent = _indent(self._around), _indent(around)
        return (
            not around.strip(" \t>")
            and around.count(">") == self._around.count(">")
            and indent <= (3 if begun <= 3 else begun + 3)
        )


@lru_cache(maxsize=256)
def code_lines(text: str) -> frozenset[str]:
    """The lines inside the blocks of code of a text, without the space around them."""
    return frozenset(line.strip() for line, part in parts(text.split("\n")) if part == "code")


def parts(lines: Iterable[str]) -> Iterator[tuple[str, Part]]:
    """Yield each line of a text with what it is."""
    blocks = CodeBlocks()
    for line in lines:
        yield line, blocks.take(line)


def fenced(text: str, language: str = "") -> str:
    """Return a block of code whose fence is longer than any run of backticks in it."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language.replace('`', '')}\n{text}\n{fence}"


def _quotes(line: str) -> int:
    """In how many quotations, one in another, a line stands."""
    return line[: len(line) - len(line.lstrip(" \t>"))].count(">")


def _indent(around: str) -> int:
    """The columns before a fence, within its quotations."""
    inside = around.rpartition(">")[2]
    return len(inside.expandtabs(4)) - (">" in around and inside.startswith(" "))
