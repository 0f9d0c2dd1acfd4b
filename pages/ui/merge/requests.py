"""Requests for review: ask for one, look at what was asked, talk about it, accept it or send it back.

The one that is looked at is in the URL (`?c=…&request=3`): its talk stands beside the note, and bringing it in
accepts it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from forky_core.conversation.branching import UNCHANGED
from forky_core.conversation.identity import now
from forky_core.conversation.merging.merge_request import MergeRequest
from forky_core.conversation.namespaces.merge_requests import LONGEST_NOTE
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.model import ConversationId, MessageId
from forky_core.model.errors import ForkyError
from forky_core.views.shelf import count
from forky_core.views.times import ago, stamp
from pages.ui.components.buttons import button, main_button
from pages.ui.components.links import page_link
from pages.ui.components.markdown import plain_label, show_text
from pages.ui.components.notice import done
from pages.ui.frame import Frame, saying
from pages.ui.keeping.fields import kept_fields
from pages.ui.merge.choices import POLICIES, label_of_strategy, want, written_picks
from pages.ui.merge.planning import Planning
from pages.ui.merge.reviewing import (
    ABOUT,
    LineTalk,
    draw_model_review,
    draw_review_acts,
    draw_reviews,
    said_of,
)
from pages.ui.person import names_themselves, viewer
from pages.ui.streamlit_patches.field_updates import fill

ASK = "Ask somebody to look first"
_SHOWN = 6
"""Open requests, and answered ones, that are listed."""


def draw_waiting(frame: Frame, looked: MergeRequest | None) -> None:
    """A button that lists the other requests. Keys: `merge.look.<n>`, `merge.decline_gone.<n>`."""
    others = [one for one in frame.chat.requests.all if one != looked]
    waiting = [one for one in others if one.state == "open"]
    if not others:
        return
    name = count(len(waiting), "request") if waiting else "Answered requests"
    with st.popover(name, type="tertiary", icon=":material/rate_review:", key="merge.requests"):
        for request in waiting[:_SHOWN]:
            _draw_line(frame, request)
        if len(waiting) > _SHOWN:
            st.caption(f"and {count(len(waiting) - _SHOWN, 'older open request')}")
        _draw_answered(frame, [one for one in others if one.state != "open"])


def looked_at(frame: Frame) -> MergeRequest | None:
    """The open request of the URL; one that does not fit the branches chosen meanwhile is let go."""
    params = st.query_params
    asked = params.get("request", "")
    found = next((one for one in frame.chat.requests.all if str(one.number) == asked), None)
    if found is None or found.state != "open" or _gone(frame, found):
        want(request=None)
        return None
    if "source" not in params:
        _look(frame, found)
        st.rerun()
    chosen = ({params["source"], *params.get_all("with")}, params.get("graft"), frame.chat.branch_name)
    if chosen != ({*found.sources}, _elsewhere(found), found.into):
        want(request=None)
        return None
    return found


def _elsewhere(request: MergeRequest) -> ConversationId | None:
    return request.graft.conversation if request.graft is not None else None


def _heads(frame: Frame, request: MergeRequest) -> Mapping[str, MessageId | None]:
    """The branches among which the sources are, with where they stand."""
    branches = frame.chat.view.branches
    if request.graft is not None:
        try:
            branches = frame.forky.conversation(request.graft.conversation).view.branches
        except ForkyError:
            return {}
    return {name: branch.head for name, branch in branches.items()}


def _gone(frame: Frame, request: MergeRequest) -> str:
    """A branch of it that is not there any more; "" where all are."""
    heads = _heads(frame, request)
    sources = dict(zip(request.sources, request.named, strict=False))
    here = [request.into] if request.into not in frame.chat.branches else []
    return next(iter([*here, *(shown for name, shown in sources.items() if name not in heads)]), "")


def _look(frame: Frame, request: MergeRequest) -> None:
    options = request.options
    params: dict[str, str | list[str]] = {
        "c": str(frame.chat.id),
        "b": request.into,
        "source": request.source,
        "strategy": request.strategy,
        "request": str(request.number),
        "focus": options.focus,
        "budget": str(options.budget) if options.budget is not None else "",
        "by": options.model or "",
        "policy": options.policy if options.policy != "ask" else "",
        "force": "1" if options.force and request.graft is None else "",
        "again": "1" if options.again else "",
        "graft": _elsewhere(request) or "",
        "with": [other.source for other in request.others],
        "picks": written_picks(request.picks) if request.picks else "",
    }
    st.query_params.from_dict({name: value for name, value in params.items() if value})


def _draw_line(frame: Frame, request: MergeRequest) -> None:
    gone = _gone(frame, request)
    with st.container(
        key=f"line-merge-request-{request.number}", horizontal=True, vertical_alignment="center"
    ):
        st.markdown(
            f":material/rate_review: **{_between(request)}** :gray[{plain_label(frame.forky.name_of(_facts(request)), 200)}]",
            width="stretch",
        )
        if not gone:
            button("Look at it", f"merge.look.{request.number}", _look, frame, request)
            return
        st.caption(_why_gone(frame, request, gone))
        if _may_answer(frame, request):
            button("Decline", f"merge.decline_gone.{request.number}", _decline, frame, request, "")


def _why_gone(frame: Frame, request: MergeRequest, gone: str) -> str:
    if request.graft is None or names_themselves():
        return f"“{plain_label(gone, 60)}” is not there any more."
    asked = plain_label(frame.forky.name_of(request.by), 60)
    return f"“{plain_label(gone, 60)}” is not there any more, or not shared with you: ask {asked}."


def _between(request: MergeRequest) -> str:
    sources = ", ".join(f"“{plain_label(name, 60)}”" for name in request.named)
    return f"{sources} into “{plain_label(request.into, 40)}”"


def _how(options: MergeOptions, *, worded: bool = False) -> str:
    """All that is chosen, as a person would say it."""
    title = label_of_strategy(options.strategy)
    said = [
        plain_label(title, 40).lower()
        + (f": {count(len(options.picks), 'message')}" if options.picks else "")
    ]
    if options.focus:
        said.append(f"about “{plain_label(options.focus, 80)}”")
    if options.budget is not None:
        said.append(f"in at most {count(options.budget, 'token')}")
    if options.model:
        said.append(f"written by {plain_label(options.model, 60)}")
    if options.policy != "ask":
        said.append(f"where they disagree: {POLICIES[options.policy].lower()}")
    if settled := sum(choice is not None for choice in options.choices.values()):
        said.append(f"with {count(settled, 'conflict')} settled")
    if options.again:
        said.append("as if it had never come")
    if worded:
        said.append("in words of its author")
    return ", ".join(said)


def _facts(request: MergeRequest) -> str:
    said = [f"by {request.by}", ago(request.at, now())]
    if request.picks:
        said.insert(0, f"{count(len(request.picks), 'message')} chosen")
    if request.note:
        said.append(" ".join(request.note[:200].split())[:80])
    if request.comments:
        said.append(count(len(request.comments), "comment"))
    return " · ".join(said)


def _draw_answered(frame: Frame, answered: Sequence[MergeRequest]) -> None:
    name_of = frame.forky.name_of
    for request in answered[:_SHOWN]:
        st.markdown(
            f"{_between(request)}: {request.state} by {plain_label(name_of(request.answered_by), 40)} "
            f":gray[{plain_label(name_of(_facts(request)), 200)}]"
        )
        for comment in request.comments[-3:]:
            st.caption(f"{plain_label(name_of(comment.by), 40)}: {plain_label(comment.text, 200)}")
    if len(answered) > _SHOWN:
        st.caption(f"and {len(answered) - _SHOWN} older ones, which History lists")


def draw_review(frame: Frame, request: MergeRequest, talk: LineTalk, planning: Planning) -> None:
    """What is said about the request, beside its note.

    Keys: `merge.comment`, `merge.comment_it`, `merge.look_away`, `merge.change.<what>`,
    `merge.decline.<what>`.
    """
    with st.container(key="merge-request"):
        st.markdown(f":material/rate_review: **Request for review {request.number}**")
        st.caption(
            f"{_between(request)}, by {plain_label(frame.forky.name_of(request.by), 60)}, {ago(request.at, now())}, as "
            f"{_how(request.options, worded=bool(request.words))}. "
            "Bringing it in accepts it; you may change it first."
        )
        if request.note:
            show_text(request.note, f"merge.note.{request.number}")
        for name in _moved_on(frame, request):
            st.caption(
                f":material/info: “{plain_label(name, 60)}” has moved on since; it is shown as it is now."
            )
        if talk.fresh:
            st.caption(
                f":material/fiber_new: {count(len(talk.fresh), 'message')} new since you looked, marked in both."
            )
        for comment in request.comments[-20:]:
            st.caption(f"**{plain_label(frame.forky.name_of(comment.by), 60)}**, {stamp(comment.at)}")
            show_text(comment.text, f"merge.comment.{request.number}.{comment.at}")
        draw_reviews(frame, request, talk)
        draw_model_review(frame, request, planning)
        _draw_comment(frame, request)
        with st.container(key="line-merge-request-acts", horizontal=True):
            draw_review_acts(frame, request, _shown(frame))
            if _may_answer(frame, request):
                _draw_change(frame, request)
                _draw_decline(frame, request)
            st.button("Back", key="merge.look_away", type="tertiary", on_click=want, kwargs={"request": None})


def _draw_comment(frame: Frame, request: MergeRequest) -> None:
    about = frame.session.choices.get(ABOUT, "")
    kept = kept_fields("comment", frame.chat.id, request.number)
    with kept, st.form("merge-comment", border=False):
        st.text_area(
            f"On “{plain_label(about, 160)}”" if about else "On the whole, or on a line by its speech bubble",
            key="merge.comment",
            max_chars=LONGEST_NOTE,
            height=68,
        )
        st.form_submit_button(
            "Comment",
            key="merge.comment_it",
            type="tertiary",
            icon=":material/comment:",
            on_click=_comment,
            args=(frame, request, about),
        )


def _comment(frame: Frame, request: MergeRequest, about: str) -> None:
    with saying(frame.session):
        words = st.session_state["merge.comment"]
        text = said_of(about, words) if about and words.strip() else words
        done(frame.session, frame.chat.requests.comment(request.number, text))
        fill("merge.comment", "")
        frame.session.choices.pop(ABOUT, None)


def _may_answer(frame: Frame, request: MergeRequest) -> bool:
    """Whether the reader may change a request or decline it: it is theirs, or they write on the branch it is for."""
    return request.by == frame.forky.actor or viewer().may_write(frame.chat, request.into)


def _moved_on(frame: Frame, request: MergeRequest) -> list[str]:
    """The sources that are not as they were when it was made or last changed."""
    seen = {
        request.source: request.source_head,
        **{other.source: other.source_head for other in request.others},
    }
    heads = _heads(frame, request)
    return [shown for name, shown in zip(seen, request.named, strict=True) if heads[name] != seen[name]]


def _draw_change(frame: Frame, request: MergeRequest) -> None:
    with (
        st.popover("Change …", type="tertiary", icon=":material/edit:", key="merge.change"),
        kept_fields("change request", frame.chat.id, request.number),
    ):
        note = st.text_area(
            "Note", request.note, key=f"merge.change.note.{request.number}", max_chars=LONGEST_NOTE
        )
        sources = () if request.graft is not None else request.sources
        branches = [name for name in frame.chat.branches if name not in sources]
        into = st.selectbox(
            "into", branches, index=branches.index(request.into), key=f"merge.change.into.{request.number}"
        )
        st.caption("The rest is as this page shows it: choose there how it comes back.")
        main_button("Change it", "merge.change.go", _change, frame, request, note, into)


def _change(frame: Frame, request: MergeRequest, note: str, into: str) -> None:
    """Takes the note, and what the page shows."""
    with saying(frame.session):
        plan = _shown(frame)
        operation = frame.chat.requests.change(
            request.number, note=note, into=into, plan=UNCHANGED if plan is None else plan
        )
        done(frame.session, operation)
        _look(frame, frame.chat.requests.get(request.number))


def _shown(frame: Frame) -> MergePlan | None:
    """What the page shows of a merge, and would ask a model for; None where it cannot be planned."""
    planning = frame.session.planning
    if planning is None or (plan := planning.plan or planning.quoted) is None or not plan.lands:
        return None
    if planning.plan is not None or plan.options is None:
        return plan
    return replace(plan, options=replace(plan.options, model=planning.options.writer))


def _draw_decline(frame: Frame, request: MergeRequest) -> None:
    with (
        st.popover("Decline …", type="tertiary", icon=":material/close:", key="merge.decline"),
        kept_fields("decline", frame.chat.id, request.number),
    ):
        why = st.text_input(
            "Why (optional)", key=f"merge.decline.why.{request.number}", max_chars=LONGEST_NOTE
        )
        st.caption("Both branches stay as they are, and Undo opens it again.")
        main_button("Decline it", "merge.decline.go", _decline, frame, request, why)


def _decline(frame: Frame, request: MergeRequest, why: str) -> None:
    with saying(frame.session):
        done(frame.session, frame.chat.requests.decline(request.number, why))
        want(request=None)


def draw_propose(frame: Frame) -> None:
    """Where several people have accounts, asking one of them stands beside what brings it in."""
    with st.popover(ASK, icon=":material/rate_review:", key="merge.propose_open"):
        draw_proposal(frame)


def draw_proposal(frame: Frame) -> None:
    """Asks somebody to look at what is shown. Keys: `merge.propose_note`, `merge.propose_it`."""
    with kept_fields("propose", *sorted(st.query_params.to_dict().items())):
        st.text_area(
            "Note",
            key="merge.propose_note",
            max_chars=LONGEST_NOTE,
            placeholder="What it is about (optional)",
        )
        st.caption(
            "Nothing is brought in yet. It is listed here and in Chat until somebody accepts or declines it."
        )
        if "graft" in st.query_params and not names_themselves():
            st.caption(
                "Share the conversation it comes from with whoever is to look at it: else they see nothing of it."
            )
        main_button("Ask", "merge.propose_it", _propose, frame)


def _propose(frame: Frame) -> None:
    chat, version, plan = frame.chat, frame.chat.view.version, _shown(frame)
    if plan is None:
        frame.session.say("There is nothing here to review.")
        return
    with saying(frame.session):
        made = chat.requests.open_plan(plan, note=st.session_state["merge.propose_note"])
        done(frame.session, chat.history.since(version)[-1])
        _look(frame, made)
        del st.session_state["merge.propose_note"]


def link_requests(frame: Frame) -> None:
    """In Chat: how many wait for an answer, and the way there."""
    waiting = [one for one in frame.chat.requests.all if one.state == "open"]
    if not waiting:
        return
    only = {"request": str(waiting[0].number)} if len(waiting) == 1 else {}
    page_link(
        "merge.py",
        count(len(waiting), "request"),
        {"c": str(frame.chat.id), "b": waiting[0].into, **only},
        icon="rate_review",
        help="Requests for review, which wait for an answer",
    )
