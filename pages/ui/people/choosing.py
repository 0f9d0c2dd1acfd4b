"""A list of people to choose one from."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.ui.components.markdown import showable
from pages.ui.person import Member


def choose_member(
    label: str, members: Sequence[Member], *, key: str, placeholder: str, help: str | None = None
) -> str | None:
    """Draw the list; the id of the chosen one, and None where nobody is, or who was chosen is not there any more."""
    names = {member.id: named(member) for member in members}
    if st.session_state.get(key) not in names:
        st.session_state[key] = None
    chosen = st.selectbox(
        label,
        list(names),
        index=None,
        key=key,
        format_func=lambda id: names.get(id, ""),
        placeholder=placeholder,
        help=help,
    )
    return str(chosen) if chosen is not None else None


def named(member: Member) -> str:
    """A person as an option of a list, which reads no Markdown: two of one name differ by their handles."""
    return showable(f"{member.name} ({member.handle})")
