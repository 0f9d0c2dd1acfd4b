"""The reviews of a request: who said what of it, and of which lines; and one's own. Only a team has approvals.

A comment on a line is a comment that begins with the line as a quotation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.conversation.merging.merge_request import MergeRequest
from forky_core.conversation.merging.model_reviews import review_request
from forky_core.conversation.merging.review_log import Review, ReviewFinding
from forky_core.conversation.merging.reviews import LONGEST_REVIEW, head_after
from forky_core.merge.plan import MergePlan
from forky_core.model import ConversationId, MessageId
from forky_core.views.shelf import count
from forky_core.views.times import ago
from pages.ui.components.buttons import main_button, quiet_button
from pages.ui.components.markdown import plain_label, show_text, showable
from pages.ui.components.notice import done
from pages.ui.components.only_reading import why_only_reads
from pages.ui.frame import Frame, saying
from pages.ui.keeping.fields import kept_fields
from pages.ui.merge.examination_job import begin_review
from pages.ui.merge.examining import draw_reading, offer_to_read
from pages.ui.merge.looking import new_since_last_look
from pages.ui.merge.payload import opener
from pages.ui.merge.planning import Planning, lookup_of
from pages.ui.person import viewer

ABOUT = "merge.about"
"""The line that one is about to comment on, among the choices of this tab."""
_QUOTED = "> "


_SIGNS = {"unsupported": "help", "contradicts": "call_split", "missing": "playlist_add"}
_SAID = {
    "unsupported": "the branch does not say this",
    "contradicts": "contradicted by",
    "missing": "left out:",
}
_SHORTEST = 12
"""The fewest letters of a line that is known by standing in what a finding names."""


@dataclass(frozen=True, slots=True)
class LineTalk:
    """What a review says of the lines of a note."""

    comments: Sequence[tuple[str, str, str]]
    """Who, the line, and the words."""
    findings: Sequence[tuple[str, ReviewFinding]]
    """Who, and what is wrong."""
    fresh: frozenset[MessageId]
    """The messages of the source that are new since the reader looked."""
    changed: frozenset[str]
    """The lines of the note that are new since then."""
    about: Callable[[str], None]
    """Begin a comment on a line; on the same line again, on the whole."""
    marked: set[ReviewFinding] = field(default_factory=set)
    """The findings that were drawn at a line; the others stand below."""

    def marks(self, line: str) -> list[tuple[str, str, MessageId | None]]:
        """The comments and findings on a line: a sign, words, and the message that shows it."""
        here = _folded(line)
        found: list[tuple[str, str, MessageId | None]] = [
            ("comment", f"{who}: {words}", None) for who, about, words in self.comments if about in here
        ]
        for who, one in self.findings:
            about = _folded(one.line)
            if about and (about in here or (len(here) >= _SHORTEST and here in about)):
                self.marked.add(one)
                found.append((_SIGNS[one.verdict], f"{who}: {_said_by(one)}", one.message))
        return found

    def is_fresh(self, line: str, cites: Sequence[MessageId]) -> bool:
        """Whether a line, or a message that it cites, is new since the reader looked."""
        return not self.fresh.isdisjoint(cites) or _folded(line) in self.changed


def _folded(text: str) -> str:
    return " ".join(text.split())


def _said_by(one: ReviewFinding) -> str:
    """A finding as people read it at its line."""
    said = _SAID[one.verdict]
    if one.verdict != "unsupported" or one.message is not None:
        said = f"{said} “{one.quote}”"
    return f"{said}: {one.why}" if one.why else said


def said_of(line: str, words: str) -> str:
    """The text of a comment on a line."""
    return f"{_QUOTED}{' '.join(line.split())}\n\n{words}"


def line_talk(frame: Frame, request: MergeRequest, planning: Planning) -> LineTalk:
    """What is said of the lines of a request, and what of it is new."""
    comments = []
    for comment in request.comments:
        first, _, words = comment.text.partition("\n")
        if first.startswith(_QUOTED):
            named = showable(frame.forky.name_of(comment.by))
            comments.append((named, first.removeprefix(_QUOTED), showable(words.strip())))
    reviews = frame.chat.requests.reviews(request.number)
    findings = [(_name(frame, one), finding) for one in reviews for finding in one.findings]
    plan = planning.proposed
    asked = frame.chat.requests.with_edits(request.number, plan) if plan is not None else None
    fresh, changed = new_since_last_look(frame, request, asked)

    def begin(line: str) -> None:
        frame.session.choices[ABOUT] = "" if frame.session.choices.get(ABOUT) == line else line

    return LineTalk(comments, findings, fresh, changed, begin)


def draw_reviews(frame: Frame, request: MergeRequest, talk: LineTalk) -> None:
    """Who reviewed a request, with what was not drawn at a line of its note."""
    reviews = frame.chat.requests.reviews(request.number)
    if not reviews:
        return
    with st.container(key="merge-reviews", gap=None):
        heads = frame.chat.requests.heads(request.number)
        for review in reviews:
            _draw_review(frame, request, review, review.outdated(request, heads))
            _draw_findings(frame, request, review, talk)


def _draw_review(frame: Frame, request: MergeRequest, review: Review, void: str) -> None:
    when, who = f":gray[{ago(review.at, now())}]", plain_label(_name(frame, review), 60)
    if review.state == "read":
        me = review.asked_by == frame.forky.actor
        asker = "you" if me else plain_label(frame.forky.name_of(review.asked_by), 60)
        said = f":gray[:material/fact_check:] **{who}** read it for {asker}, {when}"
        said += f". Something changed: {plain_label(void, 200)}." if void else ""
    elif review.state == "changes":
        said = f":orange[:material/rate_review:] **{who}** sent it back, {when}"
    elif void:
        said = (
            f":gray[:material/history:] **{who}** approved, {when}. "
            f"It no longer counts: {plain_label(void, 200)}."
        )
    else:
        said = f":green[:material/check_circle:] **{who}** approved, {when}"
    st.markdown(said)
    if review.text:
        show_text(review.text, f"merge.review.{request.number}.{review.at}")


def _draw_findings(frame: Frame, request: MergeRequest, review: Review, talk: LineTalk) -> None:
    """What a review found, as it stands at a line, where it names none that is shown."""
    there = [one for one in review.findings if one in talk.marked]
    if there:
        st.caption(f"{count(len(there), 'finding')} at {'its line' if len(there) == 1 else 'their lines'}.")
    away = request.graft.conversation if request.graft is not None else frame.chat.id
    here = frame.chat.visible.messages
    rows = "".join(
        f'<div class="fk-finding"><span class="fk-icon" aria-hidden="true">{_SIGNS[one.verdict]}</span><span>'
        f"{escape(showable(_whole(one)))} {_shown_at(one, frame.chat.id if one.message in here else away)}</span></div>"
        for one in review.findings
        if one not in talk.marked
    )
    if rows:
        st.html(rows)


def _shown_at(one: ReviewFinding, conversation: ConversationId) -> str:
    return opener(lambda _id: (conversation, None), one.message, "Show it") if one.message is not None else ""


def _whole(one: ReviewFinding) -> str:
    """A finding by itself, with the line that it speaks of."""
    said = _said_by(one)
    return f"“{one.line}”: {said}" if one.line else f"{said[0].upper()}{said[1:]}"


def _name(frame: Frame, review: Review) -> str:
    """The name of who gave a review; of a model, as Settings shows it."""
    if review.state != "read":
        return showable(frame.forky.name_of(review.by))
    return showable(next((i.label for i in frame.forky.models.models() if i.name == review.by), review.by))


def draw_model_review(frame: Frame, request: MergeRequest, planning: Planning) -> None:
    """Offer to have a model read the note beside the branch. Keys: `merge.review_by`, `merge.review_cancel`."""
    plan = planning.proposed
    sides = [side for side in (plan.sides or (plan,)) if side.block is not None] if plan is not None else []
    if plan is None or not sides or why_only_reads(frame.chat):
        return
    if planning.examination is not None:
        draw_reading(planning.examination, planning.tell, "Reading it beside the branch …", "merge.review")
        return
    lookup = lookup_of(frame.forky, frame.chat, plan)
    asked = (message for side in sides for message in review_request(side, lookup)[0])
    offered = offer_to_read(frame, asked, "Have {} review it", "the branch and the note")
    if offered is None:
        st.caption("A model that is set up in Settings can review it.")
        return
    quiet_button(
        plain_label(offered.label),
        "merge.review_by",
        lambda: planning.tell(begin_review(frame.chat, request.number, offered.model)),
        icon="fact_check",
        help=offered.sent,
    )
    if planning.not_examined:
        st.caption(f":material/error: {plain_label(planning.not_examined, 400)}")


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
        quiet_button("Withdraw my review", "merge.withdraw", _withdraw, frame, request, icon="undo")


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
            "What should change", key=f"merge.changes.text.{request.number}", max_chars=LONGEST_REVIEW
        )
        main_button("Send back", "merge.changes.go", _ask, frame, request, said)


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
