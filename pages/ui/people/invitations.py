"""The part of the People page about invitations: an owner makes them, and takes open ones back.

The address of a new invitation is held by this tab until its owner says that it is copied; nobody can show it again.
"""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.gateway.access.team_sign_in import JOIN
from forky_core.model.errors import ForkyError
from forky_core.views.shelf import count
from forky_core.views.times import ago, stamp
from pages.ui.components.buttons import button, quiet_button, submit_button
from pages.ui.components.links import server_address
from pages.ui.components.markdown import plain_label
from pages.ui.frame import saying
from pages.ui.person import (
    DAYS,
    IN_WORKSPACE,
    MOST_DAYS,
    MOST_USES,
    Administration,
    Invitation,
    Role,
    role_named,
)
from pages.ui.session import TabSession

_JOINER = "\u2060"
"""Behind the @ of an address, which then is no link to a mail program; draws nothing."""
_EMPTY = {"email": "", "days": DAYS, "uses": 1}
_FRESH = "people.invitation.fresh"
_ABOUT = "people.invitation.about"
_EMAIL = "people.invitation.for"
"""The address that an invitation is for."""
_REFUSED = "people.invitation.refused"


def draw_invitations(people: Administration, tab: TabSession) -> None:
    """Keys: `people.invitation.` with `role`, `email`, `days`, `uses`, `make`, `copied`, `back.<id>`."""
    st.caption(
        "Whoever opens the address of an invitation chooses a name and a way to sign in, and is a member."
    )
    if secret := tab.choices.get(_FRESH):
        _draw_fresh(tab, secret)
    _draw_form(people, tab)
    try:
        invitations = people.invitations()
    except ForkyError as error:
        st.info(plain_label(str(error), 300))
        return
    if not invitations:
        st.caption("No invitation is open.")
        return
    st.markdown(f"## {count(len(invitations), 'open invitation')}")
    with st.container(key="invitations", gap=None):
        for invitation in invitations:
            _draw_invitation(people, tab, invitation)


def _draw_fresh(tab: TabSession, secret: str) -> None:
    with st.container(border=True, key="invitation-fresh"):
        st.markdown(
            f"**{plain_label(tab.choices.get(_ABOUT, ''), 200)}** Copy its address now: it is not shown again."
        )
        st.code(f"{server_address()}{JOIN}/{secret}", language=None, wrap_lines=True)
        if email := tab.choices.get(_EMAIL, ""):
            address = plain_label(email).replace("@", f"@{_JOINER}")
            st.caption(
                f"Forky cannot check the address: whoever opens this counts as {address}. "
                "Give it to nobody else."
            )
        button("I have copied it", "people.invitation.copied", _copied, tab)


def _draw_form(people: Administration, tab: TabSession) -> None:
    with (
        st.expander(
            "Invite somebody", key="people.invitation.open", icon=":material/person_add:", expanded=True
        ),
        st.form("people.invitation", border=False),
    ):
        for name, empty in _EMPTY.items():
            st.session_state.setdefault(f"people.invitation.{name}", empty)
        st.radio(
            "Role",
            [role.word for role in IN_WORKSPACE],
            index=list(IN_WORKSPACE).index(Role.EDITOR),
            key="people.invitation.role",
            format_func=str.capitalize,
            captions=list(IN_WORKSPACE.values()),
        )
        left, middle, right = st.columns((3, 1, 1))
        left.text_input(
            "E-mail",
            key="people.invitation.email",
            placeholder="anybody who has the address",
            help="With one, the invitation is for whoever signs in with this address, and for one person. "
            "Forky sends nothing: give the link to nobody else, since whoever opens it counts as them.",
        )
        middle.number_input("Days", 1, MOST_DAYS, key="people.invitation.days", help="Until it expires")
        right.number_input(
            "People", 1, MOST_USES, key="people.invitation.uses", help="How many may accept it"
        )
        if refused := tab.choices.pop(_REFUSED, None):
            st.error(plain_label(refused, 400), icon=":material/error:")
        submit_button("Make an invitation", "people.invitation.make", _make, people, tab)


def _make(people: Administration, tab: TabSession) -> None:
    """What is refused says so beside the button, and keeps what was entered."""
    state = st.session_state
    try:
        invitation, secret = people.invite(
            role_named(str(state["people.invitation.role"])),
            email=state["people.invitation.email"] or "",
            days=int(state["people.invitation.days"]),
            uses=int(state["people.invitation.uses"]),
        )
    except ForkyError as error:
        tab.choices[_REFUSED] = str(error)
        return
    tab.choices |= {_FRESH: secret, _ABOUT: f"{_described(invitation)}.", _EMAIL: invitation.email}
    for name, empty in _EMPTY.items():
        state[f"people.invitation.{name}"] = empty


def _draw_invitation(people: Administration, tab: TabSession, invitation: Invitation) -> None:
    with st.container(
        key=f"row-provider-invitation-{invitation.id}", horizontal=True, vertical_alignment="center"
    ):
        described = plain_label(_described(invitation)).replace("@", f"@{_JOINER}")
        st.markdown(f":material/mail: {described}", width="stretch")
        used = f"{invitation.used} of {invitation.uses} used · " if invitation.uses > 1 else ""
        made = f"made {ago(invitation.created, now())}"
        st.caption(f"{used}{made} · until {stamp(invitation.expires)}", width="content")
        quiet_button(
            "Take back",
            f"people.invitation.back.{invitation.id}",
            _take_back,
            people,
            tab,
            invitation,
            icon="block",
            help="Its address leads nowhere from now on",
        )


def _described(invitation: Invitation) -> str:
    role = invitation.role.phrase
    if invitation.email:
        return f"An invitation for {invitation.email}, as {role}"
    for_whom = f"up to {invitation.uses} people" if invitation.uses > 1 else "one person"
    return f"An invitation for {for_whom}, as {role}"


def _take_back(people: Administration, tab: TabSession, invitation: Invitation) -> None:
    with saying(tab):
        people.take_back(invitation.id)
        tab.say("The invitation is taken back.")


def _copied(tab: TabSession) -> None:
    for key in (_FRESH, _ABOUT, _EMAIL):
        tab.choices.pop(key, None)
