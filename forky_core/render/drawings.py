"""The geometry of drawings: the graph with its lanes, on a map and on a page, and the branches of one merge.

templates/drawings.html draws them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from forky_core.model import MessageId, View
from forky_core.render.material import ShownConversation
from forky_core.render.steps import MergeStory, Presentation, key_of
from forky_core.views.graph import GraphRow, build_graph
from forky_core.views.layout.colors import UNNAMED, branch_colors
from forky_core.views.layout.lanes import Edge
from forky_core.views.layout.shape import shape_of

_MOST_ROWS = 400
_ENDS = 4
"""How many messages are drawn at each end of a long line of a merge."""
_GAP, _DROP, _TOP, _MARGIN = 74, 78, 44, 150
"""Units of the drawing of a merge: between two messages, between two lines, above the first line, at the left."""


@dataclass(frozen=True, slots=True)
class LanesGrid:
    """The distances of a graph in pixels."""

    row: int
    """Height of a row."""
    lane: int
    """Distance of lanes."""
    left: int
    """Room before the first lane."""
    top: int = 0
    """Room above the first row."""

    def x(self, lane: int) -> int:
        return self.left + self.lane * lane

    def y(self, row: int) -> int:
        return self.row * row + self.row // 2 + self.top

    def path(self, edge: Edge, lane_of: Sequence[int]) -> str:
        """Return an edge's SVG path: sideways out of its source, down its lane, sideways into its target.

        An edge whose source or target is beyond the drawn rows begins or ends at the border.
        """
        last = len(lane_of)
        top = self.y(edge.source) if edge.source >= 0 else 0
        bottom = self.y(edge.target) if edge.target < last else self.row * last + 2 * self.top
        start = self.x(lane_of[edge.source] if edge.source >= 0 else edge.lane)
        end = self.x(lane_of[edge.target] if edge.target < last else edge.lane)
        lane, begin = self.x(edge.lane), f"M{start} {top}C{start}"
        if bottom - top <= self.row:
            middle = (top + bottom) // 2
            return f"{begin} {middle} {end} {middle} {end} {bottom}"
        down, turn = top + self.row // 2, bottom - self.row // 2
        return (
            f"{begin} {down} {lane} {down} {lane} {top + self.row}"
            f"V{bottom - self.row}C{lane} {turn} {end} {turn} {end} {bottom}"
        )


MAP = LanesGrid(26, 18, 16, 4)
"""The map of a presentation."""
PAGE = LanesGrid(24, 16, 14)
"""The graph on the page of a conversation."""


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """An edge of a graph."""

    look: str
    """The classes of its element."""
    path: str


@dataclass(frozen=True, slots=True)
class PageGraphRow:
    """A message in the graph of a page, which links to the message on that page."""

    anchor: str
    lane: int
    color: int
    names: str
    """The branches that point to it."""
    words: str


@dataclass(frozen=True, slots=True)
class PageGraph:
    """The graph on the page of a conversation: one row a message, the newest at the bottom."""

    lanes: int
    edges: tuple[DrawnEdge, ...]
    rows: tuple[PageGraphRow, ...]
    grid: LanesGrid = PAGE


@dataclass(frozen=True, slots=True)
class MapRow:
    """A row of the map."""

    row: GraphRow
    names: tuple[str, ...]
    """The branches and tags that point to it, each cut to 24 characters."""
    words: str
    leads: Mapping[str, str]
    """The attributes of its link; empty for a row without a link."""


@dataclass(frozen=True, slots=True)
class GraphMap:
    """The graph, in which a message links to the step that shows it, or to a branch that leads to it."""

    lanes: int
    edges: tuple[DrawnEdge, ...]
    rows: tuple[MapRow, ...]
    grid: LanesGrid = MAP


def graph_map(made: Presentation) -> GraphMap:
    """Return the map of a presentation; it has no rows if the conversation is empty."""
    shown = made.shown
    shape = shape_of(shown.stems, shown.view)
    drawn = build_graph(shown.messages, shown.view, current=shown.head, limit=_MOST_ROWS, shape=shape)
    steps = {
        step.message.id: {"href": f"#{step.key}", "data-key": step.key} for step in made.steps if step.message
    }
    alternatives = {
        id: {"href": f"#{step.key}", "data-key": step.key, "data-face": str(at)}
        for step in made.steps
        for at, id in enumerate(step.alternatives)
    }
    others = {id: {"data-branch": name, "data-key": key_of(id)} for id, name in _branches(shown).items()}
    leads = others | alternatives | steps
    lanes = [row.lane for row in drawn.rows]
    edges = (
        DrawnEdge(
            f"edge c{edge.color}{' dashed' if edge.kind == 'merge' else ''}{' path' if edge.on_path else ''}",
            MAP.path(edge, lanes),
        )
        for edge in drawn.edges
    )
    rows = (_map_row(row, leads) for row in drawn.rows)
    return GraphMap(drawn.lanes, tuple(edges), tuple(rows))


def _branches(shown: ShownConversation) -> Mapping[MessageId, str]:
    """Map each message to a branch that leads to it."""
    found: dict[MessageId, str] = {}
    for branch in shown.view.branches.values():
        at = branch.head
        while at is not None and at in shown.stems and at not in found:
            found[at] = branch.name
            at = shown.stems[at].parent
    return found


def _map_row(row: GraphRow, leads: Mapping[MessageId, Mapping[str, str]]) -> MapRow:
    names = tuple(_cut(name, 24) for name in (*row.branches, *row.tags))
    spent = sum(len(name) + 2 for name in names)
    is_message = row.kind == "message"
    words = _cut(row.text if is_message else f"… {row.text}", max(12, 46 - spent))
    return MapRow(row, names, words, leads.get(MessageId(row.id), {}) if is_message else {})


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


@dataclass(frozen=True, slots=True)
class MergeShape:
    """A piece of the drawing of a merge: a path, words, or, if it has neither, the dot of a message."""

    look: str
    """The classes of its element."""
    path: str = ""
    words: str = ""
    x: int = 0
    y: int = 0


@dataclass(frozen=True, slots=True)
class MergePicture:
    """The lines of a merge, from left to right, with the message that joins them if it has landed."""

    width: int
    height: int
    landed: bool
    shapes: tuple[MergeShape, ...]


def merge_picture(story: MergeStory, branch: str, view: View, *, landed: bool) -> MergePicture:
    colors = branch_colors(view.branches)
    own = f"c{colors.get(branch, UNNAMED)}"
    trunk = _ends(story.trunk)
    lines = [_ends(line) for _, line in story.sides]
    columns = max((len(trunk), *(len(line) + 1 for line in lines)), default=1)
    start = _MARGIN if story.base is not None else _MARGIN - _GAP // 2
    join = start + _GAP * (columns + 1)
    drawn: list[MergeShape] = []
    reach = join if landed else start + _GAP * max(1, len(trunk))
    if story.base is not None or trunk:
        drawn.append(MergeShape(f"edge {own}", f"M{start} {_TOP}H{reach}"))
    for number, ((part, _), line) in enumerate(zip(story.sides, lines, strict=True), 1):
        color, y = f"c{colors.get(part.source, UNNAMED)}", _TOP + _DROP * number
        first, last = start + _GAP, start + _GAP * max(1, len(line))
        bend = start + _GAP // 2
        leaves = f"M{start} {_TOP}C{bend} {_TOP} {bend} {y} {first} {y}"
        begins = leaves if story.base is not None else f"M{first} {y}"
        drawn.append(MergeShape(f"edge {color}", f"{begins}H{last}"))
        if landed:
            drawn.append(
                MergeShape(
                    f"edge dashed {color} arrives",
                    f"M{last} {y}H{max(last + 10, join - _GAP)}"
                    f"C{join - _GAP // 3} {y} {join} {y - _DROP // 3} {join} {_TOP + 12}",
                )
            )
        cited = set(part.messages)
        drawn += (_dot(start + _GAP * at, y, color, id, cited) for at, id in enumerate(line, 1))
        drawn.append(MergeShape(color, words=_cut(part.source, 32), x=first - 8, y=y + 30))
    drawn += (_dot(start + _GAP * at, _TOP, own, id, story.trunk) for at, id in enumerate(trunk, 1))
    if story.base is not None:
        drawn.append(MergeShape(f"dot {own}", x=start, y=_TOP))
    drawn.append(MergeShape(f"{own} end", words=_cut(branch, 14), x=start - 22, y=_TOP + 6))
    if landed:
        around = f"M{join} {_TOP - 15}L{join + 15} {_TOP}L{join} {_TOP + 15}L{join - 15} {_TOP}Z"
        drawn.append(MergeShape(f"dot merge {own}", around))
        drawn.append(MergeShape(f"edge {own} onward", f"M{join + 18} {_TOP}H{join + _MARGIN - 20}"))
    return MergePicture(join + _MARGIN, _TOP + _DROP * len(lines) + 34, landed, tuple(drawn))


def _ends(line: Sequence[MessageId]) -> tuple[MessageId | None, ...]:
    """Shorten a long line: None stands for its middle."""
    if len(line) <= 2 * _ENDS + 1:
        return tuple(line)
    return (*line[:_ENDS], None, *line[-_ENDS:])


def _dot(x: int, y: int, color: str, id: MessageId | None, cited: Collection[str]) -> MergeShape:
    if id is None:
        return MergeShape("gap", f"M{x - 14} {y}H{x + 14}")
    return MergeShape(f"dot {color}" if id in cited else f"dot left-out {color}", x=x, y=y)
