"""The answers of several models to one question, side by side at the end of the path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import streamlit as st

from forky_core.model import Generation
from forky_core.views import captions
from forky_core.views.notebook import Cell
from forky_core.views.sides import side_of
from pages.ui.chat.cells import sentence_html, word
from pages.ui.chat.reply import draw_tail
from pages.ui.chat.window import book_of
from pages.ui.components.links import page_link
from pages.ui.components.markdown import showable
from pages.ui.components.models import label_of
from pages.ui.frame import Frame, place


def draw_together(here: Frame, calls: Sequence[Generation], draw: Callable[[Cell, int], object]) -> None:
    """A column for each answer; `draw` draws a cell as a page of that number. Keys: `chat-together` (a container)."""
    jobs = {job.generation.id: job for job in here.chat.replies.running}
    with st.container(key="chat-together"):
        for number, (column, call) in enumerate(zip(st.columns(len(calls)), calls, strict=True), 1):
            with column:
                if job := jobs.get(call.id):
                    draw_tail(here, job, f"-{number}")
                elif call.message is not None:
                    draw(book_of(here, here.chat.path(call.message)).cells[-1], -number)
                    if here.chat.replies.current is None:
                        st.html(_prefer(here, call))
                else:
                    st.html(_without_answer(here, call))
        sides = [
            side_of(call.message, here.chat.view, here.chat.visible).key for call in calls if call.message
        ]
        if len(sides) > 1:
            page_link(
                "compare.py", "Open in Compare", {**place(here.chat), "with": sides}, icon="view_column_2"
            )


def _prefer(here: Frame, call: Generation) -> str:
    """HTML below an answer that leads on from it."""
    if call.message == here.at:
        return '<div class="fk-prefer fk-quiet">The next question goes on from here.</div>'
    return f'<div class="fk-prefer">{word("promote", str(call.message), "Prefer this answer")}</div>'


def _without_answer(here: Frame, call: Generation) -> str:
    told = captions.ended(call) or "Another process of this Forky writes the answer."
    name = escape(showable(label_of(here.forky.models, call.model)))
    return f'<div class="fk-head"><span class="fk-who">{name}</span></div><div class="fk-ended">{sentence_html("error", told)}</div>'
