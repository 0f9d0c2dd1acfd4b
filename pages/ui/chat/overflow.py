"""Said before anything is sent: this does not fit into the model's window, and what can be done about it."""

from __future__ import annotations

import streamlit as st

from forky_core.context.memory_policies import SUMMARY, TOKENS
from forky_core.model.memory import Memory
from forky_core.views import captions
from pages.ui.chat.meter import Measure
from pages.ui.components.links import page_link
from pages.ui.components.notice import done
from pages.ui.frame import Frame, go, place, saying

_FITTING = Memory(TOKENS.name)
_SUMMARY = Memory(SUMMARY.name)


def draw_overflow(here: Frame, found: Measure, typed: int) -> None:
    """Keys: `chat.fit`, `chat.fit_fork`. Another model is one click away, in the picker beside it."""
    over = found.tokens + typed - (found.window or 0)
    if typed > (found.window or 0):
        _draw_alone(over)
        return
    with st.container(key="line-overflow", horizontal=True, vertical_alignment="center"):
        st.markdown(
            f":material/warning: {captions.tokens(over)} tokens more than this model reads. Take another model, or:",
            width="content",
        )
        if here.chat.rules.memory.policy != _FITTING.policy:
            st.button(
                "Send what fits",
                key="chat.fit",
                help="Set this branch's memory to half of the model's window. Nothing is deleted, and undo takes it back",
                on_click=_fit,
                args=(here,),
            )
        st.button(
            "Start a branch with a summary",
            key="chat.fit_fork",
            help="A new branch that sends a summary of the older part; this one stays as it is",
            on_click=_fork,
            args=(here,),
        )
        page_link("context.py", "Leave messages out", place(here.chat, here.at), icon="visibility_off")


def _draw_alone(over: int) -> None:
    """The question is what is too long: leaving out what came before would not help."""
    with st.container(key="line-overflow", horizontal=True, vertical_alignment="center"):
        st.markdown(
            f":material/warning: {captions.tokens(over)} tokens more than this model reads, by this question alone. Take "
            "another model, shorten it, or have the file searched instead:",
            width="content",
        )
        page_link("documents.py", "Add it to be searched", icon="description")


def _fit(here: Frame) -> None:
    with saying(here.session):
        done(here.session, here.chat.rules.set_memory(_FITTING))
    st.rerun()


def _fork(here: Frame) -> None:
    with saying(here.session):
        forked = here.chat.fork(at=here.at)
        done(here.session, forked.rules.set_memory(_SUMMARY))
        go(forked)
    st.rerun()
