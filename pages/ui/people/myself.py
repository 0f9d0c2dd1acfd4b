"""The part of the People page about oneself: name, password and other ways to sign in, signed-in browsers, leaving."""

from __future__ import annotations

from html import escape

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.gateway.access.door import OUT
from forky_core.gateway.access.team_sign_in import TeamSignIn
from forky_core.gateway.access.ways.password import ISSUER as PASSWORD
from forky_core.gateway.access.ways.password import change_password, has_password
from forky_core.model.errors import BadContent, ForkyError
from forky_core.views.times import ago
from pages.ui.components.buttons import quiet_button
from pages.ui.components.markdown import plain_label, showable
from pages.ui.frame import saying
from pages.ui.people.forgetting import forget
from pages.ui.people.leaving import leave
from pages.ui.people.mine import draw_mine
from pages.ui.people.style import who
from pages.ui.person import GONE_ISSUERS, Administration, Identity, TeamSession
from pages.ui.session import TabSession
from pages.ui.sign_in import SIGN_IN

_REFUSED = "people.password.refused"
_FIELDS = ("former", "new", "again")


def draw_myself(people: Administration, here: str, tab: TabSession) -> None:
    """Keys: `people.name`, `people.rename`, and those of the parts."""
    me = people.me
    with st.container(key="line-me", horizontal=True, vertical_alignment="center"):
        st.html(
            who(
                me.name, f"{me.handle} · {me.email}" if me.email else me.handle, tag=me.role.word.capitalize()
            )
        )
    with st.form("people-name", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Your name",
            me.name,
            key=f"people.name.{me.name}",
            help="It stands everywhere in the place of the former one. Your handle stays: your branches begin with it",
        )
        st.form_submit_button("Save", key="people.rename", on_click=_rename, args=(people, tab, me.name))
    _draw_sessions(people, here, tab)
    _draw_ways_in(people, tab)
    if has_password(people.team, me.id):
        _draw_password(people, here, tab)
    draw_mine(people)
    _draw_leaving(people, tab)


def _rename(people: Administration, tab: TabSession, former: str) -> None:
    with saying(tab):
        people.rename(str(st.session_state[f"people.name.{former}"]))
        tab.say(f"You are {people.me.name} from now on.")


def _draw_sessions(people: Administration, here: str, tab: TabSession) -> None:
    """Keys: `people.session.<id>`, `people.elsewhere`."""
    sessions = people.sessions()
    st.markdown("## Where you are signed in")
    with st.container(key="sessions", gap=None):
        for session in sessions:
            _draw_session(people, here, tab, session)
    with st.container(key="line-me-ways", horizontal=True, vertical_alignment="center", gap="medium"):
        st.html(f'<a class="fk-leave" href="{OUT}" target="_self">Sign out of this browser</a>')
        if len(sessions) > 1:
            quiet_button(
                "Sign out everywhere else",
                "people.elsewhere",
                _elsewhere,
                people,
                here,
                tab,
                icon="devices_off",
            )


def _draw_session(people: Administration, here: str, tab: TabSession, session: TeamSession) -> None:
    is_here = session.id == here
    with st.container(key=f"row-provider-session-{session.id}", horizontal=True, vertical_alignment="center"):
        name = plain_label(session.browser, 80)
        st.markdown(f":material/devices: {name}{' **· this browser**' if is_here else ''}", width="stretch")
        used = "" if is_here else f" · used {ago(session.seen, now())}"
        st.caption(f"signed in {ago(session.created, now())}{used}", width="content")
        if not is_here:
            quiet_button(
                "Sign out",
                f"people.session.{session.id}",
                _end,
                people,
                tab,
                session,
                icon="logout",
                help="That browser has to sign in again, at once",
            )


def _end(people: Administration, tab: TabSession, session: TeamSession) -> None:
    with saying(tab):
        people.end_session(session.id)
        tab.say(f"{session.browser} is signed out.")


def _elsewhere(people: Administration, here: str, tab: TabSession) -> None:
    with saying(tab):
        people.end_other_sessions(here)
        tab.say("Every other browser is signed out.")


def _draw_ways_in(people: Administration, tab: TabSession) -> None:
    """Keys: `people.way.<number>`."""
    ways = people.ways_in()
    st.markdown("## How you sign in")
    with st.container(key="ways-in", gap=None):
        for number, way in enumerate(ways):
            with st.container(key=f"row-provider-way-{number}", horizontal=True, vertical_alignment="center"):
                st.markdown(f":material/key: {plain_label(_way_name(way), 120)}", width="stretch")
                if len(ways) > 1:
                    quiet_button(
                        "Remove",
                        f"people.way.{number}",
                        _drop,
                        people,
                        tab,
                        way,
                        icon="delete",
                        help="You cannot sign in by it any more",
                    )
    adding = SIGN_IN.adding if isinstance(SIGN_IN, TeamSignIn) else ()
    with st.container(key="line-me-adding", horizontal=True, gap="medium"):
        for label, place in adding:
            st.html(
                f'<a class="fk-leave" href="{escape(place)}" target="_self">{escape(showable(label))}</a>'
            )


def _way_name(way: Identity) -> str:
    """What a way to sign in is called."""
    if way.issuer == PASSWORD:
        return f"Password, with the handle {way.subject}"
    if way.issuer in GONE_ISSUERS:
        return f"{way.issuer.capitalize()}, which lets nobody in any more"
    return way.issuer.removeprefix("https://")


def _drop(people: Administration, tab: TabSession, way: Identity) -> None:
    with saying(tab):
        people.drop_way_in(way.issuer, way.subject)
        tab.say("That way to sign in is removed.")


def _draw_password(people: Administration, here: str, tab: TabSession) -> None:
    """Keys: `people.password.` with `former`, `new`, `again`, `save`."""
    st.markdown("## Password")
    with (
        st.expander("Change your password", key="people.password.open", icon=":material/password:"),
        st.form("people.password", border=False),
    ):
        st.text_input(
            "Password now", type="password", key="people.password.former", autocomplete="current-password"
        )
        st.text_input("New password", type="password", key="people.password.new", autocomplete="new-password")
        st.text_input("Once more", type="password", key="people.password.again", autocomplete="new-password")
        st.caption("8 characters or more; a sentence makes a good one. Every other browser is signed out.")
        if refused := tab.choices.pop(_REFUSED, None):
            st.error(plain_label(refused, 400), icon=":material/error:")
        st.form_submit_button(
            "Change it", key="people.password.save", on_click=_change, args=(people, here, tab)
        )


def _change(people: Administration, here: str, tab: TabSession) -> None:
    """What is refused says so beside the button. Passwords stay in no field."""
    former, new, again = (str(st.session_state.pop(f"people.password.{name}") or "") for name in _FIELDS)
    for name in _FIELDS:
        st.session_state[f"people.password.{name}"] = ""
    try:
        if new != again:
            raise BadContent("The two new passwords are not the same.", "Nothing was changed.")
        change_password(people.team, people.me.id, former, new, keep=here)
    except ForkyError as error:
        tab.choices[_REFUSED] = str(error)
        return
    tab.say("Your password is changed, and every other browser is signed out.")


def _draw_leaving(people: Administration, tab: TabSession) -> None:
    st.markdown("## Leaving")
    with st.container(key="line-me-leaving", horizontal=True, vertical_alignment="center"):
        if st.button("Leave this workspace …", key="people.leave", icon=":material/door_open:"):
            leave(people, tab)
        if st.button("Be forgotten …", key="people.forget", icon=":material/person_off:", type="tertiary"):
            forget(people, tab, people.me)
