"""The conflicts of a three-way merge: both sides, what it was before, and what is to be taken. Nothing has to be."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from forky_core.conversation.session import short
from forky_core.merge.claims.claim_set import Claim
from forky_core.merge.claims.conflict_resolution import LONGEST_WORD, Choice, Clash, Take
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


def draw_conflicts(frame: Frame, held: Planning) -> None:
    """Keys: `merge.policy`, `merge.take.<n>`, `merge.words.<n>`."""
    plan = held.plan
    if not isinstance(plan, ThreeWayPlan):
        return
    if not plan.clashes:
        st.caption(":material/check: The branches contradict each other nowhere.")
        return
    left = len(plan.unresolved)
    with st.container(key="line-merge-conflicts", horizontal=True, vertical_alignment="center"):
        told = f"**{count(len(plan.clashes), 'conflict')}**"
        told += f", {left} still open. Nothing has to be decided now." if left else ", all settled"
        st.markdown(f":material/call_split: {told}", width="stretch")
        st.session_state["merge.policy"] = held.options.policy
        st.selectbox(
            "Where they disagree",
            list(POLICIES),
            key="merge.policy",
            format_func=POLICIES.__getitem__,
            label_visibility="collapsed",
            width=230,
            on_change=lambda: want(policy=st.session_state["merge.policy"]),
        )
    for number, clash in enumerate(plan.clashes[:_MOST]):
        _draw_clash(frame, held, plan, number, clash)
    if len(plan.clashes) > _MOST:
        st.caption(f"and {len(plan.clashes) - _MOST} more, which a rule above can settle")


def _draw_clash(frame: Frame, held: Planning, plan: ThreeWayPlan, number: int, clash: Clash) -> None:
    with st.container(key=f"merge-clash-{number}", border=True):
        state = ":material/check_circle:" if clash.choice is not None else ":material/help:"
        with st.container(key=f"line-merge-clash-{number}", horizontal=True, vertical_alignment="center"):
            st.markdown(f"{state} **{plain_label(clash.key, 100)}**", width="stretch")
        if clash.base:
            before = " / ".join(dict.fromkeys(claim.text for claim in clash.base))
            st.caption(f"Both said before: {plain_label(before, 300)}")
        _draw_choice(frame, held, number, clash)
        if _taken(clash) == "both" and clash.result is not None:
            st.caption(f":material/arrow_forward: {plain_label(clash.result.text, 300)}")
        st.caption(_said_where(frame, plan, clash))


def _said_where(frame: Frame, plan: ThreeWayPlan, clash: Clash) -> str:
    """Links to the messages that the claims rest on, by who says them."""
    said = (
        [(one.name, one.claims) for one in clash.claims_by_source]
        if clash.theirs
        else [("earlier", clash.mine)]
    )
    found = [
        f"{plain_label(name, 40)} {' '.join(_mark(frame, plan, cite) for claim in claims for cite in claim.cites[:4])}"
        for name, claims in said
    ]
    return f"Said in: {' · '.join(found)}"


def _mark(frame: Frame, plan: ThreeWayPlan, cite: str) -> str:
    """A link to the message that a claim rests on, in the conversation where it was said."""
    away = plan.graft is not None and cite in plan.delta
    home = plan.graft.conversation if plan.graft is not None and away else frame.chat.id
    place = f"./?c={home}&m={cite.removeprefix('b2:')}"
    return f":small[[{short(MessageId(cite))}]({place})]"


def _draw_choice(frame: Frame, held: Planning, number: int, clash: Clash) -> None:
    options = _options(held, clash)
    key = f"merge.take.{number}"
    st.session_state[key] = _taken(clash)
    st.radio(
        f"What holds of {plain_label(clash.key, 100)}",
        list(options),
        key=key,
        format_func=lambda take: plain_label(bare(options[take][0]), 300),
        captions=[plain_label(caption, 120) for _, caption in options.values()],
        horizontal=True,
        label_visibility="collapsed",
        on_change=_take,
        args=(frame, held, clash, key, f"merge.words.{number}"),
    )
    if clash.choice is not None and _taken(clash) == "text":
        words = f"merge.words.{number}"
        st.session_state[words] = clash.choice.text
        st.text_input(
            "What holds",
            key=words,
            max_chars=LONGEST_WORD,
            label_visibility="collapsed",
            on_change=_write,
            args=(frame, held, clash, words),
        )


def _options(held: Planning, clash: Clash) -> dict[str, tuple[str, str]]:
    """What can be taken, each with a line about it: who says it, or what taking it means.

    Of a conflict that the target carries, both values are its own: they stand by themselves.
    """

    def said(claims: Sequence[Claim]) -> str:
        return " / ".join(dict.fromkeys(claim.text for claim in claims))

    sides = {"mine": (said(clash.mine), f"{held.options.target} says so")}
    if held.options.others:
        sides |= {
            f"{_SOURCE}{one.name}": (said(one.claims), f"{one.name} says so")
            for one in clash.claims_by_source
            if one.name != held.options.target
        }
    else:
        sides["theirs"] = said(clash.theirs), f"{held.options.source} says so"
    if not (clash.mine and clash.theirs):
        sides = {
            f"{_VALUE}{at}": (value.text, "An earlier merge left this open")
            for at, value in enumerate(clash.conflict.values)
        }
    many = "All" if len(sides) > 2 else "Both"
    return {
        **sides,
        "both": (many, "They hold side by side"),
        "text": ("Own words", "You write what holds"),
        _OPEN: ("Leave open", "The model is told what each says"),
    }


def _taken(clash: Clash) -> str:
    if clash.choice is None:
        return _OPEN
    carried = not (clash.mine and clash.theirs)
    texts = [value.text[:LONGEST_WORD] for value in clash.conflict.values] if carried else []
    if clash.choice.take == "theirs" and clash.choice.source:
        return f"{_SOURCE}{clash.choice.source}"
    if clash.choice.take == "text" and clash.choice.text in texts:
        return f"{_VALUE}{texts.index(clash.choice.text)}"
    return clash.choice.take


def _take(frame: Frame, held: Planning, clash: Clash, key: str, words: str) -> None:
    take = st.session_state[key]
    with saying(frame.session):
        if take in (None, _OPEN):
            held.choose(clash.conflict.hash, None)
        elif take.startswith(_VALUE):
            value = clash.conflict.values[int(take.removeprefix(_VALUE))]
            held.choose(clash.conflict.hash, Choice("text", value.text[:LONGEST_WORD]))
        elif take.startswith(_SOURCE):
            held.choose(clash.conflict.hash, Choice("theirs", source=take.removeprefix(_SOURCE)))
        elif take == "text":
            text = st.session_state.get(words) or (clash.theirs or clash.mine)[0].text
            held.choose(clash.conflict.hash, Choice("text", text[:LONGEST_WORD]))
        else:
            known: Take = take
            held.choose(clash.conflict.hash, Choice(known))


def _write(frame: Frame, held: Planning, clash: Clash, key: str) -> None:
    text = st.session_state[key].strip()
    with saying(frame.session):
        held.choose(clash.conflict.hash, Choice("text", text) if text else None)
