"""The dialog that says which branches of a conversation are protected, and what the pages ask about one branch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.model.errors import ForkyError
from forky_core.team.branch_protection import BranchProtection
from forky_core.team.protection import MOST_APPROVALS, BranchRule, rule_words
from pages.ui.components.markdown import plain_label
from pages.ui.people.choosing import named
from pages.ui.people.style import apply_people_style
from pages.ui.session import Session
from pages.ui.workspace import Reader, reader

_REFUSED = "protect.refused"


def protection(chat: Conversation) -> BranchProtection | None:
    """The rules of a conversation for whoever looks at this page; None on the server of one person."""
    who = reader()
    return BranchProtection(who.team, who.access, chat) if who is not None else None


@st.dialog("Protected branches", icon=":material/shield_lock:", width="medium", on_dismiss="rerun")
def protect(who: Reader, held: Session, chat: Conversation) -> None:
    draw_protect(who, held, chat)


def draw_protect(who: Reader, held: Session, chat: Conversation) -> None:
    """Keys: `protect.` with `branch`, `approvals`, `reviewers`, `bypass`, `go`, and `lift.<n>`."""
    apply_people_style()
    rules = BranchProtection(who.team, who.access, chat)
    try:
        known, may_change = rules.rules, rules.may_change
    except ForkyError as error:  # It was taken away while the dialog was open.
        st.info(plain_label(str(error), 300))
        return
    st.caption("A protected branch changes only by a merge request that others have reviewed.")
    if refused := held.choices.pop(_REFUSED, None):
        st.error(plain_label(refused, 400), icon=":material/error:")
    if not known:
        st.markdown("No branch of this conversation is protected.")
    with st.container(key="protect-rules", gap=None):
        for number, rule in enumerate(known):
            _draw_rule(who, held, rules, number, rule, may_change=may_change)
    if may_change:
        _draw_adding(held, rules, chat)
    else:
        owner = who.team.sharing.of(chat.id).owner
        whose = plain_label(who.team.members.name_of(owner), 60) if owner else "the owners of this workspace"
        st.caption(f"The conversation belongs to {whose}, who alone may change this.")


def _draw_rule(
    who: Reader, held: Session, rules: BranchProtection, number: int, rule: BranchRule, *, may_change: bool
) -> None:
    with st.container(key=f"row-protect-{number}", horizontal=True, vertical_alignment="center"):
        with st.container(gap=None, width="stretch"):
            st.markdown(f":material/shield_lock: **{plain_label(rule.pattern, 100)}**")
            st.caption(plain_label(rule_words(rule, who.team.members.name_of), 300))
        if may_change:
            st.button(
                f"Lift the protection of {plain_label(rule.pattern, 40)}",
                key=f"protect.lift.{number}",
                type="tertiary",
                icon=":material/remove_moderator:",
                help="Whoever may edit the conversation changes it directly then; the audit log says who lifted it",
                on_click=_try,
                args=(held, partial(rules.lift, rule.pattern)),
            )


def _draw_adding(held: Session, rules: BranchProtection, chat: Conversation) -> None:
    members = {member.id: named(member) for member in rules.reviewers()}
    with st.form("protect-add", border=True):
        left, right = st.columns([2, 1])
        left.text_input(
            "Branch",
            chat.branch_name,
            key="protect.branch",
            max_chars=100,
            help="A name, or a pattern: release/* is every branch whose name begins with release/",
        )
        right.number_input("Approvals", 0, MOST_APPROVALS, 1, key="protect.approvals")
        st.multiselect(
            "Each of them has to approve",
            list(members),
            key="protect.reviewers",
            format_func=lambda id: members.get(id, ""),
            placeholder="Anybody who may edit it",
        )
        st.checkbox(
            "I may change it directly, which the audit log notes",
            key="protect.bypass",
        )
        if st.form_submit_button("Protect", key="protect.go", type="primary", icon=":material/shield_lock:"):
            state = st.session_state
            rule = BranchRule(
                str(state["protect.branch"]),
                int(state["protect.approvals"]),
                tuple(state["protect.reviewers"]),
                bool(state["protect.bypass"]),
            )
            _try(held, partial(rules.protect, rule))
            st.rerun(scope="fragment")


def _try(held: Session, change: Callable[[], None]) -> None:
    """What is refused stands at the top of the dialog."""
    try:
        change()
    except ForkyError as error:
        held.choices[_REFUSED] = str(error)
