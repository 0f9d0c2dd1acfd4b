"""The reading surface of Compare: all columns in one component, which the browser draws and rearranges.

A run of the page decides what is compared; scrolling, collapsing, swiping and ticking need none, and pinning and
reordering are shown at once. The browser sends lasting changes as acts, which go into the URL (`with=`, the order;
`pin=`) or into this tab's session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.replies.reply_job import ReplyJob
from forky_core.merge.conflicts.conflict import of_answers
from forky_core.model import MessageId
from forky_core.model.errors import ForkyError
from forky_core.render.marked_prose import marked_prose
from forky_core.text.showable import showable
from forky_core.views.answers.blocks import blocks_of
from forky_core.views.answers.marks import unmarked
from forky_core.views.captions import dollars, ended
from forky_core.views.compare import Column, Comparison
from forky_core.views.graph import line_of_text
from forky_core.views.layout.colors import UNNAMED, branch_colors
from forky_core.views.merging import came_from
from forky_core.views.proposals import Proposal, proposals
from forky_core.views.shelf import count
from forky_core.views.sides import Side, written
from pages.ui.compare.drawn import BLOCKS, DrawnComparison, drawn_heads
from pages.ui.compare.fusing import Part, close_fusion, open_fusion, open_parts
from pages.ui.compare.window import RowWindow, more_rows, row_window
from pages.ui.components.error_boundary import error_boundary
from pages.ui.components.markdown import ELEMENTS_JS, PROSE_CSS
from pages.ui.components.notice import done
from pages.ui.components.only_reading import may_write, why_only_reads
from pages.ui.components.palette import palette
from pages.ui.components.showing import start_demo
from pages.ui.components.style import code_colors
from pages.ui.frame import Frame, open_page, saying
from pages.ui.merge.examination_job import begin
from pages.ui.merge.examining import NO_MODEL, offer
from pages.ui.vote.opening import opening, poll_answers

_HERE = Path(__file__).parent
_surface = st.components.v2.component(
    "forky_compare",
    html='<div class="surface"></div>',
    css=PROSE_CSS
    + code_colors(".surface", dark=False)
    + code_colors(".surface.dark", dark=True)
    + (_HERE / "surface.css").read_text("utf-8"),
    js=ELEMENTS_JS + (_HERE / "surface.js").read_text("utf-8"),
)
_live = st.components.v2.component(
    "forky_compare_live", html="<div></div>", js=(_HERE / "live.js").read_text("utf-8")
)
KEY = "compare.surface"
_MARKS = "compare.marks"
_PANEL = "compare.panel"
_WHOLE = "compare.whole"
_DIALOG = "compare.dialog"
_LOOK_EVERY = 0.8
"""Seconds between two updates of replies that are being written."""
_PANELS = ("claims", "pairs", "shared")
_EXAMINING = "compare.examining"
"""The ids of answers, and the model that reads them."""
_NOT_EXAMINED = "compare.not_examined"
"""The ids of answers, and why they were not examined."""


@dataclass(frozen=True, slots=True)
class ComparedPage:
    """The comparison that this run drew, on which acts of the browser work."""

    frame: Frame
    found: Comparison
    show: Callable[[Sequence[Side]], None]
    """Puts the sides to compare into the URL."""
    window: RowWindow

    @property
    def sides(self) -> dict[str, Side]:
        return {column.side.key: column.side for column in self.found.columns}


def draw_surface(frame: Frame, found: Comparison, show: Callable[[Sequence[Side]], None], asked: str) -> None:
    """Draw the columns; `asked` changes when this tab has asked something. Keys: `compare.surface`, `compare.live`."""
    desk = ComparedPage(frame, found, show, row_window(found))
    jobs = {job.place.branch: job for job in frame.chat.replies.running}
    _surface(
        key=KEY, data=(_data(desk, jobs, asked),), on_act_change=partial(_carry_out, desk), height="content"
    )
    _draw_dialog(desk)
    _draw_examining()
    running = {key: jobs[side.branch] for key, side in desk.sides.items() if side.branch in jobs}
    if running:
        _draw_live(desk, running)


def merge_target(chat: Conversation, source: str) -> str | None:
    """Return the branch into which `source` is merged from here; None if there is no other branch."""
    if chat.branch_name != source:
        return chat.branch_name
    return next((name for name in chat.branches if name != source), None)


def _data(desk: ComparedPage, jobs: dict[str, ReplyJob], asked: str) -> dict[str, Any]:
    found, frame, window = desk.found, desk.frame, desk.window
    colors = palette()
    names = {info.name: info.label for info in frame.forky.models.models()}

    def label(name: str) -> str:
        return names.get(name, name)

    pinned = _pinned(found)
    marks = frame.session.choices.get(_MARKS, "")
    drawing = DrawnComparison(
        found,
        label,
        window,
        pinned,
        marks,
        frame.chat.merges.examined,
        frozenset(st.session_state.get(_WHOLE, ())),
        frame.chat.people.author_of,
    )
    rows = drawing.rows()
    if not marks:
        marks = (
            "on" if any(one.get("marked") for row in rows for cell in row["cells"] for one in cell) else "off"
        )
    of_branch = branch_colors(frame.chat.view.branches)
    lanes = [colors.lane(of_branch.get(column.side.branch or "", UNNAMED)) for column in found.columns]
    heads = drawn_heads(found, pinned, lanes, label, _contexts(frame.chat, found.columns))
    shared, proposed = found.shared, proposals(frame.chat)
    return {
        "of": str(frame.chat.id),
        "dark": colors.dark,
        "columns": [
            head | _actions(frame.chat, column, proposed.get(column.side.branch or ""))
            for head, column in zip(heads, found.columns, strict=True)
        ],
        "rows": rows,
        "before": window.first,
        "after": len(found.rows) - window.stop,
        "open": window.open_at,
        "marks": marks,
        "notes": [showable(note) for note in found.notes if not frame.chat.replies.running],
        "shared": f"{count(len(shared), 'message')} in common, up to “{showable(shorten(line_of_text(shared[-1]), 70, placeholder=' …'))}”"
        if shared
        else "",
        "last": drawing.last(),
        "panel": _panel(frame, drawing),
        "ends": {
            column.side.key: end for column in found.columns if (end := _end(column, jobs, label)) is not None
        },
        "asked": asked,
        "fusing": st.query_params.get("fuse", ""),
        "reads": bool(why_only_reads(frame.chat)),
        "can": {
            "vote": bool(poll_answers(frame, [side.head for side in desk.sides.values()])),
            "share": len(_readable(desk)) > 1,
            "propose": 0 if why_only_reads(frame.chat) else len(_lanes(desk)),
        },
    }


def _pinned(found: Comparison) -> int:
    key = st.query_params.get("pin", "")
    keys = [column.side.key for column in found.columns]
    return keys.index(key) if key in keys else 0


def _actions(chat: Conversation, column: Column, proposal: Proposal | None) -> dict[str, Any]:
    """Return the actions that a column offers, with their targets, and what became of its proposal."""
    side = column.side
    if side.head is None or side.gone:
        return {"promote": [], "merge": "", "open": "", "proposal": ""}
    reads = why_only_reads(chat)
    others = (
        [] if reads else [name for name in chat.branches if may_write(chat, name) and name != side.branch]
    )
    into = merge_target(chat, side.branch) if side.branch and not reads else None
    return {
        "promote": [[name, showable(name)] for name in others],
        "merge": showable(into) if into is not None else "",
        "open": side.branch or side.head.removeprefix("b2:"),
        "proposal": proposal.label if proposal is not None else "",
        "request": proposal.request if proposal is not None and proposal.is_open else 0,
    }


def _lanes(desk: ComparedPage) -> dict[str, str]:
    """Return the columns that can be proposed, each with the branch that all of them left; {} if one is proposed."""
    chat = desk.frame.chat
    branches = [side.key for side in _readable(desk) if side.branch is not None and side.head is not None]
    found = {name: came_from(chat.view, chat.visible, name, chat.branches.origin) for name in branches}
    lanes = {name: into for name, into in found.items() if into is not None}
    known = proposals(chat).keys() & lanes.keys()
    return lanes if len(lanes) > 1 and len({*lanes.values()}) == 1 and not known else {}


def _contexts(chat: Conversation, columns: Sequence[Column]) -> dict[str, int]:
    found: dict[str, int] = {}
    for column in columns:
        if column.side.branch is not None:
            try:
                found[column.side.key] = chat.checkout(column.side.branch).context().tokens
            except ForkyError:
                continue
    return found


def _end(column: Column, jobs: dict[str, ReplyJob], label: Callable[[str], str]) -> dict[str, Any] | None:
    """Return the reply that is being written at the end of a column, or the one that failed there."""
    job = jobs.get(column.side.branch or "")
    if job is not None:
        return _writing(job, label)
    failed = column.unanswered
    if failed is None:
        return None
    return {"state": "failed", "model": showable(label(failed.model)), "why": showable(ended(failed))}


def _writing(job: ReplyJob, label: Callable[[str], str]) -> dict[str, Any]:
    return {
        "state": "writing",
        "id": job.generation.id,
        "model": showable(label(job.generation.model)),
        "blocks": marked_prose(unmarked(blocks_of(job.text)[-BLOCKS:]), growing=True),
    }


def _draw_live(desk: ComparedPage, jobs: dict[str, ReplyJob]) -> None:
    """Send the surface the replies that are being written, and run the page when one is done."""
    names = {info.name: info.label for info in desk.frame.forky.models.models()}

    @st.fragment(run_every=_LOOK_EVERY, key="compare.live")
    @error_boundary
    def live() -> None:
        if not all(job.running for job in jobs.values()):
            st.rerun()
        ends = {key: _writing(job, lambda name: names.get(name, name)) for key, job in jobs.items()}
        _live(key="compare.live.text", data=({"ends": ends},), height="content")

    live()


def _draw_dialog(desk: ComparedPage) -> None:
    """Open the dialog that an act asked for."""
    frame = desk.frame
    wanted = frame.session.choices.pop(_DIALOG, "")
    if wanted == "vote":
        opening(frame, poll_answers(frame, [side.head for side in desk.sides.values()]))
    elif wanted == "demo":
        start_demo(frame.chat, sides=written(tuple(desk.sides.values())))
    elif wanted == "share":
        from pages.ui.components.giving import open_giving  # noqa: PLC0415 - every form's writer: a page needs none

        open_giving(frame.forky, frame.chat, "comparison", written(_readable(desk)))


def _readable(desk: ComparedPage) -> tuple[Side, ...]:
    return tuple(side for side in desk.sides.values() if not side.gone)


def _draw_examining() -> None:
    """Run the page when a model has finished examining the answers."""
    running = st.session_state.get(_EXAMINING)
    if running is None:
        return

    @st.fragment(run_every=_LOOK_EVERY, key="compare.examining.look")
    @error_boundary
    def look() -> None:
        ids, examination = running
        if examination.future.done() and st.session_state.get(_EXAMINING) is running:
            st.session_state[_EXAMINING] = None
            st.session_state[_NOT_EXAMINED] = (ids, failure) if (failure := examination.failure()) else None
            st.rerun()

    look()


def _panel(frame: Frame, drawing: DrawnComparison) -> dict[str, Any] | None:
    kind, row = st.session_state.get(_PANEL, ("", 0))
    if kind == "shared" and drawing.found.shared:
        return {"kind": kind, "row": -1} | drawing.shared()
    if kind not in ("claims", "pairs") or not 0 <= row < len(drawing.found.rows):
        return None
    made = _claims(frame, drawing, row) if kind == "claims" else drawing.pairs(row)
    return {"kind": kind, "row": row} | made


def _claims(frame: Frame, drawing: DrawnComparison, row: int) -> dict[str, Any]:
    """Return what a model has found in the answers of a row, or what rules find and what asking a model would send."""
    ids = _answers(drawing, row)
    examined = frame.chat.merges.examined(ids)
    made = drawing.claims(row, examined)
    running, failed = st.session_state.get(_EXAMINING), st.session_state.get(_NOT_EXAMINED)
    sides = of_answers((one.id, one) for one in dict.fromkeys(drawing.compared(row)) if one is not None)
    offered = offer(frame, sides) if examined is None else None
    return made | {
        "busy": running is not None and running[0] == ids,
        "failed": showable(failed[1]) if failed is not None and failed[0] == ids else "",
        "ask": [showable(offered.label), offered.sent] if offered is not None else ["", NO_MODEL],
    }


def _answers(drawing: DrawnComparison, row: int) -> tuple[MessageId, ...]:
    return tuple(dict.fromkeys(one.id for one in drawing.compared(row) if one is not None))


def _carry_out(desk: ComparedPage) -> None:
    """Carry out the act that the browser asks for."""
    request: Any = st.session_state.get(KEY, {}).get("act")
    if not isinstance(request, dict):
        return
    act = _ACTS.get(str(request.get("name")))
    if act is not None:
        with saying(desk.frame.session):
            act(desk, request)


def _pin(desk: ComparedPage, request: dict[str, Any]) -> None:
    if request.get("key") in desk.sides:
        st.query_params["pin"] = request["key"]


def _order(desk: ComparedPage, request: dict[str, Any]) -> None:
    """Show the named columns in this order and remove the others, if at least two stay."""
    keys = request.get("keys")
    if isinstance(keys, list):
        wanted = [desk.sides[key] for key in dict.fromkeys(keys) if key in desk.sides]
        if len(wanted) > 1:
            desk.show(wanted)


def _marks(desk: ComparedPage, request: dict[str, Any]) -> None:
    if request.get("value") in ("off", "on", "gone"):
        desk.frame.session.choices[_MARKS] = request["value"]


def _open(desk: ComparedPage, request: dict[str, Any]) -> None:
    side = desk.sides.get(str(request.get("key")))
    if side is not None and side.head is not None:
        to = ("b", side.branch) if side.branch else ("m", side.head.removeprefix("b2:"))
        open_page("chat.py", {"c": str(desk.frame.chat.id), to[0]: to[1]})


def _merge(desk: ComparedPage, request: dict[str, Any]) -> None:
    chat, side = desk.frame.chat, desk.sides.get(str(request.get("key")))
    source = side.branch if side is not None else None
    proposal = proposals(chat).get(source or "")
    if proposal is not None and proposal.is_open:
        open_page("merge.py", {"c": str(chat.id), "b": proposal.into, "request": str(proposal.request)})
    elif source is not None and (into := merge_target(chat, source)) is not None:
        open_page("merge.py", {"c": str(chat.id), "b": into, "source": source})


def _propose(desk: ComparedPage, _request: dict[str, Any]) -> None:
    """Make each column a merge request of its own."""
    chat, lanes = desk.frame.chat, _lanes(desk)
    for column in desk.found.columns:
        if into := lanes.get(column.side.key):
            cost = f", {dollars(column.total.cost)}" if column.total.cost else ""
            note = f"One of {len(lanes)} side by side: {column.side.label}{cost}."
            chat.requests.open(column.side.key, into=into, note=note)
    if lanes:
        desk.frame.session.say(f"{len(lanes)} requests for review. Their columns say what becomes of them.")


def _promote(desk: ComparedPage, request: dict[str, Any]) -> None:
    side, branch = desk.sides.get(str(request.get("key"))), request.get("branch")
    if side is not None and side.head is not None and isinstance(branch, str):
        done(desk.frame.session, desk.frame.chat.checkout(branch).branches.promote(side.head))


def _ask_dialog(desk: ComparedPage, request: dict[str, Any]) -> None:
    desk.frame.session.choices[_DIALOG] = str(request["name"])


def _stop(desk: ComparedPage, request: dict[str, Any]) -> None:
    side = desk.sides.get(str(request.get("key")))
    for job in desk.frame.chat.replies.running:
        if side is not None and job.place.branch == side.branch:
            job.stop()


def _again(desk: ComparedPage, request: dict[str, Any]) -> None:
    side = desk.sides.get(str(request.get("key")))
    if side is not None and side.branch is not None:
        desk.frame.chat.checkout(side.branch).replies.start()


def _more(desk: ComparedPage, request: dict[str, Any]) -> None:
    more_rows(desk.window, earlier=request.get("name") == "earlier")


def _show_panel(_desk: ComparedPage, request: dict[str, Any]) -> None:
    kind, row = request.get("kind"), request.get("row", 0)
    opened = kind in _PANELS and isinstance(row, int)
    st.session_state[_PANEL] = (kind, row) if opened else ("", 0)


def _examine(desk: ComparedPage, request: dict[str, Any]) -> None:
    """Have a model examine the answers of a row side by side, or stop one that does."""
    running, row = st.session_state.get(_EXAMINING), request.get("row")
    if running is not None:
        running[1].stop.set()
    st.session_state[_EXAMINING] = st.session_state[_NOT_EXAMINED] = None
    if running is not None or not isinstance(row, int) or not 0 <= row < len(desk.found.rows):
        return
    ids = _answers(DrawnComparison(desk.found, str, desk.window, 0, "off"), row)
    if why_only_reads(desk.frame.chat) or len(ids) < 2:
        return
    st.session_state[_EXAMINING] = (ids, begin(desk.frame.chat, ids))


def _show_whole(_desk: ComparedPage, request: dict[str, Any]) -> None:
    if isinstance(request.get("id"), str):
        st.session_state[_WHOLE] = {*st.session_state.get(_WHOLE, ()), MessageId(request["id"])}


def _fuse(desk: ComparedPage, request: dict[str, Any]) -> None:
    row = request.get("row")
    if isinstance(row, int) and 0 <= row < len(desk.found.rows):
        open_fusion(desk.found.rows[row])
    else:
        close_fusion(desk.frame)


def _compose(desk: ComparedPage, request: dict[str, Any]) -> None:
    """Join the ticked parts, each of which is a message and the number of one of its blocks."""
    ticked = request.get("parts")
    drawn = {
        entry.message.id: entry.message
        for row in desk.found.rows
        for turn in row.turns
        for entry in (turn.answers if turn is not None else ())
    }
    parts: list[Part] = []
    for one in ticked if isinstance(ticked, list) else ():
        if not (isinstance(one, list) and len(one) == 2 and isinstance(one[1], int)):
            continue
        message = drawn.get(one[0])
        if message is not None and 0 <= one[1] < len(blocks := blocks_of(message.text)):
            parts.append(Part(message.id, one[1], blocks))
    open_parts(desk.frame, parts)


_ACTS: dict[str, Callable[[ComparedPage, dict[str, Any]], None]] = {
    "pin": _pin,
    "order": _order,
    "marks": _marks,
    "open": _open,
    "merge": _merge,
    "promote": _promote,
    "propose": _propose,
    "vote": _ask_dialog,
    "demo": _ask_dialog,
    "share": _ask_dialog,
    "stop": _stop,
    "again": _again,
    "earlier": _more,
    "later": _more,
    "panel": _show_panel,
    "whole": _show_whole,
    "examine": _examine,
    "fuse": _fuse,
    "compose": _compose,
}
