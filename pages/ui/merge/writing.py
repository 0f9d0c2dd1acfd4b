"""A squash or a fusion that a model writes: begun by the person, watched while it is made, refused in plain words."""

from __future__ import annotations

import streamlit as st

from forky_core.errors import ForkyError
from forky_core.views.captions import dollars
from forky_core.views.shelf import count
from pages.ui.frame import Frame
from pages.ui.markdown import plain_label, showable
from pages.ui.merge.planning import Planning, begin_writing
from pages.ui.telling import telling

_INSTRUCTIONS = 900
"""Tokens of what the model is told beside the branch."""


def draw_writing(frame: Frame, held: Planning) -> None:
    """Keys: `merge.write`, `merge.cancel`, `merge.again`, `merge.quoted`."""
    if held.writing is not None:
        _draw_waiting(frame, held)
    elif held.rejected is not None:
        _draw_rejected(frame, held)
    elif held.failed:
        st.markdown(f":material/error: {plain_label(held.failed, 400)}")
        _draw_ways_on(frame, held)
    else:
        _draw_offer(frame, held)


def draw_writing_beside(frame: Frame, held: Planning) -> None:
    """Above the quoted lines, which stand until the model has written. Keys: as above, and `merge.take_written`."""
    if held.wish.writer is None or held.quoted is None:
        return
    if held.writing is not None:
        _draw_waiting(frame, held)
    elif held.rejected is not None:
        _draw_rejected(frame, held)
    elif held.failed:
        st.markdown(f":material/error: {plain_label(held.failed, 400)} The quoted lines stand.")
        _draw_again(frame, held)
    elif held.written is not None:
        with st.container(key="line-merge-written", horizontal=True, vertical_alignment="center"):
            st.markdown(
                f":material/edit_note: {_name(frame, held)} has written it. What you changed stands.",
                width="stretch",
            )
            st.button("Use what it wrote", key="merge.take_written", on_click=held.take, args=(held.written,))
    elif held.proposed is held.quoted:
        _draw_offer(frame, held)


def _draw_again(frame: Frame, held: Planning) -> None:
    st.button(
        "Ask again",
        key="merge.again",
        icon=":material/refresh:",
        on_click=begin_writing,
        args=(held, frame.forky, frame.chat),
    )


def _name(frame: Frame, held: Planning) -> str:
    name = held.wish.writer or ""
    return plain_label(next((i.label for i in frame.forky.models.models() if i.name == name), name), 60)


def _draw_offer(frame: Frame, held: Planning) -> None:
    plan = held.quoted
    assert plan is not None
    what = "answer" if held.wish.strategy == "fuse" else "message"
    said = f"{_name(frame, held)} will read {count(len(plan.turns), what)} once, about {plan.tokens_full + _INSTRUCTIONS:,} tokens"
    try:
        rate = frame.forky.models.model(held.wish.writer or "").info().input_price
    except ForkyError:
        rate = None
    if rate:
        cost = dollars((plan.tokens_full + _INSTRUCTIONS) * rate)
        said += f" ({plain_label(cost if cost.startswith('<') else f'about {cost}')})"
    st.caption(
        f"{said}. What it writes is checked against {'them' if what == 'answer' else 'what it cites'}, and shown here "
        "before anything lands."
    )
    st.button(
        f"Write it with {_name(frame, held)}",
        key="merge.write",
        type="primary" if held.plan is None else "secondary",
        icon=":material/edit_note:",
        on_click=begin_writing,
        args=(held, frame.forky, frame.chat),
    )


def _draw_waiting(frame: Frame, held: Planning) -> None:
    @st.fragment(run_every=0.4, key="merge.waiting")
    @telling
    def watch() -> None:
        writing = held.writing
        if writing is None or writing.done():
            if writing is not None:
                held.settle()
            st.rerun()
        with st.container(key="line-merge-writing", horizontal=True, vertical_alignment="center"):
            st.markdown(
                f":material/hourglass_top: {_name(frame, held)} is reading and writing …", width="stretch"
            )
            st.button("Never mind", key="merge.cancel", type="tertiary", on_click=_cancel, args=(held,))

    watch()


def _cancel(held: Planning) -> None:
    """End the model's call; what it says is dropped."""
    held.stop.set()
    held.writing = None


def _draw_rejected(frame: Frame, held: Planning) -> None:
    error = held.rejected
    assert error is not None
    with st.container(key="merge-rejected", border=True):
        st.markdown(
            f":material/gpp_bad: {_name(frame, held)} wrote {'an answer' if held.wish.strategy == 'fuse' else 'a note'} that does not hold."
        )
        st.caption("It was shown what failed and asked once to mend it. Nothing of it was written.")
        for problem in error.problems[:12]:
            st.markdown(f"- {plain_label(problem, 300)}")
        if len(error.problems) > 12:
            st.caption(f"and {len(error.problems) - 12} more")
        with st.expander("What it wrote"):
            st.code(showable(error.answer[:20_000]), language=None, wrap_lines=True)
    if held.plan is None:
        _draw_ways_on(frame, held)
    else:
        _draw_again(frame, held)


def _draw_ways_on(frame: Frame, held: Planning) -> None:
    with st.container(key="line-merge-ways", horizontal=True):
        st.button(
            "Ask again",
            key="merge.again",
            icon=":material/refresh:",
            type="primary",
            on_click=begin_writing,
            args=(held, frame.forky, frame.chat),
        )
        _draw_quoted(held)


def _draw_quoted(held: Planning) -> None:
    st.button(
        "Use the one by rule instead" if held.wish.strategy == "fuse" else "Use the quoted lines instead",
        key="merge.quoted",
        icon=":material/format_quote:",
        on_click=_use_quoted,
        args=(held,),
    )


def _use_quoted(held: Planning) -> None:
    plan = held.rejected.plan if held.rejected is not None else held.quoted
    assert plan is not None
    held.take(plan)
