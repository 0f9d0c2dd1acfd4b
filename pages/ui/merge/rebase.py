"""A rebase on the Merge page: the branch itself moves, its messages copied or its questions asked again."""

from __future__ import annotations

import streamlit as st

from forky_core.merge.rebase import RebasePlan
from forky_core.model.errors import ForkyError, Outdated
from forky_core.views.shelf import count
from pages.ui.components.markdown import plain_label
from pages.ui.components.models import grouped, model_title
from pages.ui.frame import Frame, leave_for
from pages.ui.merge.payload import draw_turns
from pages.ui.merge.planning import MergeOptions
from pages.ui.people.only_reading import draw_only_reads


def draw_rebase(frame: Frame, options: MergeOptions) -> None:
    """Keys: `merge.rebase`, `merge.replay_with`, `merge.replay`."""
    moved, onto = plain_label(options.source, 60), plain_label(options.target, 60)
    try:
        plan = frame.chat.checkout(options.source).merges.plan_rebase(options.target)
    except ForkyError as error:
        with st.container(border=True):
            st.markdown(f":material/info: {plain_label(str(error), 300)}")
        return
    for warning in plan.warnings:
        st.caption(f":material/info: {plain_label(warning, 300)}")
    if plan.relation == "up_to_date":
        return
    own = count(len(plan.line), "message")
    st.markdown(
        f"**{moved}** moves to the end of **{onto}**: {own} of its own, {plan.tokens:+,} tokens to read with each "
        "question. Its old end stays in sight, and Undo brings it back."
    )
    if plan.copies:
        st.caption("What will stand below it, word for word")
        draw_turns(plan.payload, lambda _id: (frame.chat.id, options.source))
    if plan.omitted:
        st.caption(f"{count(len(plan.omitted), 'message')} left out:")
        for why in dict.fromkeys(omission.why for omission in plan.omitted):
            st.caption(plain_label(why, 200))
    if not draw_only_reads(frame.chat):
        _draw_ways(frame, options, plan)


def _draw_ways(frame: Frame, options: MergeOptions, plan: RebasePlan) -> None:
    st.button(
        f"Move “{plain_label(options.source, 40)}”",
        key="merge.rebase",
        type="primary",
        icon=":material/move_down:",
        help="One operation, which Undo takes back",
        on_click=_land,
        args=(frame, options, plan),
    )
    if not plan.turns:
        return
    st.caption(
        f"Or have its {count(len(plan.turns), 'question')} asked again there, which sends about {plan.tokens_asked:,} tokens:"
    )
    with st.container(key="line-merge-rebase", horizontal=True, vertical_alignment="center"):
        offered = grouped(frame.forky.models)
        model = st.selectbox(
            "Who answers",
            list(offered),
            index=None,
            key="merge.replay_with",
            label_visibility="collapsed",
            placeholder="Choose who answers",
            format_func=lambda name: model_title(offered.get(name), name),
            width=340,
        )
        st.button(
            "Ask again",
            key="merge.replay",
            icon=":material/replay:",
            disabled=model is None,
            help="Choose who answers first" if model is None else "The questions are asked one after another",
            on_click=_replay,
            args=(frame, options, plan, model),
        )


def _land(frame: Frame, options: MergeOptions, plan: RebasePlan) -> None:
    chat = frame.chat.checkout(options.source)
    try:
        operation = chat.merges.rebase(plan)
    except (Outdated, ForkyError) as error:
        frame.session.say(str(error))
        return
    frame.session.say(operation.sentence, (chat.id, operation.number))
    leave_for(options.source, frame.session)


def _replay(frame: Frame, options: MergeOptions, plan: RebasePlan, model: str) -> None:
    chat = frame.chat.checkout(options.source)
    try:
        chat.merges.replay(plan, model=model)
    except ForkyError as error:
        frame.session.say(str(error))
        return
    leave_for(options.source, frame.session)
