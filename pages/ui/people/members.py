"""The part of the People page about members: who is here, with which role; owners change and remove."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.gateway.access.ways.reset import OPEN as RESET
from forky_core.views.shelf import count
from forky_core.views.times import ago
from pages.ui.components.buttons import button, main_button, quiet_button
from pages.ui.components.links import server_address
from pages.ui.components.markdown import plain_label
from pages.ui.frame import saying
from pages.ui.people.forgetting import forget
from pages.ui.people.leaving import leave
from pages.ui.people.roles import draw_roles
from pages.ui.people.style import who
from pages.ui.person import IN_WORKSPACE, OWNERS_HOURS, Administration, Member, Role, role_named
from pages.ui.session import TabSession

_FRESH = "people.reset.fresh"
_FOR = "people.reset.for"
_SHOWN = 50
_BUTTON = 120
"""The width of the button at the end of each row, in pixels."""


def draw_members(people: Administration, tab: TabSession) -> None:
    """Keys: `people.page`, and of each row those that `_draw_member` names."""
    everybody = people.members()
    owners = [member for member in everybody if member.role is Role.OWNER]
    st.caption(_about(people, everybody, owners))
    _draw_fresh(tab)
    page = int(st.session_state.get("people.page", 1))
    pages = -(-len(everybody) // _SHOWN)
    first = (min(page, pages) - 1) * _SHOWN
    alike = people.look_alikes()
    with st.container(key="members", gap=None):
        for member in everybody[first : first + _SHOWN]:
            _draw_member(people, tab, member, alike.get(member.id))
    if pages > 1:
        st.pagination(pages, key="people.page")
    draw_roles(IN_WORKSPACE)
    of = st.session_state.pop("forget.of", None)
    whose = next((member for member in everybody if member.id == of), None)
    if whose is not None:
        forget(people, tab, whose)


def _about(people: Administration, everybody: Sequence[Member], owners: Sequence[Member]) -> str:
    many = count(len(everybody), "member")
    if people.owns:
        return (
            f"{many}. A role holds for what is shared with everybody, from the next thing that a person does."
        )
    names = ", ".join(plain_label(member.name, 40) for member in owners[:5])
    return f"{many}. Owners invite people and change roles: {names}."


def _draw_member(people: Administration, tab: TabSession, member: Member, alike: Member | None) -> None:
    """Keys: `people.role.<handle>`, `people.out.<handle>`, `people.remove.<handle>`."""
    me = member.id == people.me.id
    with st.container(key=f"row-member-{member.handle}", horizontal=True, vertical_alignment="center"):
        below = f"{member.handle} · joined {ago(member.since, now())}"
        warning = f" · the name looks like that of {alike.handle}, who is somebody else" if alike else ""
        st.html(who(member.name, f"{below}{warning}", tag="You" if me else ""))
        if not people.owns:
            st.caption(member.role.word.capitalize(), width="content")
            return
        key = f"people.role.{member.handle}"
        st.session_state[key] = member.role.word
        st.selectbox(
            f"Role of {plain_label(member.name, 40)}",
            [role.word for role in IN_WORKSPACE],
            key=key,
            format_func=str.capitalize,
            label_visibility="collapsed",
            width=150,
            on_change=_change_role,
            args=(people, tab, member),
        )
        if me and quiet_button("Leave …", "people.leave", icon="door_open", width=_BUTTON):
            leave(people, tab)
        elif not me and quiet_button(
            "Remove …",
            f"people.remove.{member.handle}",
            icon="person_remove",
            width=_BUTTON,
            help=f"Remove {plain_label(member.name, 40)}"
            + (", sign them out, or let them choose another password" if people.may_reach(member.id) else ""),
        ):
            _remove(people, tab, member)


def _change_role(people: Administration, tab: TabSession, member: Member) -> None:
    role = role_named(str(st.session_state[f"people.role.{member.handle}"]))
    with saying(tab):
        people.set_role(member.id, role)
        tab.say(f"{member.name} is {role.phrase} from now on.")


def _offer_password(people: Administration, tab: TabSession, member: Member) -> None:
    with saying(tab):
        tab.choices[_FRESH] = people.reset_password(member.id)
        tab.choices[_FOR] = member.name


def _draw_fresh(tab: TabSession) -> None:
    """The address of a new link, once. Keys: `people.reset.copied`."""
    secret = tab.choices.get(_FRESH)
    if secret is None:
        return
    with st.container(border=True, key="reset-fresh"):
        name = plain_label(tab.choices.get(_FOR, ""), 80)
        st.markdown(
            f"**A link to another password for {name}.** Give it to nobody else: whoever opens it gets in as {name}. It "
            f"serves once, within {OWNERS_HOURS} hours, and signs {name} out everywhere. It is not shown again."
        )
        st.code(f"{server_address()}{RESET}/{secret}", language=None, wrap_lines=True)
        button("I have copied it", "people.reset.copied", _copied, tab)


def _copied(tab: TabSession) -> None:
    for key in (_FRESH, _FOR):
        tab.choices.pop(key, None)


@st.dialog("Remove somebody", icon=":material/person_remove:")
def _remove(people: Administration, tab: TabSession, member: Member) -> None:
    """Keys: `remove.keep`, `remove.password`, `remove.out`, `remove.yes`."""
    reach = people.may_reach(member.id)
    st.html(who(member.name, f"{member.handle} · {member.role.word}"))
    st.caption(
        "Whoever is removed sees nothing here any more and is signed out. What they wrote stays, under their name. An "
        "invitation brings them back."
        + (
            " Somebody who cannot get in any more gets a link with which they choose another password."
            if reach
            else ""
        )
    )
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Keep them", key="remove.keep"):
            st.rerun()
        offer = partial(_offer_password, people, tab, member)
        if reach and button("Another password", "remove.password", offer):
            st.rerun()
        out = partial(_say_done, tab, f"{member.name} is signed out everywhere.", people.sign_out, member.id)
        if reach and button("Only sign them out", "remove.out", out):
            st.rerun()
        if reach and st.button("Forget …", key="remove.forget", type="tertiary", help="Their name goes, too"):
            st.session_state["forget.of"] = member.id
            st.rerun()
        gone = partial(_say_done, tab, f"{member.name} was removed.", people.remove, member.id)
        if main_button("Remove", "remove.yes", gone):
            st.rerun()


def _say_done(tab: TabSession, sentence: str, change: Callable[[str], None], member: str) -> None:
    with saying(tab):
        change(member)
        tab.say(sentence)
