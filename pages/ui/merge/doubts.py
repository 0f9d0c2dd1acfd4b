"""What is to be said of single sentences of a note that a model wrote: struck out, or not confirmed, with the place.

A sentence that was struck out comes back by one click: the person decides what lands.
"""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from forky_core.merge.plan import Doubt, MergePlan
from forky_core.model import MessageId
from forky_core.views.shelf import count
from pages.ui.components.links import chat_place
from pages.ui.components.markdown import plain_label, showable
from pages.ui.merge.payload import Home
from pages.ui.merge.planning import Planning


def draw_doubts(planning: Planning, side: MergePlan, home: Home, key: str) -> None:
    """Of one text that would land. Keys: `<key>.<n>`, one for each sentence that can come back."""
    out = [one for one in side.doubts if one.out and one.sentence not in side.payload]
    open_ones = [one for one in side.doubts if not one.out and one.sentence in side.payload]
    if out:
        with st.container(key=f"{key.replace('.', '-')}-out", border=True):
            st.markdown(
                f":material/format_strikethrough: **{count(len(out), 'sentence')}** left out of the note"
            )
            for at, one in enumerate(out):
                with st.container(
                    key=f"line-{key.replace('.', '-')}-{at}", horizontal=True, vertical_alignment="center"
                ):
                    st.markdown(f"~~{_words(one)}~~  \n:small[{_why(one, home)}]", width="stretch")
                    st.button(
                        "Bring it back",
                        key=f"{key}.{at}",
                        icon=":material/undo:",
                        on_click=_bring_back,
                        args=(planning, side, one),
                    )
    if open_ones:
        what = count(len(open_ones), "sentence")
        with st.expander(f"{what} not confirmed", icon=":material/help:", expanded=len(open_ones) < 4):
            for one in open_ones:
                st.markdown(f"- {_words(one)}  \n:small[{_why(one, home)}]")


def _words(doubt: Doubt) -> str:
    return plain_label(showable(doubt.sentence), 400)


def _why(doubt: Doubt, home: Home) -> str:
    why = plain_label(showable(doubt.why), 300)
    return why if doubt.message is None else f"{why} [Show it]({_address(home, doubt.message)})"


def _address(home: Home, message: MessageId) -> str:
    conversation, branch = home(message)
    return f"./?{urlencode(chat_place(conversation, branch, message))}"


def _bring_back(planning: Planning, side: MergePlan, doubt: Doubt) -> None:
    planning.put(side.brought_back(doubt))
