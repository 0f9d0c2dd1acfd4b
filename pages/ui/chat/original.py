"""The dialog about a fork's original: what is new there comes here, and what was added here goes back."""

from __future__ import annotations

import streamlit as st

from forky_core.formats.forky_file.giving_back import NEWS
from forky_core.people.links.original import address_of, fetch_news, original_here, send_back
from forky_core.views.shelf import count, title_or_placeholder
from pages.ui.components.links import chat_link
from pages.ui.components.markdown import plain_label
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
            (_give_back if back else _fetch_news)(here, address.strip())
        st.rerun()


def _give_back(here: Frame, address: str) -> None:
    here.session.say(send_back(here.forky, here.chat.id, address).sentence)


def _fetch_news(here: Frame, address: str) -> None:
    done = fetch_news(here.forky, here.chat.id, address)
    if not done.operations:
        here.session.say(" ".join(("Nothing is new there.", *done.remarks)))
        return
    moved = here.chat.checkout(here.chat.branch_name)
    waits = (
        " Some wait on a branch of their own." if any(one.startswith(NEWS) for one in moved.branches) else ""
    )
    sentence = f"{count(done.messages, 'message')} came from the original.{waits}"
    here.session.say(
        plain_label(" ".join((sentence, *done.remarks)), 400), (here.chat.id, done.operations[-1])
    )
    go(moved)
