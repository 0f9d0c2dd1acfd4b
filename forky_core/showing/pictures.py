"""The drawings of a presentation as plain SVG: the map of the whole graph, and the branches of one merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forky_core.layout.colors import UNNAMED, branch_colors
from forky_core.layout.lanes import Edge
from forky_core.layout.shape import shape_of
from forky_core.model import MessageId, View
from forky_core.showing.escaping import safe
from forky_core.showing.material import ShownConversation
from forky_core.showing.steps import MergeStory, Presentation, key_of
from forky_core.views.graph import GraphRow, GraphView, build_graph

ROW, LANE, LEFT = 26, 18, 16
"""Pixels of the map: height of a row, distance of lanes, room before the first."""
_MOST_ROWS = 400
_ENDS = 4
"""Messages that are drawn at each end of a long line of a merge."""
_GAP, _DROP, _TOP, _MARGIN = 74, 78, 44, 150
"""Units of the drawing of a merge: between two messages, between two lines, above the first line, at the left."""


def graph_map(made: Presentation) -> str:
    """The graph with a link for every message that a step shows, and the branch of every other."""
    shown = made.shown
    shape = shape_of(shown.stems, shown.view)
    drawn = build_graph(shown.messages, shown.view, current=shown.head, limit=_MOST_ROWS, shape=shape)
    if not drawn.rows:
        return ""
    steps = {step.message.id: step.key for step in made.steps if step.message is not None}
    beside = {id: (step.key, at) for step in made.steps for at, id in enumerate(step.alternatives)}
    branch_of = _branches(shown)
    width = LEFT + LANE * drawn.lanes + 370
    leads = _Leads(steps, beside, branch_of)
    rows = "".join(_row(row, at, drawn.lanes, leads, width) for at, row in enumerate(drawn.rows))
    edges = "".join(_edge(edge, drawn) for edge in drawn.edges)
    height = ROW * len(drawn.rows) + 8
    return (
        f'<svg class="lanes" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="group" '
        f'aria-label="Graph of the conversation">{edges}{rows}</svg>'
    )


def _branches(shown: ShownConversation) -> Mapping[MessageId, str]:
    """For each message a branch that leads to it."""
    found: dict[MessageId, str] = {}
    for branch in shown.view.branches.values():
        at = branch.head
        while at is not None and at in shown.stems and at not in found:
            found[at] = branch.name
            at = shown.stems[at].parent
    return found


@dataclass(frozen=True, slots=True)
class _Leads:
    """Where a row of the map leads."""

    steps: Mapping[MessageId, str]
    """The key of a message's step."""
    beside: Mapping[MessageId, tuple[str, int]]
    """For an alternative: the key of the step, and its place there."""
    branch_of: Mapping[MessageId, str]

    def target(self, row: GraphRow) -> str:
        """The attributes of its link; "" if it leads nowhere."""
        id = MessageId(row.id)
        if row.kind != "message":
            return ""
        if (key := self.steps.get(id)) is not None:
            return f'href="#{key}" data-key="{key}"'
        if id in self.beside:
            key, place = self.beside[id]
            return f'href="#{key}" data-key="{key}" data-face="{place}"'
        branch = self.branch_of.get(id)
        return f'data-branch="{safe(branch)}" data-key="{key_of(id)}"' if branch is not None else ""


def _row(row: GraphRow, at: int, lanes: int, leads: _Leads, width: int) -> str:
    x, y = LEFT + LANE * row.lane, ROW * at + ROW // 2 + 4
    looks = f"row c{row.color}{' path' if row.on_path else ''} {row.role or 'fold'}"
    pointing = [_cut(name, 24) for name in (*row.branches, *row.tags)]
    names = "".join(f'<tspan class="branch c{row.color}">{safe(name)} </tspan>' for name in pointing)
    spent = sum(len(name) + 2 for name in pointing)
    dot = _dot(row, x, y)
    words = row.text if row.kind == "message" else f"… {row.text}"
    text = f'<text x="{LEFT + LANE * lanes + 6}" y="{y + 5}">{names}{safe(_cut(words, max(12, 46 - spent)))}</text>'
    target = leads.target(row)
    hit = f'<rect x="0" y="{ROW * at + 4}" width="{width}" height="{ROW}"/>'
    inner = f"{hit}{dot}{text}"
    return f'<a class="{looks}" {target}>{inner}</a>' if target else f'<g class="{looks}">{inner}</g>'


def _dot(row: GraphRow, x: int, y: int) -> str:
    if row.kind == "fold":
        return f'<path class="dots" d="M{x} {y - 7}V{y + 7}"/>'
    if row.merge:
        return f'<path class="dot merge" d="M{x} {y - 7}L{x + 7} {y}L{x} {y + 7}L{x - 7} {y}Z"/>'
    return f'<circle class="dot" cx="{x}" cy="{y}" r="5"/>'


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _edge(edge: Edge, drawn: GraphView) -> str:
    """An edge's path: sideways out of its source, down its lane, sideways into its target."""
    last = len(drawn.rows)
    top = ROW * max(edge.source, 0) + ROW // 2 + 4 if edge.source >= 0 else 0
    bottom = ROW * edge.target + ROW // 2 + 4 if edge.target < last else ROW * last + 8
    start = LEFT + LANE * (drawn.rows[edge.source].lane if edge.source >= 0 else edge.lane)
    end = LEFT + LANE * (drawn.rows[edge.target].lane if edge.target < last else edge.lane)
    lane = LEFT + LANE * edge.lane
    looks = f"edge c{edge.color}{' dashed' if edge.kind == 'merge' else ''}{' path' if edge.on_path else ''}"
    if bottom - top <= ROW:
        middle = (top + bottom) // 2
        return f'<path class="{looks}" d="M{start} {top}C{start} {middle} {end} {middle} {end} {bottom}"/>'
    down, turn = top + ROW // 2, bottom - ROW // 2
    return (
        f'<path class="{looks}" d="M{start} {top}C{start} {down} {lane} {down} {lane} {top + ROW}'
        f'V{bottom - ROW}C{lane} {turn} {end} {turn} {end} {bottom}"/>'
    )


def merge_picture(story: MergeStory, branch: str, view: View, *, landed: bool) -> str:
    """The two lines of a merge, left to right; once it has landed, with the message that joins them."""
    colors = branch_colors(view.branches)
    own = f"c{colors.get(branch, UNNAMED)}"
    trunk = _ends(story.trunk)
    lines = [_ends(line) for _, line in story.sides]
    columns = max((len(trunk), *(len(line) + 1 for line in lines)), default=1)
    start = _MARGIN if story.base is not None else _MARGIN - _GAP // 2
    join = start + _GAP * (columns + 1)
    width, height = join + _MARGIN, _TOP + _DROP * len(lines) + 34
    drawn: list[str] = []
    reach = join if landed else start + _GAP * max(1, len(trunk))
    if story.base is not None or trunk:
        drawn.append(f'<path class="edge {own}" d="M{start} {_TOP}H{reach}"/>')
    for number, ((part, _), line) in enumerate(zip(story.sides, lines, strict=True), 1):
        colour, y = f"c{colors.get(part.source, UNNAMED)}", _TOP + _DROP * number
        first, last = start + _GAP, start + _GAP * max(1, len(line))
        leaves = f"M{start} {_TOP}C{start + _GAP // 2} {_TOP} {start + _GAP // 2} {y} {first} {y}"
        drawn.append(
            f'<path class="edge {colour}" d="{leaves if story.base is not None else f"M{first} {y}"}H{last}"/>'
        )
        if landed:
            bend = max(last + 10, join - _GAP)
            drawn.append(
                f'<path class="edge dashed {colour} arrives" d="M{last} {y}H{bend}C{join - _GAP // 3} {y} {join} {y - _DROP // 3} '
                f'{join} {_TOP + 12}"/>'
            )
        cited = set(part.messages)
        for place, id in enumerate(line, 1):
            drawn.append(_message(start + _GAP * place, y, colour, id, cited=id is None or id in cited))
        drawn.append(
            f'<text class="{colour}" x="{first - 8}" y="{y + 30}">{safe(_cut(part.source, 32))}</text>'
        )
    for place, id in enumerate(trunk, 1):
        drawn.append(_message(start + _GAP * place, _TOP, own, id, cited=True))
    if story.base is not None:
        drawn.append(f'<circle class="dot {own}" cx="{start}" cy="{_TOP}" r="9"/>')
    drawn.append(f'<text class="{own} end" x="{start - 22}" y="{_TOP + 6}">{safe(_cut(branch, 14))}</text>')
    if landed:
        drawn.append(
            f'<path class="dot merge {own}" d="M{join} {_TOP - 15}L{join + 15} {_TOP}L{join} {_TOP + 15}L{join - 15} {_TOP}Z"/>'
        )
        drawn.append(f'<path class="edge {own} onward" d="M{join + 18} {_TOP}H{join + _MARGIN - 20}"/>')
    label = f"The branches of the merge{', joined' if landed else ''}"
    return f'<svg class="branches" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">{"".join(drawn)}</svg>'


def _ends(line: Sequence[MessageId]) -> tuple[MessageId | None, ...]:
    """A line with its middle left out, for which None stands, if it is long."""
    if len(line) <= 2 * _ENDS + 1:
        return tuple(line)
    return (*line[:_ENDS], None, *line[-_ENDS:])


def _message(x: int, y: int, colour: str, id: MessageId | None, *, cited: bool) -> str:
    if id is None:
        return f'<path class="gap" d="M{x - 14} {y}H{x + 14}"/>'
    looks = "dot" if cited else "dot left-out"
    return f'<circle class="{looks} {colour}" cx="{x}" cy="{y}" r="9"/>'
