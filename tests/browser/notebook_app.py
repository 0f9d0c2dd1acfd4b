"""Draws texts twice: as Streamlit's Markdown, and as the notebook does where it can."""

from __future__ import annotations

import streamlit as st

from forky_core.model import MessageId
from pages.ui.chat.cells import formatted_tree
from pages.ui.chat.notebook import draw_cells
from pages.ui.components.markdown import formatted, show_formatted
from pages.ui.components.style import apply_style
from pages.ui.components.tree import element, trees_of
from tests.browser.prose_texts import TEXTS
from tests.pages.hostile import ALLOWED, REFUSED, mixed

apply_style()
texts = {
    "texts": TEXTS,
    "refused": REFUSED,
    "allowed": tuple(ALLOWED),
    "mixed": tuple(mixed(800, seed=7)),
}[st.query_params["show"]]
cells = []
for number, text in enumerate(texts):
    pieces = formatted(text)
    drawn = [formatted_tree(piece, {}) for piece in pieces]
    if pieces and None not in drawn:
        with st.container(key=f"cell-theirs-{number}"):
            show_formatted(pieces, f"text.{number}")
        head = trees_of(f'<div class="fk-head" data-cell="{number}"><h3 class="fk-who">Somebody</h3></div>')
        cell = element(
            "div",
            {"class": f"fk-cell st-key-cell-ours-{number}"},
            [*head, *(one for one in drawn if one is not None)],
        )
        cells.append((MessageId(str(number)), cell))
# One element for all of them: Streamlit drops a browser that has more than 500 messages still to come.
draw_cells(cells, key="ours")
st.button("Press")
