"""The dialog for one answer: the question, the answer, each check with its reason, and a person's own mark."""

from __future__ import annotations

import streamlit as st

from forky_core.experiments.cells import CellResult
from forky_core.experiments.checks.registry import title
from forky_core.experiments.experiments import Experiments
from forky_core.experiments.exporting.facts import dollars, seconds
from forky_core.model.errors import NotFound
from forky_core.model.experiment import CellAddress
from pages.ui.components.links import chat_link
from pages.ui.components.markdown import plain_label, show_text
from pages.ui.components.only_reading import edits, why_only_reads
from pages.ui.experiments.choice import ask_again
from pages.ui.experiments.saving import close_after, there
from pages.ui.frame import Frame, open_chat, saying

_SIGNS = {True: ":material/check:", False: ":material/close:", None: ":material/remove:"}


@st.dialog("Answer", width="large", icon=":material/chat:")
def show_answer(frame: Frame, experiments: Experiments, name: str, address: CellAddress) -> None:
    """Keys: `experiments.good`, `experiments.bad`, `experiments.ask_again`, `experiments.go_on`, those of the text."""
    experiment = there(experiments, name)
    column = experiment.column(address.column)
    try:
        cell = experiments.cell(name, address)
    except NotFound:  # Its row or column was removed in another tab.
        st.rerun()
    label = experiments.labels(experiment)[address.column]
    sample = f", sample {address.sample}" if column is not None and column.samples > 1 else ""
    st.caption(f"{plain_label(label, 100)}{sample} · row {address.row}")
    with st.container(key="cell-user-experiment"):
        show_text(cell.question.text or "(nothing)", "experiments.question")
    with st.container(key="experiments-answer"):
        if cell.text:
            show_text(cell.text, "experiments.text")
        if cell.status != "done":
            st.caption(plain_label(cell.reply.why or "Not asked yet.", 400))
    _draw_facts(cell)
    _draw_verdicts(frame, cell)
    _draw_acts(frame, experiments, name, cell)


def _draw_facts(cell: CellResult) -> None:
    call = cell.call
    if call is None:
        return
    facts = [call.model]
    if call.reused is not None:
        facts.append("a stored answer")
    else:
        facts.append(seconds(call.seconds))
    facts += [
        f"{(call.usage.prompt_tokens or 0) + (call.usage.completion_tokens or 0):,} tokens",
        dollars(call.usage.cost),
    ]
    if cell.score is not None and len(cell.deciding) > 1:
        facts.append(f"score {cell.score:.2f}")
    st.caption(" · ".join(plain_label(fact) for fact in facts))


def _draw_verdicts(frame: Frame, cell: CellResult) -> None:
    for number, one in enumerate(cell.verdicts):
        with st.container(key=f"experiments-check-{number}", gap=None):
            decides = "" if one.check.weight > 0 else " (decides nothing)"
            st.markdown(f"{_SIGNS[one.verdict.passed]} {plain_label(title(one.check), 120)}{decides}")
            st.caption(plain_label(one.verdict.reason, 700))
            if one.branch and one.branch in frame.chat.branches:
                chat_link("What the judge was asked and said", frame.chat.id, one.branch)


def _draw_acts(frame: Frame, experiments: Experiments, name: str, cell: CellResult) -> None:
    with st.container(key="line-experiments-marks", horizontal=True, vertical_alignment="center"):
        if edits(frame.chat):
            _draw_marks(frame, experiments, name, cell)
        if (
            cell.answer is not None
            and not why_only_reads(frame.chat)
            and st.button(
                "Continue on a branch of your own",
                key="experiments.go_on",
                icon=":material/alt_route:",
                type="tertiary",
                help="Starts a branch at this answer and opens it in Chat",
                on_click=_fork,
                args=(frame, cell),
            )
        ):
            st.rerun()
    if cell.branch in frame.chat.branches:
        chat_link("Open its branch", frame.chat.id, cell.branch)


def _draw_marks(frame: Frame, experiments: Experiments, name: str, cell: CellResult) -> None:
    if cell.answer is not None:
        st.caption("You say", width="content")
        for key, label, icon, passed in (
            ("good", "Good", "thumb_up", True),
            ("bad", "Bad", "thumb_down", False),
        ):
            marked = cell.mark is not None and cell.mark.passed is passed
            st.button(
                label,
                key=f"experiments.{key}",
                icon=f":material/{icon}:",
                type="primary" if marked else "secondary",
                help="Take it back"
                if marked
                else "Compared with what judges say; decides where there is no check",
                on_click=_mark,
                args=(frame, experiments, name, cell.address, None if marked else passed),
            )
    close_after(
        st.button(
            "Ask again",
            key="experiments.ask_again",
            icon=":material/refresh:",
            type="tertiary",
            on_click=ask_again,
            args=(frame, experiments, name, (cell.address,)),
        )
    )


def _mark(
    frame: Frame,
    experiments: Experiments,
    name: str,
    address: CellAddress,
    passed: bool | None,  # noqa: FBT001 - what the button says
) -> None:
    with saying(frame.session):
        experiments.mark(name, address, passed, by=frame.session.person or "")


def _fork(frame: Frame, cell: CellResult) -> None:
    """Fork at the answer; the next run opens the new branch."""
    with saying(frame.session):
        assert cell.answer is not None
        forked = frame.chat.checkout(cell.branch).fork(at=cell.answer.id)
        open_chat(forked)
