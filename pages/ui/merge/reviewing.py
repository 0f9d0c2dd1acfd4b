"""The reviews of a request: who said what of it, and of which lines; and one's own. Only a team has approvals.

A comment on a line is a comment that begins with the line as a quotation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.conversation.merging.merge_request import MergeRequest
from forky_core.conversation.merging.review_log import Review
from forky_core.conversation.merging.reviews import LONGEST_REVIEW, head_after
from forky_core.merge.plan import MergePlan
from forky_core.model import MessageId
from forky_core.views.times import ago
from pages.ui.components.buttons import quiet_button
from pages.ui.components.markdown import plain_label, show_text, showable
from pages.ui.components.notice import done
from pages.ui.components.only_reading import why_only_reads
from pages.ui.frame import Frame, saying
from pages.ui.keeping.fields import kept_fields
from pages.ui.person import viewer

ABOUT = "merge.about"
"""The line that one is about to comment on, among the choices of this tab."""
_QUOTED = "> "


@dataclass(frozen=True, slots=True)
class LineTalk:
    """What a review says of the lines of a note."""

    comments: Sequence[tuple[str, str, str]]
    """Who, the line, and the words."""
    fresh: frozenset[MessageId]
    """The messages of the source that are new since the reader looked."""
    about: Callable[[str], None]
    """Begin a comment on a line; on the same line again, on the whole."""

    def said(self, line: str) -> list[str]:
        """The comments on a line."""
        return [f"{who}: {words}" for who, about, words in self.comments if about in " ".join(line.split())]


def said_of(line: str, words: str) -> str:
    """The text of a comment on a line."""
    return f"{_QUOTED}{' '.join(line.split())}\n\n{words}"


def line_talk(frame: Frame, request: MergeRequest, sides: Sequence[MergePlan]) -> LineTalk:
    """What is said of the lines of a request, whose sources are the `sides`."""
    comments = []
    for comment in request.comments:
        first, _, words = comment.text.partition("\n")
        if first.startswith(_QUOTED):
            named = showable(frame.forky.name_of(comment.by))
            comments.append((named, first.removeprefix(_QUOTED), showable(words.strip())))
    own = next(
        (one for one in frame.chat.requests.reviews(request.number) if one.by == frame.forky.actor), None
    )
    heads = set(own.heads.sources.values()) if own is not None else set(request.source_heads)
    fresh = set[MessageId]()
    for turns in (one.turns for one in sides):
        last = max((at for at, id in enumerate(turns) if id in heads), default=len(turns) - 1)
        fresh.update(turns[last + 1 :])

    def begin(line: str) -> None:
        frame.session.choices[ABOUT] = "" if frame.session.choices.get(ABOUT) == line else line

    return LineTalk(comments, frozenset(fresh), begin)


def draw_reviews(frame: Frame, request: MergeRequest) -> None:
    """Who reviewed a request."""
    reviews = frame.chat.requests.reviews(request.number)
    if not reviews:
        return
    with st.container(key="merge-reviews", gap=None):
        heads = frame.chat.requests.heads(request.number)
        for review in reviews:
            _draw_review(frame, request, review, review.outdated(request, heads))


def _draw_review(frame: Frame, request: MergeRequest, review: Review, void: str) -> None:
    when = f":gray[{ago(review.at, now())}]"
    if review.state == "changes":
        said = f":orange[:material/rate_review:] **{_name(frame, review.by)}** sent it back, {when}"
    elif void:
        said = (
            f":gray[:material/history:] **{_name(frame, review.by)}** approved, {when}. "
            f"It no longer counts: {plain_label(void, 200)}."
        )
    else:
        said = f":green[:material/check_circle:] **{_name(frame, review.by)}** approved, {when}"
    st.markdown(said)
    if review.text:
        show_text(review.text, f"merge.review.{request.number}.{review.at}")


def _name(frame: Frame, person: str) -> str:
    return plain_label(frame.forky.name_of(person), 60)


def draw_review_acts(frame: Frame, request: MergeRequest, shown: MergePlan | None) -> None:
    """What one may say to it. Keys: `merge.approve`, `merge.changes`, `merge.changes.<what>`, `merge.withdraw`.

    `shown` is the plan that the page showed last.
    """
    who, me = viewer(), frame.forky.actor
    if who.alone or not who.may("fork", frame.chat.id):
        return
    own = next((one for one in frame.chat.requests.reviews(request.number) if one.by == me), None)
    if me in frame.chat.requests.authors(request.number):
        st.caption("You asked for it: somebody else reviews it.", width="content")
    else:
        counts = (
            own is not None
            and own.state == "approved"
            and not own.outdated(request, frame.chat.requests.heads(request.number))
        )
        _draw_answers(frame, request, shown, approved=counts)
    if own is not None:
        quiet_button("Withdraw my review", "merge.withdraw", ":material/undo:", _withdraw, frame, request)


def _draw_answers(frame: Frame, request: MergeRequest, shown: MergePlan | None, *, approved: bool) -> None:
    """`approved` is whether one's approval counts already."""
    if not approved:
        st.button(
            "Approve",
            key="merge.approve",
            icon=":material/check_circle:",
            help="You have read the note, and it may come in as it is",
            on_click=_approve,
            args=(frame, request, shown),
        )
    with (
        st.popover("Send back", type="tertiary", icon=":material/reply:", key="merge.changes"),
        kept_fields("review", frame.chat.id, request.number),
    ):
        said = st.text_area(
            "What should change",
            key=f"merge.changes.text.{request.number}",
            max_chars=LONGEST_REVIEW,
        )
        st.button(
            "Send back",
            key="merge.changes.go",
            type="primary",
            on_click=_ask,
            args=(frame, request, said),
        )


def why_not_land(frame: Frame, request: MergeRequest | None, plan: MergePlan) -> str:
    """Why the shown plan cannot land on its branch, as a sentence; "" if it can."""
    if why := why_only_reads(frame.chat):
        return why
    if viewer().may_write(frame.chat, plan.target_name):
        return ""
    editors = "an editor of this conversation brings it in"
    return (
        f"Ask somebody to look first, and {editors}."
        if request is None
        else f"{editors[0].upper()}{editors[1:]}."
    )


def _approve(frame: Frame, request: MergeRequest, shown: MergePlan | None) -> None:
    with saying(frame.session):
        requests = frame.chat.requests
        if shown is not None and request.options.model is None:
            proposed = requests.plan(request.number)
            if not proposed.lands or head_after(proposed) != head_after(shown):
                frame.session.say(
                    "What you see is not what was asked for. Press Back and look at the request again, or change it."
                )
                return
        done(frame.session, requests.approve(request.number, shown))


def _ask(frame: Frame, request: MergeRequest, said: str) -> None:
    with saying(frame.session):
        done(frame.session, frame.chat.requests.ask_for_changes(request.number, said))
        st.session_state[f"merge.changes.text.{request.number}"] = ""


def _withdraw(frame: Frame, request: MergeRequest) -> None:
    with saying(frame.session):
        done(frame.session, frame.chat.requests.withdraw_review(request.number))
