"""The line above a merge: “Bring [this branch] back into [that one]”, and *How*, which holds every choice about it.

A branch of another conversation is named with its conversation; further branches come along in the same message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from forky_core.merge.strategies import strategy_named
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.model import ConversationId
from forky_core.model.errors import ForkyError
from forky_core.views.merging import BUDGET_STEP, BranchRelation, budget_range
from forky_core.views.shelf import count, title_or_placeholder
from pages.ui.components.buttons import quiet_button
from pages.ui.components.markdown import plain_label, showable
from pages.ui.frame import Frame
from pages.ui.merge.choices import POLICIES, label_of_strategy, offered, want
from pages.ui.merge.planning import MergeAddress, Planning
from pages.ui.merge.requests import ASK, draw_proposal
from pages.ui.merge.writing import draw_which_writes
from pages.ui.person import names_themselves

_ELSEWHERE = "\0elsewhere"
"""The choice of this conversation again."""
_MOST_LISTED = 200
"""Conversations offered to graft from."""


def draw_route(frame: Frame, options: MergeAddress) -> None:
    """Keys: `merge.source`, `merge.target`, `merge.swap`, `merge.conversation`, `merge.branch`."""
    branches = frame.branch_names(options.source, options.target, *options.others)
    with st.container(key="line-merge-route", horizontal=True, vertical_alignment="center"):
        st.markdown("Bring", width="content")
        if options.graft is not None:
            _draw_elsewhere(frame, options, options.graft)
        else:
            st.session_state["merge.source"] = options.source
            _select("Branch", branches, "merge.source", _change_source, options)
        quiet_button(
            "Swap the two",
            "merge.swap",
            _swap,
            options,
            icon="swap_horiz",
            help="Swap the two",
            disabled=options.graft is not None,
        )
        st.markdown("back into", width="content")
        st.session_state["merge.target"] = options.target
        _select("Into", branches, "merge.target", _change_target, options)


def _select(
    label: str,
    names: list[str],
    key: str,
    change: Callable[..., None],
    *args: object,
    titles: Mapping[str, str] | None = None,
) -> None:
    st.selectbox(
        label,
        names,
        key=key,
        format_func=lambda name: (titles or {}).get(name, name),
        label_visibility="collapsed",
        width=190,
        on_change=change,
        args=args,
    )


def _change_source(options: MergeAddress) -> None:
    source = st.session_state["merge.source"]
    _forget()
    target = options.source if source == options.target else options.target
    want(b=target, source=source, graft=None)


def _offer_elsewhere(frame: Frame, options: MergeAddress) -> None:
    """The first branch of another conversation, for which others can be chosen then. Key: `merge.elsewhere`."""
    other = next((s for s in frame.forky.conversations() if s.id != frame.chat.id), None)
    if other is None or options.graft is not None:
        return

    def bring() -> None:
        _forget()
        want(graft=other.id, source=other.branch)

    quiet_button("Bring a branch of another conversation", "merge.elsewhere", bring)


def _change_target(options: MergeAddress) -> None:
    target = st.session_state["merge.target"]
    source = options.target if target == options.source and options.graft is None else options.source
    _forget()
    want(b=target, source=source)


def _swap(options: MergeAddress) -> None:
    _forget()
    want(b=options.source, source=options.target)


def _forget() -> None:
    """What was chosen for another pair of branches."""
    want(picks=None, force=None, budget=None, m=None, again=None)
    st.query_params.pop("with", None)


def _draw_elsewhere(frame: Frame, options: MergeAddress, graft: ConversationId) -> None:
    """A graft: which branch of which conversation."""
    titles: dict[str, str] = {
        s.id: title_or_placeholder(s.title)
        for s in frame.forky.conversations()[:_MOST_LISTED]
        if s.id != frame.chat.id
    }
    try:
        other = frame.forky.conversation(graft, options.source)
    except ForkyError as error:
        st.caption(plain_label(str(error), 200))
        return
    titles.setdefault(graft, title_or_placeholder(other.title))
    titles[_ELSEWHERE] = "This conversation"
    st.session_state["merge.branch"] = options.source
    _select("Its branch", list(other.branches), "merge.branch", _change_branch)
    st.markdown("of", width="content")
    st.session_state["merge.conversation"] = graft
    _select("Conversation", list(titles), "merge.conversation", _change_conversation, titles=titles)


def _change_branch() -> None:
    want(source=st.session_state["merge.branch"], picks=None)


def _change_conversation() -> None:
    graft = st.session_state["merge.conversation"]
    want(graft=None if graft == _ELSEWHERE else graft, source=None, picks=None)


def draw_how(frame: Frame, options: MergeAddress, planning: Planning, *, proposes: bool) -> None:
    """Every choice about the merge; the button says what is chosen. `proposes`: somebody can be asked to look first.

    Keys: `merge.how`, `merge.strategy`, `merge.focus`, `merge.budget`, `merge.policy`, `merge.force`,
    `merge.writer`, `merge.others`, `merge.elsewhere`, and those of `draw_propose`.
    """
    name = label_of_strategy(options.strategy)
    plan = planning.plan or planning.quoted
    with st.popover(f"How: {plain_label(name[0].lower() + name[1:], 60)}", key="merge.how"):
        _draw_strategy(options)
        if isinstance(plan, ThreeWayPlan):
            _draw_policy(options)
        with st.expander("More choices", icon=":material/tune:"):
            if options.way is not None and options.way.condenses:
                _draw_length(options, planning)
            if (
                plan is not None
                and plan.relation == "fast_forward"
                and "force" in strategy_named(plan.strategy).takes
            ):
                _draw_force(options)
            if options.writer is not None and options.model_writes:
                draw_which_writes(frame, planning)
            branches = frame.branch_names(options.source, options.target, *options.others)
            if options.graft is None and len(branches) > 2:
                _draw_others(options, branches)
            _offer_elsewhere(frame, options)
        if proposes and names_themselves():
            with st.expander(ASK, icon=":material/rate_review:"):
                draw_proposal(frame)


def _draw_strategy(options: MergeAddress) -> None:
    names = offered(several=bool(options.others), graft=options.graft is not None)
    st.session_state["merge.strategy"] = options.strategy

    def caption(strategy: str) -> str:
        found = strategy_named(strategy)
        return (found.caption_of_several if options.others else "") or found.caption

    st.radio(
        "What comes back",
        names,
        format_func=label_of_strategy,
        captions=[caption(name) for name in names],
        key="merge.strategy",
        on_change=lambda: want(strategy=st.session_state["merge.strategy"]),
    )


def _draw_length(options: MergeAddress, planning: Planning) -> None:
    plan = planning.proposed or planning.quoted
    least, most, usual = budget_range(plan.tokens_full if plan else 0, plan.tokens if plan else 0)
    st.session_state["merge.focus"] = options.focus
    st.session_state["merge.budget"] = min(max(options.budget or usual, least), most)
    st.text_input(
        "What matters",
        key="merge.focus",
        max_chars=500,
        placeholder="Optional: what is about this comes first",
        on_change=lambda: want(focus=st.session_state["merge.focus"].strip()),
    )
    st.slider(
        "How long the note may be, in tokens (each about ¾ of a word)",
        least,
        most,
        step=BUDGET_STEP,
        key="merge.budget",
        on_change=lambda: want(budget=str(st.session_state["merge.budget"])),
    )


def _draw_policy(options: MergeAddress) -> None:
    st.session_state["merge.policy"] = options.policy
    st.selectbox(
        "Where the two disagree",
        list(POLICIES),
        key="merge.policy",
        format_func=POLICIES.__getitem__,
        on_change=lambda: want(policy=st.session_state["merge.policy"]),
    )


def _draw_force(options: MergeAddress) -> None:
    st.session_state["merge.force"] = options.force
    st.checkbox(
        "Write a message about it anyway",
        key="merge.force",
        help="Without one, the branch's pointer just moves on: the messages are there as if they had been said here.",
        on_change=lambda: want(force="1" if st.session_state["merge.force"] else None),
    )


def _draw_others(options: MergeAddress, branches: list[str]) -> None:
    """An octopus: more branches in the same message."""
    choices = [name for name in branches if name not in (options.source, options.target)]
    st.session_state["merge.others"] = [name for name in options.others if name in choices]
    st.multiselect(
        "Further branches in the same message",
        choices,
        key="merge.others",
        placeholder="None",
        format_func=showable,
        on_change=_change_others,
    )


def _change_others() -> None:
    chosen = st.session_state["merge.others"]
    if chosen:
        st.query_params["with"] = chosen
    else:
        st.query_params.pop("with", None)


def relation_sentence(stands: BranchRelation, target: str) -> str:
    """What stands on the two branches, in a few words."""
    if stands.unanswered:
        said = [f"{count(stands.unanswered, 'message')} without an answer"]
    else:
        said = [count(stands.new, "new message")]
    if stands.merged_before and stands.line > stands.new:
        said.append(f"{stands.line - stands.new:,} brought back before")
    said.append(f"{stands.shared:,} in common" if stands.shared else "nothing in common")
    if stands.own:
        said.append(f"{stands.own:,} since on “{plain_label(target, 40)}”")
    return " · ".join(said)
