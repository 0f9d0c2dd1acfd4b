"""The graph to click on: streamlit-agraph as a map of lanes, one row a message or a fold.

Positions are ours, so that nothing moves by itself: a row is where its place in the reading order is. agraph.js puts
agraph's page into a frame, tells its network what changed, and draws the words; the rows are those of the list
(twin.py). A node's `title` is never set: agraph would run it as HTML. Labels are plain text.

Streamlit's own way to show agraph would import pyarrow, pandas and numpy for a picture that has no data frame: 80 MB
and half a second of the first page. Its way to update one takes the square of the number of nodes (1,000 nodes take
three seconds) and forgets the camera, so agraph.js tells vis-network itself what changed. An upgrade of
streamlit-agraph that hides its network fails a browser test.

A filter moves nothing: what it does not find is drawn pale. A branch's colour follows from its name, so that deleting
an older branch changes no colour. The layout works on runs of messages between forks (layout/shape.py), so a click
costs what it shows and not what the conversation holds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from forky_core.model import MessageId
from forky_core.text.showable import showable
from forky_core.views.graph import GraphView
from forky_core.views.overview import Overview
from pages.ui.chat.agraph_page import agraph_url
from pages.ui.chat.rows import DOTS, POINTING, Gesture, drawn, mounted
from pages.ui.components.palette import Palette, blend, palette

_HERE, _SCRIPTS = Path(__file__).parent, ("agraph.js", "whole_map.js")
_agraph_frame = st.components.v2.component(
    "forky_agraph",
    js="".join((DOTS, POINTING, *(_HERE.joinpath(name).read_text("utf-8") for name in _SCRIPTS))),
    css=_HERE.joinpath("agraph.css").read_text("utf-8"),
    isolate_styles=False,
)


def draw_graph(
    graph: GraphView,
    key: str,
    *,
    on_gesture: Callable[[Gesture], None] | None = None,
) -> Gesture | None:
    """What was just done to a row, once; with `on_gesture`, that is called with it before the page runs instead.

    A click checks out, with ctrl it marks A and with shift B; a click on a fold opens it.
    """
    return mounted(_agraph_frame, key, _given(graph, palette()), graph, on_gesture, height="content")


def draw_overview(
    overview: Overview,
    current: MessageId | None,
    key: str,
    *,
    writes: bool,
    on_gesture: Callable[[Gesture], None],
) -> None:
    """Draw the whole tree; with `writes`, a branch's end can be dragged to another one (the gesture `bring`)."""
    given = _given(overview.graph, palette()) | {
        "outcomes": overview.outcomes,
        "said": tuple(map(showable, overview.said)),
        "stretches": tuple(
            (one.row, one.above, one.sides, one.members, one.plain, one.role, one.on_path)
            for one in overview.stretches
        ),
        "words": {id: showable(words) for id, words in overview.words.items()},
        "current": current,
        "writes": writes,
    }
    mounted(_agraph_frame, key, given, overview.graph, on_gesture, height="content")


def _given(graph: GraphView, colors: Palette) -> dict[str, Any]:
    return drawn(graph, colors) | {
        "page": agraph_url(),
        "theme": _theme(colors),
        "faint": blend(colors.quiet, colors.background, 0.55),
    }


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
