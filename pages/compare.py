"""Compare: two to four branches or answers side by side, one question to all of them, and the winner goes on.

The URL says which (`?c=…&b=…&with=main,debug`), so that a comparison can be kept and sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from forky_core.conversation.replies.asking_around import ReplyAttempt
from forky_core.model import Branch
from forky_core.views.compare import Comparison, compare
from forky_core.views.sides import MOST_SIDES, Side, all_sides, first_sides, read_sides, written
from pages.ui.chat.acts import hear_acts
from pages.ui.compare.columns import draw_columns
from pages.ui.components.markdown import plain_label
from pages.ui.components.palette import palette
from pages.ui.components.undoing import page_top
from pages.ui.frame import Frame, leave, locate, place, saying
from pages.ui.page import Page

PAGE = Page(title="Compare", icon="view_column_2", order=20)

_SIDES = "compare.sides"
_MODELS = "compare.models"
_WHOM = "compare.whom"
_ASKED = "compare.asked"
"""Which question was asked last: the page goes to its end once for each."""
_STICKY = """<style>
[data-testid="stVerticalBlock"]:has(> .st-key-compare-ask-box),
[data-testid="stLayoutWrapper"]:has(> .st-key-compare-ask-box) { position: sticky; bottom: 0; z-index: 5; }
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"]:has(> .st-key-compare-ask-box) {
  position: static; }
.st-key-compare-ask-box { background: GROUND; padding: .3rem 0 .6rem; }
</style>"""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What this run compares, as its handlers saw it."""

    frame: Frame
    sides: tuple[Side, ...]


def main() -> None:
    frame = locate()
    if frame is None:
        st.info("There is no conversation yet. Begin one on the Chat page, then fork it to compare.")
        st.page_link("chat.py", label="Go to Chat", icon=":material/account_tree:")
        return
    leave(frame)
    page_top(frame.chat.title or "Untitled", frame.forky, frame.session, frame.chat)
    chosen = Chosen(frame, _sides(frame))
    _choose(chosen)
    if len(chosen.sides) < 2:
        _nothing_to_compare(frame)
    else:
        draw_columns(frame, _comparison(chosen))
    _ask_box(chosen)
    _go_to_what_was_asked(frame)


def _go_to_what_was_asked(frame: Frame) -> None:
    """Once for each question, and never because the page was opened again."""
    if "compare.acts" not in st.session_state:
        frame.session.choices.pop(_ASKED, None)
    asked = frame.session.choices.get(_ASKED, "")
    writing = bool(frame.chat.replies)
    hear_acts(
        lambda _: None, key="compare.acts", place=asked, at="", end=True, follow=writing, copied=(0, "")
    )


def _sides(frame: Frame) -> tuple[Side, ...]:
    view, visible = frame.chat.view, frame.chat.visible
    words = st.query_params.get_all("with")
    if not words:
        marks = (frame.session.mark_a, frame.session.mark_b)
        return first_sides(view, visible, frame.chat.branch_name, marks)
    sides, unknown = read_sides(words, view, visible)
    for name in unknown:
        st.caption(f"“{plain_label(name)}” is not in this conversation any more.")
    return sides


def _comparison(chosen: Chosen) -> Comparison:
    chat = chosen.frame.chat
    return compare(chosen.sides, chat.visible, chat.generations, chat.path)


def _choose(chosen: Chosen) -> None:
    """Which to compare, and whom a question goes to."""
    frame = chosen.frame
    offered = {side.key: side for side in (*chosen.sides, *_offered(frame))}
    st.session_state[_SIDES] = [side.key for side in chosen.sides]
    what, whom = st.columns([3, 2], vertical_alignment="top")
    with what:
        st.multiselect(
            "Compare",
            list(offered),
            format_func=lambda key: offered[key].label if key in offered else key,
            key=_SIDES,
            max_selections=MOST_SIDES,
            placeholder="Choose two to four branches or answers",
            on_change=_show_chosen,
            args=(frame, offered),
        )
    with whom:
        alone = len(chosen.sides) < 2
        st.session_state.setdefault(_WHOM, "models" if alone else "columns")
        st.segmented_control(
            "A question goes to",
            ["columns", "models"],
            format_func=lambda value: "All columns" if value == "columns" else "Several models",
            key=_WHOM,
            required=True,
            help="All columns: each branch is asked the same and answers with its own model. "
            f"Several models: “{plain_label(frame.chat.branch_name)}” is forked once for each model.",
        )
    if st.session_state[_WHOM] == "models":
        _choose_models(frame)


def _offered(frame: Frame) -> tuple[Side, ...]:
    return all_sides(frame.chat.view, frame.chat.visible, frame.at)


def _show_chosen(frame: Frame, offered: dict[str, Side]) -> None:
    show([offered[key] for key in st.session_state[_SIDES]], frame)


def show(sides: Sequence[Side], frame: Frame) -> None:
    """Make the URL say which sides are compared."""
    params: dict[str, str | list[str]] = {**place(frame.chat)}
    if sides:
        params["with"] = written(sides)
    st.query_params.from_dict(params)


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
                "This conversation has one branch. Fork it on the Chat page, or put one question to several "
                "models below: each answers on a branch of its own, side by side."
            )


def _ask_box(chosen: Chosen) -> None:
    to_models = st.session_state[_WHOM] == "models"
    if to_models:
        number = len(st.session_state.get(_MODELS, ()))
        hint = f"Ask {number} models, each on its own branch from {chosen.frame.chat.branch_name}"
    else:
        hint = f"Ask {', '.join(side.label for side in chosen.sides)}"
    st.html(_STICKY.replace("GROUND", palette().background))
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
    branches = frame.chat.branches
    seen = [
        Branch(side.branch, side.head, branches[side.branch].rules)
        for side in chosen.sides
        if side.branch is not None and side.branch in branches
    ]
    loose = [side for side in chosen.sides if side.branch is None]
    with saying(frame.session):
        asked = frame.chat.ask_all(text, seen, forks_at=[side.head for side in loose if side.head])
        _tell(frame, asked)
        made = iter(asked[len(seen) :])
        names = [next(made).branch if side in loose else side.key for side in chosen.sides]
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
