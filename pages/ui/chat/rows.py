"""The rows of the graph as the browser gets them, for the picture and for the list, and what somebody does to one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, cast, get_args

import streamlit as st

from forky_core.model import MessageId
from forky_core.text.showable import showable
from forky_core.views.graph import GraphRow, GraphView
from forky_core.views.layout.lanes import Edge
from forky_core.views.shelf import count
from pages.ui.components.palette import Palette, blend

POINTING = Path(__file__).with_name("pointing.js").read_text("utf-8")
"""The script that both have in common."""
DOTS = Path(__file__).with_name("dots.js").read_text("utf-8")
"""The script that draws people as discs, for everything that shows who else is here."""
_UNSAFE = re.compile(r"[^\w:.-]")
_READ = 200
"""Messages of the path, from its end, whose rows the browser is told: more than a notebook draws."""

Act = Literal["open", "fold", "mark_a", "mark_b", "fork", "bring"]


@dataclass(frozen=True, slots=True)
class Gesture:
    """What somebody did to a row, once."""

    act: Act
    id: str
    """The row's: of a message, or of a fold for `fold`."""
    onto: str = ""
    """The row to which the end of a branch was dragged, for `bring`."""


def gesture_of(told: object, graph: GraphView) -> Gesture | None:
    """What a browser tells of; None where it is no act on a row that is drawn."""
    if not isinstance(told, dict) or told.get("act") not in get_args(Act):
        return None
    known: set[object] = {None} | {row.fold for row in graph.rows}
    known = known.union((row.id for row in graph.rows), *(row.members for row in graph.rows))
    if told.get("id") is None or told["id"] not in known or told.get("onto") not in known:
        return None
    return Gesture(cast("Act", told["act"]), told["id"], told.get("onto") or "")


def mounted(
    component: Callable[..., Any],
    key: str,
    given: Mapping[str, Any],
    graph: GraphView,
    on_gesture: Callable[[Gesture], None] | None,
    **looks: Any,
) -> Gesture | None:
    """Mount the picture or the list, and return what was just done to a row, once.

    With `on_gesture`, that is called with it before the page runs instead.
    """

    def handle() -> None:
        said = gesture_of(st.session_state.get(key, {}).get("gesture"), graph)
        if on_gesture is not None and said is not None:
            on_gesture(said)

    result = component(key=key, data=(given,), on_gesture_change=handle, **looks)
    return gesture_of(result.gesture, graph) if on_gesture is None else None


def drawn(graph: GraphView, colors: Palette) -> dict[str, Any]:
    """Everything that the picture or the list draws, in the colours of the theme."""
    return {
        "rows": [_row(row, colors) for row in graph.rows],
        "edges": [_edge(edge, colors) for edge in graph.edges],
        "lanes": graph.lanes,
        "first": graph.earlier,
        "later": graph.later,
        "filtered": graph.filtered,
        "read": read_in(graph),
        "colors": {name: ink for name, ink in asdict(colors).items() if isinstance(ink, str)},
    }


def read_in(graph: GraphView) -> dict[str, str]:
    """The row of each of the newest messages of the path that have no row of their own."""
    return {id: row.id for id, row in _of_path(graph) if id != row.id}


def state(row: GraphRow) -> str:
    """What a person should know before reading on; "" of most rows."""
    open_here = f"⚠ {row.unresolved} unresolved · " if row.unresolved else ""
    corrected = f"{count(row.corrected, 'line')} corrected later · " if row.corrected else ""
    writing = "being answered … · " if row.answering else ""
    return ("left out · " if row.reverted else "") + open_here + corrected + writing


def _row(row: GraphRow, colors: Palette) -> dict[str, Any]:
    lane = colors.lane(row.color)
    path = row.on_path and not row.reverted
    return {
        "id": row.id,
        "kind": row.kind,
        "lane": row.lane,
        "role": row.role,
        "who": showable(row.who),
        "text": showable(state(row) + row.text),
        "preview": showable(row.preview),
        "branches": _names(row.branches),
        "tags": _names(row.tags),
        "unnamed": row.unnamed,
        "merge": row.merge,
        "fold": row.fold,
        "folded": row.folded,
        "path": path,
        "current": row.current,
        "mark": row.mark,
        "found": row.found,
        "answering": row.answering,
        "ink": lane if path else blend(lane, colors.background, 0.4),
        "name": lane,
    }


def _names(names: Iterable[str]) -> list[str]:
    return [showable(name) for name in names]


def _edge(edge: Edge, colors: Palette) -> list[object]:
    lane = colors.lane(edge.color)
    ink = lane if edge.on_path else blend(lane, colors.background, 0.5)
    return [edge.source, edge.target, edge.lane, ink, edge.kind == "merge", edge.on_path]


def cells_css(graph: GraphView, colors: Palette) -> str:
    """Rules that give the cells of the notebook the dots that their messages have in the graph."""
    return "".join(
        f'[data-cell="{_safe(id)}"]{{--fk-branch:{colors.lane(row.color)}}}' for id, row in _of_path(graph)
    )


def _of_path(graph: GraphView) -> Iterator[tuple[MessageId, GraphRow]]:
    """The newest messages of the path, each with the row that stands for it."""
    members = ((id, row) for row in reversed(graph.rows) if row.on_path for id in reversed(row.members))
    return islice(members, _READ)


def _safe(id: MessageId) -> str:
    """An id as it may stand in a selector."""
    return _UNSAFE.sub("", id)
