"""Ratings over every revealed poll of the workspace: by model, system prompt or tag, with intervals and downloads."""

from __future__ import annotations

import json

import streamlit as st

from forky_core.publishing.private_texts import reworded_value
from forky_core.views.shelf import count
from forky_core.votes.ratings import BY, By, Ratings, rate
from forky_core.votes.tables import ratings_csv, votes_csv
from pages.ui.components.markdown import plain_label
from pages.ui.frame import Frame
from pages.ui.vote.bars import matrix_html, ratings_html
from pages.ui.vote.labels import labels

_BY: dict[By, str] = {"model": "Model", "prompt": "System prompt", "tag": "Tag"}


def draw_ratings(frame: Frame) -> None:
    """Keys: `vote.by`, `vote.ratings_csv`, `vote.ratings_json`, `vote.votes_csv`."""
    polls = frame.forky.polls
    if not polls.revealed:
        if polls.open:
            st.caption("Ratings appear here when a poll is revealed.")
        return
    st.subheader("Ratings", anchor=False)
    by: By = st.segmented_control(
        "Rate by", BY, default="model", format_func=lambda one: _BY[one], key="vote.by", required=True
    )
    found = rate(polls, by)
    st.caption(_summary(found))
    if not found.rows:
        none = "No vote compared two of them yet."
        st.caption(f"{none} Tags are those of answers, set on the Chat page." if by == "tag" else none)
        return
    name = labels(frame)
    st.html(ratings_html(found, name))
    st.markdown(_verdict(found, plain_label(name(found.winner), 80) if found.winner is not None else ""))
    if len(found.rows) > 1:
        with st.expander("Who beat whom", icon=":material/grid_on:"):
            st.html(matrix_html(found, name))
            st.caption(
                "How often the row was preferred to the column. A tie, and “none is good enough”, count half."
            )
    with st.container(key="line-vote-downloads", horizontal=True):
        for key, label, text, file in (
            ("ratings_csv", "Ratings (CSV)", ratings_csv(found), f"ratings-by-{by}.csv"),
            ("ratings_json", "Ratings (JSON)", json.dumps(found.stored(), indent=1), f"ratings-by-{by}.json"),
            (
                "votes_csv",
                "All votes (CSV)",
                votes_csv(reworded_value(polls, frame.forky.name_of)),
                "votes.csv",
            ),
        ):
            st.download_button(
                label,
                text.encode(),
                file,
                "application/json" if file.endswith("json") else "text/csv",
                key=f"vote.{key}",
                icon=":material/download:",
                type="tertiary",
                on_click="ignore",
            )


def _summary(found: Ratings) -> str:
    left = f" {count(found.open_polls, 'poll')} not revealed yet." if found.open_polls else ""
    return (
        f"{count(found.votes, 'vote')} in {count(found.polls, 'revealed poll')} of this workspace, by the Bradley–Terry "
        f"model on Elo's scale: 400 points more win ten times as often as they lose.{left}"
    )


def _verdict(found: Ratings, winner: str) -> str:
    if len(found.rows) < 2:
        return "One alone has nothing to be compared with."
    if winner:
        return f"**{winner}** is ahead beyond doubt: its interval lies above all others."
    return "No winner yet: the intervals at the top overlap."
