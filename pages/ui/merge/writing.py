"""A merge or a fusion that a model writes: begun by the person, watched while it is made, refused in plain words.

Every model waits for a press, and the button says what is sent and what that costs.
"""

from __future__ import annotations

import streamlit as st

from forky_core.llm.contract import OFFLINE
from forky_core.merge.plan import MergePlan
from forky_core.preferences import chosen_verifier
from forky_core.views.shelf import count
from pages.ui.components.buttons import button, main_button, quiet_button
from pages.ui.components.error_boundary import error_boundary
from pages.ui.components.markdown import plain_label, showable
from pages.ui.components.models import choose_model, label_of
from pages.ui.frame import Frame
from pages.ui.merge.asking_price import AskingPrice
from pages.ui.merge.choices import want
from pages.ui.merge.planning import Planning, begin_writing, lookup_of, offered_model


def draw_writing(frame: Frame, planning: Planning) -> None:
    """Where nothing is shown before a model has written.

    Keys: `merge.write`, `merge.cancel`, `merge.again`, `merge.quoted`.
    """
    if planning.writing is not None:
        _draw_waiting(frame, planning)
    elif planning.rejected is not None:
        _draw_rejected(frame, planning)
    elif planning.failed:
        st.markdown(f":material/error: {plain_label(planning.failed, 400)}")
        _draw_ways_on(frame, planning)
    else:
        _draw_offer(frame, planning)


def draw_writing_beside(frame: Frame, planning: Planning) -> None:
    """Above the note: that a model is writing, or what came of it; the quoted lines stand until it has, and wherever it
    fails.

    Keys: as above, and `merge.take_written`.
    """
    if planning.options.writer is None or planning.quoted is None:
        return
    if planning.writing is not None:
        _draw_waiting(frame, planning)
    elif planning.rejected is not None:
        _draw_rejected(frame, planning)
    elif planning.failed:
        st.markdown(f":material/error: {plain_label(planning.failed, 400)} The quoted lines stand.")
        _draw_again(frame, planning)
    elif planning.written is not None:
        _draw_written(frame, planning, planning.written)
    elif planning.by_model:
        _draw_author(frame, planning)


def offer_writing(frame: Frame, planning: Planning) -> None:
    """The button that has a model write the note, where nobody has been asked yet."""
    begun = (
        planning.writing is not None or planning.rejected is not None or planning.failed or planning.written
    )
    if (
        planning.options.writer is not None
        and planning.quoted is not None
        and not begun
        and not planning.by_model
    ):
        _draw_offer(frame, planning)


def _draw_written(frame: Frame, planning: Planning, written: MergePlan) -> None:
    stands = "The quoted lines stand." if planning.plan is planning.quoted else "What you changed stands."
    with st.container(key="line-merge-written", horizontal=True, vertical_alignment="center"):
        st.markdown(
            f":material/edit_note: {_name(frame, planning)} has written it. {stands}", width="stretch"
        )
        button("Use what it wrote", "merge.take_written", planning.take, written)


def _draw_author(frame: Frame, planning: Planning) -> None:
    with st.container(key="line-merge-author", horizontal=True, vertical_alignment="center"):
        edited = ", and you changed it" if planning.edited else ""
        st.markdown(
            f":material/edit_note: {_author(frame, planning)} wrote this{edited}. {_verified(frame, planning)}",
            width="stretch",
        )
        _draw_quoted(planning)


def _verified(frame: Frame, planning: Planning) -> str:
    """Who read the note beside the branch."""
    if planning.options.fuses:
        return "Names and numbers were checked against the answers."
    verifier = chosen_verifier(frame.forky.store)
    who = _label(frame, verifier) if verifier else "It"
    return f"{who} read each sentence once more beside the branch."


def _draw_again(frame: Frame, planning: Planning) -> None:
    button("Ask again", "merge.again", _write, frame, planning, icon="refresh")


def _name(frame: Frame, planning: Planning) -> str:
    return _label(frame, planning.options.writer or "")


def _label(frame: Frame, name: str) -> str:
    return plain_label(label_of(frame.forky.models, name), 60)


def _author(frame: Frame, planning: Planning) -> str:
    """Who wrote what would land, which may be another model than the one that is offered now."""
    assert planning.plan is not None
    blocks = (side.block for side in planning.plan.sides or (planning.plan,))
    made_by = [block.made_by for block in blocks if block is not None and block.made_by]
    return _label(frame, made_by[0] if made_by else planning.options.writer or "")


def _draw_offer(frame: Frame, planning: Planning) -> None:
    """The button says what a press costs, and its help what is sent."""
    plan = planning.quoted
    assert plan is not None
    writer = offered_model(frame.forky, planning.options.writer or "")
    chosen = chosen_verifier(frame.forky.store)
    verifier = offered_model(frame.forky, chosen) if chosen else writer
    asking = planning.asking(lookup_of(frame.forky, frame.chat, plan), writer)
    price = asking.priced(*(model.info() if model is not None else None for model in (writer, verifier)))
    sent = _sent(planning, plan, asking, _label(frame, chosen) if chosen else "it")
    st.button(
        f"Write it with {_name(frame, planning)} · {plain_label(price)}",
        key="merge.write",
        type="primary" if planning.plan is None else "tertiary",
        icon=":material/edit_note:",
        help=sent,
        on_click=_write,
        args=(frame, planning),
    )
    if planning.plan is None:
        st.caption(sent)


def _sent(planning: Planning, plan: MergePlan, asking: AskingPrice, verifier: str) -> str:
    """What goes to the models, and what becomes of the answer."""
    most = f"up to {asking.writer.sent + asking.verifier.sent:,} tokens"
    if planning.options.fuses:
        return (
            f"It is sent the question and the {count(len(plan.turns), 'answer')}: {most}, with a second try. What it writes is "
            "checked against them, and shown here before it is brought in."
        )
    names = " and ".join(
        f"“{plain_label(name, 40)}”" for name in (planning.options.source, *planning.options.others)
    )
    return (
        f"It is sent {count(len(plan.turns), 'message')} of {names} and the newest of “{plain_label(planning.options.target, 40)}”. "
        f"Then {verifier} reads each sentence beside the branch, and what fails is mended once: {most}. The quoted lines "
        "stay one click away."
    )


def draw_which_writes(frame: Frame, planning: Planning) -> None:
    """Key: `merge.writer`, where there are several models."""
    if sum(info.provider != OFFLINE for info in frame.forky.models.models()) > 1:
        choose_model(
            frame.forky.models,
            "Which model may write the note",
            "merge.writer",
            planning.options.writer,
            offline=False,
            follows=True,
            on_change=lambda: want(by=st.session_state["merge.writer"]),
        )


def _write(frame: Frame, planning: Planning) -> None:
    begin_writing(planning, frame.forky, frame.chat)


def _draw_waiting(frame: Frame, planning: Planning) -> None:
    @st.fragment(run_every=0.4, key="merge.waiting")
    @error_boundary
    def watch() -> None:
        writing = planning.writing
        if writing is None or writing.done():
            if writing is not None:
                planning.settle()
            st.rerun()
        with st.container(key="line-merge-writing", horizontal=True, vertical_alignment="center"):
            st.markdown(
                f":material/hourglass_top: {_name(frame, planning)} is reading and writing …", width="stretch"
            )
            quiet_button("Never mind", "merge.cancel", _cancel, planning)

    watch()


def _cancel(planning: Planning) -> None:
    """End the model's call; what it says is dropped."""
    planning.stop.set()
    planning.writing = None


def _draw_rejected(frame: Frame, planning: Planning) -> None:
    error = planning.rejected
    assert error is not None
    with st.container(key="merge-rejected", border=True):
        st.markdown(
            f":material/gpp_bad: {_name(frame, planning)} wrote {'an answer' if planning.options.strategy == 'fuse' else 'a note'} that cannot be used."
        )
        st.caption("Nothing of it was written.")
        for problem in error.problems[:12]:
            st.markdown(f"- {plain_label(problem, 300)}")
        if len(error.problems) > 12:
            st.caption(f"and {len(error.problems) - 12} more")
        with st.expander("What it wrote"):
            st.code(showable(error.answer[:20_000]), language=None, wrap_lines=True)
    if planning.plan is None:
        _draw_ways_on(frame, planning)
    else:
        _draw_again(frame, planning)


def _draw_ways_on(frame: Frame, planning: Planning) -> None:
    with st.container(key="line-merge-ways", horizontal=True):
        main_button("Ask again", "merge.again", _write, frame, planning, icon="refresh")
        _draw_quoted(planning)


def _draw_quoted(planning: Planning) -> None:
    st.button(
        "Use the one by rule instead" if planning.options.fuses else "Use the quoted lines instead",
        key="merge.quoted",
        icon=":material/format_quote:",
        on_click=_use_quoted,
        args=(planning,),
    )


def _use_quoted(planning: Planning) -> None:
    plan = planning.rejected.plan if planning.rejected is not None else planning.quoted
    assert plan is not None
    planning.take(plan)
