"""Bring a branch back: what it taught, into another. It is read first; nothing is written before “Bring it in” (law 8).

The frame is the place that the address names, the view model is a plan and the rows of its text (views/merging.py,
views/payload.py), and pages/ui/merge draws it. A request for review is the same screen, with its talk beside it.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.merging.merge_request import MergeRequest
from forky_core.merge.plan import MergePlan
from forky_core.merge.squash import NOTHING_LEARNED
from forky_core.model import ConversationId, Message, MessageId
from forky_core.model.errors import ForkyError, Outdated
from forky_core.model.parts import MergePart
from forky_core.model.payload_kinds import CHERRY_PICK, FULL, REBASE, THREE_WAY
from forky_core.views.captions import brought_back, code_of, opening_of
from forky_core.views.merging import other_warnings, takes_more_than_full
from forky_core.views.places import later_on
from forky_core.views.shelf import count, title_or_placeholder
from pages.ui.components.buttons import button, main_button, quiet_button
from pages.ui.components.links import chat_link, chat_place, page_link, passage_link
from pages.ui.components.markdown import plain_label
from pages.ui.components.notice import done
from pages.ui.components.only_reading import why_only_reads
from pages.ui.components.showing import give_button
from pages.ui.components.undoing import page_top
from pages.ui.frame import Frame, locate, open_chat, place, saying
from pages.ui.merge.choices import give_way, homeward, offered, read_options, tick, want
from pages.ui.merge.head import draw_how, draw_route
from pages.ui.merge.payload import opener
from pages.ui.merge.planning import MergeAddress, Planning, planned_again, planning_for
from pages.ui.merge.preview import draw_preview
from pages.ui.merge.requests import draw_propose, draw_review, draw_waiting, looked_at
from pages.ui.merge.reviewing import LineTalk, line_talk, why_not_land
from pages.ui.merge.stale import explain_stale
from pages.ui.merge.style import apply_merge_style
from pages.ui.merge.writing import draw_writing_beside
from pages.ui.note import Leads, note_html
from pages.ui.page import Page
from pages.ui.person import names_themselves

PAGE = Page(title="Bring back", icon="merge", order=30, shown=False)

_REBASE_GONE = (
    "A branch is not moved to another message on this page any more. It is done on the command line, by "
    "`forky rebase`, and in Python, by `chat.merges.plan_rebase`."
)
_LANDED = "merge.landed"


def main() -> None:
    frame = locate()
    if frame is None:
        st.info(
            "There is no conversation yet. Begin one on the Chat page, start a branch, and bring it back from there."
        )
        page_link("chat.py", "Go to Chat", icon="account_tree")
        return
    apply_merge_style()
    explain_stale(frame)
    page_top(title_or_placeholder(frame.chat.title), frame.forky, frame.session, frame.chat)
    frame = homeward(frame)
    if _draw_landed(frame):
        return
    request = looked_at(frame)
    give_way(frame)
    options = read_options(frame)
    if options is None:
        _nothing_to_bring_back(frame, request)
        return
    planning = frame.session.planning = planning_for(frame.session.planning, frame.forky, frame.chat, options)
    with st.container(key="line-merge-head", horizontal=True, vertical_alignment="center"):
        draw_route(frame, options)
        proposes = _proposes(frame, planning, request)
        draw_how(frame, options, planning, proposes=proposes)
        draw_waiting(frame, request)
        chat, came_from = frame.chat, None if options.graft else options.source
        with st.container(key="merge-cancel", width="content"):
            page_link("chat.py", "Cancel", chat_place(chat.id, came_from or chat.branch_name))
        _draw_acts(frame, planning, request, proposes=proposes)
    if request is None:
        _draw_note(frame, planning, options, None)
    else:
        talk = line_talk(frame, request, planning)
        note, said = st.columns([11, 4])
        with note:
            _draw_note(frame, planning, options, talk)
        with said:
            draw_review(frame, request, talk, planning)
    _draw_earlier(frame)


def _draw_earlier(frame: Frame) -> None:
    """The way to share what was brought back to this branch before. Key: `merge.give_earlier`."""
    chat = frame.chat
    if any(message.merges for message in chat.visible.bearing(chat.path())):
        give_button(
            frame.forky,
            frame.chat,
            "merge",
            key="merge.give_earlier",
            label="Share what was brought back before",
        )


def _nothing_to_bring_back(frame: Frame, request: MergeRequest | None) -> None:
    draw_waiting(frame, request)
    with st.container(border=True):
        if len(frame.chat.branches) > 1:
            st.markdown("The other branches are empty: there is nothing to bring back yet.")
        else:
            st.markdown(
                "This conversation has one branch. Start a branch on the Chat page, follow a side question there, and "
                "bring back here what it taught."
            )
        page_link("chat.py", "Go to Chat", place(frame.chat), icon="account_tree")


def _proposes(frame: Frame, planning: Planning, request: MergeRequest | None) -> bool:
    """Whether somebody can be asked to look at what is shown."""
    lands = planning.plan is not None and planning.plan.lands
    return lands and request is None and not why_only_reads(frame.chat)


def _draw_acts(frame: Frame, planning: Planning, request: MergeRequest | None, *, proposes: bool) -> None:
    """Bring it in, or ask for a review: in sight wherever one reads."""
    plan = planning.plan
    if plan is None or not plan.lands:
        return
    kept_off = why_not_land(frame, request, plan)
    with st.container(key="line-merge-land", horizontal=True, vertical_alignment="center", width="content"):
        if proposes and not names_themselves():
            draw_propose(frame)
        if kept_off:
            st.caption(f":material/shield_lock: {plain_label(kept_off, 400)}", width="content")
        else:
            _draw_land(frame, planning, request)


def _draw_note(frame: Frame, planning: Planning, options: MergeAddress, talk: LineTalk | None) -> None:
    plan = planning.plan
    if st.query_params.get("strategy") == REBASE.name:
        st.caption(f":material/info: {_REBASE_GONE}")
    if planning.overtaken:
        _draw_overtaken(frame, planning)
    if plan is not None and not plan.lands:
        _draw_up_to_date(frame, planning)
        return
    if plan is not None:
        draw_writing_beside(frame, planning)
        _draw_warnings(plan)
    draw_preview(frame, planning, options, talk)


def _draw_warnings(plan: MergePlan) -> None:
    """What concerns the whole note, in quiet lines above it. Keys: `merge.settle_three_way`, `merge.in_full`."""
    found = count(len(plan.conflicts), "conflict" if plan.examined_by else "possible conflict")
    if plan.conflicts and plan.kind.settles:
        left = sum(one.choice is None for one in plan.conflicts)
        told = f"{left} still open. Nothing has to be decided now." if left else "all settled"
        st.caption(f":material/call_split: {found}, {told}")
    elif plan.conflicts:
        ways = offered(several=bool(plan.sides), graft=plan.graft is not None)
        _warn(
            f":material/call_split: {found}: the model would read both, and nothing says which one holds.",
            *((("Decide them", "merge.settle_three_way", THREE_WAY.name),) if THREE_WAY.name in ways else ()),
        )
    elif takes_more_than_full(plan):
        _warn(
            ":material/info: The note is no shorter than everything as it was said.",
            ("Bring everything", "merge.in_full", FULL.name),
        )
    if told := next((one for one in plan.warnings if NOTHING_LEARNED in one), ""):
        _warn(
            f":material/info: {told}",
            ("Everything as it was said", "merge.everything", FULL.name),
            ("Chosen messages", "merge.choose", CHERRY_PICK.name),
        )
    for warning in other_warnings(plan):
        st.caption(f":material/info: {plain_label(warning, 300)}")
    if plan.badge:
        st.badge(plain_label(plan.badge), icon=":material/format_quote:", color="gray")


def _warn(sentence: str, *ways: tuple[str, str, str]) -> None:
    """A sentence with the strategies that would do better: the words and the key of a button, and a name, of each."""
    place = ways[0][1][6:] if ways else "warning"
    with st.container(key=f"line-merge-{place}", horizontal=True, vertical_alignment="center"):
        st.caption(sentence, width="content")
        for label, key, strategy in ways:
            button(label, key, partial(want, strategy=strategy, picks=None))


def _draw_overtaken(frame: Frame, planning: Planning) -> None:
    with st.container(key="merge-overtaken", border=True):
        st.markdown(f":material/sync_problem: {plain_label(planning.overtaken, 400)}")
        st.caption("Nothing was written. Reading the branches anew keeps what you chose and wrote.")
        main_button("Read them anew", "merge.replan", _replan, frame, planning, icon="refresh")


def _replan(frame: Frame, planning: Planning) -> None:
    frame.session.planning = planned_again(planning, frame.forky, frame.chat, frame.session.say)


def _draw_up_to_date(frame: Frame, planning: Planning) -> None:
    plan = planning.plan
    assert plan is not None
    with st.container(border=True):
        if plan.relation == "unanswered":
            st.markdown(f":material/contact_support: {plain_label(plan.nothing, 300)}")
        else:
            st.markdown(
                f":material/check_circle: Nothing new: “{plain_label(plan.target_name, 60)}” has everything "
                f"that “{plain_label(plan.source_name, 60)}” says."
            )
            for warning in plan.warnings:
                if warning != plan.nothing:
                    st.caption(plain_label(warning, 300))
        if plan.unanswered and not planning.options.others:
            _draw_ways_on(frame, plan)
        elif plan.graft is None:
            chat_link(f"Go on on “{plan.source_name}”", frame.chat.id, plan.source_name)
        if plan.reverted:
            st.button(
                "Bring it back again",
                key="merge.once_more",
                icon=":material/replay:",
                help="As if it had never come: what was left out comes again",
                on_click=lambda: want(again="1"),
            )


def _draw_ways_on(frame: Frame, plan: MergePlan) -> None:
    """Where the source's only news waits for an answer. Key: `merge.pick_unanswered`."""
    graft, last = plan.graft, plan.unanswered[-1]
    conversation, branch = (graft.conversation, graft.branch) if graft else (frame.chat.id, plan.source_name)
    with st.container(key="line-merge-unanswered", horizontal=True):
        st.button(
            "Bring the question alone",
            key="merge.pick_unanswered",
            icon=":material/playlist_add_check:",
            help="It comes as a quotation; nothing is written before you bring it in",
            on_click=tick,
            args=(frame, plan.unanswered),
        )
        chat_link(f"Go to “{branch}”", conversation, branch, last)


def _draw_land(frame: Frame, planning: Planning, request: MergeRequest | None) -> None:
    plan = planning.plan
    assert plan is not None
    what = "One operation, which Undo takes back. Ctrl+Enter"
    if plan.fast_forward is not None:
        what = f"“{plain_label(plan.target_name, 40)}” moves forward by {count(len(plan.delta), 'message')}; Undo takes it back"
    st.button(
        "Bring it in" if request is None else "Accept and bring it in",
        key="merge.land",
        type="primary",
        icon=":material/merge:",
        shortcut="Ctrl+Enter",
        disabled=bool(planning.overtaken),
        help=what,
        on_click=_land,
        args=(frame, planning, request),
    )


def _land(frame: Frame, planning: Planning, request: MergeRequest | None) -> None:
    assert planning.plan is not None
    try:
        plan = (
            frame.chat.requests.accepting(request.number, planning.plan)
            if request is not None
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
        frame.session.planning = None
        frame.session.picks = ()
        want(picks=None, force=None, again=None, request=None)


def _draw_landed(frame: Frame) -> bool:
    """What has just come in, with the ways on; False where nothing has, or something was done since."""
    chat, tab = frame.chat, frame.session
    here = (chat.id, str(chat.view.version), chat.branch_name)
    *landed, sources = tab.choices.get(_LANDED, "").split("\n")
    if tuple(landed) != here or ("source" in st.query_params and _sources() != sources):
        return False
    with st.container(key="merge-landed", border=True):
        st.markdown(f"## :material/check_circle: {plain_label(_brought(chat), 200)}")
        name = plain_label(chat.branch_name, 40)
        st.caption(f"From now on, questions on “{name}” are answered with it.")
        with st.container(key="line-merge-landed", horizontal=True, vertical_alignment="center"):
            with st.container(key="merge-go", width="content"):
                page_link("chat.py", f"Go on in {name}", place(chat), icon="account_tree")
            quiet_button("Undo", "merge.undo", _undo, frame, icon="undo")
            if chat.head is not None and chat.head.merges:
                give_button(frame.forky, chat, "merge", [str(chat.head.id)], key="merge.give", label="Share")
            quiet_button("Bring back something else", "merge.another", _another, frame)
    if chat.head is not None and chat.head.merge is not None:
        _draw_landed_notes(chat, chat.head)
    return True


def _brought(chat: Conversation) -> str:
    head = chat.head
    if head is not None and head.merges:
        return brought_back(head)
    return f"“{chat.branch_name}” has the messages now"


def _draw_landed_notes(chat: Conversation, landed: Message) -> None:
    """What came in, as the notebook has it."""
    known = chat.visible.messages
    for merge in landed.merges:
        home = partial(_said_in, chat, merge)
        leads = Leads(
            partial(opener, home),
            partial(passage_link, chat.id, beside=True),
            lambda id: opening_of(known.get(id), chat.people.author_of),
            author=chat.people.author_of,
            code=lambda id: code_of(known.get(id)),
        )
        st.html(note_html(merge, leads, summary=False))


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
        done(frame.session, frame.chat.undo())
        open_chat(frame.chat)


def _another(frame: Frame) -> None:
    frame.session.choices.pop(_LANDED, None)
    want(b=frame.chat.branch_name, source=None)


main()
