"""Cells of the notebook in one component: the browser makes their elements itself (notebook.js).

A Streamlit element for each piece of each cell is a message, a React component and a parser's work apiece. Here a page
of cells is one message, and a cell that has not changed keeps its elements.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import streamlit as st

from forky_core.model import MessageId
from forky_core.render.trees import Tree
from pages.ui.components.markdown import ELEMENTS_JS, PROSE_CSS

_HERE = Path(__file__).parent
_cells = st.components.v2.component(
    "forky.cells",
    html='<div class="fk-cells"></div>',
    css=PROSE_CSS + (_HERE / "notebook.css").read_text("utf-8"),
    js=ELEMENTS_JS + (_HERE / "notebook.js").read_text("utf-8"),
    isolate_styles=False,
)


DrawnCell = tuple[MessageId, str]
"""A message and the JSON of its cell's tree, which the browser compares with what it has drawn."""


def drawn_cells(cells: Iterable[tuple[MessageId, Tree]]) -> list[DrawnCell]:
    return [(id, json.dumps(tree, ensure_ascii=False, separators=(",", ":"))) for id, tree in cells]


def draw_cells(cells: Iterable[tuple[MessageId, Tree]], *, key: str, switches: int = 0) -> None:
    """Draw cells that `cell_tree` made, one below the other.

    `switches` counts how often this tab went to another version. The browser may have shown that version before the
    page ran; when the count changes, it draws these cells in its place.
    """
    # As a list: for a mapping Streamlit loads pandas.
    _cells(key=key, data=[switches, drawn_cells(cells)], height="content")
