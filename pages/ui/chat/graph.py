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

import streamlit as st

from forky_core.views.graph import GraphView
from pages.ui.chat.agraph_page import agraph_url
from pages.ui.chat.rows import DOTS, POINTING, Gesture, drawn, mounted
from pages.ui.components.palette import Palette, blend, palette

_agraph_frame = st.components.v2.component(
    "forky_agraph",
    js=DOTS + POINTING + Path(__file__).with_name("agraph.js").read_text("utf-8"),
    css=Path(__file__).with_name("agraph.css").read_text("utf-8"),
    isolate_styles=False,
)


def draw_graph(
    graph: GraphView,
    key: str,
    *,
    whole: bool = False,
    on_gesture: Callable[[Gesture], None] | None = None,
) -> Gesture | None:
    """What was just done to a row, once; with `on_gesture`, that is called with it before the page runs instead.

    A click checks out, with ctrl it marks A and with shift B; a click on a fold opens it. `whole` says that more rows
    were asked for: when it comes to be true, the map shows all of them.
    """
    colors = palette()
    given = drawn(graph, colors) | {
        "page": agraph_url(),
        "theme": _theme(colors),
        "faint": blend(colors.quiet, colors.background, 0.55),
        "whole": whole,
    }
    return mounted(_agraph_frame, key, given, graph, on_gesture, height="content")


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
