"""What a person should know before a merge lands, on top of its preview, with the click that answers it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from forky_core.merge.conflicts.conflict import Conflict, Quotation
from forky_core.merge.plan import MergePlan
from forky_core.model.payload_kinds import FULL, THREE_WAY
from forky_core.views.merging import other_warnings, takes_more_than_full
from forky_core.views.shelf import count
from pages.ui.components.markdown import plain_label
from pages.ui.merge.choices import offered, want
from pages.ui.merge.planning import Planning
from pages.ui.wording import bare

_MOST = 4
"""Conflicts that are told one by one."""


def draw_warnings(planning: Planning) -> None:
    """Keys: `merge.settle_three_way`, `merge.in_full`."""
    plan = planning.plan
    assert plan is not None
    if plan.conflicts and not plan.kind.settles:
        _draw_conflicts(plan)
    if takes_more_than_full(plan):
        _draw_no_shorter(plan)
    for warning in other_warnings(plan):
        st.caption(f":material/info: {plain_label(warning, 300)}")
    if plan.badge:
        st.badge(plain_label(plan.badge), icon=":material/format_quote:", color="gray")


def _draw_conflicts(plan: MergePlan) -> None:
    with st.container(key="merge-warning-conflicts", border=True):
        with st.container(key="line-merge-conflict-warning", horizontal=True, vertical_alignment="center"):
            possible = "" if plan.examined_by else "possible "
            what = count(len(plan.conflicts), f"{possible}conflict")
            st.markdown(f":material/call_split: **{what}** in what would be read together", width="stretch")
            if THREE_WAY.name in offered(several=bool(plan.sides), graft=plan.graft is not None):
                st.button(
                    "Settle it three-way",
                    key="merge.settle_three_way",
                    icon=":material/alt_route:",
                    help="Both sides are set against each other, and you say what holds",
                    on_click=lambda: want(strategy=THREE_WAY.name, picks=None),
                )
        for one in plan.conflicts[:_MOST]:
            st.markdown(_told(one))
        if len(plan.conflicts) > _MOST:
            st.caption(f"and {len(plan.conflicts) - _MOST} more")
        st.caption("Landed as it is, the model reads both, and nothing says which one holds.")


def _told(conflict: Conflict) -> str:
    said = " — ".join(
        f"{plain_label(name, 40)}: “{_words(words)}”" for name, words in conflict.by_side.items()
    )
    return f"**{plain_label(conflict.about, 80)}** · {said}"


def _words(said: Sequence[Quotation]) -> str:
    return plain_label(bare(" / ".join(dict.fromkeys(one.text for one in said))), 200)


def _draw_no_shorter(plan: MergePlan) -> None:
    with st.container(key="line-merge-no-shorter", horizontal=True, vertical_alignment="center"):
        st.markdown(
            f":material/info: This takes {count(plan.tokens, 'token')}, and in full it would be only "
            f"{plan.tokens_full:,}: nothing is saved.",
            width="stretch",
        )
        st.button(
            "Merge in full",
            key="merge.in_full",
            icon=":material/notes:",
            on_click=lambda: want(strategy=FULL.name, picks=None),
        )
