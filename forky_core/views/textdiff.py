"""The view model of a text diff: two texts as rows of runs, word by word, folded where nothing changed.

It is quick on long texts, since a page waits for it: the common beginning and end are set aside, lines are matched
first, and only changed stretches of bounded size are compared by words; larger ones are shown as replaced whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal

CONTEXT = 2
"""The number of equal rows shown around a change."""
MOST_LINES = 4_000
"""The most lines of a side in whose changed stretches equal lines are searched for."""
MOST_WORD_PAIRS = 4_000_000
"""Words of one side times words of the other, above which a changed stretch is shown as replaced whole."""
LEAST_SHARED = 0.3
"""Share of words in common below which a stretch is shown as replaced whole: scattered matches explain nothing."""

_WORD = re.compile(r"\n|[^\S\n]+|\w+|[^\w\s]")

Kind = Literal["same", "gone", "new"]


@dataclass(frozen=True, slots=True)
class DiffRun:
    """A stretch of text that is in both, only in the left (`gone`) or only in the right (`new`)."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One line of each side; None where a side has no such line."""

    left: tuple[DiffRun, ...] | None
    right: tuple[DiffRun, ...] | None

    @property
    def same(self) -> bool:
        return self.left is not None and self.left == self.right


@dataclass(frozen=True, slots=True)
class Fold:
    """A run of equal rows that is not shown."""

    rows: tuple[DiffRow, ...]


@dataclass(frozen=True, slots=True)
class TextDiff:
    rows: tuple[DiffRow, ...]
    same_share: float
    """Characters in both, as a share of the longer text; 1.0 for two empty ones."""

    @property
    def identical(self) -> bool:
        return all(row.same for row in self.rows)

    @property
    def folded(self) -> tuple[DiffRow | Fold, ...]:
        """The rows, with equal ones away from any change folded."""
        near = [False] * len(self.rows)
        for at, row in enumerate(self.rows):
            if not row.same:
                for close in range(max(0, at - CONTEXT), min(len(near), at + CONTEXT + 1)):
                    near[close] = True
        shown: list[DiffRow | Fold] = []
        quiet: list[DiffRow] = []
        for row, kept in zip(self.rows, near, strict=True):
            if kept:
                shown += _settled(quiet)
                quiet = []
                shown.append(row)
            else:
                quiet.append(row)
        return (*shown, *_settled(quiet))


def _settled(quiet: Sequence[DiffRow]) -> Sequence[DiffRow | Fold]:
    """Return a fold, unless there is too little in it to be worth one."""
    return [Fold(tuple(quiet))] if len(quiet) > 2 else quiet


def text_diff(left: str, right: str) -> TextDiff:
    """Compute the difference from `left` to `right`."""
    ours, theirs = left.splitlines(), right.splitlines()
    start = _common(ours, theirs)
    end = _common(ours[start:][::-1], theirs[start:][::-1])
    stop, other_stop = len(ours) - end, len(theirs) - end
    rows = [
        *_equal(ours[:start]),
        *_between(ours[start:stop], theirs[start:other_stop]),
        *_equal(ours[stop:]),
    ]
    longest = max(sum(map(len, ours)), sum(map(len, theirs)))
    kept = sum(len(run.text) for row in rows for run in row.left or () if run.kind == "same")
    return TextDiff(tuple(rows), kept / longest if longest else 1.0)


def inline(row: DiffRow) -> tuple[tuple[DiffRun, ...], ...]:
    """Return a row as lines below each other: the line itself if both agree, else the old and then the new one."""
    if row.same and row.left is not None:
        return (row.left,)
    return tuple(side for side in (row.left, row.right) if side is not None)


def _common(ours: Sequence[str], theirs: Sequence[str]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b),
        min(len(ours), len(theirs)),
    )


def _equal(lines: Iterable[str]) -> Iterable[DiffRow]:
    for line in lines:
        runs = (DiffRun("same", line),) if line else ()
        yield DiffRow(runs, runs)


def _between(ours: Sequence[str], theirs: Sequence[str]) -> Iterable[DiffRow]:
    """Yield the rows of two stretches that neither begin nor end with the same line."""
    if max(len(ours), len(theirs)) > MOST_LINES:
        yield from _replaced(ours, theirs)
        return
    for tag, a, b, c, d in SequenceMatcher(None, ours, theirs).get_opcodes():
        if tag == "equal":
            yield from _equal(ours[a:b])
        else:
            yield from _replaced(ours[a:b], theirs[c:d])


def _replaced(ours: Sequence[str], theirs: Sequence[str]) -> Iterable[DiffRow]:
    """Yield changed lines, compared by words if that is quick."""
    words, others = _WORD.findall("\n".join(ours)), _WORD.findall("\n".join(theirs))
    opcodes = _opcodes(words, others)
    if opcodes:
        left = _lines(("same" if tag == "equal" else "gone", words[a:b]) for tag, a, b, _, _ in opcodes)
        right = _lines(("same" if tag == "equal" else "new", others[c:d]) for tag, _, _, c, d in opcodes)
    else:
        left = [_whole("gone", line) for line in ours]
        right = [_whole("new", line) for line in theirs]
    yield from (DiffRow(a, b) for a, b in zip_longest(left, right))


def _opcodes(words: Sequence[str], others: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """Return how the words match; () if they do not, or if there are too many to compare quickly."""
    if not words or not others or len(words) * len(others) > MOST_WORD_PAIRS:
        return ()
    opcodes = SequenceMatcher(None, words, others, autojunk=False).get_opcodes()
    shared = sum(word[0].isalnum() for tag, a, b, _, _ in opcodes if tag == "equal" for word in words[a:b])
    most = max(sum(word[0].isalnum() for word in side) for side in (words, others))
    return opcodes if shared >= LEAST_SHARED * most else ()


def _whole(kind: Kind, line: str) -> tuple[DiffRun, ...]:
    return (DiffRun(kind, line),) if line else ()


def _lines(pieces: Iterable[tuple[Kind, Sequence[str]]]) -> list[tuple[DiffRun, ...]]:
    """Split runs at the ends of lines."""
    lines: list[list[DiffRun]] = [[]]
    for kind, words in pieces:
        for at, text in enumerate("".join(words).split("\n")):
            if at:
                lines.append([])
            if text:
                lines[-1].append(DiffRun(kind, text))
    return [tuple(line) for line in lines]
