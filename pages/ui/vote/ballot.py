"""The ballot: the answers side by side (one at a time on a phone, swiped), and the keys to choose one.

A press votes at once, with the note and the scores so far; later ones are added. It can be changed until the reveal.
"""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.voting.poll import BAD, BEST, TIE
from forky_core.conversation.voting.voting import LONGEST_NOTE
from forky_core.model.errors import ForkyError
from forky_core.views.voting import CHOICES, Ballot, BallotOption
from pages.ui.components.error_boundary import error_boundary
from pages.ui.components.markdown import plain_label, show_text
from pages.ui.components.only_reading import draw_only_reads, why_only_reads
from pages.ui.frame import Frame, saying
from pages.ui.keeping.fields import kept_fields
from pages.ui.vote.host import draw_host
from pages.ui.vote.labels import labels
from pages.ui.vote.opener import opened_it

_LOOK_EVERY = 2.0
"""Seconds between two updates of how many have voted, and whether the result was revealed."""


def draw_ballot(frame: Frame, ballot: Ballot) -> None:
    """Keys: `vote.choose.<letter, tie or bad>`, `vote.note.<poll>`, `vote.score.<poll>.<letter>.<n>`."""
    hosts = opened_it(frame, ballot.poll)
    if hosts:
        draw_host(frame, ballot)
    if ballot.question is not None:
        with st.container(key="cell-user-vote-question"):
            st.caption("The question")
            show_text(ballot.question.text, f"vote.question.{ballot.poll.number}")
    with st.container(key="vote-answers"):
        for spot, option in zip(st.columns(len(ballot.options)), ballot.options, strict=True):
            with spot:
                _draw_option(frame, ballot, option)
    if ballot.votable:
        if not draw_only_reads(frame.chat):
            _draw_bar(frame, ballot)
    else:
        st.markdown(":material/info: Every answer was removed meanwhile. The votes so far are kept.")
    _draw_state(frame, ballot, hosts=hosts)


def _draw_option(frame: Frame, ballot: Ballot, option: BallotOption) -> None:
    number, chosen = ballot.poll.number, ballot.chosen == option.letter
    with st.container(key=f"vote-option-{'chosen-' if chosen else ''}{option.letter}", border=True):
        name = plain_label(option.made_by(labels(frame)), 160)
        mine = " :material/check_circle: your choice" if chosen else ""
        st.markdown(f"**{option.letter}** {name}{mine}")
        if option.removed:
            st.caption("This answer was removed meanwhile. Votes for it are kept.")
            return
        for message in option.turns:
            key = f"vote.text.{number}.{option.letter}.{message.id}"
            if message.role == "user":
                st.caption("Then somebody asked")
                with st.container(key=f"cell-user-{key.replace('.', '-')}"):
                    show_text(message.text, key)
            else:
                show_text(message.text, key)
        if ballot.poll.criteria and not why_only_reads(frame.chat):
            with st.container(key=f"vote-scores-{option.letter}"):
                for at, criterion in enumerate(ballot.poll.criteria):
                    _draw_score(frame, ballot, option, at, criterion)


def _draw_score(frame: Frame, ballot: Ballot, option: BallotOption, at: int, criterion: str) -> None:
    key = f"vote.score.{ballot.poll.number}.{option.letter}.{at}"
    if key not in st.session_state and ballot.mine is not None:
        score = ballot.mine.scores.get(option.message, {}).get(criterion)
        if score is not None:
            st.session_state[key] = score - 1
    with st.container(key=f"line-{key.replace('.', '-')}", horizontal=True, vertical_alignment="center"):
        st.caption(plain_label(criterion, 60), width="stretch")
        st.feedback("stars", key=key, on_change=_update_vote, args=(frame, ballot))


def _draw_bar(frame: Frame, ballot: Ballot) -> None:
    with st.container(key="vote-bar"):
        with st.container(key="line-vote-choices", horizontal=True, vertical_alignment="center"):
            for at, option in enumerate(ballot.options, 1):
                _choice(frame, ballot, option.letter, option.letter, str(at), disabled=option.removed)
            _choice(frame, ballot, TIE, CHOICES[TIE], "0")
            both = "Both bad" if len(ballot.options) == 2 else "All bad"
            _choice(frame, ballot, BAD, both, "B")
            key = f"vote.note.{ballot.poll.number}"
            if key not in st.session_state and ballot.mine is not None:
                st.session_state[key] = ballot.mine.note
            with (
                st.popover("Note", icon=":material/edit_note:", type="tertiary", key="vote.note_open"),
                kept_fields("vote note", frame.chat.id, ballot.poll.number),
            ):
                st.text_area(
                    "Why? The others read it after the reveal.",
                    key=key,
                    max_chars=LONGEST_NOTE,
                    on_change=_update_vote,
                    args=(frame, ballot),
                )
                if ballot.mine is None:
                    st.caption("It is kept when you choose an answer.")
        with st.container(key="line-vote-told", horizontal=True):
            st.caption(_own_vote(ballot), width="content")
            with st.container(key="vote-keys", width="content"):
                st.caption("Keys: 1 to 9 choose an answer, 0 a tie, B that none is good enough.")


def _choice(
    frame: Frame, ballot: Ballot, choice: str, label: str, shortcut: str, *, disabled: bool = False
) -> None:
    chosen = ballot.chosen == choice
    st.button(
        label,
        key=f"vote.choose.{choice}",
        type="primary" if chosen else "secondary",
        icon=":material/check:" if chosen else None,
        shortcut=shortcut,
        disabled=disabled,
        on_click=_vote,
        args=(frame, ballot, choice),
    )


def _own_vote(ballot: Ballot) -> str:
    if ballot.mine is None:
        return "You have not voted yet."
    chosen = CHOICES.get(ballot.chosen, ballot.chosen)
    note = ", with your note" if ballot.mine.note else ""
    return f"Your vote: {chosen}{note}. You can change it until the reveal."


def _vote(frame: Frame, ballot: Ballot, choice: str) -> None:
    number = ballot.poll.number
    note = str(st.session_state.get(f"vote.note.{number}", ""))
    scores: dict[str, dict[str, int]] = {}
    for option in ballot.options:
        for at, criterion in enumerate(ballot.poll.criteria):
            stars = st.session_state.get(f"vote.score.{number}.{option.letter}.{at}")
            if isinstance(stars, int) and 0 <= stars < BEST:
                scores.setdefault(option.message, {})[criterion] = stars + 1
    with saying(frame.session):
        frame.chat.polls.vote(number, choice, note=note, scores=scores)


def _update_vote(frame: Frame, ballot: Ballot) -> None:
    """Store a changed note or score if the person has voted already."""
    mine = frame.chat.polls.mine(ballot.poll.number)
    if mine is not None:
        _vote(frame, ballot, mine.choice)


def _draw_state(frame: Frame, ballot: Ballot, *, hosts: bool) -> None:
    """Draw how many have voted, and run the page again after the reveal."""
    number = ballot.poll.number

    @st.fragment(run_every=_LOOK_EVERY, key=f"vote.state.{number}")
    @error_boundary
    def state() -> None:
        try:
            poll = frame.chat.polls.get(number)
        except ForkyError:
            st.rerun()
        if not poll.open:
            st.rerun()
        voted = len(frame.chat.polls.voters(number))
        people = "Nobody has" if not voted else "1 person has" if voted == 1 else f"{voted} people have"
        st.caption(f":material/group: {people} voted so far. {plain_label(poll.by, 60)} ends the vote.")

    if not hosts:
        with st.container(key="line-vote-state", horizontal=True, vertical_alignment="center"):
            state()
