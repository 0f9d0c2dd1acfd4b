"""The dialog about a fork's original: what is new there comes here, and what was added here goes back."""

from __future__ import annotations

import streamlit as st

from forky_core.formats.forky_file.giving_back import NEWS
from forky_core.people.links.original import address_of, fetch_news, original_here, send_back
from forky_core.views.shelf import title_or_placeholder
from pages.ui.components.links import chat_link
from pages.ui.frame import Frame, go, saying
from pages.ui.session import stop_acting


@st.dialog("Where this chat comes from", icon=":material/fork_right:", on_dismiss=stop_acting)
def show_original(here: Frame) -> None:
    draw_original(here)


def draw_original(here: Frame) -> None:
    """Keys: `origin.address`, `origin.news`, `origin.back`."""
    forky, id, address = here.forky, here.chat.id, ""
    st.markdown(
        "Giving back proposes there what you have added; somebody there reads it and brings it in. News come from there; "
        f"where you have gone on yourself, they wait on branches below {NEWS}."
    )
    if (home := original_here(forky, id)) is not None:
        chat_link(title_or_placeholder(forky.conversation(home).title), home)
    else:
        address = st.text_input(
            "Address of the link by which it was shared",
            address_of(forky, id),
            key="origin.address",
            max_chars=2_000,
        )
    with st.container(horizontal=True):
        back = st.button("Give back", key="origin.back", type="primary", icon=":material/upload:")
        news = st.button("Fetch news", key="origin.news", icon=":material/download:")
    if back or news:
        here.session.acting = None
        with st.spinner("Asking the original …"), saying(here.session):
            if back:
                here.session.say(send_back(forky, id, address.strip()).sentence)
            else:
                done = fetch_news(forky, id, address.strip())
                here.session.say(done.sentence, (id, done.operations[-1]) if done.operations else None)
                go(here.chat.checkout(here.chat.branch_name))
        st.rerun()
