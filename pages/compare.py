"""Compare: branches or answers side by side as a surface to read, one question to all of them, and the winner goes on.

The URL says which, in which order, and which one the others are compared with (`?c=…&b=…&with=main,debug&pin=main`), so
that a comparison can be kept and sent.

The frame is the place that the address names, the view model is a comparison of sides (views/sides.py,
views/compare.py), and pages/ui/compare draws it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import streamlit as st

from forky_core.conversation.replies.asking_around import ReplyAttempt
from forky_core.model import Branch, MessageId
from forky_core.model.errors import ForkyError
from forky_core.views.compare import Comparison, compare
from forky_core.views.listed import without_cells
from forky_core.views.shelf import count
from forky_core.views.sides import MOST_SIDES, Side, all_sides, first_sides, read_sides, written
from pages.ui.compare.fusing import draw_fusion
from pages.ui.compare.surface import draw_surface, follow_links
from pages.ui.components.live_updates import hear_moves
from pages.ui.components.markdown import plain_label
from pages.ui.components.only_reading import draw_refusal, edits, may_write, why_only_reads
from pages.ui.components.palette import palette
from pages.ui.components.undoing import page_top
from pages.ui.frame import Frame, locate, place, saying
from pages.ui.made_pages import linked
from pages.ui.page import Page
from pages.ui.streamlit_patches.navigation import lead

PAGE = Page(title="Compare", icon="view_column_2", order=20)

_SIDES = "compare.sides"
_MODELS = "compare.models"
_WHOM = "compare.whom"
_ASKED = "compare.asked"
"""Which question was asked last: the columns go to it once for each."""
_NAMED = 4
"""Columns from which on the field to ask in says their number and no names."""
_HEADS = "compare.heads"
"""The conversation, and the heads of what was shown last."""
_STYLE = """<style>
[data-testid="stVerticalBlock"]:has(> .st-key-compare-ask-box),
[data-testid="stLayoutWrapper"]:has(> .st-key-compare-ask-box) { position: sticky; bottom: 0; z-index: 5; }
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"]:has(> .st-key-compare-ask-box) {
  position: static; }
.st-key-compare-ask-box { background: GROUND; padding: .1rem 0 .5rem; }
.stMainBlockContainer:has(.st-key-compare-ask-box) { padding-bottom: 0; }
.st-key-line-compare-choose { min-height: 2.1rem; }
@media (min-width: 641px) { .st-key-line-compare-choose { padding-right: 12rem; } }
@media (max-width: 640px) { .st-key-line-compare-choose > :last-child { order: -1; flex-basis: 100%; } }
</style>"""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What this run compares, as its handlers saw it."""

    frame: Frame
    sides: tuple[Side, ...]


def main() -> None:
    frame = locate()
    if frame is None:
        st.info("There is no conversation yet. Begin one on the Chat page, then start a branch to compare.")
        st.page_link(linked("chat.py"), label="Go to Chat", icon=":material/account_tree:")
        return
    follow_links(frame)
    page_top(frame.chat.title or "Untitled", frame.forky, frame.session, frame.chat)
    hear_moves(frame.chat, version=frame.chat.view.version)
    chosen = Chosen(frame, _sides(frame))
    st.html(_STYLE.replace("GROUND", palette().background))
    if len(chosen.sides) < 2:
        _choose(chosen)
        _nothing_to_compare(frame)
    else:
        found = _comparison(chosen)
        if not frame.chat.replies.running:
            for note in found.notes:
                st.caption(f":material/info: {plain_label(note, 300)}")
        _choose(chosen)
        asked = frame.session.choices.get(_ASKED, "")
        draw_surface(frame, found, lambda sides: show(sides, frame), asked)
        draw_fusion(frame, found)
    if not draw_refusal(_why_not_ask(chosen)):
        _ask_box(chosen)


def _sides(frame: Frame) -> tuple[Side, ...]:
    view, visible = frame.chat.view, frame.chat.visible
    words = st.query_params.get_all("with")
    if not words:
        marks = (frame.session.mark_a, frame.session.mark_b)
        first = first_sides(
            without_cells(view, {frame.chat.branch_name}, visible.messages),
            visible,
            frame.chat.branch_name,
            frame.chat.calls.origins_on,
            marks,
        )
        if len(first) > 1:
            # From here on the link says it, so that a branch that is deleted takes nothing away that is being read.
            st.query_params["with"] = written(first)
        return _kept(first, frame)
    sides, unknown = read_sides(words, view, visible, _left(frame))
    for name in unknown:
        still = " What was read of it stays here." if any(one.key == name for one in sides) else ""
        st.caption(f"“{plain_label(name)}” is not in this conversation any more.{still}")
    return _kept(sides, frame)


def _left(frame: Frame) -> dict[str, MessageId]:
    """The heads of the branches that this tab compared last, as far as their messages can still be read."""
    of, heads = st.session_state.get(_HEADS, ("", {}))
    if of != frame.chat.id:
        return {}
    found: dict[str, MessageId] = {}
    for name, head in heads.items():
        with suppress(ForkyError):
            frame.chat.path(head)
            found[name] = head
    return found


def _kept(sides: tuple[Side, ...], frame: Frame) -> tuple[Side, ...]:
    """Remember what is shown, so that a branch that is deleted meanwhile can be read to its end."""
    st.session_state[_HEADS] = (
        frame.chat.id,
        {side.key: side.head for side in sides if side.head is not None},
    )
    return sides


def _comparison(chosen: Chosen) -> Comparison:
    chat = chosen.frame.chat
    return compare(chosen.sides, chat.visible, chat.calls.generations, chat.path, chat.branches.origin)


def _choose(chosen: Chosen) -> None:
    """Which to compare, and whom a question goes to."""
    frame = chosen.frame
    offered = {side.key: side for side in (*chosen.sides, *_offered(frame))}
    st.session_state[_SIDES] = [side.key for side in chosen.sides]
    alone = len(chosen.sides) < 2
    # Said at each run, or what is behind the closed chip would not hear of it.
    st.session_state[_WHOM] = st.session_state.get(_WHOM) or ("models" if alone else "columns")
    with st.container(key="line-compare-choose", horizontal=True, vertical_alignment="center"):
        label = "Choose columns" if alone else count(len(chosen.sides), "column")
        with st.popover(label, icon=":material/view_column_2:", key="compare.choose"):
            st.multiselect(
                "Compare",
                list(offered),
                format_func=lambda key: offered[key].label if key in offered else key,
                key=_SIDES,
                max_selections=MOST_SIDES,
                placeholder="Choose branches or answers",
                on_change=_show_chosen,
                args=(frame, offered),
            )
            if why_only_reads(frame.chat):
                st.session_state[_WHOM] = "columns"
            else:
                _choose_whom(frame)
            if st.session_state[_WHOM] == "models" and not alone:
                _choose_models(frame)
        st.caption("Read answers side by side, and go on with the better one.")
    if st.session_state[_WHOM] == "models" and alone:
        _choose_models(frame)


def _choose_whom(frame: Frame) -> None:
    st.segmented_control(
        "A question goes to",
        ["columns", "models"],
        format_func=lambda value: "All columns" if value == "columns" else "Several models",
        key=_WHOM,
        required=True,
        help="All columns: each branch is asked the same and answers with its own model. "
        f"Several models: each gets a new branch from “{plain_label(frame.chat.branch_name)}”.",
    )


def _offered(frame: Frame) -> tuple[Side, ...]:
    visible = frame.chat.visible
    listed = without_cells(frame.chat.view, {frame.chat.branch_name}, visible.messages)
    return all_sides(listed, visible, frame.at)


def _show_chosen(frame: Frame, offered: dict[str, Side]) -> None:
    show([offered[key] for key in st.session_state[_SIDES]], frame)


def show(sides: Sequence[Side], frame: Frame) -> None:
    """In a handler: make the URL say which sides are compared."""
    params: dict[str, str | list[str]] = {**place(frame.chat)}
    if sides:
        params["with"] = written(sides)
    pinned = st.query_params.get("pin")
    if pinned in {side.key for side in sides}:
        params["pin"] = pinned
    lead(params)


def _choose_models(frame: Frame) -> None:
    infos = {info.name: info for info in frame.forky.models.models()}
    if _MODELS not in st.session_state:
        st.session_state[_MODELS] = list(infos)[:2]
    st.session_state[_MODELS] = [name for name in st.session_state[_MODELS] if name in infos]
    st.multiselect(
        "Models to ask",
        list(infos),
        format_func=lambda name: f"{infos[name].label} · {infos[name].provider}" if name in infos else name,
        key=_MODELS,
        max_selections=MOST_SIDES,
        placeholder="Choose the models that should answer",
    )


def _nothing_to_compare(frame: Frame) -> None:
    with st.container(border=True):
        if len(frame.chat.branches) > 1:
            st.markdown("Choose a second branch above, or put one question to several models below.")
        else:
            st.markdown(
                "This conversation has one branch. Start a branch on the Chat page, or put one question to several "
                "models below: each answers on a branch of its own, side by side."
            )


def _why_not_ask(chosen: Chosen) -> str:
    """Why the reader can ask nothing here, as a sentence; "" if they can."""
    chat = chosen.frame.chat
    if why := why_only_reads(chat):
        return why
    named = [side.branch for side in chosen.sides if side.branch is not None and not side.gone]
    others = [branch for branch in named if not may_write(chat, branch)]
    if st.session_state[_WHOM] == "models":
        return "" if edits(chat) else "Several models are asked by editors of this conversation."
    if not others:
        return ""
    return f"You cannot change “{others[0]}” directly. Start a branch in Chat, and compare your branches."


def _ask_box(chosen: Chosen) -> None:
    to_models = st.session_state[_WHOM] == "models"
    if to_models:
        number = len(st.session_state.get(_MODELS, ()))
        hint = f"Ask {number} models, each on its own branch from {chosen.frame.chat.branch_name}"
    else:
        names = [side.label for side in chosen.sides if not side.gone]
        hint = f"Ask {', '.join(names)}" if len(names) < _NAMED else f"Ask all {len(names)} columns"
    # In a container, or Streamlit would open the page at its end.
    with st.container(key="compare-ask-box"):
        st.chat_input(
            hint,
            key="compare.ask",
            max_chars=200_000,
            disabled=not (to_models or chosen.sides),
            on_submit=_ask_models if to_models else _ask_columns,
            args=(chosen,),
        )


def _ask_columns(chosen: Chosen) -> None:
    frame, text = chosen.frame, st.session_state["compare.ask"]
    branches = frame.chat.view.branches
    seen = [
        Branch(side.branch, side.head, branches[side.branch].rules)
        for side in chosen.sides
        if side.branch is not None and side.branch in branches
    ]
    loose = [side for side in chosen.sides if side.branch is None and not side.gone]
    with saying(frame.session):
        asked = frame.chat.ask_all(text, seen, forks_at=[side.head for side in loose if side.head])
        _tell(frame, asked)
        made = iter(asked[len(seen) :])
        names = [next(made).branch if side in loose else side.key for side in chosen.sides if not side.gone]
        show(_named(frame, names), frame)


def _ask_models(chosen: Chosen) -> None:
    frame, text = chosen.frame, st.session_state["compare.ask"]
    with saying(frame.session):
        asked = frame.chat.ask_models(text, st.session_state.get(_MODELS, []))
        _tell(frame, asked)
        show(_named(frame, [one.branch for one in asked]), frame)
        st.session_state[_WHOM] = "columns"


def _tell(frame: Frame, asked: Sequence[ReplyAttempt]) -> None:
    frame.session.choices[_ASKED] = f"asked {frame.chat.view.version}"
    refused = [f"“{one.branch}” was not asked: {one.error}" for one in asked if one.error is not None]
    if refused:
        frame.session.say(" ".join(refused))


def _named(frame: Frame, names: Sequence[str]) -> list[Side]:
    view = frame.chat.view
    return [Side(name, name, name, view.branch(name).head) for name in names if name in view.branches]


main()
