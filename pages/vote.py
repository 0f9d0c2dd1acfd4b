"""Votes: people compare answers blind, each at their own screen; then the result.

The URL says which poll (`?c=…&poll=3`), so that a link or a QR code leads a phone to it. Without one, the page lists
the polls of the conversation.

The frame is the place that the address names, the view model is a ballot or the result of a poll (views/voting.py),
and pages/ui/vote draws it.
"""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.voting.poll import Poll
from forky_core.model.errors import NotFound
from forky_core.views.shelf import title_or_placeholder
from forky_core.views.voting import ballot_of
from pages.ui.components.links import page_link
from pages.ui.components.showing import give_button
from pages.ui.components.undoing import page_top
from pages.ui.frame import Frame, explain, locate
from pages.ui.page import Page
from pages.ui.person import names_themselves
from pages.ui.vote.ballot import draw_ballot
from pages.ui.vote.joining import draw_join, draw_who
from pages.ui.vote.listing import draw_polls
from pages.ui.vote.outcome import draw_outcome
from pages.ui.vote.style import apply_vote_style

PAGE = Page(title="Votes", icon="how_to_vote", order=35, shown=False)


def main() -> None:
    apply_vote_style()
    frame = locate()
    if frame is None:
        st.title("Votes", anchor=False)
        st.caption(
            "There is no conversation yet. Ask something on the Chat page, and let people vote on the answers."
        )
        page_link("chat.py", "Go to Chat", icon="account_tree")
        return
    poll = _poll(frame)
    # Without Undo and Redo in the bar: on the phones of many people they would take back what others voted.
    title = (
        (poll.title or "Which answer is better?")
        if poll
        else f"Votes in “{title_or_placeholder(frame.chat.title)}”"
    )
    about = "" if poll else "People choose the best of several answers, without seeing which model wrote it."
    page_top(title, frame.forky, frame.session, None, about=about)
    if poll is None:
        st.caption("People compare answers without knowing who wrote which, and vote on them.")
        with st.container(key="column-votes"):
            draw_polls(frame)
    elif poll.hidden and frame.session.person is None and names_themselves():
        draw_join(frame, poll)
    else:
        draw_who(frame, poll)
        if poll.open:
            draw_ballot(frame, ballot_of(frame.chat, poll.number))
        if not poll.hidden:
            draw_outcome(frame, poll)
            give_button(frame.forky, frame.chat, "poll", [str(poll.number)], key="vote.give")


def _poll(frame: Frame) -> Poll | None:
    asked = st.query_params.get("poll", "")
    if not asked:
        return None
    try:
        return frame.chat.polls.get(int(asked) if asked.isdecimal() and len(asked) < 10 else 0)
    except NotFound as error:
        explain(frame.session, str(error))
        del st.query_params["poll"]
        return None


main()
