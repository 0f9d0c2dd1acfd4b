"""Whose a branch is, and on which the reader may write. Only a team's server shows it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from forky_core.model.errors import ForkyError
from pages.ui.components.markdown import plain_label
from pages.ui.frame import Frame
from pages.ui.person import viewer


def branch_facts(here: Frame) -> Callable[[str], str] | None:
    """A function that says of a branch whose it is; None where nobody signs in."""
    who = viewer()
    if who.alone:
        return None
    me, name_of, owner_of = who.id, here.forky.name_of, here.chat.branches.owner

    def facts(branch: str) -> str:
        owner = owner_of(branch)
        name = name_of(owner)  # From before there was a team, it is none of a person.
        return "made by you" if owner == me else f"made by {name}" if name != owner else ""

    return facts


def draw_whose(here: Frame) -> None:
    """Beside the box of branches: whose the one is that is checked out."""
    facts = branch_facts(here)
    said = facts(here.chat.branch_name) if facts is not None else ""
    if said:
        st.caption(plain_label(said[0].upper() + said[1:], 60), width="content")


def why_kept_off(here: Frame, branch: str) -> str:
    """Why the reader cannot write to a branch but may fork it, as a sentence; "" if they can write."""
    who = viewer()
    try:
        if who.may_write(here.chat, branch) or not who.may("fork", here.chat.id):
            return ""
    except ForkyError:  # It was taken away just now; sending says so.
        return ""
    return f"You write on branches of your own, and ask for a review, to bring them back into “{branch}”."
