"""Compare: branches or answers side by side as a surface to read, one question to all of them, and the winner goes on.

The URL says which, in which order, and which one the others are compared with (`?c=…&b=…&with=main,debug&pin=main`), so
that a comparison can be kept and sent.

The frame is the place that the address names, the view model is a comparison of sides (views/sides.py,
views/compare.py), and pages/ui/compare draws it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from forky_core.conversation.replies.asking_around import ReplyAttempt
from forky_core.model import Branch, MessageId
from forky_core.model.errors import ForkyError
from forky_core.model.model_names import together
from forky_core.views.compare import Comparison, compare
from forky_core.views.listed import without_cells
from forky_core.views.shelf import title_or_placeholder
from forky_core.views.sides import (
    MOST_SIDES,
    Side,
    all_sides,
    are_one_line,
    first_sides,
    model_answering,
    read_sides,
    written,
)
from pages.ui.compare.fusing import draw_fusion
from pages.ui.compare.surface import draw_surface
from pages.ui.components.choices import choose_one
from pages.ui.components.links import page_link
from pages.ui.components.live_updates import hear_moves
from pages.ui.components.markdown import plain_label
from pages.ui.components.models import grouped, label_of, model_title
from pages.ui.components.only_reading import draw_refusal, edits, may_write, why_only_reads
from pages.ui.components.palette import palette
from pages.ui.components.undoing import page_top
from pages.ui.frame import Frame, locate, place, saying
from pages.ui.keeping.fields import kept_fields
from pages.ui.page import Page
from pages.ui.streamlit_patches.navigation import lead
from pages.ui.streamlit_patches.renewing import anew

PAGE = Page(title="Compare", icon="view_column_2", order=20)
SENTENCE = "Read answers side by side, and go on with the better one."

_SIDES = "compare.sides"
_ADD = "compare.add"
_MODELS = "compare.models"
_WHOM = "compare.whom"
_ASK = "compare.ask"
_ASKED = "compare.asked"
"""Which question was asked last: the columns go to it once for each."""
_NAMED = 4
"""How many are asked from which on the field says their number and no names."""
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
@media (min-width: 641px) { .st-key-line-compare-choose { padding-right: 12rem; } [data-testid=stLayoutWrapper]:has(> .st-key-compare-back) { display: none; } }
@media (max-width: 640px) { .st-key-line-compare-choose > :has(> .st-key-compare-back, > [data-testid=stMarkdown]) { order: -1; }
  .st-key-line-compare-choose > :has(> [data-testid=stMarkdown]) { flex: 1 1 75%; } }
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
        page_link("chat.py", "Go to Chat", icon="account_tree")
        return
    page_top(title_or_placeholder(frame.chat.title), frame.forky, frame.session, frame.chat)
    hear_moves(frame.chat, version=frame.chat.view.version)
    chosen = Chosen(frame, _sides(frame))
    st.html(_STYLE.replace("GROUND", palette().background))
    if len(chosen.sides) < 2:
        _begin(chosen)
        return
    found = _comparison(chosen)
    _choose(chosen)
    draw_surface(frame, found, lambda sides: show(sides, frame), frame.session.choices.get(_ASKED, ""))
    draw_fusion(frame, found)
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
        if marks == (None, None) and are_one_line(first, visible):
            return ()
        if len(first) > 1 and "c" in st.query_params:
            # From here on the link says it, so that a branch that is deleted takes nothing away that is being read.
            # Where the navigation led here the browser says it (surface.js): one step back is the page before.
            st.query_params["with"] = written(first)
        return _kept(_titled(first, frame), frame)
    sides, unknown = read_sides(words, view, visible, _left(frame))
    for name in unknown:
        still = " What was read of it stays here." if any(one.key == name for one in sides) else ""
        st.caption(f"“{plain_label(name)}” is not in this conversation any more.{still}")
    return _kept(_titled(sides, frame), frame)


def _titled(sides: Sequence[Side], frame: Frame) -> tuple[Side, ...]:
    """Return the sides, with the model in the name of each that was made by asking it, and of each single answer."""
    label, origins = partial(label_of, frame.forky.models), frame.chat.calls.origins_on(None)

    def titled(side: Side) -> Side:
        if side.branch:
            title = model_answering(side.key, frame.chat.view)
            return replace(side, label=f"{label(title[0])}{title[1]}") if title else side
        models = origins.of(side.head).models if side.head is not None and not side.gone else ()
        return replace(side, label=f"{together(map(label, models))}, {side.label}") if models else side

    return tuple(map(titled, sides))


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


def _begin(chosen: Chosen) -> None:
    """Offer the two ways to something that can be compared."""
    frame = chosen.frame
    st.caption(SENTENCE)
    if not why_only_reads(frame.chat):
        with st.container(border=True, gap="small"):
            st.markdown("**Ask several models**")
            st.caption("One question to all of them; each answers in a column of its own.")
            _choose_models(frame)
            _ask_box(chosen)
    with st.container(border=True, gap="small"):
        st.markdown("**Compare branches**")
        offered = {side.key: side for side in _offered(frame)}
        if len(offered) < 2:
            st.caption("This conversation has one branch. Start a branch on the Chat page to have two.")
            return
        st.caption("Choose two or more; what they have in common is shown once.")
        st.multiselect(
            "Branches and answers to compare",
            list(offered),
            format_func=lambda key: offered[key].label if key in offered else key,
            key=_SIDES,
            max_selections=MOST_SIDES,
            label_visibility="collapsed",
            placeholder="Choose branches or answers",
            on_change=_show_chosen,
            args=(frame, offered),
        )


def _choose(chosen: Chosen) -> None:
    """Draw the line above the columns: the way back on a phone, and what can be added."""
    frame = chosen.frame
    shown = [side.key for side in chosen.sides]
    offered = {side.key: side for side in _offered(frame) if side.key not in shown}
    with st.container(key="line-compare-choose", horizontal=True, vertical_alignment="center"):
        with st.container(key="compare-back", width="content"):
            page_link("chat.py", "Chat", place(frame.chat), icon="arrow_back")
        if offered and len(shown) < MOST_SIDES:
            key = anew(_ADD, "\n".join(shown))
            st.selectbox(
                "Add a column",
                list(offered),
                index=None,
                format_func=lambda key: offered[key].label if key in offered else key,
                key=key,
                label_visibility="collapsed",
                placeholder="Add a column",
                width=190,
                on_change=_add,
                args=(chosen, offered, key),
            )
        st.caption(SENTENCE)


def _add(chosen: Chosen, offered: dict[str, Side], key: str) -> None:
    show([*chosen.sides, *filter(None, [offered.get(st.session_state[key])])], chosen.frame)


def _offered(frame: Frame) -> tuple[Side, ...]:
    visible = frame.chat.visible
    listed = without_cells(frame.chat.view, {frame.chat.branch_name}, visible.messages)
    return _titled(all_sides(listed, visible, frame.at), frame)


def _show_chosen(frame: Frame, offered: dict[str, Side]) -> None:
    chosen = [offered[key] for key in st.session_state[_SIDES]]
    if len(chosen) > 1:
        show(chosen, frame)


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
    infos = grouped(frame.forky.models)
    if _MODELS not in st.session_state:
        st.session_state[_MODELS] = list(infos)[:2]
    st.session_state[_MODELS] = [name for name in st.session_state[_MODELS] if name in infos]
    st.multiselect(
        "Models to ask",
        list(infos),
        format_func=lambda name: model_title(infos.get(name), name),
        key=_MODELS,
        max_selections=MOST_SIDES,
        label_visibility="collapsed",
        placeholder="Choose the models that should answer",
    )


def _why_not_ask(chosen: Chosen, *, to_models: bool) -> str:
    """Why the reader can ask nothing here, as a sentence; "" if they can."""
    chat = chosen.frame.chat
    if why := why_only_reads(chat):
        return why
    named = [side.branch for side in chosen.sides if side.branch is not None and not side.gone]
    others = [branch for branch in named if not may_write(chat, branch)]
    if to_models:
        return "" if edits(chat) else "Several models are asked by editors of this conversation."
    if not others:
        return ""
    return f"You cannot change “{others[0]}” directly. Start a branch in Chat, and compare your branches."


def _choose_whom(frame: Frame) -> str:
    """Return who is asked: the columns, each with its own model, or models, each on a new branch."""
    with st.container(key="line-compare-whom", horizontal=True, vertical_alignment="center"):
        whom = choose_one(
            "A question goes to",
            {"columns": "Ask in every column", "models": "Ask in new columns"},
            anew(_WHOM, frame.session.choices.get(_ASKED, "")),
        )
        if whom == "models":
            _choose_models(frame)
    return whom


def _ask_box(chosen: Chosen) -> None:
    # In a container, or Streamlit would open the page at its end.
    with st.container(key="compare-ask-box"):
        reads = why_only_reads(chosen.frame.chat)
        to_models = len(chosen.sides) < 2 or (not reads and _choose_whom(chosen.frame) == "models")
        if to_models:
            names = [label_of(chosen.frame.forky.models, name) for name in st.session_state[_MODELS]]
        else:
            names = [side.label for side in chosen.sides if not side.gone]
        what = ", ".join(names) if len(names) < _NAMED else f"all {len(names)}"
        if not draw_refusal(_why_not_ask(chosen, to_models=to_models)):
            ask = _ask_models if to_models else _ask_columns
            with kept_fields("ask", chosen.frame.chat.id):
                st.chat_input(f"Ask {what}", key=_ASK, on_submit=_ask, args=(chosen, ask))


def _ask(chosen: Chosen, ask: Callable[[Chosen, str], list[Side]]) -> None:
    """What is not asked stands in the field again."""
    text, asked = st.session_state[_ASK], False
    with saying(chosen.frame.session):
        show(ask(chosen, text), chosen.frame)
        asked = True
    if not asked:
        st.session_state[_ASK] = text


def _ask_columns(chosen: Chosen, text: str) -> list[Side]:
    frame = chosen.frame
    branches = frame.chat.view.branches
    seen = [
        Branch(side.branch, side.head, branches[side.branch].rules)
        for side in chosen.sides
        if side.branch is not None and side.branch in branches
    ]
    loose = [side for side in chosen.sides if side.branch is None and not side.gone]
    asked = frame.chat.ask_all(text, seen, forks_at=[side.head for side in loose if side.head])
    _tell(frame, asked)
    made = iter(asked[len(seen) :])
    names = [next(made).branch if side in loose else side.key for side in chosen.sides if not side.gone]
    return _named(frame, names)


def _ask_models(chosen: Chosen, text: str) -> list[Side]:
    asked = chosen.frame.chat.ask_models(text, st.session_state.get(_MODELS, []))
    _tell(chosen.frame, asked)
    return _named(chosen.frame, [one.branch for one in asked])


def _tell(frame: Frame, asked: Sequence[ReplyAttempt]) -> None:
    frame.session.choices[_ASKED] = f"asked {frame.chat.view.version}"
    refused = [f"“{one.branch}” was not asked: {one.error}" for one in asked if one.error is not None]
    if refused:
        frame.session.say(" ".join(refused))


def _named(frame: Frame, names: Sequence[str]) -> list[Side]:
    view = frame.chat.view
    return [Side(name, name, name, view.branch(name).head) for name in names if name in view.branches]


main()
