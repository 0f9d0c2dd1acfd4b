"""The dialog that says who sees a conversation, and the mark that opens it. Only a team's server has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.model.errors import ForkyError
from forky_core.views.shelf import title_or_placeholder
from pages.ui.components.buttons import main_button, quiet_button
from pages.ui.components.markdown import plain_label
from pages.ui.people.choosing import choose_member
from pages.ui.people.roles import draw_roles
from pages.ui.people.style import apply_people_style, who
from pages.ui.person import (
    GIVEN,
    IN_CONVERSATION,
    ConversationSharing,
    Member,
    Role,
    SharingMark,
    Viewer,
    role_named,
)
from pages.ui.session import TabSession

_REFUSED = "sees.refused"
_LEFT = "sees.left"
"""Whether the reader has just left the conversation of the dialog."""
_SOMEBODY = "Somebody of the workspace"
_ICONS = {"private": "lock", "people": "group", "everyone": "groups"}


def mark_button(mark: SharingMark, *, key: str) -> bool:
    """Draw the mark as a quiet button; whether it was pressed."""
    return quiet_button(
        plain_label(mark.words, 40), key, icon=_ICONS[mark.kind], help="Who sees this conversation"
    )


@st.dialog("Who sees this", icon=":material/group:", width="medium", on_dismiss="rerun")
def who_sees(viewer: Viewer, tab: TabSession, chat: Conversation) -> None:
    draw_who_sees(viewer, tab, chat)


def draw_who_sees(viewer: Viewer, tab: TabSession, chat: Conversation) -> None:
    """Keys: `sees.` with `everyone`, `role.<handle>`, `remove.<handle>`, `who`, `as`, `add`, `to`, `hand_over`, and
    `leave`.
    """
    apply_people_style()
    sharing = viewer.sharing(chat.id)
    try:
        owner, shared, may_change = sharing.owner, sharing.shared_with, sharing.may_change
    except ForkyError as error:  # It was taken away while the dialog was open, or left.
        if st.session_state.pop(_LEFT, False):
            st.rerun()
        st.info(plain_label(str(error), 300))
        return
    st.markdown(f"**{plain_label(title_or_placeholder(chat.title))}**")
    if refused := tab.choices.pop(_REFUSED, None):
        st.error(plain_label(refused, 400), icon=":material/error:")
    members = viewer.administration.members()
    named = [member for member in members if member.id in shared.people]
    if may_change:
        _draw_everyone(sharing, tab, everyone=shared.everyone)
    else:
        _draw_own_part(sharing, tab, owner, everyone=shared.everyone)
    with st.container(key="sees-people", gap=None):
        if owner is not None:
            _draw_owner(viewer, owner)
        for member in named:
            _draw_named(viewer, sharing, tab, member, shared.people[member.id], may_change=may_change)
    if may_change:
        others = [member for member in members if member not in named and member != owner]
        _draw_adding(sharing, tab, others)
    draw_roles(IN_CONVERSATION)
    if may_change:
        _draw_handing_over(sharing, tab, [member for member in members if member != owner])


def _draw_everyone(sharing: ConversationSharing, tab: TabSession, *, everyone: bool) -> None:
    st.session_state["sees.everyone"] = everyone
    st.radio(
        "Who sees it",
        [False, True],
        key="sees.everyone",
        format_func=lambda all_of_them: (
            "Everybody in the workspace" if all_of_them else "Only the people below"
        ),
        captions=[
            "It is private until somebody is added",
            "Each may do what their role in the workspace allows",
        ],
        label_visibility="collapsed",
        on_change=lambda: _try(
            tab, lambda: sharing.share_with_everyone(shared=bool(st.session_state["sees.everyone"]))
        ),
    )


def _draw_own_part(
    sharing: ConversationSharing, tab: TabSession, owner: Member | None, *, everyone: bool
) -> None:
    whose = plain_label(owner.name, 60) if owner is not None else "the owners of this workspace"
    seen_by = "Everybody in the workspace sees it." if everyone else "Only the people below see it."
    role = sharing.own_role
    st.caption(f"It belongs to {whose}, who alone may change this. {seen_by}")
    st.caption(f"You are {role.phrase} of it.")
    if sharing.takes_part_by_share:
        st.button(
            "Leave it",
            key="sees.leave",
            icon=":material/door_open:",
            help="You give up the role that you were given in it",
            on_click=_leave,
            args=(tab, sharing),
        )


def _draw_owner(viewer: Viewer, owner: Member) -> None:
    with st.container(key="row-sees-owner", horizontal=True, vertical_alignment="center"):
        st.html(who(owner.name, owner.handle, tag="You" if owner.id == viewer.id else ""))
        st.caption("It is theirs" if owner.id != viewer.id else "It is yours", width="content")


def _draw_named(
    viewer: Viewer,
    sharing: ConversationSharing,
    tab: TabSession,
    member: Member,
    role: Role,
    *,
    may_change: bool,
) -> None:
    with st.container(key=f"row-sees-{member.handle}", horizontal=True, vertical_alignment="center"):
        st.html(who(member.name, member.handle, tag="You" if member.id == viewer.id else ""))
        if not may_change:
            st.caption(role.word.capitalize(), width="content")
            return
        key = f"sees.role.{member.handle}"
        st.session_state[key] = role.word
        st.selectbox(
            f"Role of {plain_label(member.name, 40)} in it",
            [one.word for one in GIVEN],
            key=key,
            format_func=str.capitalize,
            label_visibility="collapsed",
            width=150,
            on_change=lambda: _try(
                tab, lambda: sharing.share(member.id, role_named(str(st.session_state[key])))
            ),
        )
        quiet_button(
            f"Remove {plain_label(member.name, 40)}",
            f"sees.remove.{member.handle}",
            _try,
            tab,
            partial(sharing.share, member.id, Role.NONE),
            icon="person_remove",
            help="They see it no longer, unless everybody does",
        )


def _draw_adding(sharing: ConversationSharing, tab: TabSession, others: Sequence[Member]) -> None:
    if not others:
        return
    with st.container(key="line-sees-add", horizontal=True, vertical_alignment="bottom"):
        chosen = choose_member("Add somebody", others, key="sees.who", placeholder=_SOMEBODY)
        st.selectbox(
            "As", [one.word for one in GIVEN], index=1, key="sees.as", format_func=str.capitalize, width=150
        )
        main_button("Add", "sees.add", _add, sharing, tab, chosen, disabled=chosen is None)


def _leave(tab: TabSession, sharing: ConversationSharing) -> None:
    _try(tab, sharing.leave)
    st.session_state[_LEFT] = _REFUSED not in tab.choices


def _add(sharing: ConversationSharing, tab: TabSession, member: str | None) -> None:
    if member is not None:
        _try(tab, lambda: sharing.share(member, role_named(str(st.session_state["sees.as"]))))
        st.session_state["sees.who"] = None


def _draw_handing_over(sharing: ConversationSharing, tab: TabSession, others: Sequence[Member]) -> None:
    if not others:
        return
    with st.expander("Hand it over", icon=":material/key:"):
        st.caption("It belongs to somebody else then, who alone says who sees it. You stay an editor.")
        with st.container(key="line-sees-over", horizontal=True, vertical_alignment="bottom"):
            chosen = choose_member("To", others, key="sees.to", placeholder=_SOMEBODY)
            st.button(
                "Hand over",
                key="sees.hand_over",
                disabled=chosen is None,
                on_click=_try,
                args=(tab, partial(sharing.hand_over, chosen or "")),
            )


def _try(tab: TabSession, change: Callable[[], None]) -> None:
    """Make a change; if it is refused, show the reason at the top of the dialog."""
    try:
        change()
    except ForkyError as error:
        tab.choices[_REFUSED] = str(error)
