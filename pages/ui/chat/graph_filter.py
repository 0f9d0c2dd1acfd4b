"""The fields that filter the graph: who, which model, tag or program, conflicts, and words. They open by a button.

What is found keeps its place: other rows step back, and “Next” goes from one message to the next.
"""

from __future__ import annotations

import streamlit as st

from forky_core.model import MessageId
from forky_core.views.graph_filter import Facet, GraphFilter, facets_of, find
from forky_core.views.layout.shape import Shape
from forky_core.views.shelf import count
from pages.ui.chat.acting import goto
from pages.ui.components.buttons import quiet_button
from pages.ui.components.markdown import showable
from pages.ui.components.models import label_of
from pages.ui.frame import Frame, saying

_MOST = 20
_HITS = 1_000
"""Messages that a search for words finds, at most."""
_found: dict[tuple[str, int, str, GraphFilter], tuple[MessageId, ...]] = {}
_facets: dict[tuple[str, int], tuple[Facet, ...]] = {}


def filter_button(here: Frame) -> None:
    """Key: `chat.filter`."""
    on = here.session.graph_filter is not None
    quiet_button(
        "Filter",
        "chat.filter",
        _turn,
        here,
        icon="filter_list_off" if on else "filter_list",
        help="Show all messages alike" if on else "Find messages in the graph",
    )


def _turn(here: Frame) -> None:
    here.session.graph_filter = GraphFilter() if here.session.graph_filter is None else None
    for key in ("chat.filter_words", "chat.filter_by"):
        st.session_state.pop(key, None)


def found_by(here: Frame, shape: Shape) -> tuple[MessageId, ...] | None:
    """What the filter finds, in reading order, kept while the view stays; None where none is on."""
    wanted = here.session.graph_filter
    if wanted is None or not wanted.on:
        return None
    key = (here.chat.id, here.chat.view.version, here.chat.branch_name, wanted)
    found = _found.get(key)
    if found is None:
        found = find(
            wanted,
            here.chat.visible.messages,
            shape.order,
            here.chat.view,
            here.chat.calls.generations,
            lambda words: [
                hit.message for hit in here.forky.search(words, conversation=here.chat.id, limit=_HITS)
            ],
        )
        if len(_found) >= _MOST:
            _found.clear()
        _found[key] = found
    return found


def draw_filter(here: Frame, shape: Shape, found: tuple[MessageId, ...] | None) -> None:
    """Keys: `chat.filter_words`, `chat.filter_by`, `chat.filter_next`."""
    wanted = here.session.graph_filter
    if wanted is None:
        return
    offered = _offered(here)
    with st.container(key="graph-filter"):
        st.text_input(
            "Words in the messages",
            key="chat.filter_words",
            placeholder="Words",
            label_visibility="collapsed",
            on_change=_choose,
            args=(here,),
        )
        st.multiselect(
            "Author, model, tag, program, conflict",
            [*offered, *(facet for facet in wanted.facets if facet not in offered)],
            key="chat.filter_by",
            placeholder="Author, model, tag, program, conflict",
            format_func=lambda facet: _called(here, facet),
            label_visibility="collapsed",
            on_change=_choose,
            args=(here,),
        )
        if found is not None:
            _draw_found(here, shape, found)


def _draw_found(here: Frame, shape: Shape, found: tuple[MessageId, ...]) -> None:
    with st.container(key="line-found", horizontal=True, vertical_alignment="center"):
        said = f"{count(len(found), 'message')} found" if found else "No message is found."
        st.html(f'<div class="fk-quiet" role="status">{said}</div>')
        if found:
            quiet_button(
                "Next",
                "chat.filter_next",
                _go_on,
                here,
                shape,
                found,
                icon="arrow_downward",
                help="Go to the next message that was found",
            )


def _go_on(here: Frame, shape: Shape, found: tuple[MessageId, ...]) -> None:
    with saying(here.session):
        goto(here, next_found(found, shape, here.at))


def next_found(found: tuple[MessageId, ...], shape: Shape, at: MessageId | None) -> MessageId:
    """The first of what was found below a message in reading order; from the last one, the first of all."""
    after = shape.order.index(at) + 1 if at in shape.run_of else 0
    wanted = frozenset(found)
    return next((id for id in shape.order[after:] if id in wanted), found[0])


def _offered(here: Frame) -> tuple[Facet, ...]:
    key = (here.chat.id, here.chat.view.version)
    offered = _facets.get(key)
    if offered is None:
        offered = facets_of(here.chat.visible.messages.values(), here.chat.view, here.chat.calls.generations)
        if len(_facets) >= _MOST:
            _facets.clear()
        _facets[key] = offered
    return offered


def _called(here: Frame, facet: Facet) -> str:
    if facet.kind == "conflict":
        return "has a conflict"
    name = label_of(here.forky.models, facet.value) if facet.kind == "model" else facet.value
    return f"{facet.kind}: {showable(name)}"


def _choose(here: Frame) -> None:
    state = st.session_state
    here.session.graph_filter = GraphFilter(
        frozenset(state.get("chat.filter_by", ())), str(state.get("chat.filter_words", ""))
    )
