"""The graph for the keyboard, screen readers, narrow screens and large trees: a real list, drawn by the browser.

It takes the same GraphView as pages/ui/chat/graph.py and offers more: marks, forking, opening and closing folds by key.
It runs in the page itself, so it never interprets text: everything is set as `textContent`. Colours are handed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, cast

import streamlit as st

from forky_core.layout.lanes import Edge
from forky_core.views.graph import GraphRow, GraphView
from pages.ui.chat.graph import state
from pages.ui.components.palette import Palette, blend, palette

_JS = Path(__file__).with_name("twin.js").read_text("utf-8")
_CSS = Path(__file__).with_name("twin.css").read_text("utf-8")
_component = st.components.v2.component("forky_twin", html='<div class="twin"></div>', css=_CSS, js=_JS)

Act = Literal["open", "fold", "mark_a", "mark_b", "fork"]


@dataclass(frozen=True, slots=True)
class Gesture:
    """What somebody did to a row, once."""

    act: Act
    id: str
    """The row's: of a message, or of a fold for `fold`."""


def draw_twin(
    graph: GraphView, key: str, *, height: int = 560, on_gesture: Callable[[Gesture], None] | None = None
) -> Gesture | None:
    """What was just done to a row, once; with `on_gesture`, that is called with it before the page runs instead.

    Enter or click checks out, A and B mark (also ctrl- and shift-click), F forks, Right and Left work the folds.
    """
    colors = palette()
    data = {
        "rows": [_row(row, colors) for row in graph.rows],
        "edges": [_edge(edge, colors) for edge in graph.edges],
        "lanes": graph.lanes,
        "earlier": graph.earlier,
        "later": graph.later,
        "colors": {k: v for k, v in asdict(colors).items() if isinstance(v, str)},
        "height": height,
    }
    known = {row.id for row in graph.rows} | _folds(graph)

    def handle() -> None:
        if (
            on_gesture is not None
            and (said := _gesture(st.session_state.get(key, {}).get("gesture"), known)) is not None
        ):
            on_gesture(said)

    result: Any = _component(key=key, data=(data,), on_gesture_change=handle)
    return _gesture(result.gesture, known) if on_gesture is None else None


def _gesture(told: object, known: set[str]) -> Gesture | None:
    if not isinstance(told, dict) or told.get("id") not in known:
        return None
    if told.get("act") not in {"open", "fold", "mark_a", "mark_b", "fork"}:
        return None
    return Gesture(cast("Act", told["act"]), told["id"])


def _folds(graph: GraphView) -> set[str]:
    return {row.fold for row in graph.rows if row.fold is not None}


def _row(row: GraphRow, colors: Palette) -> dict[str, Any]:
    lane = colors.lane(row.lane)
    return {
        "id": row.id,
        "kind": row.kind,
        "lane": row.lane,
        "role": row.role,
        "who": row.who,
        "text": state(row) + row.text,
        "branches": row.branches,
        "tags": row.tags,
        "merge": row.merge,
        "kept": row.kept,
        "fold": row.fold,
        "folded": row.folded,
        "path": row.on_path and not row.taken_back,
        "current": row.current,
        "mark": row.mark,
        "color": lane if row.on_path else blend(lane, colors.background, 0.4),
    }


def _edge(edge: Edge, colors: Palette) -> list[object]:
    lane = colors.lane(edge.color)
    color = lane if edge.on_path else blend(lane, colors.background, 0.5)
    return [edge.source, edge.target, edge.lane, color, edge.kind == "merge", edge.on_path]
