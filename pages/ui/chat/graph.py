"""The graph to click on: streamlit-agraph as a still picture of lanes, one card a row.

streamlit-agraph forgets zoom when it is mounted anew and is silent about a second click on a node. So it is mounted
with a key and plain vis-network options, positions are ours, and every node's id carries an epoch that is raised after
each handled click: a second click on a node is a new one, and an old click is known by its epoch. A node's `title` is
never set: the component would run it as HTML. Labels are plain text.

Its page is put into a frame by a component of ours (agraph.js). Streamlit's own way would import pyarrow, pandas and
numpy for a picture that has no data frame: 80 MB and half a second of the first page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import streamlit as st

from forky_core.layout.lanes import Edge
from forky_core.views.graph import GraphRow, GraphView
from forky_core.views.shelf import count
from pages.ui.chat.agraph_page import agraph_url
from pages.ui.components.notice import stay
from pages.ui.components.palette import Palette, blend, palette
from pages.ui.session import session

ROW = 29
"""Pixels from row to row."""
LANE = 17
_MARGIN = 0.05
"""Of each side: vis-network leaves as much free when it fits a picture, and then draws it pixel for pixel."""
_agraph_frame = st.components.v2.component(
    "forky_agraph", js=Path(__file__).with_name("agraph.js").read_text("utf-8"), isolate_styles=False
)
_BUCKET = 10
"""Rows by which the frame grows: a new height mounts it anew, which must not happen at every message."""
_EPOCHS = "graph.epochs"
_ROOMS = "graph.rooms"
_ROOM = 500
"""Pixels of the panel's width until the browser has told them: those of a window 1,400 pixels wide."""
_ROOMS_GIVEN = range(200, 2_001)
_SIZE = 14
"""Pixels of the type."""
_NARROW = 0.92
"""The widths of Source Sans beside those of Helvetica, at most."""
_WIDTHS = {
    sign: width
    for width, signs in (
        (0.23, "ijl'|"),
        (0.28, " ft.,:;!/\\I[]"),
        (0.34, "r-()`{}“”‘’‹›"),
        (0.5, "ckvxyszJ*"),
        (0.56, "abdeghnopqu0123456789L#$?_–"),
        (0.59, "+=<>~"),
        (0.67, "ABEFKPSTVXYZ&"),
        (0.73, "wCDHNRU"),
        (0.78, "GOQ"),
        (0.84, "mM"),
        (0.95, "W%"),
    )
    for sign in signs
}
"""Of a height, from the metrics of Helvetica."""


def draw_graph(
    graph: GraphView,
    key: str,
    *,
    height: int = 560,
    on_click: Callable[[str], None] | None = None,
) -> str | None:
    """Draw it in a panel that scrolls, as wide as there is room; the id of the row just clicked, once.

    With `on_click`, that is called with the id instead, before the page runs: a page can then go there in one run.
    """
    colors = palette()
    epochs: dict[str, int] = st.session_state.setdefault(_EPOCHS, {})
    epoch = epochs.get(key, 0)
    slots = -(-max(len(graph.rows), 3) // _BUCKET) * _BUCKET
    tall = int((slots + 1) * ROW / (1 - 2 * _MARGIN)) + 1
    panel = f"graph-panel-{key}"
    rooms: dict[str, int] = st.session_state.setdefault(_ROOMS, {})
    room = rooms.get(key, _ROOM)
    width = int(room / (1 - 2 * _MARGIN))
    frame = f"{key}.{slots}.{room}.{'dark' if colors.dark else 'light'}"

    def handle() -> None:
        told = st.session_state.get(frame, {}).get("clicked")
        if on_click is not None and (id := _fresh(told, key, graph)) is not None:
            on_click(id)

    def take_room() -> None:
        told = st.session_state.get(frame, {}).get("room")
        if isinstance(told, int) and told in _ROOMS_GIVEN:
            rooms[key] = told
        stay(session())

    unseen = int(tall * _MARGIN)
    current = next((place for place, row in enumerate(graph.rows) if row.current), 0)
    with st.container(key=panel, height=min(height, tall - 2 * unseen + 12), border=False):
        _crop(panel, unseen - 6, int(width * _MARGIN) - 4)
        picture = {
            "data": json.dumps(_picture(graph, colors, epoch, width, tall)),
            "config": json.dumps(_options(width, tall)),
        }
        given = {
            "page": agraph_url(),
            "width": width,
            "height": tall,
            "room": room,
            "y": _top(tall) - unseen + current * ROW,
            "id": graph.rows[current].id if graph.rows else "",
            "args": picture,
            "theme": _theme(colors),
        }
        result: Any = _agraph_frame(
            key=frame, data=(given,), on_clicked_change=handle, on_room_change=take_room
        )
    return _fresh(result.clicked, key, graph) if on_click is None else None


def _fresh(clicked: object, key: str, graph: GraphView) -> str | None:
    """The id of the row that was clicked, where this is no echo of a click that was handled."""
    if not isinstance(clicked, str):
        return None
    epochs: dict[str, int] = st.session_state[_EPOCHS]
    id, _, seen = clicked.removesuffix("#").rpartition("#")
    if seen != str(epochs.get(key, 0)) or id not in {row.id for row in graph.rows}:
        return None
    epochs[key] = epochs.get(key, 0) + 1
    return id


def _theme(colors: Palette) -> dict[str, str]:
    """What Streamlit tells a component of the theme, as far as streamlit-agraph's page listens."""
    return {
        "base": "dark" if colors.dark else "light",
        "primaryColor": colors.accent,
        "backgroundColor": colors.background,
        "secondaryBackgroundColor": colors.surface,
        "textColor": colors.text,
        "font": "sans-serif",
    }


def _crop(panel: str, top: int, left: int) -> None:
    """The frame without the margin that vis-network leaves around it."""
    name = re.sub(r"[^A-Za-z0-9_-]", "-", panel)
    st.html(
        f"<style>.st-key-{name} {{ overflow-x: hidden; gap: 0 !important; }}"
        f".st-key-{name} iframe {{ margin: -{top}px 0 -{top}px -{left}px; max-width: none; }}</style>"
    )


def _options(width: int, height: int) -> dict[str, Any]:
    return {
        "width": f"{width}px",
        "height": f"{height}px",
        "autoResize": False,
        "physics": {"enabled": False},
        "layout": {"hierarchical": {"enabled": False}, "improvedLayout": False},
        "interaction": {
            "dragNodes": False,
            "dragView": False,
            "zoomView": False,
            "hover": False,
            "hideEdgesOnDrag": False,
        },
        "nodes": {"chosen": False, "physics": False, "fixed": True, "borderWidthSelected": 2},
        "edges": {
            "arrows": {"to": {"enabled": False}, "from": {"enabled": False}, "middle": {"enabled": False}},
            "chosen": False,
            "physics": False,
            "smooth": {"enabled": False},
            "selectionWidth": 0,
        },
    }


def _picture(graph: GraphView, colors: Palette, epoch: int, width: int, tall: int) -> dict[str, Any]:
    """Two unseen corners make vis-network's fit-to-all draw the panel pixel for pixel."""
    left, right = width * _MARGIN + 1, width * (1 - _MARGIN) - 1
    top, bottom = tall * _MARGIN + 1, tall * (1 - _MARGIN) - 1
    place = _Place(left + 9, _top(tall), left + graph.lanes * LANE + 8, right - 2)
    nodes = [_corner("top", left, top), _corner("bottom", right, bottom)]
    for number, row in enumerate(graph.rows):
        nodes.append(_dot(row, place.x(row.lane), place.y(number), colors, epoch))
        nodes.append(_card(row, place, place.y(number), colors, epoch))
    edges: list[dict[str, Any]] = []
    # Edges that leave the rows shown can look alike; vis-network refuses a second one of that name.
    apart = {(e.source, e.target, e.lane, e.kind): e for e in sorted(graph.edges, key=lambda e: e.on_path)}
    for edge in apart.values():
        _route(edge, graph, place, colors, epoch, nodes, edges)
    return {"nodes": nodes, "edges": edges}


def _top(tall: int) -> float:
    return tall * _MARGIN + ROW / 2


@dataclass(frozen=True, slots=True)
class _Place:
    """Where lanes, rows and words are, in pixels."""

    first_lane: float
    first_row: float
    words: float
    end: float

    def x(self, lane: int) -> float:
        return self.first_lane + lane * LANE

    def y(self, row: float) -> float:
        return self.first_row + row * ROW


def _corner(name: str, x: float, y: float) -> dict[str, Any]:
    return {
        "id": f"·{name}",
        "x": x,
        "y": y,
        "shape": "dot",
        "size": 0.01,
        "label": "",
        "color": "transparent",
    }


def _dot(row: GraphRow, x: float, y: float, colors: Palette, epoch: int) -> dict[str, Any]:
    lane = colors.lane(row.lane)
    ink = lane if row.on_path and not row.taken_back else blend(lane, colors.background, 0.45)
    hollow = row.kind == "fold" or (row.role == "user" and not row.merge)
    fill = colors.background if hollow else ink
    return {
        "id": f"{row.id}#{epoch}",
        "x": x,
        "y": y,
        "shape": "diamond" if row.merge else "dot",
        "size": 3 if row.kind == "fold" else 7.5 if row.current else 5.5,
        "borderWidth": 3 if row.current else 1.6,
        "color": {"background": fill, "border": colors.text if row.current else ink},
        "label": "",
    }


def _card(row: GraphRow, place: _Place, y: float, colors: Palette, epoch: int) -> dict[str, Any]:
    """The words of a row: a node of its own, because labels of dots cannot be aligned to the left."""
    width = place.end - place.words
    color = colors.text if row.on_path and not row.taken_back else colors.quiet
    if row.branches:
        color = colors.lane(row.lane)
    return {
        "id": f"{row.id}#{epoch}#",
        "x": place.words + width / 2,
        "y": y,
        "shape": "box",
        "label": _fitting(label(row), (width - 24) / (_SIZE * _NARROW)),
        "margin": {"top": 5, "bottom": 5, "left": 6, "right": 4},
        "widthConstraint": {"minimum": width - 12},
        "borderWidth": 1 if row.current else 0,
        "shapeProperties": {"borderRadius": 5},
        "color": {
            "background": colors.selected if row.current else colors.background,
            "border": colors.accent if row.current else colors.background,
        },
        "font": {
            "color": color,
            "size": _SIZE,
            "face": "'Source Sans', 'Source Sans 3', 'Source Sans Pro', system-ui, sans-serif",
            "align": "left",
            "multi": False,
        },
    }


def _fitting(words: str, room: float) -> str:
    """As much of the words as fits on the line, where `room` is in heights of the type."""
    room -= _wide("…")
    for place, sign in enumerate(words):
        room -= _wide(sign)
        if room < 0:
            return words if sum(map(_wide, words[place:])) <= _wide("…") else words[:place].rstrip() + "…"
    return words


def _wide(sign: str) -> float:
    """The advance width in Helvetica (and Arial, Liberation Sans), rounded up; signs not in the table are wide."""
    return _WIDTHS.get(sign) or (1.0 if sign > "\u024f" else 0.67)


def label(row: GraphRow) -> str:
    """What stands beside a dot."""
    if row.kind == "fold":
        return f"⋯ {row.text}" if row.folded else f"⌃ {row.text}"
    names = "".join(f"[{name}]  " for name in row.branches) + "".join(f"‹{name}›  " for name in row.tags)
    hidden = f"+{row.folded}  " if row.folded else ""
    mark = f"({row.mark}) " if row.mark else ""
    who = "" if row.who in {"you", "assistant"} else f"{row.who}: "
    return f"{mark}{names}{hidden}{state(row)}{who}{row.text}"


def state(row: GraphRow) -> str:
    """What a person should know before reading on; "" of most rows."""
    open_here = f"⚠ {row.unresolved} unresolved · " if row.unresolved else ""
    corrected = f"{count(row.corrected, 'line')} corrected later · " if row.corrected else ""
    return ("taken back · " if row.taken_back else "") + open_here + corrected


def _route(  # noqa: PLR0917 - two of them are what it adds to
    edge: Edge,
    graph: GraphView,
    place: _Place,
    colors: Palette,
    epoch: int,
    nodes: list[dict[str, Any]],
    edges: list[dict[str, Any]],
) -> None:
    """The edge as straight pieces between unseen points, with a short slope where it changes lanes."""
    count = len(graph.rows)

    def lane_at(row: int) -> int:
        return graph.rows[row].lane if 0 <= row < count else edge.lane

    way = [(lane_at(edge.source), float(edge.source))]
    if lane_at(edge.source) != edge.lane:
        way.append((edge.lane, edge.source + 0.6))
    if lane_at(edge.target) != edge.lane:
        way.append((edge.lane, edge.target - 0.6))
    way.append((lane_at(edge.target), float(edge.target)))
    ink = colors.lane(edge.color)
    ink = ink if edge.on_path else blend(ink, colors.background, 0.55)
    name = f"{edge.source}-{edge.target}-{edge.lane}-{edge.kind}"
    ids: list[str] = []
    for step, (lane, row) in enumerate(way):
        if row in {edge.source, edge.target} and 0 <= row < count:
            ids.append(f"{graph.rows[int(row)].id}#{epoch}")
            continue
        ids.append(f"·{name}.{step}")
        nodes.append(_corner(f"{name}.{step}", place.x(lane), place.y(row)))
    for step, (one, two) in enumerate(pairwise(ids)):
        edges.append(
            {
                "id": f"{name}.{step}",
                "from": one,
                "to": two,
                "color": ink,
                "width": 2.4 if edge.on_path else 1.3,
                "dashes": [3, 4] if edge.kind == "merge" else False,
            }
        )
