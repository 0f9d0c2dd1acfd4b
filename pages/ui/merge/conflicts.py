"""The conflicts of a three-way merge: what each side says, and what is to be taken. Nothing has to be."""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.session import short
from forky_core.merge.conflicts.conflict import LONGEST_WORD, Choice, Conflict, Take
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.model import MessageId
from forky_core.views.shelf import count
from pages.ui.components.markdown import plain_label
from pages.ui.frame import Frame, saying
from pages.ui.merge.choices import POLICIES, want
from pages.ui.merge.planning import Planning
from pages.ui.wording import bare

_OPEN = "open"
_VALUE = "value."
"""Before the number of a value, where it is chosen by itself."""
_SOURCE = "source."
"""Before the name of a branch, where several are merged at once."""
_MOST = 40
"""Conflicts drawn before a person asks for more."""


def draw_conflicts(frame: Frame, planning: Planning) -> None:
    """Keys: `merge.policy`, `merge.take.<n>`, `merge.words.<n>`."""
    plan = planning.plan
    if not isinstance(plan, ThreeWayPlan):
        return
    if not plan.conflicts:
        return
    left = len(plan.unresolved)
    with st.container(key="line-merge-conflicts", horizontal=True, vertical_alignment="center"):
        told = f"**{count(len(plan.conflicts), 'conflict' if plan.examined_by else 'possible conflict')}**"
        told += f", {left} still open. Nothing has to be decided now." if left else ", all settled"
        st.markdown(f":material/call_split: {told}", width="stretch")
        st.session_state["merge.policy"] = planning.options.policy
        st.selectbox(
            "Where they disagree",
            list(POLICIES),
            key="merge.policy",
            format_func=POLICIES.__getitem__,
            label_visibility="collapsed",
            width=230,
            on_change=lambda: want(policy=st.session_state["merge.policy"]),
        )
    for number, conflict in enumerate(plan.conflicts[:_MOST]):
        _draw_conflict(frame, planning, plan, number, conflict)
    if len(plan.conflicts) > _MOST:
        st.caption(f"and {len(plan.conflicts) - _MOST} more, which a rule above can settle")


def _draw_conflict(
    frame: Frame, planning: Planning, plan: ThreeWayPlan, number: int, conflict: Conflict
) -> None:
    with st.container(key=f"merge-clash-{number}", border=True):
        state = ":material/check_circle:" if conflict.choice is not None else ":material/help:"
        with st.container(key=f"line-merge-clash-{number}", horizontal=True, vertical_alignment="center"):
            st.markdown(f"{state} **{plain_label(conflict.about, 100)}**", width="stretch")
        _draw_choice(frame, planning, number, conflict)
        if _taken(conflict) == "both":
            st.caption(f":material/arrow_forward: {plain_label(conflict.result, 300)}")
        st.caption(_said_where(frame, plan, conflict))


def _said_where(frame: Frame, plan: ThreeWayPlan, conflict: Conflict) -> str:
    """Links to the quoted messages, by who says them."""
    found = [
        f"{plain_label(name, 40)} {' '.join(_mark(frame, plan, one.message) for one in words[:4])}"
        for name, words in conflict.by_side.items()
    ]
    return f"Said in: {' · '.join(found)}"


def _mark(frame: Frame, plan: ThreeWayPlan, cite: MessageId) -> str:
    """A link to a message, in the conversation where it was said."""
    away = plan.graft is not None and cite in plan.delta
    home = plan.graft.conversation if plan.graft is not None and away else frame.chat.id
    place = f"./?c={home}&m={cite.removeprefix('b2:')}"
    return f":small[[{short(cite)}]({place})]"


def _draw_choice(frame: Frame, planning: Planning, number: int, conflict: Conflict) -> None:
    options = _options(planning, conflict)
    key = f"merge.take.{number}"
    st.session_state[key] = _taken(conflict)
    st.radio(
        f"What holds of {plain_label(conflict.about, 100)}",
        list(options),
        key=key,
        format_func=lambda take: plain_label(bare(options[take][0]), 300),
        captions=[plain_label(caption, 120) for _, caption in options.values()],
        horizontal=True,
        label_visibility="collapsed",
        on_change=_take,
        args=(frame, planning, conflict, key, f"merge.words.{number}"),
    )
    if conflict.choice is not None and _taken(conflict) == "text":
        words = f"merge.words.{number}"
        st.session_state[words] = conflict.choice.text
        st.text_input(
            "What holds",
            key=words,
            max_chars=LONGEST_WORD,
            label_visibility="collapsed",
            on_change=_write,
            args=(frame, planning, conflict, words),
        )


def _options(planning: Planning, conflict: Conflict) -> dict[str, tuple[str, str]]:
    """What can be taken, each with a line about it: who says it, or what taking it means.

    Of a conflict that an earlier merge left open, each of the words stands by itself.
    """
    if conflict.target:
        theirs = f"{_SOURCE}{{}}" if planning.options.others else "theirs"
        sides = {
            "mine" if name == conflict.target else theirs.format(name): (
                " / ".join(dict.fromkeys(one.text for one in words)),
                f"{name} says so",
            )
            for name, words in conflict.by_side.items()
        }
    else:
        sides = {f"{_VALUE}{at}": (one.text, f"{one.side} says so") for at, one in enumerate(conflict.says)}
    many = "All" if len(sides) > 2 else "Both"
    return {
        **sides,
        "both": (many, "They hold side by side"),
        "text": ("Own words", "You write what holds"),
        _OPEN: ("Leave open", "The model is told what each says"),
    }


def _taken(conflict: Conflict) -> str:
    choice = conflict.choice
    if choice is None:
        return _OPEN
    if choice.take == "theirs" and choice.source:
        return f"{_SOURCE}{choice.source}"
    texts = [one.text[:LONGEST_WORD] for one in conflict.says]
    if not conflict.target and choice.take == "text" and choice.text in texts:
        return f"{_VALUE}{texts.index(choice.text)}"
    return choice.take


def _take(frame: Frame, planning: Planning, conflict: Conflict, key: str, words: str) -> None:
    take = st.session_state[key]
    with saying(frame.session):
        if take in (None, _OPEN):
            planning.choose(conflict.hash, None)
        elif take.startswith(_VALUE):
            value = conflict.says[int(take.removeprefix(_VALUE))]
            planning.choose(conflict.hash, Choice("text", value.text[:LONGEST_WORD]))
        elif take.startswith(_SOURCE):
            planning.choose(conflict.hash, Choice("theirs", source=take.removeprefix(_SOURCE)))
        elif take == "text":
            text = st.session_state.get(words) or (conflict.theirs or conflict.says)[0].text
            planning.choose(conflict.hash, Choice("text", text[:LONGEST_WORD]))
        else:
            known: Take = take
            planning.choose(conflict.hash, Choice(known))


def _write(frame: Frame, planning: Planning, conflict: Conflict, key: str) -> None:
    text = st.session_state[key].strip()
    with saying(frame.session):
        planning.choose(conflict.hash, Choice("text", text) if text else None)
