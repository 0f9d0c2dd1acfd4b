"""Beside the notebook: the graph as a picture or as a list, the documents, and what the model reads.

A click on the graph checks a message out.

The picture (streamlit-agraph) is for the mouse; the list (its twin) is for keyboard, screen readers and narrow
screens, and also forks and marks. Both draw the same rows, and a click does the same in both.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import streamlit as st

from forky_core.model import MessageId
from forky_core.model.errors import NothingToDo
from forky_core.model.model_names import together
from forky_core.views.graph import GraphView, build_graph, toggled
from forky_core.views.layout.shape import Shape, shape_of
from forky_core.views.listed import without_cells
from forky_core.views.overview import build_overview
from forky_core.views.shelf import count
from pages.ui.chat.acting import act_on, goto
from pages.ui.chat.acts import Act
from pages.ui.chat.graph import draw_graph, draw_overview
from pages.ui.chat.graph_filter import draw_filter, filter_button, found_by
from pages.ui.chat.offers import draw_card
from pages.ui.chat.rows import Gesture, cells_css
from pages.ui.chat.twin import draw_twin
from pages.ui.components.buttons import quiet_button
from pages.ui.components.models import label_of
from pages.ui.components.only_reading import why_only_reads
from pages.ui.components.palette import palette
from pages.ui.context.panel import draw_context_panel
from pages.ui.documents.panel import draw_documents
from pages.ui.frame import Frame, go, place, saying
from pages.ui.streamlit_patches.navigation import lead

_AS = "chat.graph_as"
_PANE = "chat.pane"
READS = "What is sent"
_PANELS = ("Graph", "List", "Documents", READS)
_MOST = 50
_WHOLE = "map"
"""In the address: the whole map stands in the place of the chat."""
_ROWS = 88
"""Rows of the graph beside the chat."""
_open: dict[tuple[str, str, int], frozenset[str]] = {}
_EVERY_CELL = "\n"
"""In the place of a branch, which no line break can be in."""
_shapes: dict[tuple[str, int, str], Shape] = {}


def pane(here: Frame) -> str:
    """On a narrow screen, which of the two is shown: "Chat" or "Graph"."""
    return here.session.choices.get(_PANE, "Chat")


def show_beside(here: Frame, panel: str) -> None:
    """Show a panel beside the chat, or in its place on a narrow screen. Call it in a handler."""
    here.session.choices |= {_AS: panel, _PANE: "Graph"}


def draw_pane(here: Frame) -> None:
    """Keys: `chat.pane`. Only narrow screens show it."""
    _segment(here, _PANE, "What is shown", ("Chat", "Graph"), pane(here))


def draw_side(here: Frame) -> None:
    """Keys: `chat.graph_as`, `chat.whole`, `chat.filter`, `chat.graph`, `chat.twin`, and those of the two panels."""
    if here.at is None:
        return
    narrow = pane(here) == "Graph"
    chosen = here.session.choices.get(_AS, "List" if narrow else "Graph")
    shape = _shape(here)
    found = found_by(here, shape)
    rows = _rows(here, shape, found)
    line = st.container(key="line-graph", horizontal=True, vertical_alignment="center")
    with line:
        _segment(here, _AS, "What is shown beside the chat", _PANELS, chosen)
        # The cells of the chat have the colours of the map, whichever panel is shown.
        st.html(f"<style>{cells_css(rows, palette())}</style>")
    if chosen == "Documents":
        draw_documents(here.forky, here.session, here.chat)
    elif chosen == READS:
        draw_context_panel(here)
    else:
        with line:
            quiet_button(
                "Whole map",
                "chat.whole",
                lambda: lead(place(here.chat, here.at) | {_WHOLE: "1"}),
                icon="open_in_full",
                help=f"{count(rows.total, 'message')}: all branches in one window, and what became of each",
            )
            filter_button(here)
        draw_filter(here, shape, found)
        if chosen == "List":
            draw_twin(rows, "chat.twin", height=720, on_gesture=lambda gesture: _click(here, gesture))
        else:
            draw_graph(rows, "chat.graph", on_gesture=lambda gesture: _click(here, gesture))
        if not narrow:
            draw_card(here)


def shows_whole_map() -> bool:
    """Whether the address asks for the whole tree in the place of the chat."""
    return _WHOLE in st.query_params


def draw_whole_map(here: Frame) -> None:
    """Keys: `chat.back`, `chat.map`."""
    answering = frozenset(job.place.parent for job in here.chat.replies.running)
    overview = build_overview(
        here.chat.visible.messages, here.chat.view, _shape(here), current=here.at, answering=answering
    )
    with st.container(key="line-map", horizontal=True, vertical_alignment="center"):
        quiet_button(
            "Back to the chat",
            "chat.back",
            lambda: go(here.chat, here.at),
            icon="arrow_back",
            shortcut="Escape",
        )
        st.html(f'<div class="fk-quiet">{overview.summary}</div>')
    draw_overview(
        overview,
        here.at,
        "chat.map",
        writes=not why_only_reads(here.chat),
        on_gesture=lambda gesture: _click(here, gesture),
    )


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


def _rows(here: Frame, shape: Shape, found: tuple[MessageId, ...] | None) -> GraphView:
    visible = here.chat.visible
    origins, label = here.chat.calls.origins_on(None), cache(lambda model: label_of(here.forky.models, model))

    def named(id: MessageId) -> str | None:
        models = origins.of(id).models
        return together(map(label, models)) if models else None

    return build_graph(
        visible.messages,
        here.chat.view,
        current=here.at,
        mark_a=here.session.mark_a,
        mark_b=here.session.mark_b,
        open_folds=here.session.open_folds,
        model_of=named,
        limit=_ROWS,
        shape=shape,
        bearing=visible.bearing(here.chat.path(here.at)) if here.at is not None else (),
        open_conflicts=_open_conflicts(here),
        found=None if found is None else frozenset(found),
        answering=frozenset(job.place.parent for job in here.chat.replies.running),
    )


def _open_conflicts(here: Frame) -> frozenset[str]:
    """Hashes of what merges of this branch left open, kept while the view stays."""
    bearing = here.chat.visible.bearing(here.chat.path())
    if not any(merge.claims for message in bearing for merge in message.merges):
        return frozenset()
    key = (here.chat.id, here.chat.branch_name, here.chat.view.version)
    found = _open.get(key)
    if found is None:
        found = frozenset(one.hash for one in here.chat.merges.unresolved)
        if len(_open) >= _MOST:
            _open.clear()
        _open[key] = found
    return found


def _shape(here: Frame) -> Shape:
    """What depends on nobody's clicks, kept while the view stays."""
    view = here.chat.view
    listed = without_cells(view, {here.chat.branch_name}, here.chat.visible.messages)
    branch = here.chat.branch_name if listed is not view else ""
    found = _kept_shape(here, branch, lambda: shape_of(here.listed.messages, listed, here.listed.children))
    if here.at is None or here.at in found.run_of:
        return found
    # One looks at a cell of an experiment, which is not listed: then all of them are drawn, for whoever does so.
    visible = here.chat.visible
    return _kept_shape(here, _EVERY_CELL, lambda: shape_of(visible.messages, view, visible.children))


def _kept_shape(here: Frame, what: str, make: Callable[[], Shape]) -> Shape:
    key = (here.chat.id, here.chat.view.version, what)
    found = _shapes.get(key)
    if found is None:
        if len(_shapes) >= _MOST:
            _shapes.clear()
        found = _shapes[key] = make()
    return found


def _click(here: Frame, gesture: Gesture) -> None:
    with saying(here.session):
        if gesture.act == "bring":
            source, target = (_named(here, id) for id in (gesture.id, gesture.onto))
            # With the map in its address, so that Back leads to it: Streamlit sets the query before the page.
            way = place(here.chat.checkout(target)) | {"source": source, _WHOLE: "1"}
            st.switch_page("merge.py", query_params=way)
        elif gesture.act == "fold":
            here.session.open_folds = toggled(here.session.open_folds, gesture.id)
        elif gesture.act == "open":
            here.session.choices[_PANE] = "Chat"
            message = here.chat.message(gesture.id).id
            here.session.card = (message, here.chat.branch_name)
            goto(here, message)
        else:
            act_on(here, Act(gesture.act, gesture.id))
            here.session.choices[_PANE] = "Chat" if gesture.act == "fork" else pane(here)


def _named(here: Frame, head: str) -> str:
    names = _shape(here).branches.get(here.chat.message(head).id, ())
    if not names:
        raise NothingToDo("No branch ends there any more.", "Choose the branches on the page “Bring back”.")
    return names[0]
