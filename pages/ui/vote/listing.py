"""The polls of a conversation, the offer to open another one, and every vote of revealed polls as a table."""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.conversation.voting.tables import votes_csv
from forky_core.formats.reports.private_texts import reworded_value
from forky_core.views.shelf import count
from forky_core.views.times import ago
from pages.ui.components.links import page_link
from pages.ui.components.lists import apply_list_style
from pages.ui.components.markdown import plain_label
from pages.ui.frame import Frame
from pages.ui.vote.opening import offer_poll

_SHOWN = 30


def draw_polls(frame: Frame) -> None:
    """Keys: `vote.votes_csv`."""
    apply_list_style()
    polls = frame.chat.polls.all
    head = frame.at
    visible = frame.chat.visible
    answers = visible.siblings(head) if head is not None and head in visible.messages else ()
    if not polls:
        st.caption(
            "They do so on this screen, or each on their own phone. The menu of Compare opens a poll on the answers that "
            "are side by side there."
        )
    with st.container(key="line-vote-open", horizontal=True, vertical_alignment="center"):
        if not offer_poll(frame, answers):
            page_link(
                "compare.py",
                "Compare answers",
                {"c": str(frame.chat.id), "b": frame.chat.branch_name},
                icon="view_column_2",
            )
    for poll in polls[:_SHOWN]:
        with st.container(key=f"row-poll-{poll.number}", horizontal=True, vertical_alignment="center"):
            page_link(
                "vote.py",
                plain_label(f"{poll.number}. {poll.title or 'Which answer is better?'}", 120),
                {"c": str(frame.chat.id), "poll": str(poll.number)},
                icon="how_to_vote" if poll.open else "bar_chart",
            )
            voted = count(len(frame.chat.polls.voters(poll.number)), "vote")
            state = "open" if poll.open else "revealed"
            st.caption(
                f"{state} · {voted} · {plain_label(poll.by, 40)}, {ago(poll.at, now())}", width="content"
            )
    if len(polls) > _SHOWN:
        st.caption(f"and {count(len(polls) - _SHOWN, 'older poll')}")
    revealed = frame.forky.polls
    if revealed:
        st.download_button(
            "All votes (CSV)",
            votes_csv(reworded_value(revealed, frame.forky.name_of)).encode(),
            "votes.csv",
            "text/csv",
            key="vote.votes_csv",
            help="Every vote of the revealed polls of all conversations.",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
        )
