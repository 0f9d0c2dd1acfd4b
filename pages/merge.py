"""Merge: bring what one branch taught into another. It is read first; nothing is written before “Land” (law 8).

The frame is the place that the address names, the view model is a plan and the rows of its text (views/merging.py,
views/payload.py), and pages/ui/merge draws it.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.merging.merge_request import MergeRequest
from forky_core.merge.plan import MergePlan
from forky_core.merge.strategies import strategy_named
from forky_core.model import ConversationId, Message, MessageId
from forky_core.model.errors import ForkyError, Outdated
from forky_core.model.parts import MergePart
from forky_core.views.captions import opening_of
from forky_core.views.merging import branch_relation
from forky_core.views.places import later_on
from forky_core.views.shelf import count
from pages.ui.components.links import chat_link, passage_link
from pages.ui.components.markdown import plain_label
from pages.ui.components.only_reading import why_only_reads
from pages.ui.components.showing import give_button
from pages.ui.components.undoing import page_top
from pages.ui.frame import Frame, leave, locate, place, saying
from pages.ui.made_pages import linked
from pages.ui.merge.choices import (
    draw_settings,
    draw_strategy,
    give_way,
    homeward,
    read_options,
    tick,
    want,
)
from pages.ui.merge.conflicts import draw_conflicts
from pages.ui.merge.examining import draw_examination
from pages.ui.merge.payload import draw_cited_payload, draw_turns, opener
from pages.ui.merge.picture import draw_standing, sources_of
from pages.ui.merge.planning import Planning, go_on, plan_anew, planning_for
from pages.ui.merge.preview import draw_preview
from pages.ui.merge.requests import draw_propose, draw_requests
from pages.ui.merge.reviewing import why_not_land
from pages.ui.merge.route import draw_route
from pages.ui.merge.stale import explain_stale
from pages.ui.merge.style import apply_merge_style
from pages.ui.merge.warnings import draw_warnings
from pages.ui.merge.writing import draw_writing_beside
from pages.ui.note import Leads, note_html
from pages.ui.page import Page

PAGE = Page(title="Merge", icon="merge", order=30, shown=False)

_LANDED = "merge.landed"
_SAVED = "merge.saved"
"""Tokens that the merge takes less than the whole branch would."""


def main() -> None:
    frame = locate()
    if frame is None:
        st.info(
            "There is no conversation yet. Begin one on the Chat page, fork it, and merge the fork back here."
        )
        st.page_link(linked("chat.py"), label="Go to Chat", icon=":material/account_tree:")
        return
    leave(frame)
    apply_merge_style()
    explain_stale(frame)
    page_top(frame.chat.title or "Untitled", frame.forky, frame.session, frame.chat)
    frame = homeward(frame)
    if _draw_landed(frame):
        return
    looked = draw_requests(frame)
    give_way(frame)
    options = read_options(frame)
    if options is None:
        _nothing_to_merge(frame)
        return
    draw_route(frame, options)
    planning = frame.session.planning = planning_for(frame.session.planning, frame.forky, frame.chat, options)
    plan = planning.plan or planning.quoted or planning.sketch
    if plan is not None and plan.graft is None:
        visible = frame.chat.visible
        draw_standing([(one, branch_relation(one, visible)) for one in sources_of(plan, visible)])
    draw_strategy(frame, options, planning)
    if planning.plan is None or planning.plan.lands:
        draw_settings(frame, options, planning)
    _draw_plan(frame, planning, looked)
    _draw_earlier(frame)


def _draw_earlier(frame: Frame) -> None:
    """The way to give a merge away that landed on this branch before. Key: `merge.give_earlier`."""
    chat = frame.chat
    if any(message.merges for message in chat.visible.bearing(chat.path())):
        give_button(
            frame.forky, frame.chat, "merge", key="merge.give_earlier", label="Give a landed merge away"
        )


def _nothing_to_merge(frame: Frame) -> None:
    with st.container(border=True):
        if len(frame.chat.branches) > 1:
            st.markdown("The other branches are empty: there is nothing to merge yet.")
        else:
            st.markdown(
                "This conversation has one branch. Fork it on the Chat page, follow a side question there, and "
                "bring back here what it taught."
            )
        st.page_link(
            linked("chat.py"),
            label="Go to Chat",
            icon=":material/account_tree:",
            query_params=place(frame.chat),
        )


def _draw_plan(frame: Frame, planning: Planning, looked: MergeRequest | None) -> None:
    plan = planning.plan
    if planning.sentence:
        with st.container(border=True):
            st.markdown(f":material/info: {plain_label(planning.sentence, 300)}")
        return
    if planning.overtaken:
        _draw_overtaken(frame, planning)
    if plan is None:
        return
    if not plan.lands:
        _draw_up_to_date(frame, planning)
        return
    draw_writing_beside(frame, planning)
    draw_warnings(planning)
    if plan.drafts:
        draw_examination(frame, plan, planning.examination, planning.not_examined, planning.tell)
    draw_conflicts(frame, planning)
    draw_preview(frame, planning)
    if plan.relation == "fast_forward" and "force" in strategy_named(plan.strategy).takes:
        _draw_force(planning)
    kept_off = why_not_land(frame, looked, plan)
    with st.container(key="line-merge-land", horizontal=True, vertical_alignment="center"):
        if kept_off:
            st.caption(f":material/shield_lock: {plain_label(kept_off, 400)}", width="content")
        else:
            _draw_land(frame, planning, looked)
        if looked is None and not why_only_reads(frame.chat):
            draw_propose(frame, instead=not kept_off)


def _draw_overtaken(frame: Frame, planning: Planning) -> None:
    with st.container(key="merge-overtaken", border=True):
        st.markdown(f":material/sync_problem: {plain_label(planning.overtaken, 400)}")
        st.caption(
            "Nothing was written. Planning again reads the branches as they are now, and keeps what you chose and wrote."
        )
        st.button(
            "Plan again",
            key="merge.replan",
            type="primary",
            icon=":material/refresh:",
            on_click=_replan,
            args=(frame, planning),
        )


def _replan(frame: Frame, planning: Planning) -> None:
    try:
        frame.session.planning = go_on(planning, frame.chat)
    except ForkyError as error:
        frame.session.planning = plan_anew(frame.forky, frame.chat, planning.options)
        frame.session.say(str(error))


def _draw_up_to_date(frame: Frame, planning: Planning) -> None:
    plan = planning.plan
    assert plan is not None
    with st.container(border=True):
        if plan.relation == "unanswered":
            st.markdown(f":material/contact_support: {plain_label(plan.nothing, 300)}")
        else:
            st.markdown(
                f":material/check_circle: Already up to date: “{plain_label(plan.target_name, 60)}” has everything "
                f"that “{plain_label(plan.source_name, 60)}” says."
            )
        for warning in plan.warnings:
            if warning != plan.nothing:
                st.caption(plain_label(warning, 300))
        if plan.unanswered and not planning.options.others:
            _draw_ways_on(frame, plan)
        if plan.reverted:
            st.button(
                "Merge it again",
                key="merge.once_more",
                icon=":material/replay:",
                help="As if it had never been merged: what was taken back comes again",
                on_click=lambda: want(again="1"),
            )


def _draw_ways_on(frame: Frame, plan: MergePlan) -> None:
    """Where the source's only news waits for an answer. Key: `merge.pick_unanswered`."""
    graft, last = plan.graft, plan.unanswered[-1]
    conversation, branch = (graft.conversation, graft.branch) if graft else (frame.chat.id, plan.source_name)
    with st.container(key="line-merge-unanswered", horizontal=True):
        st.button(
            "Cherry-pick it",
            key="merge.pick_unanswered",
            icon=":material/playlist_add_check:",
            help="It comes as a quotation; nothing is written before you land it",
            on_click=tick,
            args=(frame, plan.unanswered),
        )
        chat_link(f"Go to “{branch}”", conversation, branch, last)


def _draw_force(planning: Planning) -> None:
    st.session_state["merge.force"] = planning.options.force
    st.checkbox(
        "Make a merge message anyway",
        key="merge.force",
        help="Without one, the branch's pointer just moves on: the messages are there as if they had been said here.",
        on_change=lambda: want(force="1" if st.session_state["merge.force"] else None),
    )


def _draw_land(frame: Frame, planning: Planning, looked: MergeRequest | None) -> None:
    plan = planning.plan
    assert plan is not None
    if plan.fast_forward is not None:
        what = (
            f"Land: move “{plain_label(plan.target_name, 40)}” forward by {count(len(plan.delta), 'message')}"
        )
    else:
        what = f"Land in “{plain_label(plan.target_name, 40)}”"
    if looked is not None:
        what = f"Accept: {what[0].lower()}{what[1:]}"
    st.button(
        what,
        key="merge.land",
        type="primary",
        icon=":material/merge:",
        disabled=bool(planning.overtaken),
        help="One operation, which Undo takes back",
        on_click=_land,
        args=(frame, planning, looked),
    )


def _land(frame: Frame, planning: Planning, looked: MergeRequest | None) -> None:
    assert planning.plan is not None
    try:
        plan = (
            frame.chat.requests.accepting(looked.number, planning.plan)
            if looked is not None
            else planning.plan
        )
        operation = frame.chat.merge(plan)
    except Outdated as error:
        planning.overtaken = error.message
    except ForkyError as error:
        frame.session.say(str(error))
    else:
        landed = (frame.chat.id, str(operation.number), planning.plan.target_name, _sources())
        frame.session.choices[_LANDED] = "\n".join(landed)
        frame.session.choices[_SAVED] = str(max(0, planning.plan.tokens_full - planning.plan.tokens))
        frame.session.planning = None
        frame.session.picks = ()
        want(picks=None, force=None, again=None, request=None)


def _draw_landed(frame: Frame) -> bool:
    """The merge that just landed, with the ways on; False where there is none, or something was done since."""
    chat, tab = frame.chat, frame.session
    here = (chat.id, str(chat.view.version), chat.branch_name)
    *landed, sources = tab.choices.get(_LANDED, "").split("\n")
    if tuple(landed) != here or ("source" in st.query_params and _sources() != sources):
        return False
    operation = chat.history.since(chat.view.version - 1)[-1]
    with st.container(key="merge-landed", border=True):
        st.markdown(f"#### :material/check_circle: {plain_label(operation.summary, 200)}")
        saved = int(tab.choices.get(_SAVED, "0"))
        less = (
            f" It saves {count(saved, 'token')} with each question, against the branch in full."
            if saved
            else ""
        )
        st.caption(
            f"From now on, questions on “{plain_label(chat.branch_name, 40)}” are answered with it. Undo takes it back.{less}"
        )
        with st.container(key="line-merge-landed", horizontal=True, vertical_alignment="center"):
            st.page_link(
                linked("chat.py"),
                label=f"Go on in {plain_label(chat.branch_name, 40)}",
                icon=":material/account_tree:",
                query_params=place(chat),
            )
            st.button("Undo", key="merge.undo", icon=":material/undo:", on_click=_undo, args=(frame,))
            if chat.head is not None and chat.head.merges:
                give_button(frame.forky, chat, "merge", [str(chat.head.id)], key="merge.give")
            st.button(
                "Merge something else", key="merge.another", type="tertiary", on_click=_another, args=(frame,)
            )
    if chat.head is not None and chat.head.merge is not None:
        _draw_landed_notes(chat, chat.head)
    return True


def _draw_landed_notes(chat: Conversation, landed: Message) -> None:
    """The notes of a merge as the notebook has them, and the text itself behind a click."""
    known = chat.visible.messages
    for at, merge in enumerate(landed.merges):
        home = partial(_said_in, chat, merge)
        leads = Leads(
            partial(opener, home),
            partial(passage_link, chat.id, beside=True),
            lambda id: opening_of(known.get(id), chat.people.author_of),
            author=chat.people.author_of,
        )
        st.html(note_html(merge, leads, exact=False))
        if merge.brings_turns:
            continue
        with st.expander("What the model reads, word for word", key=f"merge.exact.{at}"):
            if merge.kind.reading == "lines":
                draw_cited_payload(merge, home)
            else:
                draw_turns(merge.text, home)


def _said_in(chat: Conversation, merge: MergePart, id: MessageId) -> tuple[ConversationId, str | None]:
    """Where a message that a landed merge cites is to be seen: on its source, if it stands there."""
    source = chat.branches.get(merge.source) if not merge.conversation else None
    stands = source is not None and later_on(id, source.head, chat.visible) is not None
    return chat.id, merge.source if stands else None


def _sources() -> str:
    """What the address says is merged: a branch, several, or one of another conversation."""
    asked = st.query_params
    return "\t".join((asked.get("graft", ""), asked.get("source", ""), *asked.get_all("with")))


def _undo(frame: Frame) -> None:
    with saying(frame.session):
        frame.session.say(frame.chat.undo().sentence)


def _another(frame: Frame) -> None:
    frame.session.choices.pop(_LANDED, None)
    want(b=frame.chat.branch_name, source=None)


main()
