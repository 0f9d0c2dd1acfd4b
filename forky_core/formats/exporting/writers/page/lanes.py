"""The graph as a plain SVG: one row a message, newest at the bottom, each a link to its cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from forky_core.formats.exporting.outline import Outline
from forky_core.layout.colors import line_colors
from forky_core.layout.lanes import Edge, Layout, lay_out
from forky_core.layout.plain_text import plain_words
from forky_core.model import Message, MessageId, View
from forky_core.showing.escaping import safe

ROW, LANE, LEFT = 24, 16, 14
"""Pixels: height of a row, distance of lanes, room before the first."""
_WORDS = 60


def layout_of(read: Outline, view: View) -> Layout:
    """Return the rows of the outline with their lanes and the colours of their branches."""
    shape = read.shape
    row = {id: at for at, id in enumerate(shape.order)}
    line_of = {id: number for number, line in enumerate(shape.lines) for id in line}
    parents = []
    for id in shape.order:
        above = shape.parent[id]
        sides = (row[side] for side in shape.side_parents.get(id, ()))
        parents.append((row[above] if above is not None else -1, *sides))
    return lay_out(parents, [line_of[id] for id in shape.order], line_colors(shape, view))


def anchor(id: MessageId) -> str:
    return f"m-{id.removeprefix('b2:')}"


def lanes_svg(
    read: Outline,
    messages: Mapping[MessageId, Message],
    layout: Layout,
    speaker: Callable[[Message], str],
) -> str:
    """The graph; `speaker` says who wrote a message, in the words of its heading."""
    order = read.shape.order
    x = LEFT + LANE * layout.lanes
    drawn = [_edge(edge, layout) for edge in layout.edges]
    for row, id in enumerate(order):
        y = ROW * row + ROW // 2
        lane = layout.lane_of[row]
        names = " ".join(f"({name})" for name in read.shape.branches.get(id, ()))
        said = _first_words(messages[id])
        words = f"{read.number[id]}. {speaker(messages[id])}{f': {said}' if said else ''}"
        label = f'<tspan class="branch c{layout.color_of[row]}">{safe(names)} </tspan>' if names else ""
        drawn.append(
            f'<a href="#{anchor(id)}"><circle class="c{layout.color_of[row]}" cx="{LEFT + LANE * lane}" cy="{y}" r="4.5"/>'
            f'<text x="{x}" y="{y + 4}">{label}{safe(words)}</text></a>'
        )
    height, width = ROW * len(order), x + 560
    return (
        f'<svg width="{width}" height="{height}" role="group" aria-label="Graph of the conversation">'
        f"{''.join(drawn)}</svg>"
    )


def _edge(edge: Edge, layout: Layout) -> str:
    """An edge's path: sideways out of its source, down its lane, sideways into its target."""
    colour = f'class="c{edge.color}{" merge" if edge.kind == "merge" else ""}"'
    top, bottom = ROW * edge.source + ROW // 2, ROW * edge.target + ROW // 2
    columns = (layout.lane_of[edge.source], edge.lane, layout.lane_of[edge.target])
    start, lane, end = (LEFT + LANE * column for column in columns)
    if bottom - top <= ROW:
        middle = top + ROW // 2
        return f'<path {colour} d="M{start} {top}C{start} {middle} {end} {middle} {end} {bottom}"/>'
    down, turn = top + ROW // 2, bottom - ROW // 2
    return (
        f'<path {colour} d="M{start} {top}C{start} {down} {lane} {down} {lane} {top + ROW}'
        f'V{bottom - ROW}C{lane} {turn} {end} {turn} {end} {bottom}"/>'
    )


def _first_words(message: Message) -> str:
    """The beginning of a message; "" for a merge, whose text is for models and whose speaker names its sources."""
    if message.merges:
        return ""
    if reverts := len(message.reverts):
        return f"Takes back {reverts} message{'s' if reverts != 1 else ''}"
    words = " ".join(plain_words(message.text[:400]).split())
    return words if len(words) <= _WORDS else words[: _WORDS - 1].rstrip() + "…"
