"""The columns of Compare: what is shared folded, then row by row what each side said, with what it cost.

Rows, not whole columns, are laid out side by side, so that aligned turns stay level; at a phone's width the cells of
a row stack, each under the name of its side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.replies.reply_job import ReplyJob
from forky_core.model import Message
from forky_core.model.errors import ForkyError
from forky_core.model.parts import AttachmentPart
from forky_core.views.captions import dollars, ended, merged, seconds, tokens
from forky_core.views.compare import Column, ColumnEntry, Comparison, Turn
from forky_core.views.graph import line_of_text
from forky_core.views.shelf import count
from pages.ui.compare.together import draw_together
from pages.ui.components.error_boundary import error_boundary
from pages.ui.components.markdown import plain_label, show_text
from pages.ui.components.notice import done
from pages.ui.frame import Frame, place, saying
from pages.ui.streamlit_patches.renewing import anew

_ROWS = 8
"""Turns drawn at once, the newest; earlier ones on request."""
_NOTABLE = 0.1
"""Seconds until the first word, below which nobody wants to know."""
_LOOK_EVERY = 1.0
"""Seconds between two looks at a reply that is being written."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What every piece of the page needs."""

    frame: Frame
    label: Callable[[str], str]
    """The name a person knows a model by."""


def desk_of(frame: Frame) -> Desk:
    known = {info.name: info.label for info in frame.forky.models.models()}
    return Desk(frame, lambda name: known.get(name, name))


def draw_columns(frame: Frame, found: Comparison) -> None:
    desk = desk_of(frame)
    jobs = {job.place.branch: job for job in desk.frame.chat.replies}
    for note in found.notes if not jobs else ():
        st.caption(f":material/info: {plain_label(note, 300)}")
    _draw_shared(found)
    with st.container(key="compare-heads"):
        for spot, column in zip(st.columns(len(found.columns)), found.columns, strict=True):
            with spot:
                _draw_head(desk, column, found)
    asked_for = int(st.session_state.setdefault("compare.rows", _ROWS))
    first = max(0, len(found.rows) - asked_for)
    if first:
        st.button(
            f"Show {count(first, 'earlier turn')}", key="compare.earlier", type="tertiary", on_click=_more
        )
    for number in range(first, len(found.rows)):
        _draw_row(desk, found, number, jobs)
    if found.rows:
        return
    if any(column.side.head for column in found.columns):
        st.caption("Nothing has been said after the part they share. Ask all of them below.")
    for spot, column in zip(st.columns(len(found.columns)), found.columns, strict=True):
        with spot:
            _draw_end(desk, column, jobs)


def _more() -> None:
    st.session_state["compare.rows"] += 4 * _ROWS


def _draw_shared(found: Comparison) -> None:
    shared = found.shared
    if not shared:
        return
    last = plain_label(line_of_text(shared[-1]), 70)
    with st.expander(
        f"{count(len(shared), 'message')} in common, up to “{last}”", icon=":material/unfold_more:"
    ):
        for message in shared[-20:]:
            st.caption(message.role)
            show_text(message.text, f"compare.shared.{message.id}")
        if len(shared) > 20:
            st.caption(f"{count(len(shared) - 20, 'message')} before these.")


def _draw_head(desk: Desk, column: Column, found: Comparison) -> None:
    side = column.side
    with st.container(key=f"compare-head-{found.columns.index(column)}", gap=None):
        st.markdown(f"**{plain_label(side.label, 60)}**")
        st.caption(_facts(desk, column))
        with st.container(key=f"line-compare-{found.columns.index(column)}", horizontal=True):
            _draw_acts(desk, column, found)


def _facts(desk: Desk, column: Column) -> str:
    """Models and sums, as one line."""
    total = column.total
    said = [", ".join(desk.label(model) for model in column.models)]
    said.append(f"{count(column.messages, 'message')} of its own")
    if total.answers:
        said.append(f"{tokens(total.tokens)} tokens answered")
    if column.models:
        said.append(_paid(total.cost))
    if total.seconds is not None:
        said.append(seconds(total.seconds))
    if column.side.branch is not None:
        said.append(_context_size(desk, column.side.branch))
    return plain_label(" · ".join(fact for fact in said if fact), 300)


def _paid(cost: float | None) -> str:
    if cost is None:
        return "price not known"
    return dollars(cost) if cost else "free"


def _context_size(desk: Desk, branch: str) -> str:
    try:
        return f"{tokens(desk.frame.chat.checkout(branch).context().tokens)} tokens of context"
    except ForkyError:
        return ""


def _draw_acts(desk: Desk, column: Column, found: Comparison) -> None:
    side, chat = column.side, desk.frame.chat
    if side.head is None:
        return
    at = None if side.branch else side.head
    st.page_link(
        "chat.py",
        label="Open",
        icon=":material/arrow_outward:",
        help="Go on with this one on the Chat page",
        query_params=place(chat.checkout(side.branch) if side.branch else chat, at),
    )
    others = [name for name in chat.branches if name != side.branch]
    if side.branch and others:
        beside = [c.side.branch for c in found.columns if c.side.branch and c.side.branch != side.branch]
        into = chat.branch_name if chat.branch_name != side.branch else (*beside, *others)[0]
        st.page_link(
            "merge.py",
            label=f"Merge into {plain_label(into, 20)}",
            icon=":material/merge:",
            help="Read what a merge would bring before it lands",
            query_params={"c": str(chat.id), "b": into, "source": side.branch},
        )
    if others:
        _draw_promote(chat, desk, column, others)


def _draw_promote(chat: Conversation, desk: Desk, column: Column, others: list[str]) -> None:
    key = column.side.key
    # Under another key once a branch has moved: so it closes when it has done its work.
    heads = " ".join(str(branch.head) for branch in chat.branches.values())
    popover = anew(f"compare.promote.{key}", heads)
    with st.popover("Promote", type="tertiary", icon=":material/flag:", key=popover):
        st.caption("The branch moves here. Where it was stays visible, and Undo moves it back.")
        index = others.index(chat.branch_name) if chat.branch_name in others else 0
        target = st.selectbox("Branch to move", others, index=index, key=f"compare.target.{key}")
        st.button(
            "Move it here",
            key=f"compare.move.{key}",
            type="primary",
            on_click=_promote,
            args=(desk, target, column),
        )


def _promote(desk: Desk, target: str, column: Column) -> None:
    assert column.side.head is not None
    with saying(desk.frame.session):
        done(desk.frame.session, desk.frame.chat.checkout(target).promote(column.side.head))


def _draw_row(desk: Desk, found: Comparison, number: int, jobs: dict[str, ReplyJob]) -> None:
    row = found.rows[number]
    last = number == len(found.rows) - 1
    with st.container(key=f"compare-row-{number}"):
        if row.asked is not None:
            _draw_brought(desk, found, number)
            with st.container(key=f"cell-user-compare-{number}"):
                st.caption("You asked all of them")
                show_text(row.asked.text, f"compare.asked.{number}")
                _draw_files(row.asked)
        for at, (spot, turn) in enumerate(zip(st.columns(len(row.turns)), row.turns, strict=True)):
            with spot:
                _draw_turn(desk, found.columns[at], turn, f"{number}-{at}", alone=row.asked is None)
                if last:
                    _draw_end(desk, found.columns[at], jobs)
        draw_together(desk.frame, found, row, number)


def _draw_brought(desk: Desk, found: Comparison, number: int) -> None:
    """What was merged before a question that all were asked, above it."""
    turns = found.rows[number].turns
    if any(turn is not None and turn.brought for turn in turns):
        for at, (spot, turn) in enumerate(zip(st.columns(len(turns)), turns, strict=True)):
            with spot:
                _draw_merges(desk, found.columns[at], turn, f"{number}-{at}")


def _draw_merges(desk: Desk, column: Column, turn: Turn | None, key: str) -> None:
    for number, entry in enumerate(turn.brought if turn is not None else ()):
        _draw_entry(desk, plain_label(column.side.label, 40), entry, f"{key}-m{number}")


def _draw_turn(desk: Desk, column: Column, turn: Turn | None, key: str, *, alone: bool) -> None:
    name = plain_label(column.side.label, 40)
    if turn is None:
        return
    if alone:
        _draw_merges(desk, column, turn, key)
    if turn.question is not None and alone:
        _draw_entry(desk, name, turn.question, f"{key}-q")
    for number, entry in enumerate(turn.answers):
        _draw_entry(desk, name, entry, f"{key}-{number}")


def _draw_entry(desk: Desk, name: str, entry: ColumnEntry, key: str) -> None:
    message = entry.message
    kind = "user" if message.role == "user" else "assistant"
    with st.container(key=f"cell-{kind}-compare-{key}"):
        if entry.same_as is not None:
            st.caption(f"{name} · the same message as in {plain_label(entry.same_as, 40)}")
            return
        st.caption(f"{name} · {_took(desk, entry)}")
        if message.reverts:
            st.markdown(f":material/undo: {plain_label(merged(message), 200)}")
        elif message.merge is not None:
            st.markdown(f":material/merge: {plain_label(merged(message), 200)}")
            with st.expander("What the model reads of it"):
                show_text(message.text, f"compare.cell.{key}")
        else:
            show_text(message.text, f"compare.cell.{key}")
            _draw_files(message)
        if why := ended(entry.generation):
            st.caption(f":material/warning: {plain_label(why, 300)}")


def _draw_files(message: Message) -> None:
    files = [part.name or part.media_type for part in message.parts if isinstance(part, AttachmentPart)]
    if files:
        st.caption(f":material/attach_file: {plain_label(', '.join(files), 200)}")


def _took(desk: Desk, entry: ColumnEntry) -> str:
    """Who said it, and what that took."""
    call = entry.generation
    if entry.message.role != "assistant":
        return "merge" if entry.message.merge else {"user": "you"}.get(entry.message.role, entry.message.role)
    if call is None:
        return f"answer, about {tokens(entry.tokens)} tokens"
    facts = [desk.label(call.model), f"{tokens(entry.tokens)} tokens"]
    if call.usage.cost:
        facts.append(dollars(call.usage.cost))
    if entry.seconds is not None:
        facts.append(seconds(entry.seconds))
    if (entry.seconds_to_first_token or 0) >= _NOTABLE:
        facts.append(f"first word after {seconds(entry.seconds_to_first_token or 0)}")
    return plain_label(" · ".join(facts), 200)


def _draw_end(desk: Desk, column: Column, jobs: dict[str, ReplyJob]) -> None:
    """What is being written at the end of a column, or what failed there."""
    job = jobs.get(column.side.branch or "")
    if job is not None:
        _draw_live(desk, column, job)
    elif column.unanswered is not None:
        _draw_failed(desk, column)


def _draw_live(desk: Desk, column: Column, job: ReplyJob) -> None:
    name, model = plain_label(column.side.label, 40), plain_label(desk.label(job.generation.model), 60)

    @st.fragment(run_every=_LOOK_EVERY, key=f"compare.live.{column.side.key}")
    @error_boundary
    def live() -> None:
        if not job.running:
            st.rerun()
        with st.container(key=f"cell-assistant-live-{columns_key(column)}"):
            st.caption(f"{name} · {model} is writing …")
            if job.text:
                show_text(job.text, f"compare.live.text.{column.side.key}")
            st.button(
                "Stop",
                key=f"compare.stop.{column.side.key}",
                type="tertiary",
                icon=":material/stop_circle:",
                on_click=job.stop,
            )

    live()


def columns_key(column: Column) -> str:
    """A name for CSS classes, whatever the side is called."""
    return column.side.key.encode().hex()[:24]


def _draw_failed(desk: Desk, column: Column) -> None:
    failed = column.unanswered
    assert failed is not None
    assert column.side.branch is not None
    with st.container(key=f"cell-assistant-failed-{columns_key(column)}"):
        st.caption(plain_label(f"{column.side.label} · {desk.label(failed.model)}", 120))
        st.markdown(f":material/error: {plain_label(ended(failed), 400)}")
        st.button(
            "Ask again",
            key=f"compare.again.{column.side.key}",
            icon=":material/refresh:",
            on_click=_again,
            args=(desk, column.side.branch),
        )


def _again(desk: Desk, branch: str) -> None:
    with saying(desk.frame.session):
        desk.frame.chat.checkout(branch).answer()
