"""The end of the notebook: the reply that is being written, or what became of it.

A reply is a background job (conversation/replies/replies.py), so that clicks, reloads and other tabs cannot lose it.
Its words come by a stream (live.py), and the browser asks this fragment to run when there is more to format, or that
fails. When the job has landed, the page runs once more.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from forky_core.conversation.replies.reply_job import ReplyJob
from forky_core.model import Generation
from forky_core.views import captions
from forky_core.views.notebook import Notebook
from pages.ui.chat.acting import made_last
from pages.ui.chat.cells import sentence_html, word
from pages.ui.chat.composer import stop
from pages.ui.chat.live import REASONING, STATUS, draw_live
from pages.ui.components.buttons import quiet_button
from pages.ui.components.error_boundary import error_boundary
from pages.ui.components.links import page_link
from pages.ui.components.markdown import plain_label, showable
from pages.ui.components.models import choose_model, label_of
from pages.ui.components.notice import stay
from pages.ui.frame import Frame, go, saying

LOOK_AT_REPLY = 10.0
"""Seconds between two looks at a reply that is written: a browser that does not hear its stream asks by itself."""
_MENDED_IN_SETTINGS = frozenset({"no_key", "bad_key", "unreachable"})
"""Kinds of failures."""


def draw_tail(here: Frame, job: ReplyJob | None, key: str = "") -> None:
    """Where no reply is written there is nothing to draw, and the page hears of what others do (live_updates.py).

    `key` is what the keys of one of several replies end with.
    """
    if job is not None:
        st.fragment(run_every=LOOK_AT_REPLY)(error_boundary(_tail))(here, job, key)


def _tail(here: Frame, job: ReplyJob, key: str) -> None:
    if job.running:
        _draw_job(here, job, key)
        return
    if job.message is not None and job.message.id == job.place.replaces:
        here.session.say("The same words came again: there is no new version.")
    stay(here.session)  # The end of an answer is no press that a notice goes with.
    st.rerun()


def _draw_job(here: Frame, job: ReplyJob, key: str) -> None:
    """Keys: `chat.stop_reply`, `chat.live`."""
    label = label_of(here.forky.models, job.generation.model)
    with st.container(key=f"cell-assistant-writing{key}"):
        st.html(
            f'<div class="fk-head"><span class="fk-who">{escape(showable(label))}</span>{STATUS}</div>{REASONING}'
        )
        draw_live(job, key=f"chat.live{key}")
        if key:  # The field has Stop of the one reply; each of several has its own.
            quiet_button(
                "Stop",
                "chat.stop_reply" + key,
                stop,
                here,
                job,
                icon="stop_circle",
                help="End the reply; what has arrived is kept",
            )


def draw_unanswered(here: Frame, book: Notebook, *, may_ask: bool) -> None:
    """A question without an answer: what went wrong and, for whoever `may_ask`, the ways on.

    Keys: `chat.again.<n>`, `chat.again_with`.
    """
    failed = book.unanswered
    last = book.cells[-1].message if book.cells else None
    question = last is not None and last.role == "user"
    if not failed and not (question and here.at_head and here.chat.replies.current is None):
        return
    if question and here.at_head and here.chat.replies.is_written_elsewhere:
        st.html(
            '<div class="fk-quiet" role="status">Another process of this Forky writes the answer. It is here when it has '
            "ended.</div>"
        )
        return
    if not failed and last is not None and (last.merge is not None or last.reverts):
        told = "Left out. Go on asking: the model no longer reads it."
        told = "Brought back. Go on asking: the model now reads this." if last.merge is not None else told
        undo = word("undo", last.id, "Undo") if may_ask and made_last(here) == last.id else ""
        st.html(f'<div class="fk-quiet" role="status">{told} {undo}</div>')
        return
    with st.container(key="cell-assistant-failed"):
        for number, call in enumerate(failed or (None,)):
            st.html(f'<div class="fk-ended" role="status">{_told(here, call)}</div>')
            if here.at_head and may_ask:
                with st.container(key=f"line-failed-{number}", horizontal=True, vertical_alignment="center"):
                    _draw_ways_on(here, call, number, also_others=number + 1 == max(1, len(failed)))


def _told(here: Frame, failed: Generation | None) -> str:
    """HTML of what went wrong, and with whom where that is not plain."""
    if failed is None:
        return sentence_html("help", "Nobody has answered this yet.")
    sentence = captions.ended(failed) or "There is no answer."
    return sentence_html(
        "error", f"{label_of(here.forky.models, failed.model)}: {sentence}" if _in_turn(here) else sentence
    )


def _in_turn(here: Frame) -> bool:
    return len(here.chat.people.room.models) > 1


def _draw_ways_on(here: Frame, failed: Generation | None, number: int, *, also_others: bool) -> None:
    st.button(
        "Ask again" if failed else "Ask",
        key=f"chat.again.{number}",
        icon=":material/refresh:",
        on_click=_again,
        args=(here, failed.model if failed and _in_turn(here) else None),
    )
    if also_others:
        choose_model(
            here.forky.models,
            "Ask another model",
            "chat.again_with",
            label_visibility="collapsed",
            placeholder="Ask another model",
            on_change=_again_with,
            args=(here,),
            width=240,
        )
    if failed is not None and failed.failure and failed.failure.kind in _MENDED_IN_SETTINGS:
        page_link("settings.py", "Settings", icon="tune")


def _again(here: Frame, model: str | None) -> None:
    with saying(here.session):
        here.chat.replies.start(model=model)
        go(here.chat)


def _again_with(here: Frame) -> None:
    name = st.session_state["chat.again_with"]
    if name is not None:
        _again(here, name)


def draw_elsewhere(here: Frame) -> None:
    """Replies that are being written on other branches of this conversation."""
    listed = here.branch_names()
    names = [job.place.branch for job in here.chat.replies.running if job.place.branch in listed]
    names = [name for name in names if name != here.chat.branch_name]
    if names:
        st.caption(plain_label(f"A reply is being written on {', '.join(f'“{n}”' for n in names[:3])}."))
