"""The source and the note side by side, with one quiet line above: to be read and changed before it comes in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from forky_core.conversation.session import short
from forky_core.llm.contract import ModelInfo
from forky_core.merge.plan import MergePlan
from forky_core.model import ConversationId, Message, MessageId
from forky_core.model.document import ADDRESS
from forky_core.model.errors import ForkyError
from forky_core.views.captions import dollars
from forky_core.views.merging import branch_relation, left_out, price, size_in_words, strange_marks
from forky_core.views.shelf import count
from pages.ui.components.buttons import quiet_button
from pages.ui.components.links import chat_link
from pages.ui.components.markdown import plain_label, show_text, showable
from pages.ui.frame import Frame, saying
from pages.ui.keeping.fields import kept_fields
from pages.ui.merge.choices import draw_picks
from pages.ui.merge.editor import draw_editor
from pages.ui.merge.examining import draw_examination
from pages.ui.merge.head import relation_sentence
from pages.ui.merge.payload import SHOWN, draw_turns
from pages.ui.merge.planning import MergeAddress, Planning, lookup_of
from pages.ui.merge.reviewing import LineTalk
from pages.ui.merge.writing import offer_writing
from pages.ui.wording import speaker_named

_OPENABLE = 40
"""Messages offered to be opened, of one list."""


def draw_preview(frame: Frame, planning: Planning, options: MergeAddress, talk: LineTalk | None) -> None:
    """The source at the left, the note at the right.

    Keys: `merge.edit`, `merge.text`, `merge.reset`, `merge.details`, `merge.out.<n>`.
    """
    plan = planning.plan
    if plan is not None:
        _draw_facts(frame, planning, plan)
    if options.way is not None and options.way.takes_picks:
        left, right = st.columns(2)
        with left:
            draw_picks(frame, options)
    else:
        right = st.container()
    with right:
        if plan is not None:
            draw_payload(frame, planning, plan, talk)
        elif planning.sentence:
            chooses = options.way is not None and options.way.takes_picks and not options.picks
            said = "Tick the messages to bring back." if chooses else planning.sentence
            with st.container(border=True):
                st.markdown(f":material/info: {plain_label(said, 400)}")


def _draw_facts(frame: Frame, planning: Planning, plan: MergePlan) -> None:
    """One quiet line: how long it is, and behind a press all else that is known of it."""
    with st.container(key="line-merge-facts", horizontal=True, vertical_alignment="center"):
        st.caption(size_in_words(plan), width="stretch")
        offer_writing(frame, planning)
        if planning.edited:
            quiet_button("Take the edit back", "merge.reset", _reset, planning, icon="history")
        label = "Details" if planning.examination is None else "Reading …"
        with st.popover(label, type="tertiary", icon=":material/info:", key="merge.details"):
            _draw_as_text(plan)
            st.caption(". ".join((_tokens(plan), *_costs(frame, plan), *_standing(frame, plan))) + ".")
            if plan.drafts:
                draw_examination(frame, plan, planning.examination, planning.not_examined, planning.tell)
            _draw_left_out(frame, plan)


def _tokens(plan: MergePlan) -> str:
    return f"{count(plan.tokens, 'token')} instead of {plan.tokens_full:,}"


def _standing(frame: Frame, plan: MergePlan) -> list[str]:
    if plan.graft is not None:
        return []
    if len(plan.sources) > 1:
        return [f"{count(len(plan.turns), 'message')} of {count(len(plan.sources), 'branch')}"]
    return [relation_sentence(branch_relation(plan, frame.chat.visible), plan.target_name)]


def _costs(frame: Frame, plan: MergePlan) -> list[str]:
    """What each later question costs more."""
    info, said = answering(frame), list[str]()
    if info is not None:
        cost = price(plan, info)
        label = plain_label(info.label, 40)
        if cost.each is None:
            said.append(f"The price of {label} is not known")
        elif cost.each == 0:
            said.append(f"Free with “{label}”")
        else:
            said.append(f"{plain_label(dollars(cost.each))} each question with {label}")
            if cost.cached and dollars(cost.cached) != dollars(cost.each):
                said.append(f"{plain_label(dollars(cost.cached))} once cached")
    return said


def answering(frame: Frame) -> ModelInfo | None:
    """The model that answers on the target."""
    models = frame.forky.models
    try:
        return models.model(frame.chat.rules.current.model or models.default()).info()
    except ForkyError:
        return None


def _draw_as_text(plan: MergePlan) -> None:
    if any(side.block is not None for side in _parts(plan)):
        st.toggle("As the model reads it", key="merge.edit", help="The text itself, to read and to change")


def draw_payload(frame: Frame, planning: Planning, plan: MergePlan, talk: LineTalk | None = None) -> None:
    """The text, and a way to change it. Keys: `merge.text`, `merge.editor.<n>`."""
    parts = _parts(plan)
    if plan.kind.reading == "answer":
        with st.container(key="line-merge-preview", horizontal=True, vertical_alignment="center"):
            st.caption("What the model will read, word for word", width="stretch")
            _draw_as_text(plan)
    if st.session_state.get("merge.edit") and any(side.block is not None for side in parts):
        with kept_fields("merge", frame.chat.id, frame.chat.branch_name, plan.kind.name, plan.source_name):
            for at, side in enumerate(parts):
                _draw_text_area(frame, planning, side, f"merge.text.{at}" if plan.sides else "merge.text")
        st.caption("Ctrl+Enter, or a click outside, takes the change and counts again.")
    elif plan.kind.reading == "lines":
        for at, side in enumerate(parts):
            if side.block is not None:
                draw_editor(
                    frame,
                    planning,
                    at,
                    lookup=lookup_of(frame.forky, frame.chat, plan),
                    home=partial(_seen_at, frame, side, plan),
                    talk=talk,
                )
    elif plan.kind.reading != "answer":
        draw_turns(plan.payload, partial(_seen_at, frame, plan, plan))
    else:
        text = showable(plan.payload)
        more = f"\n… and {len(text) - SHOWN:,} characters more." if len(text) > SHOWN else ""
        tall = len(text) > 4_000 or text.count("\n") > 30
        st.code(text[:SHOWN] + more, language=None, wrap_lines=True, height=420 if tall else "content")
    for mark in strange_marks(plan, lookup_of(frame.forky, frame.chat, plan)):
        st.caption(
            f":material/warning: \\[{mark}\\] names no message of “{plain_label(plan.source_name, 60)}”."
        )


def _parts(plan: MergePlan) -> tuple[MergePlan, ...]:
    """What has a text of its own: each source of an octopus, else the plan."""
    return plan.sides or (plan,)


def _draw_text_area(frame: Frame, planning: Planning, side: MergePlan, key: str) -> None:
    st.session_state[key] = side.payload
    st.text_area(
        f"What the model will read of {plain_label(side.source_name, 60)}",
        key=key,
        height=min(520, 60 + 22 * (side.payload.count("\n") + len(side.payload) // 180)),
        label_visibility="visible" if planning.plan is not side else "collapsed",
        on_change=_edit,
        args=(frame, planning, side.source_name, key),
    )


def _edit(frame: Frame, planning: Planning, source: str, key: str) -> None:
    plan, text = planning.plan, st.session_state[key]
    assert plan is not None
    with saying(frame.session):
        planning.plan = plan.edited_side(source, text) if plan.sides else plan.edited(text)


def _reset(planning: Planning) -> None:
    planning.plan = planning.proposed


def _seen_at(
    frame: Frame, side: MergePlan, plan: MergePlan, id: MessageId
) -> tuple[ConversationId, str | None]:
    """Where a cited message is to be seen: what the target says itself, on the target.

    What reached the source through a merge, and what a graft cites of another branch there, is seen from whatever
    branch leads to it.
    """
    conversation, branch = _home(frame, replace(side, graft=plan.graft))
    if id in side.turns or id.startswith(ADDRESS):
        return conversation, branch
    elsewhere = plan.graft is not None and id not in frame.chat.visible.messages
    return (conversation, None) if elsewhere or id in side.delta else (frame.chat.id, plan.target_name)


def _home(frame: Frame, plan: MergePlan) -> tuple[ConversationId, str]:
    """Where the source's messages are to be seen: conversation and branch."""
    if plan.graft is not None:
        return plan.graft.conversation, plan.graft.branch
    return frame.chat.id, plan.source_name


def draw_message(message: Message, home: tuple[ConversationId, str | None], key: str) -> None:
    """A message of the source, where it is asked for."""
    with st.container(key=f"cell-{message.role}-{key.replace('.', '-')}"):
        with st.container(key=f"line-{key.replace('.', '-')}", horizontal=True):
            st.caption(f"m {short(message.id)} · {message.role}", width="stretch")
        show_text(message.text or "(no words)", f"{key}.{message.id}")
        chat_link("Show it in its branch", *home, message.id)


def _draw_left_out(frame: Frame, plan: MergePlan) -> None:
    for at, group in enumerate(left_out(plan, lookup_of(frame.forky, frame.chat, plan))):
        st.caption(f"Left out, {count(len(group.messages), 'message')}: {plain_label(group.why, 200)}")
        _draw_openable(group.messages, _home(frame, plan), f"merge.out.{at}")


def _draw_openable(messages: Sequence[Message], home: tuple[ConversationId, str], key: str) -> None:
    offered = {short(message.id): message for message in messages[:_OPENABLE]}

    def label(id: str) -> str:
        message = offered[id]
        return f"{speaker_named(message.role)}: {plain_label(message.text or id, 48)}"

    chosen = st.pills("Left out", list(offered), format_func=label, key=key, label_visibility="collapsed")
    if len(messages) > _OPENABLE:
        st.caption(f"and {len(messages) - _OPENABLE:,} more")
    if chosen in offered:
        draw_message(offered[chosen], home, key)
