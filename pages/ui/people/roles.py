"""What each role may do, one line each."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import streamlit as st

from pages.ui.person import Role


def draw_roles(lines: Mapping[Role, str]) -> None:
    """Draw them folded, lowest first."""
    with st.expander("What each role may do", icon=":material/badge:"):
        entries = (
            f"<dt>{role.word.capitalize()}</dt><dd>{escape(line)}</dd>" for role, line in lines.items()
        )
        st.html(f'<dl class="fk-roles">{"".join(entries)}</dl>')
