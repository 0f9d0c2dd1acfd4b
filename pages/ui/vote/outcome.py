"""The result of a poll: who made which answer, the counts, the scores and the notes."""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.voting.poll import Poll
from forky_core.model.errors import ForkyError
from forky_core.model.model_names import together
from forky_core.views.shelf import count
from forky_core.views.voting import Ballot, PollResult, ballot_of, outcome_of
from pages.ui.components.error_boundary import error_boundary
from pages.ui.components.links import page_link
from pages.ui.components.markdown import plain_label, show_text
from pages.ui.frame import Frame, place
from pages.ui.vote.bars import bars_html
from pages.ui.vote.labels import labels

_LOOK_EVERY = 2.0
"""Seconds between two updates of an open poll that is not blind."""
_NOTES = 20
"""How many notes are shown at first."""


def draw_outcome(frame: Frame, poll: Poll) -> None:
    """Keys: `vote.notes_all`."""
    if poll.open:
        _draw_live(frame, poll)
        return
    outcome, ballot = outcome_of(frame.chat, poll.number), ballot_of(frame.chat, poll.number)
    _draw_counts(frame, poll, outcome, ballot)
    _draw_notes(outcome)
    if ballot.question is not None:
        with st.container(key="cell-user-vote-question"):
            st.caption("The question")
            show_text(ballot.question.text, f"vote.question.{poll.number}")
    for row in outcome.rows:
        option = row.option
        named = tuple(map(labels(frame), option.models)) or option.branches
        name = together(named) if named else ""
        with st.expander(
            f"{option.letter}  {plain_label(name or 'Answer', 80)}", key=f"vote.answer.{option.letter}"
        ):
            if option.removed:
                st.caption("This answer was removed after the poll was opened. Its votes are kept.")
                continue
            show_text(option.text, f"vote.shown.{poll.number}.{option.letter}")
            page_link(
                "chat.py", "Go on from this answer", place(frame.chat, option.message), icon="arrow_outward"
            )


def _draw_live(frame: Frame, poll: Poll) -> None:
    """Draw the counts of an open poll that is not blind, and update them."""

    @st.fragment(run_every=_LOOK_EVERY, key=f"vote.live.{poll.number}")
    @error_boundary
    def live() -> None:
        try:
            outcome, ballot = outcome_of(frame.chat, poll.number), ballot_of(frame.chat, poll.number)
        except ForkyError:
            st.rerun()
        _draw_counts(frame, poll, outcome, ballot)

    live()


def _draw_counts(frame: Frame, poll: Poll, outcome: PollResult, ballot: Ballot) -> None:
    with st.container(key="vote-outcome", border=True):
        st.markdown(f"**{_verdict(outcome, poll)}**")
        st.html(bars_html(outcome, labels(frame), mine=ballot.chosen))
        if poll.blind and not poll.open:
            st.caption(
                "From the reveal on the letters are the same for all; before, each person had their own."
            )


def _verdict(outcome: PollResult, poll: Poll) -> str:
    voted = count(outcome.votes, "vote")
    if not outcome.votes:
        return "Nobody has voted." if not poll.open else "Nobody has voted yet."
    first = next((row for row in outcome.rows if row.leads), None)
    if first is None:
        return f"No answer is ahead, after {voted}."
    return f"{first.option.letter} is ahead with {first.votes} of {voted}."


def _draw_notes(outcome: PollResult) -> None:
    if not outcome.notes:
        return
    st.caption(count(len(outcome.notes), "note"))
    shown = outcome.notes
    if len(shown) > _NOTES and not st.toggle(f"Show all {len(shown)} notes", key="vote.notes_all"):
        shown = shown[-_NOTES:]
    for at, note in enumerate(shown):
        with st.container(key=f"vote-remark-{at}"):
            st.caption(f"{plain_label(note.person, 60)} · {plain_label(note.choice, 30)}")
            show_text(note.text, f"vote.note_text.{at}")
