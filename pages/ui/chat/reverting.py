"""Two dialogs about what the model reads: taking messages back from here on, and settling what merges left open."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from forky_core.conversation.merging.reverting import RevertPlan
from forky_core.merge.conflicts.conflict import LONGEST_WORD, Choice, Conflict
from forky_core.model import MessageId
from forky_core.model.errors import ForkyError
from forky_core.views.shelf import count
from pages.ui.components.buttons import button, main_button, quiet_button
from pages.ui.components.markdown import plain_label
from pages.ui.components.notice import done
from pages.ui.frame import Frame, go, saying
from pages.ui.session import stop_acting

_OPEN = "open"
_MOST = 20
"""Conflicts of one dialog."""


@st.dialog("Leave out from here on", icon=":material/undo:", on_dismiss=stop_acting)
def confirm_revert(here: Frame, id: MessageId) -> None:
    """Keys: `revert.note`, `revert.go`, `revert.cancel`."""
    note = st.text_input(
        "What to tell the model instead (optional)",
        key="revert.note",
        max_chars=500,
        placeholder="e.g. that was wrong",
    )
    try:
        plan = here.chat.plan_revert(id, note=note)
    except ForkyError as error:
        st.markdown(plain_label(str(error), 400))
        return
    for sentence in _effects(plan):
        st.markdown(f"- {plain_label(sentence, 300)}")
    st.caption(
        "Nothing is removed: it stays in the history, and Undo brings it back, and so does leaving this line out."
    )
    with st.container(horizontal=True):
        reverted = main_button("Leave out", "revert.go", _revert, here, id)
        if button("Cancel", "revert.cancel", stop_acting) or reverted:
            st.rerun()


def _revert(here: Frame, id: MessageId) -> None:
    here.session.acting = None
    with saying(here.session):
        here.chat.revert(here.chat.plan_revert(id, note=st.session_state["revert.note"] or ""))
        done(here.session, here.chat.history.operations[-1])
        go(here.chat)


def _effects(plan: RevertPlan) -> list[str]:
    effects = []
    gone = len(plan.targets) - len(plan.returning)
    if gone > 0:
        effects.append(f"From here on the model no longer reads {count(gone, 'message')} of “{plan.branch}”.")
    if plan.tool_partners:
        effects.append(
            f"{count(len(plan.tool_partners), 'message')} of these belong to a tool call and go along."
        )
    if plan.returning:
        effects.append(f"{count(len(plan.returning), 'message')} that had been left out return.")
    effects.append(f"{plan.tokens:+,} tokens with each question.")
    return effects


def draw_unresolved(here: Frame) -> None:
    """What merges left open on this branch. Keys: `chat.settle`."""
    if not here.at_head:
        return
    bearing = here.chat.visible.bearing(here.chat.path())
    if not any(merge.claims for message in bearing for merge in message.merges):
        return
    found = here.chat.merges.unresolved
    if not found:
        return
    with st.container(key="line-unresolved", horizontal=True, vertical_alignment="center"):
        what = "possible conflict" if all(one.possible for one in found) else "conflict"
        names = ", ".join(one.about for one in found[:3]) + (" …" if len(found) > 3 else "")
        st.markdown(
            f":material/call_split: **{count(len(found), what)}** open: {plain_label(names, 120)}",
            width="content",
        )
        quiet_button("Settle …", "chat.settle", _settle, here)


def _settle(here: Frame) -> None:
    head = here.chat.branch.head
    here.session.acting = ("settle", head) if head is not None else None


@st.dialog("Settle", icon=":material/call_split:", width="medium", on_dismiss=stop_acting)
def settle(here: Frame) -> None:
    """Keys: `settle.take.<n>`, `settle.words.<n>`, `settle.go`."""
    found = here.chat.merges.unresolved[:_MOST]
    for number, conflict in enumerate(found):
        _ask(number, conflict)
    if main_button("Bring in what is settled", "settle.go", _land, here, found, disabled=not _choices(found)):
        st.rerun()


def _land(here: Frame, found: Sequence[Conflict]) -> None:
    here.session.acting = None
    with saying(here.session):
        done(here.session, here.chat.merge(here.chat.merges.plan_resolution(_choices(found))))
        go(here.chat)


def _choices(found: Sequence[Conflict]) -> dict[str, Choice | None]:
    """By the hash of the conflict; as it is in the dialog now, a word included that was typed just before the press."""
    chosen = {one.hash: _choice(number, one) for number, one in enumerate(found)}
    return {hash: choice for hash, choice in chosen.items() if choice is not None}


def _ask(number: int, conflict: Conflict) -> None:
    st.markdown(f"**{plain_label(conflict.about, 100)}**")
    values = {str(at): text for at, text in enumerate(conflict.texts)}
    named = {**values, "both": "Both hold", "text": "Own words", _OPEN: "Leave open"}
    taken = st.radio(
        "What holds",
        list(named),
        index=len(named) - 1,
        key=f"settle.take.{number}",
        format_func=lambda at: plain_label(named[at], 200),
        label_visibility="collapsed",
    )
    if taken == "text":
        st.text_input(
            "Own words", key=f"settle.words.{number}", max_chars=LONGEST_WORD, label_visibility="collapsed"
        )


def _choice(number: int, conflict: Conflict) -> Choice | None:
    taken = st.session_state[f"settle.take.{number}"]
    if taken == _OPEN:
        return None
    if taken == "both":
        return Choice("both")
    if taken == "text":
        words = str(st.session_state.get(f"settle.words.{number}") or "")
        return Choice("text", words) if words.strip() else None
    return Choice("text", conflict.texts[int(taken)][:LONGEST_WORD])
