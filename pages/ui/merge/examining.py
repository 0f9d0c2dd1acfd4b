"""Having a model read branches or answers side by side: offered with its price, begun by a press, kept by the core.

Nothing is sent when a page is opened. Until a model has examined the texts, the page says that they are not examined,
whatever rules have found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import streamlit as st

from forky_core.conversation.merging.examining import examiner
from forky_core.llm.contract import ProviderMessage
from forky_core.merge.conflicts.conflict import ComparedSide
from forky_core.merge.conflicts.examination import examination_request
from forky_core.merge.plan import MergePlan
from forky_core.views.shelf import count
from pages.ui.components.buttons import quiet_button
from pages.ui.components.error_boundary import error_boundary
from pages.ui.components.markdown import plain_label
from pages.ui.components.models import label_of
from pages.ui.components.only_reading import why_only_reads
from pages.ui.frame import Frame
from pages.ui.merge.asking_price import AskingPrice, Calls
from pages.ui.merge.examination_job import RunningExamination, begin
from pages.ui.merge.planning import offered_model

NO_MODEL = "A model that is set up in Settings can be asked."
MOST_ANSWERED = 2_000
"""The most tokens that an examination is expected to answer with."""


@dataclass(frozen=True, slots=True)
class ReadingOffer:
    """What a press would do."""

    model: str
    label: str
    """The button: which model, and what it costs."""
    sent: str
    """What the model is sent, as a sentence."""


def offer(frame: Frame, sides: Sequence[ComparedSide]) -> ReadingOffer | None:
    """Return what a press would do; None if nobody can be asked, or there are not two texts."""
    if sum(bool(side.said) for side in sides) < 2:
        return None
    what = f"the {count(len(sides), 'text')}"
    return offer_to_read(frame, examination_request(sides), "Examine with {}", what)


def offer_to_read(
    frame: Frame, asked: Iterable[ProviderMessage], label: str, what: str
) -> ReadingOffer | None:
    """Return what having a model read `what` would do, which is `asked` in one request; None if nobody can be asked.

    `label` has the place of the model's name.
    """
    name = examiner(frame.forky.store, frame.forky.models, frame.chat.rules.current)
    model = offered_model(frame.forky, name) if name is not None else None
    if name is None or model is None or why_only_reads(frame.chat):
        return None
    info = model.info()
    sent = sum(model.count_tokens(str(one.get("content", ""))) for one in asked)
    price = AskingPrice(Calls(sent, min(sent, MOST_ANSWERED))).priced(info, info)
    return ReadingOffer(
        name,
        f"{label.format(info.label[:60])} · {price}",
        f"It is sent {what}, about {sent:,} tokens, in one request. What it finds is kept.",
    )


def _who_looked(frame: Frame, plan: MergePlan) -> str:
    """Say who has looked for conflicts, and what came of it."""
    if plan.examined_by:
        name = plain_label(label_of(frame.forky.models, plan.examined_by), 60)
        named = count(len(plan.conflicts), "conflict") if plan.conflicts else "no conflict"
        return f":material/fact_check: {name} has read them side by side and named {named}."
    found = " What is shown is only possible: rules found it." if plan.conflicts else ""
    return f":material/help: **Not examined by a model.** Rules compare plain sentences, and miss most disagreements.{found}"


def draw_examination(
    frame: Frame,
    plan: MergePlan,
    running: RunningExamination | None,
    failed: str,
    tell: Callable[[RunningExamination | None], None],
) -> None:
    """Say who has looked for conflicts in a plan, and offer what can be pressed; `tell` stores what is running.

    Keys: `merge.examine`, `merge.examine_cancel`.
    """
    if sum(bool(side.said) for side in plan.compared) < 2:
        st.caption("Nothing was said on one side since they parted, so that nothing can conflict.")
        return
    with st.container(key="line-merge-examine", horizontal=True, vertical_alignment="center"):
        if running is not None:
            draw_reading(running, tell, "Reading them side by side …", "merge.examin")
            return
        st.markdown(_who_looked(frame, plan), width="stretch")
        offered = offer(frame, plan.compared) if not plan.examined_by else None
        if offered is None and not plan.examined_by:
            st.caption(NO_MODEL, width="content")
        if offered is not None:
            st.button(
                plain_label(offered.label),
                key="merge.examine",
                icon=":material/fact_check:",
                help=offered.sent,
                on_click=lambda: tell(begin(frame.chat, plan)),
            )
    if failed:
        st.caption(f":material/error: {plain_label(failed, 400)}")


def draw_reading(
    running: RunningExamination, tell: Callable[[RunningExamination | None], None], said: str, key: str
) -> None:
    """Say that a model reads, until it has, with a way to stop it. Keys: `<key>ing`, `<key>e_cancel`."""

    @st.fragment(run_every=0.4, key=f"{key}ing")
    @error_boundary
    def watch() -> None:
        if running.future.done():
            st.rerun()
        with st.container(
            key=f"line-{key.replace('.', '-')}ing", horizontal=True, vertical_alignment="center"
        ):
            st.markdown(f":material/hourglass_top: {said}", width="stretch")
            quiet_button("Never mind", f"{key}e_cancel", _cancel, running, tell)

    watch()


def _cancel(running: RunningExamination, tell: Callable[[RunningExamination | None], None]) -> None:
    running.stop.set()
    tell(None)
