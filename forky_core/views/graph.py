"""The graph of a conversation as rows, lanes and edges: `git log --graph`, oldest at the top, long runs folded.

Drawing decides the speed: a browser updates 150 rows at once and stalls at 1,000. So runs of messages between the ones
that matter (forks, merges, tips, the current message, marks) are folded, only as far as the limit requires; if that is
still too much, a window around the current message is shown with the number of rows outside. The part that no click
changes is computed once (layout/shape.py); `build_graph` adds the current position, in O(messages).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NewType

from forky_core.context.masking import taken_back_with
from forky_core.layout.lanes import Edge, Layout, lay_out
from forky_core.layout.plain_text import plain_words
from forky_core.layout.shape import Shape, shape_of
from forky_core.merge.claims.claim_set import Frozen
from forky_core.merge.corrections import corrected_lines
from forky_core.model import Message, MessageId, View
from forky_core.model.parts import (
    AttachmentPart,
    MergePart,
    OpaquePart,
    RevertPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from forky_core.opaque import opaque
from forky_core.retrieval.passages import past_opening
from forky_core.views import captions

FoldId = NewType("FoldId", str)
"""`fold:` + the id of the first message of the run; a click on it opens and closes the run."""

ROWS = 150
"""The default limit of rows."""
FEW = 12
"""A conversation with at most this many messages is shown whole."""
_TEXT = 90
_EMPTY: Mapping[MessageId, str] = {}


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
    branches: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    kept: bool = False
    """Whether it is a tip without a branch, such as an answer that was regenerated."""
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
    taken_back: bool = False
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
    models: Mapping[MessageId, str] = _EMPTY,
    limit: int = ROWS,
    shape: Shape | None = None,
    open_conflicts: Collection[str] = (),
) -> GraphView:
    """Build the graph of what `view` reaches. `models` names who answered; `shape` may be reused from an earlier call.

    `open_conflicts` are the keys of conflicts that merges on the path left unresolved.
    """
    shape = shape or shape_of(messages, view)
    line = tuple(_path(current, shape))
    path, on_it = frozenset(line), [messages[id] for id in reversed(line)]
    gone = frozenset(taken_back_with(on_it))
    corrected = {merge: len(lines) for merge, lines in corrected_lines(on_it).items()}
    marks = {mark_b: "B"} | {mark_a: "AB" if mark_a == mark_b else "A"}
    plain = _plain(shape, {current, mark_a, mark_b})
    opened = frozenset(open_folds)
    runs = _runs(shape, plain)
    units: list[_Unit] = []
    levels = _LEVELS if len(shape.order) > FEW else (_WHOLE,)
    # Folding hides only plain messages: if the others alone are too many, only the last level is worth trying.
    for level in levels if len(shape.order) - len(plain) <= limit else levels[-1:]:
        units = _fold(runs, shape, plain, opened, level)
        if len(units) <= limit:
            break
    start = _window(units, current, limit)
    layout = _lay_out(units, shape).between(start, min(start + limit, len(units)))
    rows = tuple(
        _row(
            unit, lane, shape, messages, _Looks(path, marks, current, models, gone, open_conflicts, corrected)
        )
        for unit, lane in zip(units[start:], layout.lane_of, strict=False)
    )
    edges = tuple(replace(edge, on_path=_is_on_path(edge, rows)) for edge in layout.edges)
    later = max(0, len(units) - start - limit)
    return GraphView(rows, edges, layout.lanes, start, later, len(shape.order))


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
class _Unit:
    """What becomes one row."""

    kind: Literal["message", "fold", "close"]
    """`close`: the row that closes an open run, right above its first message."""
    members: tuple[MessageId, ...]
    """Top to bottom. For a `message` unit the last is shown and the others are hidden in its row."""
    fold: FoldId | None = None


@dataclass(frozen=True, slots=True)
class _Looks:
    """The current position, with the marks and the state of its path."""

    path: frozenset[MessageId]
    marks: Mapping[MessageId | None, str]
    current: MessageId | None
    models: Mapping[MessageId, str]
    gone: frozenset[MessageId]
    open_conflicts: Collection[str]
    corrected: Mapping[MessageId, int]


def _path(current: MessageId | None, shape: Shape) -> Iterable[MessageId]:
    while current is not None and current in shape.parent:
        yield current
        current = shape.parent[current]


def _plain(shape: Shape, looked_at: set[MessageId | None]) -> frozenset[MessageId]:
    """Return messages that may be folded: without a fork, an end, a merge, the current message or a mark."""
    merged = {side for sides in shape.side_parents.values() for side in sides}
    return frozenset(
        id
        for id in shape.order
        if len(shape.children.get(id, ())) == 1
        and shape.parent[id] is not None
        and id not in shape.side_parents
        and id not in merged
        and id not in shape.branches
        and id not in shape.tags
        and id not in shape.kept
        and id not in looked_at
    )


def _fold(
    runs: Sequence[tuple[MessageId, ...]],
    shape: Shape,
    plain: frozenset[MessageId],
    opened: frozenset[str],
    level: _Level,
) -> list[_Unit]:
    trunk = frozenset(shape.lines[0] if shape.lines else ())
    units: list[_Unit] = []
    absorbed = False
    for run, following in zip(runs, (*runs[1:], ()), strict=False):
        if absorbed:
            absorbed = False
            continue
        if run[0] not in plain:
            units.append(_Unit("message", run))
            continue
        below = following[0] if following and shape.parent[following[0]] == run[-1] else None
        absorbing = level.absorb == "all" or (level.absorb == "sides" and run[0] not in trunk)
        hidden = run[level.keep : len(run) - level.keep]
        open_here = next((fold for fold in map(_fold_id, run) if fold in opened), None) if opened else None
        if open_here is not None:
            units.append(_Unit("close", (), open_here))
            units.extend(_Unit("message", (id,)) for id in run)
        elif absorbing and below is not None:
            units.append(_Unit("message", (*run, below), _fold_id(run[0])))
            absorbed = True
        elif len(hidden) >= level.least:
            units.extend(_Unit("message", (id,)) for id in run[: level.keep])
            units.append(_Unit("fold", hidden, _fold_id(hidden[0])))
            units.extend(_Unit("message", (id,)) for id in run[len(run) - level.keep :])
        else:
            units.extend(_Unit("message", (id,)) for id in run)
    return units


def _runs(shape: Shape, plain: frozenset[MessageId]) -> list[tuple[MessageId, ...]]:
    """Split the order into runs of plain messages, each the child of the one before, and the others one by one."""
    runs: list[list[MessageId]] = []
    for id in shape.order:
        if runs and id in plain and runs[-1][-1] in plain and shape.parent[id] == runs[-1][-1]:
            runs[-1].append(id)
        else:
            runs.append([id])
    return [tuple(run) for run in runs]


def _fold_id(first: MessageId) -> FoldId:
    return FoldId(f"fold:{first}")


def _window(units: Sequence[_Unit], current: MessageId | None, limit: int) -> int:
    """Return the first row of a window with the current message in its middle; at the end if there is none."""
    at = next((place for place, unit in enumerate(units) if current in unit.members), len(units))
    return max(0, min(at - limit // 2, len(units) - limit))


def _lay_out(units: Sequence[_Unit], shape: Shape) -> Layout:
    row_of = {id: row for row, unit in enumerate(units) for id in unit.members}
    line_of = {id: number for number, line in enumerate(shape.lines) for id in line}
    parents: list[tuple[int, ...]] = []
    lines: list[int] = []
    for row, unit in enumerate(units):
        first = unit.members[0] if unit.members else units[row + 1].members[0]
        above = shape.parent[first]
        closing = row > 0 and units[row - 1].kind == "close"
        context = row - 1 if closing else row_of[above] if above is not None else -1
        sides = shape.side_parents.get(unit.members[-1], ()) if unit.members else ()
        parents.append((context, *(row_of[side] for side in sides)))
        lines.append(line_of[first])
    return lay_out(parents, lines)


def _is_on_path(edge: Edge, rows: Sequence[GraphRow]) -> bool:
    """Whether the current context runs along the edge; an end outside the window is assumed to be like the other
    one.
    """
    inside = [rows[end].on_path for end in (edge.source, edge.target) if 0 <= end < len(rows)]
    return edge.kind == "line" and bool(inside) and all(inside)


def _row(
    unit: _Unit, lane: int, shape: Shape, messages: Mapping[MessageId, Message], looks: _Looks
) -> GraphRow:
    if unit.kind == "message":
        return _message_row(unit, lane, shape, messages, looks)
    assert unit.fold is not None
    count = len(unit.members)
    if unit.kind == "close":
        on_path = MessageId(unit.fold.removeprefix("fold:")) in looks.path
        return GraphRow(
            unit.fold, "fold", lane, "", "", "Fold these messages", fold=unit.fold, on_path=on_path
        )
    text = f"{count} messages" if count > 1 else "1 message"
    on_path = unit.members[-1] in looks.path
    return GraphRow(unit.fold, "fold", lane, "", "", text, fold=unit.fold, folded=count, on_path=on_path)


def _message_row(
    unit: _Unit, lane: int, shape: Shape, messages: Mapping[MessageId, Message], looks: _Looks
) -> GraphRow:
    id = unit.members[-1]
    message = messages[id]
    return GraphRow(
        id,
        "message",
        lane,
        message.role,
        _line(
            message.name or looks.models.get(id) or ("you" if message.role == "user" else message.role), 40
        ),
        line_of_text(message),
        shape.branches.get(id, ()),
        shape.tags.get(id, ()),
        id in shape.kept,
        merge=len(message.parents) > 1,
        fold=unit.fold,
        folded=len(unit.members) - 1,
        on_path=id in looks.path,
        current=id == looks.current,
        mark=looks.marks.get(id, ""),
        taken_back=id in looks.gone,
        unresolved=_left_open(message, looks) if id in looks.path and looks.open_conflicts else 0,
        corrected=looks.corrected.get(id, 0),
    )


def _left_open(message: Message, looks: _Looks) -> int:
    frozen = (Frozen.from_json(part.claims) for part in message.merges if part.claims)
    conflicts = (conflict.key for one in frozen if one is not None for conflict in one.set.conflicts)
    return sum(key in looks.open_conflicts for key in conflicts)


def line_of_text(message: Message) -> str:
    """Return one line by which a person recognises the message."""
    for part in sorted(
        message.parts, key=lambda part: isinstance(part, AttachmentPart | OpaquePart)
    ):  # Words say more than a name.
        match part:
            case MergePart() if part.kind.reading == "notice":
                return _line(f"Rebased “{part.source}”: {len(part.messages)} messages", _TEXT)
            case MergePart():
                if settled := captions.settles(part):
                    return _line(settled.capitalize(), _TEXT)
                sources = ", ".join(f"“{merge.source}”" for merge in message.merges)
                return _line(f"Merged {sources} ({part.strategy})", _TEXT)
            case RevertPart():
                return _line(f"Reverted {len(part.targets)} message{'s' * (len(part.targets) > 1)}", _TEXT)
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
