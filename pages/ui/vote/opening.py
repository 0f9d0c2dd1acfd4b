"""The dialog that opens a poll: its question, and the criteria by which people may score the answers."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from forky_core.conversation.voting.poll import FEWEST, MOST, MOST_CRITERIA
from forky_core.model import MessageId
from forky_core.model.errors import ForkyError
from forky_core.model.room import LONGEST
from forky_core.views.shelf import count
from pages.ui.components.buttons import quiet_button
from pages.ui.components.markdown import plain_label
from pages.ui.components.only_reading import edits
from pages.ui.frame import Frame
from pages.ui.person import names_themselves
from pages.ui.vote.joining import take_name
from pages.ui.vote.opener import remember_opener

_CRITERIA = ("Correct", "Clear", "Complete", "Helpful", "Tone")


def poll_answers(frame: Frame, answers: Sequence[MessageId | None]) -> tuple[MessageId, ...]:
    """Return those on which a poll can be opened; () if they are too few or too many, or the reader may open none."""
    shown = frame.chat.visible.messages
    chosen = dict.fromkeys(
        id for id in answers if id is not None and id in shown and shown[id].role == "assistant"
    )
    return tuple(chosen) if FEWEST <= len(chosen) <= MOST and edits(frame.chat) else ()


def offer_poll(frame: Frame, answers: Sequence[MessageId | None]) -> bool:
    """Draw a button that opens a poll on these answers. Return False, without a button, if none can be opened.

    Keys: `vote.offer`.
    """
    chosen = poll_answers(frame, answers)
    if chosen and quiet_button(
        "Let people vote",
        "vote.offer",
        icon="how_to_vote",
        help=f"On these {count(len(chosen), 'answer')}, blind: on this screen, or each on their own phone",
    ):
        opening(frame, chosen)
    return bool(chosen)


@st.dialog("Let people vote", width="medium")
def opening(frame: Frame, answers: Sequence[MessageId]) -> None:
    draw_opening(frame, answers)


def draw_opening(frame: Frame, answers: Sequence[MessageId]) -> None:
    """Keys: `vote.title`, `vote.criteria`, `vote.blind`, `vote.host_name`, `vote.open`."""
    st.caption(
        f"Everybody with the address sees these {count(len(answers), 'answer')} in an order of their own, chooses one, "
        "and can change that until you reveal the result."
    )
    asks_name = frame.session.person is None and names_themselves()
    if asks_name:
        st.text_input("Your name", key="vote.host_name", max_chars=LONGEST, placeholder="Who asks")
    st.text_input(
        "What are they asked?", key="vote.title", max_chars=200, placeholder="Which answer is better?"
    )
    st.multiselect(
        "Scores from 1 to 5 for each answer (optional)",
        _CRITERIA,
        key="vote.criteria",
        accept_new_options=True,
        max_selections=MOST_CRITERIA,
        placeholder="Choose or type criteria",
    )
    blind = st.toggle(
        "Blind", value=True, key="vote.blind", help="Models, branches and counts are hidden until the reveal"
    )
    if not st.button("Open the poll", key="vote.open", type="primary", icon=":material/how_to_vote:"):
        return
    state = st.session_state
    if asks_name and not take_name(frame.session, str(state["vote.host_name"])):
        return
    chat = frame.chat.people.as_person(frame.session.person) if frame.session.person else frame.chat
    try:
        poll = chat.polls.open(
            answers, title=state["vote.title"], criteria=state["vote.criteria"], blind=blind
        )
    except ForkyError as error:
        st.markdown(plain_label(str(error), 300))
        return
    remember_opener(frame, poll)
    st.switch_page("vote.py", query_params={"c": str(chat.id), "poll": str(poll.number)})
