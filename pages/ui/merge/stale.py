"""What a link to the Merge page names that is not there: said, as the frame says it of conversations and messages."""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.model.errors import ForkyError
from pages.ui.frame import Frame, explain
from pages.ui.merge.choices import want, written_picks


def explain_stale(frame: Frame) -> None:
    """Before the top of the page is drawn, where it is said; the URL asks for it no more."""
    params = st.query_params
    try:
        graft = params.get("graft")
        source = frame.forky.conversation(graft) if graft else frame.chat
    except ForkyError as error:
        want(graft=None, source=None, picks=None)
        explain(frame.session, str(error))
        return
    sentences = [*_branches(source), *_picks(source), *_request(frame.chat)]
    if sentences:
        explain(frame.session, " ".join(sentences))


def _branches(source: Conversation) -> list[str]:
    params, there = st.query_params, source.branches
    asked = [params.get("source", ""), *params.get_all("with")]
    gone = [name for name in asked if name and name not in there]
    if gone:
        params["with"] = [name for name in params.get_all("with") if name in there]
        want(source=params["source"] if params.get("source") in there else None)
    return [f"There is no branch “{name}”." for name in gone]


def _picks(source: Conversation) -> list[str]:
    found, refused = [], []
    asked = st.query_params.get("picks", "")
    for digits in filter(None, asked.split(",") if asked != written_picks(()) else ()):
        try:
            source.message(digits)
        except ForkyError as error:
            refused.append(error.message)
        else:
            found.append(digits)
    if refused:
        want(picks=",".join(found))
    return refused


def _request(target: Conversation) -> list[str]:
    asked = st.query_params.get("request")
    if asked is None or any(str(one.number) == asked for one in target.requests.all):
        return []
    want(request=None)
    return [f"This conversation has no request for review {asked}."]
