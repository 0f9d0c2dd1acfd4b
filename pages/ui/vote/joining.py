"""The name of a voter, which is typed once and stored in a cookie of the browser."""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.voting.poll import Poll
from forky_core.model.errors import ForkyError
from forky_core.model.room import LONGEST, fit_name
from forky_core.views.shelf import count
from pages.ui.components.buttons import quiet_button, submit_button
from pages.ui.components.links import page_link
from pages.ui.components.markdown import plain_label
from pages.ui.frame import Frame
from pages.ui.person import COOKIE
from pages.ui.session import TabSession


def draw_join(frame: Frame, poll: Poll) -> None:
    """Ask for a name before showing any answer, because each voter has their own order. Keys: `vote.name`."""
    with st.container(key="vote-join", border=True):
        asked = f"{plain_label(poll.by, 60)} asks you to compare {count(len(poll.candidates), 'answer')}."
        st.markdown(
            f"**{asked}** You do not see which model wrote which, and nobody sees your vote before the reveal."
        )
        with st.form("vote-join-form", border=False):
            st.text_input(
                "Your name",
                key="vote.name",
                max_chars=LONGEST,
                placeholder="The others see it with your vote",
            )
            pressed = submit_button("Start", "vote.join", icon="arrow_forward", width="stretch")
        if pressed and take_name(frame.session, str(st.session_state["vote.name"])):
            st.rerun()


def take_name(tab: TabSession, name: str) -> bool:
    """Remember a name in this browser; return False, after drawing the reason, if it cannot be used."""
    try:
        tab.person = fit_name(name)
    except ForkyError as error:
        st.markdown(plain_label(str(error), 300))
        return False
    tab.cookies[COOKIE] = tab.person
    return True


def draw_who(frame: Frame, poll: Poll) -> None:
    """Draw the line below the title: the poll, and the name under which one votes. Keys: `vote.not_me`."""
    with st.container(key="line-vote-who", horizontal=True, vertical_alignment="center"):
        page_link("vote.py", "All votes", {"c": str(frame.chat.id)}, icon="arrow_back")
        about = [
            f"Poll {poll.number}",
            f"opened by {plain_label(poll.by, 60)}",
            "blind" if poll.blind else "not blind",
        ]
        if poll.revealed is not None:
            about[2] = f"revealed by {plain_label(poll.revealed.by, 60)}"
        st.caption(" · ".join(about), width="content")
        if poll.open and frame.session.person is not None:
            quiet_button(
                f"You are {plain_label(frame.session.person, 40)}",
                "vote.not_me",
                _forget,
                frame.session,
                icon="person",
                help="Vote under another name",
            )


def _forget(tab: TabSession) -> None:
    tab.person = None
    tab.cookies[COOKIE] = ""
    for key in [key for key in st.session_state if str(key).startswith(("vote.note.", "vote.score."))]:
        del st.session_state[key]
