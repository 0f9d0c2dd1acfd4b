"""Draws texts of tests/pages/hostile.py as a page of Forky does, without the policy that stands behind it."""

from __future__ import annotations

import streamlit as st

from pages.ui.components.markdown import show_text
from pages.ui.components.style import apply_style
from tests.pages.hostile import ALLOWED, DIAGRAMS, ENORMOUS, REFUSED, UNREADABLE, mixed

apply_style()
fenced = "```mermaid\n{}\n```".format
texts = {
    "refused": REFUSED,
    "mixed": mixed(800, seed=7),
    "allowed": tuple(ALLOWED),
    "diagrams": tuple(map(fenced, DIAGRAMS.values())),
    "enormous": tuple(map(fenced, ENORMOUS.values())),
    "unreadable": (fenced(UNREADABLE),),
    "quoted": ("> " + fenced(UNREADABLE).replace("\n", "\n> "),),
}[st.query_params["show"]]
st.button("Press", on_click=lambda: st.session_state.update(pressed=True))
for number, text in enumerate(texts):
    with st.container(key=f"text-{number}-"):
        show_text(text, f"text.{number}")
st.text("Pressed." if "pressed" in st.session_state else "Drawn.")
