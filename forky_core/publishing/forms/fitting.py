"""Cuts the blocks of a section into what fits on a slide.

Nothing is measured: a slide has room for so many lines of so many letters, by the type of slides.css. Texts are cut
between lines, and a block of code that is cut is closed and goes on in the next piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TypeVar

from forky_core.fences import CodeBlocks
from forky_core.publishing.report import (
    Block,
    DataTable,
    Drawing,
    Exact,
    Leaf,
    Picture,
    Prose,
    ReportColumn,
    Sentences,
    SideBySide,
    Value,
)

T = TypeVar("T")

_BESIDE = 4
"""Columns of one slide; more of them are on the slides after it."""
_ROOM = {1: (13, 92), 2: (15, 48), 3: (18, 38), 4: (21, 32)}
"""Lines and letters of a column, by the number of columns."""
_LINES, _LETTERS = _ROOM[1]
"""Of a slide without columns."""
_HEAD = 1.6
"""Lines that the head of a table takes."""
_MOST_PIECES = 6
"""Pieces of one text that get a slide."""
_REST = Sentences(("This goes on. The web page and the Markdown have all of it.",))


def slides_of(blocks: Sequence[Block]) -> Iterator[tuple[Block, ...]]:
    """The blocks of each slide of a section."""
    held: list[Block] = []
    room = float(_LINES)
    for block in blocks:
        if isinstance(block, SideBySide):
            if held:
                yield tuple(held)
                held, room = [], _LINES
            yield from _beside(block)
            continue
        for piece in _pieces(block, _LINES, _LETTERS):
            size = _lines(piece, _LETTERS)
            if held and size > room:
                yield tuple(held)
                held, room = [], _LINES
            held.append(piece)
            room -= size
    if held or not blocks:
        yield tuple(held)


def _beside(block: SideBySide) -> Iterator[tuple[Block, ...]]:
    for first in range(0, len(block.columns), _BESIDE):
        some = block.columns[first : first + _BESIDE]
        lines, letters = _ROOM[len(some)]
        cut = [list(_of_column(column, lines, letters)) for column in some]
        for pieces in zip_longest(*cut):
            yield (SideBySide(tuple(piece for piece in pieces if piece is not None), len(some)),)


def _of_column(column: ReportColumn, lines: int, letters: int) -> Iterator[ReportColumn]:
    pieces = (piece for block in column.blocks for piece in _pieces(block, lines, letters))
    for number, held in enumerate(_filled(pieces, lines, lambda piece: _lines(piece, letters))):
        if number == _MOST_PIECES - 1:
            yield replace(column, blocks=(_REST,), facts="")
            return
        yield replace(column, blocks=tuple(held), facts="goes on" if number else column.facts)


def _filled(items: Iterable[T], room: float, size: Callable[[T], float]) -> Iterator[list[T]]:
    """The items in groups that each have room; one that is too large has a group of its own. At least one group."""
    held: list[T] = []
    left = room
    for item in items:
        taken = size(item)
        if held and taken > left:
            yield held
            held, left = [], room
        held.append(item)
        left -= taken
    yield held


def _pieces(block: Leaf, lines: int, letters: int) -> Iterator[Leaf]:
    """A block in pieces of at most so many lines each."""
    match block:
        case Prose():
            yield from map(Prose, _some(_cut_prose(block.text, lines, letters)))
        case Exact():
            yield from map(Exact, _some(_cut(block.text.split("\n"), lines, letters)))
        case DataTable():
            yield from _cut_table(block, lines, letters)
        case Sentences():
            yield from (Sentences((line,)) for line in block.lines)
        case Picture() | Drawing():
            yield block


def _some(pieces: Iterator[str]) -> Iterator[str]:
    for number, piece in enumerate(pieces):
        if number == _MOST_PIECES:
            yield "… The web page and the Markdown have the rest."
            return
        yield piece


def _cut(lines: Iterable[str], most: int, letters: int) -> Iterator[str]:
    before: list[str] | None = None
    for held in _filled(_short(lines, most, letters), most, lambda line: _height(line, letters)):
        if before is not None:
            yield "\n".join(before)
        before = held
    if before is not None and any(line.strip() for line in before):
        yield "\n".join(before)


def _cut_prose(text: str, most: int, letters: int) -> Iterator[str]:
    """As `_cut`; a block of code that is cut is closed, and opened again in the next piece."""
    again = ""
    for piece in _cut(text.replace("\r\n", "\n").split("\n"), most, letters):
        blocks = CodeBlocks()
        whole = f"{again}\n{piece}" if again else piece
        for line in whole.split("\n"):
            blocks.take(line)
        again = f"{blocks.end}{blocks.info}" if blocks.marker else ""
        yield f"{whole}\n{blocks.end}" if blocks.marker else whole


def _short(lines: Iterable[str], most: int, letters: int) -> Iterator[str]:
    """Lines that each fit on a slide: a longer one is cut between words."""
    fits = most * letters
    for line in lines:
        rest = line
        while len(rest) > fits:
            at = rest.rfind(" ", fits // 2, fits)
            at = at if at > 0 else fits
            yield rest[:at]
            rest = rest[at:].lstrip()
        yield rest


def _cut_table(table: DataTable, lines: int, letters: int) -> Iterator[DataTable]:
    width = _width(table, letters)
    cut = (tuple(_brief(value, width) for value in row) for row in table.rows)
    for held in _filled(cut, lines - _HEAD, lambda row: _row_lines(row, width)):
        yield DataTable(table.head, tuple(held))


def _width(table: DataTable, letters: int) -> int:
    """The letters of one field of a table."""
    return max(8, letters // max(1, len(table.head)))


def _row_lines(row: Sequence[Value], width: int) -> float:
    return 0.55 + max((_height(str(value), width) for value in row), default=1)


def _brief(value: Value, width: int) -> Value:
    most = width * 5
    return f"{value[: most - 1]}…" if isinstance(value, str) and len(value) > most else value


def _lines(block: Leaf, letters: int) -> float:
    """About how many lines a piece takes."""
    match block:
        case Prose():
            return 0.5 + sum(_height(line, letters) for line in block.text.split("\n"))
        case Exact():
            return 1.0 + sum(_height(line, letters) for line in block.text.split("\n"))
        case Sentences():
            return sum(0.4 + _height(line, letters) for line in block.lines)
        case DataTable():
            width = _width(block, letters)
            return _HEAD + sum(_row_lines(row, width) for row in block.rows)
        case Picture() | Drawing():
            return 9.0


def _height(line: str, letters: int) -> float:
    """Lines that a line takes; an empty one between paragraphs takes half of one, a heading more than one."""
    if not line.strip():
        return 0.5
    wraps = 1.0 + len(line) // max(1, letters)
    return wraps * 1.45 if line.startswith("#") else wraps
