"""The graph beside the notebook, as a picture or as a list; a click on it checks a message out.

The picture (streamlit-agraph) is for the mouse; the list (its twin) is for keyboard, screen readers and narrow
screens, and also forks and marks. Both draw the same rows, and a click does the same in both.
"""

from __future__ import annotations

import streamlit as st

from forky_core.layout.shape import Shape, shape_of
from forky_core.model import MessageId
from forky_core.views.graph import GraphView, build_graph, toggled
from pages.ui.chat.acting import act_on, goto
from pages.ui.chat.acts import Act
from pages.ui.chat.graph import draw_graph
from pages.ui.chat.offers import draw_card
from pages.ui.chat.twin import draw_twin
from pages.ui.components.models import label_of
from pages.ui.frame import Frame, saying

_AS = "chat.graph_as"
_PANE = "chat.pane"
_MOST = 50
_ROWS = 44
"""Rows of the graph: the browser's work for a click grows with their square."""
_open: dict[tuple[str, str, int], frozenset[str]] = {}
_shapes: dict[tuple[str, int], tuple[Shape, dict[MessageId, str]]] = {}


def pane(here: Frame) -> str:
    """On a narrow screen, which of the two is shown: "Chat" or "Graph"."""
    return here.session.choices.get(_PANE, "Chat")


def draw_pane(here: Frame) -> None:
    """Keys: `chat.pane`. Only narrow screens show it."""
    _segment(here, _PANE, "What is shown", ("Chat", "Graph"), pane(here))


def draw_side(here: Frame) -> None:
    """Keys: `chat.graph_as`, `chat.graph`, `chat.twin`."""
    narrow = pane(here) == "Graph"
    chosen = here.session.choices.get(_AS, "Graph")
    rows = _rows(here)
    with st.container(key="line-graph", horizontal=True, vertical_alignment="center"):
        if not narrow:
            _segment(here, _AS, "Show the messages as", ("Graph", "List"), chosen)
        st.html(f'<div class="fk-quiet">{_extent(rows)}</div>')
    if narrow or chosen == "List":
        draw_twin(
            rows, "chat.twin", height=720, on_gesture=lambda gesture: _click(here, gesture.act, gesture.id)
        )
    else:
        draw_graph(rows, "chat.graph", height=760, on_click=lambda id: _click(here, "open", id))
    if not narrow:
        draw_card(here)


def _segment(here: Frame, key: str, label: str, options: tuple[str, ...], chosen: str) -> None:
    st.session_state[key] = chosen
    st.segmented_control(
        label,
        options,
        key=key,
        required=True,
        label_visibility="collapsed",
        on_change=_choose,
        args=(here, key),
    )


def _choose(here: Frame, key: str) -> None:
    here.session.choices[key] = st.session_state[key]


def _extent(rows: GraphView) -> str:
    outside = f", {rows.earlier + rows.later} rows outside" if rows.earlier + rows.later else ""
    return f"{rows.total:,} message{'' if rows.total == 1 else 's'}{outside}"


def _rows(here: Frame) -> GraphView:
    shape, models = _shape(here)
    view = here.chat.view
    return build_graph(
        here.chat.visible.messages,
        view,
        current=here.at,
        mark_a=here.session.mark_a,
        mark_b=here.session.mark_b,
        open_folds=here.session.open_folds,
        models=models,
        limit=_ROWS,
        shape=shape,
        open_conflicts=_open_conflicts(here),
    )


def _open_conflicts(here: Frame) -> frozenset[str]:
    """Keys of what merges of this branch left open, kept while the view stays."""
    if not any(merge.claims for message in here.chat.path() for merge in message.merges):
        return frozenset()
    key = (str(here.chat.id), here.chat.branch_name, here.chat.view.version)
    found = _open.get(key)
    if found is None:
        found = frozenset(clash.key for clash in here.chat.unresolved)
        if len(_open) >= _MOST:
            _open.clear()
        _open[key] = found
    return found


def _shape(here: Frame) -> tuple[Shape, dict[MessageId, str]]:
    """What depends on nobody's clicks, kept while the view stays."""
    view = here.chat.view
    key = (str(here.chat.id), view.version)
    found = _shapes.get(key)
    if found is None:
        models = {g.message: label_of(here.forky.models, g.model) for g in here.chat.generations if g.message}
        found = shape_of(here.chat.visible.messages, view), models
        if len(_shapes) >= _MOST:
            _shapes.clear()
        _shapes[key] = found
    return found


def _click(here: Frame, act: str, id: str) -> None:
    with saying(here.session):
        if act == "fold" or id.startswith("fold:"):
            here.session.open_folds = toggled(here.session.open_folds, id)
        elif act == "open":
            here.session.choices[_PANE] = "Chat"
            message = here.chat.message(id).id
            here.session.card = (message, here.chat.branch_name)
            goto(here, message)
        else:
            act_on(here, Act(act, id))
            here.session.choices[_PANE] = "Chat" if act == "fork" else pane(here)
