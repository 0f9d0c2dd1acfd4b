"""The graph for the keyboard, screen readers, narrow screens and large trees: a real list, drawn by the browser.

It takes the same GraphView as pages/ui/chat/graph.py and offers more: marks, forking, opening and closing folds by key.
It runs in the page itself, so it never interprets text: everything is set as `textContent`. Colours are handed in.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from forky_core.views.graph import GraphView
from pages.ui.chat.rows import DOTS, POINTING, Gesture, drawn, mounted
from pages.ui.components.palette import palette

_JS = DOTS + POINTING + Path(__file__).with_name("twin.js").read_text("utf-8")
_CSS = Path(__file__).with_name("twin.css").read_text("utf-8")
_component = st.components.v2.component("forky_twin", html='<div class="twin"></div>', css=_CSS, js=_JS)


def draw_twin(
    graph: GraphView, key: str, *, height: int = 560, on_gesture: Callable[[Gesture], None] | None = None
) -> Gesture | None:
    """What was just done to a row, once; with `on_gesture`, that is called with it before the page runs instead.

    Enter or click checks out, A and B mark (also ctrl- and shift-click), F forks, Right and Left work the folds,
    Shift+F10 or a right click opens the menu of the message.
    """
    return mounted(_component, key, drawn(graph, palette()) | {"height": height}, graph, on_gesture)
