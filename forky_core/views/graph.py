"""The graph of a conversation as rows, lanes and edges: `git log --graph`, oldest at the top, long runs folded.

Drawing decides the speed: a browser updates 150 rows at once and stalls at 1,000. So runs of messages between the ones
that matter (forks, merges, tips) are folded, only as far as the limit requires; if that is still too much, a window
around the current message is shown with the number of rows outside. A click moves as little as it can: folds do not
depend on where one is, a message that is looked at inside a fold gets a row of its own there, and the window moves by
halves. The part that no click changes is computed once (layout/shape.py); `build_graph` adds the current position. It
looks at the runs of the shape and at the rows that it shows, never at all messages.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import Literal, NewType

from forky_core.context.masking import reverted_with_tool_calls
from forky_core.documents.retrieval.passages import past_opening
from forky_core.merge.corrections import conflicts_in, corrected_lines
from forky_core.model import Message, MessageId, View
from forky_core.model.opaque import opaque
from forky_core.model.parts import (
    AttachmentPart,
    MergePart,
    OpaquePart,
    RevertPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from forky_core.text.plain_words import plain_words
from forky_core.views import captions
from forky_core.views.layout.colors import line_colors
from forky_core.views.layout.lanes import Edge
from forky_core.views.layout.shape import Shape, shape_of

FoldId = NewType("FoldId", str)
"""`fold:` + the id of the first message of the run; a click on it opens and closes the run."""

ROWS = 150
"""The default limit of rows."""
FEW = 12
"""A conversation with at most this many messages is shown whole."""
_TEXT = 90
_PREVIEW = 280
"""Characters of a line, and of what is shown of a message that is pointed at."""


@dataclass(frozen=True, slots=True)
class GraphRow:
    """One line of the graph: a message, or a folded run of them."""

    id: str
    """The message's id, or the fold's."""
    kind: Literal["message", "fold"]
    lane: int
    role: str
    who: str
    """“you”, the author's name or the model's; "" for a fold."""
    text: str
    """One line."""
    color: int = 0
    """The number of the colour of its branch (views/layout/colors.py)."""
    preview: str = ""
    """The beginning of the message; of a fold, the lines of its first and its last message."""
    members: tuple[MessageId, ...] = ()
    """The messages that the row stands for, top to bottom: what it hides and, on the row of a message, that message."""
    unnamed: str = ""
    """A name for an end that no branch or tag names: “version 2/3”; "" on all other rows."""
    found: int = 0
    """How many of its messages a filter found."""
    answering: bool = False
    """Whether a reply to it is being written."""
    branches: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    merge: bool = False
    fold: FoldId | None = None
    """The run that this row stands for, or whose hidden part is right above it."""
    folded: int = 0
    """The number of messages that the run hides here; 0 on the row that closes an open run."""
    on_path: bool = False
    """Whether it is part of the current message's context."""
    current: bool = False
    mark: str = ""
    """"A", "B" or "AB"."""
    reverted: bool = False
    """Whether a revert on the current path masks it."""
    unresolved: int = 0
    """The number of conflicts that this merge left open and that are still unsettled."""
    corrected: int = 0
    """The number of lines of this merge that merges further down the path correct."""


@dataclass(frozen=True, slots=True)
class GraphView:
    """The rows and edges to draw, top to bottom."""

    rows: tuple[GraphRow, ...]
    edges: tuple[Edge, ...]
    lanes: int
    """The number of lanes side by side."""
    earlier: int = 0
    """The number of rows above the first one shown."""
    later: int = 0
    total: int = 0
    """The number of messages in the whole graph."""
    filtered: bool = False
    """Whether a filter is on: the rows that have nothing found step back."""


def toggled(open_folds: frozenset[str], fold: str) -> frozenset[str]:
    """Return the open folds after a click on `fold`."""
    return open_folds ^ {fold}


def build_graph(  # noqa: PLR0913 - each is one thing that can be looked at or marked
    messages: Mapping[MessageId, Message],
    view: View,
    *,
    current: MessageId | None = None,
    mark_a: MessageId | None = None,
    mark_b: MessageId | None = None,
    open_folds: Iterable[str] = (),
    model_of: Callable[[MessageId], str | None] = lambda _: None,
    limit: int = ROWS,
    shape: Shape | None = None,
    bearing: Sequence[Message] | None = None,
    open_conflicts: Collection[str] = (),
    found: Collection[MessageId] | None = None,
    answering: Collection[MessageId] = (),
) -> GraphView:
    """Build the graph of what `view` reaches. `shape` may be reused from an earlier call.

    `model_of` names the model that answered. `bearing` are the messages of the current path that merge or revert
    (`Visible.bearing`); without it, the whole path is looked through. `open_conflicts` are the keys of conflicts that
    merges on the path left unresolved, `found` is what a filter found (None: no filter is on), `answering` the messages
    to which a reply is being written.
    """
    shape = shape or shape_of(messages, view)
    path = path_runs(current, shape)
    if bearing is None or not path:
        bearing = _messages_of(path, shape, messages)
    takes_back = any(message.reverts for message in bearing)
    gone = reverted_with_tool_calls(_messages_of(path, shape, messages)) if takes_back else {}
    folding = _folding(shape, limit, open_folds, (current, mark_a, mark_b))
    total = folding.tops[-1]
    start = _window(total, folding.row_of(current), limit)
    end = min(start + limit, total)
    looks = _Looks(
        path,
        {mark_b: "B"} | {mark_a: "AB" if mark_a == mark_b else "A"},
        current,
        model_of,
        frozenset(gone),
        open_conflicts,
        {merge: len(lines) for merge, lines in corrected_lines(bearing).items()},
        found or (),
        answering,
    )
    colors = line_colors(shape, view)
    rows = tuple(
        _row(unit, shape.layout.lane_of[unit.run], colors[shape.runs[unit.run].line], shape, messages, looks)
        for unit in folding.units(start, end)
    )
    edges = tuple(
        replace(edge, color=colors[edge.color], on_path=_is_on_path(edge, rows))
        for edge in _edges(folding, start, end)
    )
    lanes = 1 + max((*(row.lane for row in rows), *(edge.lane for edge in edges)), default=-1)
    return GraphView(
        rows, edges, lanes, start, max(0, total - start - limit), len(shape.run_of), found is not None
    )


@dataclass(frozen=True, slots=True)
class _Level:
    """How far to fold."""

    keep: int
    """Messages shown at each end of a folded run."""
    least: int
    """The shortest run that is folded."""
    absorb: Literal["nothing", "sides", "all"] = "nothing"
    """Whether a run is hidden in the row below it instead of having a row of its own."""


_WHOLE = _Level(0, FEW)
_LEVELS = (_Level(1, 4), _Level(0, 2), _Level(0, 1, "sides"), _Level(0, 1, "all"))


@dataclass(frozen=True, slots=True)
class _Piece:
    """Consecutive rows of one run, or one row."""

    kind: Literal["message", "messages", "fold", "close"]
    """`message`: the last one is shown and the others are hidden in its row. `messages`: a row for each. `close`: the
    row that closes an open run, right above its first message."""
    start: int
    end: int
    """Which messages of the run."""
    fold: FoldId | None = None

    @property
    def rows(self) -> int:
        return self.end - self.start if self.kind == "messages" else 1


@dataclass(frozen=True, slots=True)
class _Unit:
    """What becomes one row."""

    kind: Literal["message", "fold", "close"]
    members: tuple[MessageId, ...]
    """Top to bottom. For a `message` unit the last is shown and the others are hidden in its row."""
    run: int
    last: int
    """The place of the last member in its run; for `close`, of the message whose fold it closes."""
    fold: FoldId | None = None


@dataclass(frozen=True, slots=True)
class _Folding:
    """Which rows the runs of a shape become."""

    shape: Shape
    level: _Level
    opened: Mapping[int, int]
    """For each run with an open fold, the place of the message that the fold is named after."""
    looked_at: Mapping[int, Sequence[int]]
    """For each plain run with messages that are looked at, their places, sorted."""
    tops: Sequence[int]
    """The first row of each run, and the number of rows after the last one."""

    def row_of(self, id: MessageId | None) -> int | None:
        """Return the row of a message that is looked at; None if it is not shown."""
        run = self.shape.run_of.get(id) if id is not None else None
        if id is None or run is None:
            return None
        place, row = self.shape.runs[run].messages.index(id), self.tops[run]
        for piece in self._pieces(run):
            if piece.start <= place < piece.end:
                return row + (place - piece.start if piece.kind == "messages" else 0)
            row += piece.rows
        return row

    def units(self, start: int, end: int) -> Iterator[_Unit]:
        """Yield the rows from `start` up to `end`."""
        for number in range(max(0, bisect_right(self.tops, start) - 1), len(self.shape.runs)):
            row = self.tops[number]
            if row >= end:
                return
            for piece in self._pieces(number):
                shown = range(max(0, start - row), min(piece.rows, end - row))
                yield from (self._unit(number, piece, at) for at in shown)
                row += piece.rows

    def _unit(self, number: int, piece: _Piece, at: int) -> _Unit:
        """Return row `at` of a piece."""
        run = self.shape.runs[number]
        if piece.kind == "close":
            return _Unit("close", (), number, self.opened[number], piece.fold)
        if piece.kind == "fold":
            return _Unit("fold", run.messages[piece.start : piece.end], number, piece.end - 1, piece.fold)
        if piece.kind == "messages":
            place = piece.start + at
            return _Unit("message", run.messages[place : place + 1], number, place)
        hidden = () if run.plain else self._hidden_above(number)
        members = (*hidden, *run.messages[piece.start : piece.end])
        return _Unit(
            "message", members, number, piece.end - 1, _fold_id(members[0]) if len(members) > 1 else None
        )

    def _hidden_above(self, number: int) -> tuple[MessageId, ...]:
        """Return what the row of this run hides of the run above it."""
        above = number - 1
        if above < 0 or above in self.opened or _rows_of(above, self.shape, self.level) > 0:
            return ()
        looked_at = self.looked_at.get(above, ())
        return self.shape.runs[above].messages[looked_at[-1] + 1 if looked_at else 0 :]

    def _pieces(self, number: int) -> Iterator[_Piece]:
        """Yield the rows of a run."""
        length = len(self.shape.runs[number].messages)
        looked_at = self.looked_at.get(number, ())
        if number in self.opened:
            yield _Piece("close", 0, 0, _fold_id(self.shape.runs[number].messages[self.opened[number]]))
            yield _Piece("messages", 0, length)
        elif not self.shape.runs[number].plain:
            yield _Piece("message", 0, 1)
        elif length - 2 * self.level.keep < self.level.least:
            yield _Piece("messages", 0, length)
        elif _rows_of(number, self.shape, self.level) == 0:
            for start, place in zip((0, *(place + 1 for place in looked_at)), looked_at, strict=False):
                yield _Piece("message", start, place + 1)
        else:
            keep = self.level.keep
            yield _Piece("messages", 0, keep)
            yield from self._folds(number, keep, length - keep)
            yield _Piece("messages", length - keep, length)

    def _folds(self, number: int, start: int, end: int) -> Iterator[_Piece]:
        """Yield the folds of a part of a run, with a row for each message in it that is looked at."""
        messages = self.shape.runs[number].messages
        for place in self.looked_at.get(number, ()):
            if start <= place < end:
                if start < place:
                    yield _Piece("fold", start, place, _fold_id(messages[start]))
                yield _Piece("messages", place, place + 1)
                start = place + 1
        if start < end:
            yield _Piece("fold", start, end, _fold_id(messages[start]))

    def rows_now(self, number: int) -> int:
        """Return how many rows the run is, with what is open and looked at in it."""
        return sum(piece.rows for piece in self._pieces(number))


@dataclass(frozen=True, slots=True)
class _Looks:
    """The current position, with the marks and the state of its path."""

    path: Mapping[int, int]
    marks: Mapping[MessageId | None, str]
    current: MessageId | None
    model_of: Callable[[MessageId], str | None]
    reverted: frozenset[MessageId]
    open_conflicts: Collection[str]
    corrected: Mapping[MessageId, int]
    found: Collection[MessageId]
    answering: Collection[MessageId]


def path_runs(current: MessageId | None, shape: Shape) -> Mapping[int, int]:
    """Return the runs of the path to the current message, from there up, each with the place of its last message."""
    run = shape.run_of.get(current, -1) if current is not None else -1
    path: dict[int, int] = {}
    while run >= 0:
        messages = shape.runs[run].messages
        path[run] = len(messages) - 1 if path or current is None else messages.index(current)
        run = shape.runs[run].above
    return path


def _messages_of(
    path: Mapping[int, int], shape: Shape, messages: Mapping[MessageId, Message]
) -> list[Message]:
    """Return the messages of a path, from the first one down."""
    return [messages[id] for run in reversed(path) for id in shape.runs[run].messages[: path[run] + 1]]


def _folding(
    shape: Shape, limit: int, open_folds: Iterable[str], looked_at: Iterable[MessageId | None]
) -> _Folding:
    """Fold as little as the limit requires."""
    levels = _LEVELS if len(shape.run_of) > FEW else (_WHOLE,)
    # Folding hides only plain messages: if the others alone are too many, only the last level is worth trying.
    levels = levels if sum(not run.plain for run in shape.runs) <= limit else levels[-1:]

    def rows_at(level: _Level) -> list[int]:
        return [_rows_of(number, shape, level) for number in range(len(shape.runs))]

    level = next((one for one in levels[:-1] if sum(rows_at(one)) <= limit), levels[-1])
    rows = rows_at(level)
    opened: dict[int, int] = {}
    for run, place in _in_plain_runs(map(_first_of, open_folds), shape):
        opened[run] = min(place, opened.get(run, place))
    places: dict[int, list[int]] = {}
    for run, place in sorted(set(_in_plain_runs(looked_at, shape))):
        places.setdefault(run, []).append(place)
    folding = _Folding(shape, level, opened, places, ())
    for run in opened.keys() | places.keys():
        rows[run] = folding.rows_now(run)
    return replace(folding, tops=tuple(accumulate(rows, initial=0)))


def _in_plain_runs(ids: Iterable[MessageId | None], shape: Shape) -> Iterator[tuple[int, int]]:
    """Yield run and place of each message that is in a plain run."""
    for id in ids:
        run = shape.run_of.get(id) if id is not None else None
        if id is not None and run is not None and shape.runs[run].plain:
            yield run, shape.runs[run].messages.index(id)


def _rows_of(number: int, shape: Shape, level: _Level) -> int:
    """Return how many rows a run is at this level, with every fold closed and wherever one is.

    0: it is hidden in the row of the message that continues it, right below.
    """
    run = shape.runs[number]
    length = len(run.messages)
    if not run.plain or length - 2 * level.keep < level.least:
        return length
    absorbing = level.absorb == "all" or (level.absorb == "sides" and run.line != 0)
    return 0 if absorbing and run.below == (number + 1,) else 2 * level.keep + 1


def _fold_id(first: MessageId) -> FoldId:
    return FoldId(f"fold:{first}")


def _first_of(fold: str) -> MessageId:
    return MessageId(fold.removeprefix("fold:"))


def _window(total: int, current: int | None, limit: int) -> int:
    """Return the first row of a window around the current row; at the end if there is none.

    A window starts at one of a few fixed rows, half a window apart. So it stays where it is while somebody moves a
    little, and no row jumps.
    """
    below = total - 1 - current if current is not None else 0
    half = max(1, limit // 2)
    return max(0, total - limit - max(0, (below + half // 2) // half - 1) * half)


def _edges(folding: _Folding, start: int, end: int) -> Iterator[Edge]:
    """Yield the edges that touch or pass the rows from `start` up to `end`, numbered from there. Their colours are
    numbers of lines.

    The lanes of the runs are those of their rows: the rows of a run are on one line, without a fork between them.
    """
    shape, tops = folding.shape, folding.tops
    first, last = bisect_left(tops, start) - 1, bisect_right(tops, end)
    for edge in shape.layout.edges:
        if edge.source > last or edge.target < first:
            continue
        source, target = tops[edge.source + 1] - 1, tops[edge.target]
        if source >= tops[edge.source] and source < end and target >= start:
            yield replace(edge, source=max(source - start, -1), target=min(target, end) - start)
        if edge.kind == "line":
            lane, line = shape.layout.lane_of[edge.target], shape.runs[edge.target].line
            for row in range(max(target, start - 1), min(tops[edge.target + 1] - 1, end)):
                yield Edge(row - start, row + 1 - start, lane, line, "line")


def _is_on_path(edge: Edge, rows: Sequence[GraphRow]) -> bool:
    """Whether the current context runs along the edge; an end outside the window is assumed to be like the other
    one.
    """
    inside = [rows[end].on_path for end in (edge.source, edge.target) if 0 <= end < len(rows)]
    return edge.kind == "line" and bool(inside) and all(inside)


def _row(
    unit: _Unit, lane: int, color: int, shape: Shape, messages: Mapping[MessageId, Message], looks: _Looks
) -> GraphRow:
    found = sum(map(looks.found.__contains__, unit.members)) if looks.found else 0
    if unit.kind == "message":
        return _message_row(unit, lane, color, found, shape, messages, looks)
    assert unit.fold is not None
    count = len(unit.members)
    on_path = unit.last <= looks.path.get(unit.run, -1)
    row = GraphRow(
        unit.fold, "fold", lane, "", "", "Fold these messages", color, fold=unit.fold, on_path=on_path
    )
    if unit.kind == "close":
        return row
    ends = dict.fromkeys(line_of_text(messages[id]) for id in (unit.members[0], unit.members[-1]))
    return replace(
        row,
        text=f"{count} messages" if count > 1 else "1 message",
        preview="\n…\n".join(ends),
        members=unit.members,
        folded=count,
        found=found,
    )


def _message_row(  # noqa: PLR0917 - all of it belongs to one row
    unit: _Unit,
    lane: int,
    color: int,
    found: int,
    shape: Shape,
    messages: Mapping[MessageId, Message],
    looks: _Looks,
) -> GraphRow:
    id = unit.members[-1]
    message = messages[id]
    on_path = unit.last <= looks.path.get(unit.run, -1)
    return GraphRow(
        id,
        "message",
        lane,
        message.role,
        _line(message.name or looks.model_of(id) or ("you" if message.role == "user" else message.role), 40),
        line_of_text(message),
        color,
        preview=preview_of(message),
        members=unit.members,
        found=found,
        branches=shape.branches.get(id, ()),
        tags=shape.tags.get(id, ()),
        unnamed=_unnamed(unit.run, shape, messages),
        merge=len(message.parents) > 1,
        fold=unit.fold,
        folded=len(unit.members) - 1,
        on_path=on_path,
        current=id == looks.current,
        mark=looks.marks.get(id, ""),
        reverted=id in looks.reverted,
        unresolved=sum(one.hash in looks.open_conflicts for one in conflicts_in(message)) if on_path else 0,
        corrected=looks.corrected.get(id, 0),
        answering=id in looks.answering,
    )


def _unnamed(number: int, shape: Shape, messages: Mapping[MessageId, Message]) -> str:
    """Return a name for an end that no branch or tag names: which version it comes from, as the notebook counts."""
    run = shape.runs[number]
    if run.below or run.messages[-1] in shape.branches or run.messages[-1] in shape.tags:
        return ""
    while run.above >= 0:
        above = shape.runs[run.above]
        first = run.messages[0]
        versions = [shape.runs[below].messages[0] for below in above.below]
        versions = [one for one in versions if messages[one].role == messages[first].role]
        if len(versions) > 1:
            versions.sort(key=lambda one: messages[one].created)
            return f"version {versions.index(first) + 1}/{len(versions)}"
        run = above
    return "unnamed end"


def preview_of(message: Message) -> str:
    """Return the beginning of a message as plain words, with nothing that a row says already."""
    text = past_opening(message.text)[: _PREVIEW * 2]
    return _plain_preview(text) if len(text) > _TEXT // 2 or "\n" in text else ""


@lru_cache(maxsize=4_000)
def _plain_preview(text: str) -> str:
    return _line(plain_words(text), _PREVIEW)


def line_of_text(message: Message) -> str:
    """Return one line by which a person recognises the message."""
    for part in sorted(
        message.parts, key=lambda part: isinstance(part, AttachmentPart | OpaquePart)
    ):  # Words say more than a name.
        match part:
            case MergePart() if part.kind.reading == "notice":
                return _line(f"“{part.source}” moved here: {len(part.messages)} messages", _TEXT)
            case MergePart():
                if settled := captions.settles(part):
                    return _line(settled.capitalize(), _TEXT)
                sources = ", ".join(f"“{merge.source}”" for merge in message.merges)
                return _line(f"Brought back from {sources}", _TEXT)
            case RevertPart():
                return _line(
                    f"Left out {len(part.targets)} message{'s' * (len(part.targets) > 1)} from here on", _TEXT
                )
            case TextPart() if line := _plain_line(past_opening(part.text)[: _TEXT * 5]):
                return line
            case ToolCallPart():
                return _line(f"calls {part.name}", _TEXT)
            case ToolResultPart():
                return _line(f"{part.name}: {part.output[:400]}", _TEXT)
            case AttachmentPart():
                return _line(part.name or part.media_type, _TEXT)
            case OpaquePart():
                return _line(opaque(part).title, _TEXT)
    return "(empty)"


_NOT_IN_A_LINE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\\s]+")
"""Spaces, control characters, overrides of the writing direction and lone surrogates."""


@lru_cache(maxsize=4_000)
def _plain_line(text: str) -> str:
    """Cached, because a click mostly draws the same rows again."""
    return _line(plain_words(text), _TEXT)


def _line(text: str, limit: int) -> str:
    line = _NOT_IN_A_LINE.sub(" ", text[: limit * 5]).strip()
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
