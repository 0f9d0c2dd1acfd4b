"""A bisection under way, and what it found."""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.merging.bisecting import Bisection
from forky_core.conversation.session import short
from forky_core.model import Message
from forky_core.views.shelf import count
from pages.ui.bisect.search import Searching
from pages.ui.components.links import chat_link
from pages.ui.components.markdown import plain_label, show_text
from pages.ui.frame import Frame


def draw_search(frame: Frame, held: Searching) -> None:
    """Keys: `bisect.stop`, `bisect.yes`, `bisect.no`, `bisect.again`."""
    if held.job is not None:
        _draw_running(held)
        return
    if held.sentence:
        with st.container(key="bisect-ended", border=True):
            st.markdown(f":material/info: {plain_label(held.sentence, 400)}")
    elif held.search.first is not None:
        _draw_found(frame, held, held.search.first)
    else:
        _draw_probe(frame, held)
    _draw_probes(held.search)
    st.button(
        "Search again", key="bisect.again", icon=":material/restart_alt:", on_click=_forget, args=(frame,)
    )


def _forget(frame: Frame) -> None:
    frame.session.searching = None


def _draw_running(held: Searching) -> None:
    @st.fragment(run_every=0.4, key="bisect.running")
    def watch() -> None:
        if held.job is None or held.job.done():
            if held.job is not None:
                held.settle()
            st.rerun()
        probed = len(held.search.probed)
        st.progress(
            probed / (probed + held.search.steps),
            f"Asking “{plain_label(held.question, 80)}” – {count(probed, 'message')} probed, at most {held.search.steps} to go",
        )
        st.button("Stop", key="bisect.stop", icon=":material/stop_circle:", on_click=held.stop.set)
        _draw_probes(held.search)

    watch()


def _draw_probe(frame: Frame, held: Searching) -> None:
    here = held.search.at
    assert here is not None
    about = f" “{plain_label(held.question, 200)}”" if held.question else ""
    st.markdown(
        f"**Is it still right here?**{about} :gray[At most {count(held.search.steps, 'more probe')}.]"
    )
    _draw_message(frame, held, here)
    with st.container(key="line-bisect-judge", horizontal=True):
        st.button(
            "Yes, still right",
            key="bisect.yes",
            icon=":material/check:",
            on_click=_judge,
            args=(frame, held, True),
        )
        st.button(
            "No, wrong here",
            key="bisect.no",
            icon=":material/close:",
            on_click=_judge,
            args=(frame, held, False),
        )


def _judge(frame: Frame, held: Searching, passed: bool) -> None:  # noqa: FBT001 - what the button says
    held.told(frame.chat, passed=passed)


def _draw_found(frame: Frame, held: Searching, first: Message) -> None:
    probes = count(len(held.search.probed), "probe")
    calls = f" and {count(held.search.calls, 'model call')}" if held.search.calls else ""
    with st.container(key="bisect-found", border=True):
        st.markdown(
            f":material/flag: **It fails from this message on**, found with {probes}{calls}. History has a note."
        )
        _draw_message(frame, held, first)


def _draw_message(frame: Frame, held: Searching, message: Message) -> None:
    number = held.search.path.index(message) + 1
    with st.container(key=f"cell-{message.role}-bisect"):
        st.caption(f"{message.role}, message {number} of {len(held.search.path)} · {short(message.id)}")
        show_text(message.text or "(no words)", f"bisect.text.{message.id}")
        chat_link("Show it in the conversation", frame.chat.id, held.branch, message.id)


def _draw_probes(search: Bisection) -> None:
    """What each probe found, the last first."""
    for probed in reversed(search.probed):
        sign = ":material/check:" if probed.passed else ":material/close:"
        found = "still right" if probed.passed else "wrong"
        answer = f" :gray[“{plain_label(probed.answers[-1], 120)}”]" if probed.answers else ""
        st.markdown(
            f"{sign} {found} at {short(probed.message.id)}: {plain_label(probed.message.text, 80)}{answer}"
        )
