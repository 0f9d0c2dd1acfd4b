"""Assigns a lane to every row of a graph, and a route to each edge.

It works on row numbers alone, so that a test can write a graph as lists. An edge leaves its source sideways into the
lane it travels in, goes down that lane, and turns sideways into its target at the target's row. A line that forks
travels in the lane it leaves, which no other row of that lane interrupts; a merged line travels on in its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge from row `source` down to row `target`; either may be outside the rows shown (−1, or their number)."""

    source: int
    target: int
    lane: int
    """The lane in which it goes down."""
    color: int
    """Of the line it belongs to."""
    kind: Literal["line", "merge"]
    """`merge`: provenance, drawn dashed."""
    on_path: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    lane_of: tuple[int, ...]
    edges: tuple[Edge, ...]
    color_of: tuple[int, ...]
    """For each row the colour of the line it lies on."""

    @property
    def lanes(self) -> int:
        return 1 + max((*self.lane_of, *(edge.lane for edge in self.edges)), default=-1)

    def between(self, start: int, end: int) -> Layout:
        """Return the rows from `start` up to `end` with the edges that touch or pass them, numbered from 0."""

        def clipped(row: int) -> int:
            return min(max(row - start, -1), end - start)

        edges = (
            replace(edge, source=clipped(edge.source), target=clipped(edge.target))
            for edge in self.edges
            if edge.source < end and edge.target >= start
        )
        return Layout(self.lane_of[start:end], tuple(edges), self.color_of[start:end])


def lay_out(parents: Sequence[Sequence[int]], lines: Sequence[int], colors: Sequence[int]) -> Layout:
    """Lay out rows: `parents[i]` are the rows above that row i continues (first; −1 for none) and merges, `lines[i]` is
    its line; `colors` has a colour for each line.
    """
    last = {line: row for row, line in enumerate(lines)}
    until = dict(last)
    detours: dict[int, list[int]] = {}
    early: dict[int, list[int]] = {}
    following = _following(lines)
    for row, above in enumerate(parents):
        if above and above[0] >= 0 and last[lines[above[0]]] == above[0]:
            until[lines[above[0]]] = max(until[lines[above[0]]], row)
        for side in above[1:]:
            if last[lines[side]] == side:
                until[lines[side]] = max(until[lines[side]], row)
            else:
                detours.setdefault(side, []).append(row)
        if above and above[0] >= 0 and lines[above[0]] != lines[row] and following[above[0]] <= row:
            early.setdefault(above[0], []).append(row)
    busy: list[int] = []
    lane_of_line: dict[int, int] = {}
    lane_of: list[int] = []
    edges: list[Edge] = []
    for row, above in enumerate(parents):
        line, context = lines[row], above[0] if above else -1
        if line not in lane_of_line:
            beyond = lane_of[context] if context >= 0 else -1
            lane_of_line[line] = _take(busy, beyond + 1, row, until[line])
        lane = lane_of_line[line]
        lane_of.append(lane)
        if context >= 0:
            travels = lane if following[context] <= row else lane_of[context]
            edges.append(Edge(context, row, travels, colors[line], "line"))
        ended = (side for side in above[1:] if last[lines[side]] == side)
        edges.extend(Edge(side, row, lane_of[side], colors[lines[side]], "merge") for side in ended)
        for forked in early.get(row, ()):
            lane_of_line[lines[forked]] = _take(busy, lane + 1, row, until[lines[forked]])
        edges.extend(
            Edge(row, target, _take(busy, lane + 1, row, target), colors[line], "merge")
            for target in detours.get(row, ())
        )
    return Layout(tuple(lane_of), tuple(edges), tuple(colors[line] for line in lines))


def _following(lines: Sequence[int]) -> list[int]:
    """Return the next row on the same line for each row; for the last one on its line, the number of rows."""
    following = [len(lines)] * len(lines)
    latest: dict[int, int] = {}
    for row, line in enumerate(lines):
        if line in latest:
            following[latest[line]] = row
        latest[line] = row
    return following


def _take(busy: list[int], least: int, row: int, until: int) -> int:
    """Reserve the first lane from `least` on that is free at `row` until the row `until`, and return it."""
    lane = least
    while lane < len(busy) and busy[lane] >= row:
        lane += 1
    busy.extend([-1] * (lane + 1 - len(busy)))
    busy[lane] = until
    return lane
