"""Draws texts of tests/hostile_texts.py as a page of Forky does, without the policy that stands behind it."""

from __future__ import annotations

import streamlit as st

from forky_core.model import MessageId
from forky_core.render.trees import element, trees_of
from pages.ui.chat.notebook import draw_cells
from pages.ui.components.markdown import text_tree
from pages.ui.components.style import apply_style
from tests.browser.prose_texts import TEXTS
from tests.hostile_texts import ALLOWED, DIAGRAMS, ENORMOUS, REFUSED, UNREADABLE, mixed

apply_style()
fenced = "```mermaid\n{}\n```".format
texts = {
    "texts": TEXTS,
    "refused": REFUSED,
    "mixed": mixed(800, seed=7),
    "allowed": tuple(ALLOWED),
    "diagrams": tuple(map(fenced, DIAGRAMS.values())),
    "enormous": tuple(map(fenced, ENORMOUS.values())),
    "unreadable": (fenced(UNREADABLE),),
    "quoted": ("> " + fenced(UNREADABLE).replace("\n", "\n> "),),
}[st.query_params["show"]]
st.button("Press", on_click=lambda: st.session_state.update(pressed=True))
cells = []
for number, text in enumerate(texts):
    head = trees_of(f'<div class="fk-head" data-cell="{number}"><h2 class="fk-who">Somebody</h2></div>')
    cell = element("div", {"class": f"fk-cell st-key-text-{number}-"}, [*head, text_tree(text)])
    cells.append((MessageId(str(number)), cell))
# One element for all of them: Streamlit drops a browser that has more than 500 messages still to come.
draw_cells(cells, key="texts")
st.text("Pressed." if "pressed" in st.session_state else "Drawn.")
