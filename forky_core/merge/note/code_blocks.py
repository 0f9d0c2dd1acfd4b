"""Joins lines of code into one passage: a reader of a note can use a block, but hardly a single line.

A block begins and ends with a line that is new to the reader. Known lines between two new ones are quoted with them if
they are few, so that the block has no gaps; a long block is cut where its indentation is smallest.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from forky_core.merge.headings import is_heading
from forky_core.merge.note.passages import LONGEST, NotePassage, is_edit_mark
from forky_core.model import Message

MOST_LINES = 5
"""The most lines of a block; a longer one is cut."""
LEAST_LINES = 2
"""The fewest lines of each part after a cut."""
MOST_KNOWN = 2
"""The most lines between two new ones that are quoted with them although the reader has them."""


def with_code_blocks(fresh: Sequence[NotePassage], messages: Sequence[Message]) -> list[NotePassage]:
    """Return `fresh`, which is in order, with one passage for each block of code instead of one for each line."""
    found: list[NotePassage] = []
    for turn, mine in groupby(fresh, key=lambda one: one.turn):
        lines = _Lines.of(messages[turn])
        for is_code, run in groupby(mine, key=lambda one: one.shape == "code"):
            passages = list(run)
            found += _blocks(passages, lines) if is_code else passages
    return found


@dataclass(slots=True)
class _Lines:
    """The raw lines of a message, looked up in order."""

    raw: Sequence[str]
    at: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, message: Message) -> _Lines:
        raw = message.text.splitlines()
        at: dict[str, list[int]] = {}
        for number, line in enumerate(raw):
            at.setdefault(line.strip(), []).append(number)
        return cls(raw, at)

    def after(self, one: NotePassage, last: int) -> int | None:
        """Return the index of a passage's line, the last one if there are several; None if it is not below line
        `last`.
        """
        at = self.at.get(one.whole_row.strip(), (-1,))[-1]
        return at if at > last else None


def _blocks(run: Sequence[NotePassage], lines: _Lines) -> Iterator[NotePassage]:
    """Yield the blocks in a run of lines of code; a passage that is not a whole line of its message stays alone."""
    group: list[tuple[int, NotePassage]] = []
    last = -1
    for one in run:
        at = lines.after(one, last)
        if at is None or len(one.text) >= LONGEST:
            yield from _written(group, lines)
            group = []
            yield one
            continue
        if group and (at - last > MOST_KNOWN + 1 or _parted(lines.raw[last + 1 : at])):
            yield from _written(group, lines)
            group = []
        group.append((at, one))
        last = at
    yield from _written(group, lines)


def _parted(between: Sequence[str]) -> bool:
    return any(is_edit_mark(line) or line.startswith("-") or is_heading(line.strip()) for line in between)


def _written(group: Sequence[tuple[int, NotePassage]], lines: _Lines) -> Iterator[NotePassage]:
    """Yield a passage for each part of a group of lines, word for word but without common indentation."""
    for part in _parts(group, lines):
        start, end = part[0][0], part[-1][0]
        while end + 1 < len(lines.raw) and _closes(lines.raw[end + 1]):
            end += 1
        rows = [line.rstrip() for line in lines.raw[start : end + 1] if line.strip()]
        text = textwrap.dedent("\n".join(rows)).strip("\n")
        yield replace(part[0][1], text=text, whole_row=text)


def _parts(
    group: Sequence[tuple[int, NotePassage]], lines: _Lines
) -> Iterator[Sequence[tuple[int, NotePassage]]]:
    rest = list(group)
    while len(rest) > MOST_LINES:
        among = range(LEAST_LINES, min(MOST_LINES, len(rest) - LEAST_LINES) + 1)
        cut = min(among, key=lambda at: (_indent(lines.raw[rest[at][0]]), -at))
        yield rest[:cut]
        rest = rest[cut:]
    if rest:
        yield rest


def _indent(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())


def _closes(line: str) -> bool:
    """Whether a line has nothing but closing brackets."""
    return bool(line.strip()) and not line.strip().strip(")]};,")
