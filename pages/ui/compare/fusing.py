"""The panel at the side of Compare: one answer made from several to one question, read before it lands (law 8).

The URL says which answers, on which branch and who writes (`…&fuse=3f2a91,77c01b&on=main&by=model`); choosing other
columns to compare closes the panel. The same panel joins parts that were ticked. The columns stay visible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from forky_core.merge.conflicts.conflict import Choice
from forky_core.merge.fuse import FusePlan
from forky_core.merge.picked_parts import PickedPart
from forky_core.model import MessageId
from forky_core.model.errors import ForkyError, Outdated
from forky_core.model.payload_kinds import FUSION
from forky_core.views.answers.blocks import AnswerBlock
from forky_core.views.compare import Comparison, TurnRow
from forky_core.views.shelf import count
from pages.ui.components.buttons import main_button, quiet_button
from pages.ui.components.markdown import plain_label, showable
from pages.ui.components.models import choose_model
from pages.ui.components.notice import done
from pages.ui.components.palette import palette
from pages.ui.frame import Frame, open_chat, saying
from pages.ui.merge.choices import want
from pages.ui.merge.examining import draw_examination
from pages.ui.merge.planning import MergeAddress, Planning, planned_again, planning_for
from pages.ui.merge.preview import draw_payload
from pages.ui.merge.writing import draw_writing
from pages.ui.wording import bare

_DIGITS = 12
"""How many digits of an answer's id are in the URL."""
_MOST_SETTLED = 12
"""How many conflicts are drawn with a choice."""
PICKED = "picked"
"""The value in the URL, instead of answers, for parts that this tab has ticked."""
_PARTS = "compare.parts"
_STYLE = """<style>
.st-key-compare-fusion { position: fixed; top: 3.75rem; right: 0; bottom: 0; width: min(30rem, 100vw); z-index: 90; overflow: auto;
  padding: .8rem 1.1rem 1.2rem; background: var(--st-background-color, GROUND); border-left: 1px solid color-mix(in srgb, currentColor 16%, transparent);
  box-shadow: -8px 0 26px rgb(0 0 0 / .12); }
[data-testid="stLayoutWrapper"]:has(> .st-key-compare-fusion) { position: static; }
@media (min-width: 1000px) { .stMainBlockContainer:has(.st-key-compare-fusion) { padding-right: 32rem; } }
@media (max-width: 640px) { .st-key-compare-fusion { top: auto; height: 72dvh; border-top: 1px solid color-mix(in srgb, currentColor 22%, transparent); } }
</style>"""


@dataclass(frozen=True, slots=True)
class Part:
    """A block of an answer that was ticked."""

    message: MessageId
    number: int
    blocks: tuple[AnswerBlock, ...]
    """All blocks of the answer."""

    def picked(self) -> PickedPart:
        """Return the part for the joined text: an item of a list stays one, a row of a table gets its head."""
        block = self.blocks[self.number]
        if block.kind == "row":
            head = next(one for one in self.blocks if one.table == block.table)
            return PickedPart(self.message, block.source, head.source)
        inner = block.inside[-1].tag if block.inside else ""
        begins = {"li": "- ", "quote": "> "}.get(inner, "") if block.kind == "paragraph" else ""
        return PickedPart(self.message, begins + block.source.replace("\n", "\n" + " " * len(begins)))


def open_fusion(row: TurnRow) -> None:
    """Open the fusion of a row's answers, or close it if it is open. Call it in a handler."""
    ids = _written([answer.id for answer in row.rivals])
    opened = not ids or st.query_params.get("fuse") == ids
    st.session_state.pop(_PARTS, None)
    want(fuse=None if opened else ids, on=None)


def open_parts(frame: Frame, parts: Sequence[Part]) -> None:
    """Open the panel that joins these parts into one answer. Call it in a handler."""
    st.session_state[_PARTS] = tuple(part.picked() for part in parts)
    if st.query_params.get("fuse") != PICKED:
        want(fuse=PICKED, on=None)
    frame.session.fusing = None


def close_fusion(frame: Frame) -> None:
    """Close the panel. Call it in a handler."""
    frame.session.fusing = None
    st.session_state.pop(_PARTS, None)
    want(fuse=None, on=None)


def draw_fusion(frame: Frame, found: Comparison) -> None:
    """Draw the panel that the URL asks for.

    Keys: `compare.fuse_on`, `compare.fuse_by`, `compare.fuse_land`, `compare.fuse_best`, `compare.fuse_close`,
    `compare.settle.<n>`, `merge.edit` ….
    """
    wanted = st.query_params.get("fuse", "")
    parts: tuple[PickedPart, ...] = st.session_state.get(_PARTS, ()) if wanted == PICKED else ()
    answers = tuple(dict.fromkeys(part.message for part in parts)) or next(
        (
            tuple(answer.id for answer in row.rivals)
            for row in found.rows
            if row.rivals and _written([answer.id for answer in row.rivals]) == wanted
        ),
        (),
    )
    if not answers:
        return
    targets = _targets(frame, found, answers)
    target = st.query_params.get("on", "")
    if target not in frame.chat.branches:
        # From here on the URL names the branch, so that the preview stays when a branch moves.
        target = st.query_params["on"] = targets[0]
    targets = tuple(dict.fromkeys((*targets, target)))
    chat = frame.chat.checkout(target)
    writer = None if parts else st.query_params.get("by") or None
    options = MergeAddress(chat.id, target, target, FUSION.name, writer=writer, picks=answers, parts=parts)
    planning = frame.session.fusing = planning_for(frame.session.fusing, frame.forky, chat, options)
    here = Frame(frame.forky, frame.session, chat, frame.at)
    st.html(_STYLE.replace("GROUND", palette().background))
    with st.container(key="compare-fusion"):
        with st.container(key="line-compare-fusion-top", horizontal=True, vertical_alignment="center"):
            what = "The parts you chose" if parts else "One answer of these"
            st.markdown(f":material/merge_type: **{what}**", width="stretch")
            quiet_button("Close", "compare.fuse_close", close_fusion, frame, icon="close")
        st.caption("From then on the model reads it in their place; they all stay.")
        _draw_choices(here, options, targets)
        _draw_plan(here, planning, found)


def _targets(frame: Frame, found: Comparison, answers: Sequence[MessageId]) -> tuple[str, ...]:
    """Return the branches it can land on: those whose head is one of the answers, and the current one."""
    branches = frame.chat.view.branches
    at_answers = [
        column.side.branch
        for column in found.columns
        if column.side.branch in branches and column.side.head in answers
    ]
    mine = frame.chat.branch_name
    names = [name for name in at_answers if name is not None]
    return tuple(dict.fromkeys((mine, *names) if mine in names or not names else (*names, mine)))


def _draw_choices(here: Frame, options: MergeAddress, targets: tuple[str, ...]) -> None:
    on, by = st.columns(2)
    with on:
        st.session_state["compare.fuse_on"] = options.target
        st.selectbox(
            "On branch",
            targets,
            key="compare.fuse_on",
            format_func=lambda name: showable(name)[:60],
            on_change=lambda: want(on=st.session_state["compare.fuse_on"]),
        )
    if options.parts:
        return
    with by:
        choose_model(
            here.forky.models,
            "Written by",
            "compare.fuse_by",
            options.writer,
            none="By rule, no model",
            offline=False,
            follows=True,
            help="By rule: the answer that shares most with the others, then what only the others say; nothing is "
            "rewritten. A model writes one text of them, which is checked against them.",
            on_change=lambda: want(by=st.session_state["compare.fuse_by"]),
        )


def _draw_plan(here: Frame, planning: Planning, found: Comparison) -> None:
    if planning.sentence:
        st.markdown(f":material/info: {plain_label(planning.sentence, 300)}")
        return
    if planning.overtaken:
        st.markdown(f":material/sync_problem: {plain_label(planning.overtaken, 400)}")
        main_button("Plan again", "compare.fuse_again", _replan, here, planning, icon="refresh")
    shown = planning.plan or planning.quoted
    assert isinstance(shown, FusePlan)
    _draw_candidates(here, planning, shown, found)
    if planning.plan is None:
        draw_writing(here, planning)
        _draw_best(here, shown)
        return
    _draw_plan_facts(shown)
    draw_payload(here, planning, shown)
    with st.container(key="line-compare-fusion", horizontal=True):
        st.button(
            f"Put it on a new branch beside “{plain_label(planning.options.target, 30)}”"
            if shown.forks
            else f"Put it on “{plain_label(planning.options.target, 40)}”",
            key="compare.fuse_land",
            type="primary",
            icon=":material/merge_type:",
            disabled=bool(planning.overtaken),
            help="One operation, which Undo takes back",
            on_click=_land,
            args=(here, planning, shown),
        )
        _draw_best(here, shown)


def _draw_candidates(here: Frame, planning: Planning, plan: FusePlan, found: Comparison) -> None:
    """Draw which letter stands for which column, and the conflicts between the answers."""
    names = {
        turn.answers[0].message.id: column.side.label
        for row in found.rows
        for column, turn in zip(found.columns, row.turns, strict=True)
        if turn is not None and turn.answers
    }
    letters = (
        f"**{one.label}** is {plain_label(names.get(one.message.id, one.message.id), 50)}"
        for one in plan.candidates
    )
    st.caption(
        f"{' · '.join(letters)}. The order is drawn by lot, so that none is preferred for being first."
    )
    draw_examination(here, plan, planning.examination, planning.not_examined, planning.tell)
    if not plan.conflicts:
        return
    what = "conflict" if plan.examined_by else "possible conflict"
    st.markdown(f":material/call_split: **{count(len(plan.conflicts), what)}**")
    if planning.plan is not None and not plan.parts and not planning.by_model:
        _draw_settling(here, planning, plan)
        return
    for one in plan.unresolved:
        sides = "; ".join(f"{claim.side} says “{plain_label(bare(claim.text), 160)}”" for claim in one.says)
        st.markdown(f"- **{plain_label(one.about, 100)}**: {sides}")


def _draw_settling(here: Frame, planning: Planning, plan: FusePlan) -> None:
    """Ask which side of each conflict holds; a text by rule follows the choice. Keys: `compare.settle.<n>`."""
    for number, conflict in enumerate(plan.conflicts[:_MOST_SETTLED]):
        key = f"compare.settle.{number}"
        says = {name: words[0].text for name, words in conflict.by_side.items()}
        st.session_state[key] = conflict.choice.source if conflict.choice is not None else None
        st.radio(
            f"{plain_label(conflict.about, 100)}: which one holds?",
            list(says),
            key=key,
            format_func=partial(_side, says),
            on_change=_settle,
            args=(here, planning, plan, conflict.hash, key),
        )


def _side(says: Mapping[str, str], name: str) -> str:
    return f"{name}: {plain_label(bare(says[name]), 160)}"


def _settle(here: Frame, planning: Planning, plan: FusePlan, conflict: str, key: str) -> None:
    with saying(here.session):
        choice = Choice("theirs", source=st.session_state[key])
        planning.proposed = planning.plan = plan.resolved({conflict: choice})


def _draw_plan_facts(plan: FusePlan) -> None:
    if plan.badge:
        st.badge(plain_label(plan.badge), icon=":material/gpp_bad:", color="gray")
    for warning in plan.warnings:
        st.caption(f":material/info: {plain_label(warning, 300)}")
    if plan.block is not None and plan.block.made_by:
        of = count(len(plan.candidates), "answer")
        st.caption(f":material/edit_note: Written by {plain_label(plan.block.made_by, 60)} from {of}.")
    instead = "" if plan.forks else ", in place of the answer that stands there"
    st.markdown(f"**{plan.tokens:+,} tokens** to read with each question{instead}")


def _draw_best(here: Frame, plan: FusePlan) -> None:
    """Draw a button that takes the best answer unchanged."""
    if plan.parts:
        return
    st.button(
        f"Take {plan.best} as it is",
        key="compare.fuse_best",
        icon=":material/flag:",
        help=f"{plain_label(plan.why, 200)} “{plain_label(plan.target_name, 40)}” then points at it; nothing is written.",
        on_click=_take_best,
        args=(here, plan),
    )


def _take_best(here: Frame, plan: FusePlan) -> None:
    with saying(here.session):
        done(here.session, here.chat.branches.promote(plan.best_message))
        _close(here)
        open_chat(here.chat)


def _land(here: Frame, planning: Planning, plan: FusePlan) -> None:
    before = frozenset(here.chat.branches)
    try:
        operation = here.chat.merge(plan)
    except Outdated as error:
        planning.overtaken = error.message
    except ForkyError as error:
        here.session.say(str(error))
    else:
        done(here.session, operation)
        _close(here)
        made = [
            name
            for change in operation.changes
            if (name := change.key.removeprefix("heads/")) != change.key and name not in before
        ]
        open_chat(here.chat.checkout(made[0]) if made else here.chat)


def _close(here: Frame) -> None:
    here.session.fusing = None
    st.session_state.pop("merge.edit", None)


def _replan(here: Frame, planning: Planning) -> None:
    here.session.fusing = planned_again(planning, here.forky, here.chat, here.session.say)


def _written(ids: Sequence[MessageId]) -> str:
    return ",".join(sorted(id.removeprefix("b2:")[:_DIGITS] for id in ids))
