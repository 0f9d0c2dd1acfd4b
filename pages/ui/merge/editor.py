"""A block beside the branch it is made from: what stands where, and each line taken in or out by a click.

The browser draws both (editor.js) and sends what a person changes as numbered orders, all that were not answered yet
each time: an order that is overtaken on its way is sent again, and one that was carried out is known by its number. So
no click is lost and none counts twice. What the next run draws is right, whatever the browser showed meanwhile.
Everything is set as text: models and people wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from forky_core.context.citations import NOTHING
from forky_core.context.masking import Lookup
from forky_core.conversation.session import short
from forky_core.merge.attribution import citable_ids
from forky_core.merge.editing import BlockLine, Budget, Editing, SourceLine
from forky_core.merge.plan import MergePlan
from forky_core.model import ConversationId, Message, MessageId
from forky_core.views.merge_lines import SourceStretch, reasons, stretches
from forky_core.views.payload import PayloadRow, payload_rows
from pages.ui.components.links import chat_place, citation_link
from pages.ui.components.markdown import showable
from pages.ui.frame import Frame, saying
from pages.ui.merge.choices import authors
from pages.ui.merge.planning import Planning
from pages.ui.wording import titled, who_said

Home = Callable[[MessageId], tuple[ConversationId, str | None]]
Author = Callable[[MessageId], str]
"""What stands in place of “You” above what a person said; "" for nothing."""
_HERE = Path(__file__).parent
_MARK = re.compile(r"\[([0-9a-f]{6,32})\]")
_ORDERS = 200
"""Changes that are taken from one message of a browser."""
_component = st.components.v2.component(
    "forky_merge_editor",
    html='<div class="desk"></div>',
    css=(_HERE / "editor.css").read_text("utf-8"),
    js=(_HERE / "editor.js").read_text("utf-8"),
)


def draw_editor(
    frame: Frame, planning: Planning, at: int, *, budget: Budget, lookup: Lookup, home: Home
) -> None:
    """The block of side number `at` of the plan. Key: `merge.editor.<at>`."""
    assert planning.plan is not None
    assert planning.proposed is not None
    side, before = _side(planning.plan, at), _side(planning.proposed, at)
    source = planning.source_of(side, lookup)
    editing = Editing.of(side, source)
    key = f"merge.editor.{at}"

    def handle() -> None:
        told: Any = st.session_state.get(key, {}).get("edits")
        with saying(frame.session):
            for order in _orders(told, planning, side.source_name):
                _carry_out(planning, at, order, lookup)

    _component(
        key=key,
        data=(_data(planning, editing, Editing.of(before, source), budget, home, authors(frame)),),
        on_edits_change=handle,
        height="content",
    )


def _side(plan: MergePlan, at: int) -> MergePlan:
    return plan.sides[at] if plan.sides else plan


def _orders(told: object, planning: Planning, source: str) -> Iterator[dict[str, Any]]:
    """What the browser asks for and was not carried out yet, in its order."""
    if (
        not isinstance(told, dict)
        or told.get("of") != planning.serial
        or not isinstance(told.get("orders"), list)
    ):
        return
    for order in told["orders"][:_ORDERS]:
        if (
            isinstance(order, dict)
            and isinstance(order.get("n"), int)
            and order["n"] > planning.heard.get(source, 0)
        ):
            planning.heard[source] = order["n"]
            yield order


def _carry_out(planning: Planning, at: int, order: dict[str, Any], lookup: Lookup) -> None:
    assert planning.plan is not None
    side, what, key = _side(planning.plan, at), order.get("act"), str(order.get("key", ""))
    editing = Editing.of(side, planning.source_of(side, lookup))
    match what:
        case "in":
            planning.put(editing.bring_in(key))
        case "out":
            planning.put(editing.take_out(key))
        case "arrange" if isinstance(order.get("sections"), list):
            planning.put(editing.arrange([str(title) for title in order["sections"]]))
        case "open":
            planning.opened.update(id for id in side.turns if id == key)
        case _:
            pass


def _data(
    planning: Planning, editing: Editing, before: Editing, budget: Budget, home: Home, author: Author
) -> dict[str, Any]:
    plan, source = editing.plan, editing.source
    cited = {id for line in editing.block.lines for id in line.cites}
    parts = stretches(source, cited & source.words.keys(), planning.opened)
    numbers = {message.id: at for at, message in enumerate(source.messages, 1)}
    why = reasons(editing, before)
    block = plan.block
    rows = [row for row in payload_rows(block, len(block.text)) if row.opens] if block else []
    known = citable_ids(block) if block else ()

    def mark(id: MessageId) -> dict[str, Any]:
        return {
            "label": str(numbers.get(id) or short(id)),
            "id": id,
            "href": _href(home(id), id),
            "short": short(id),
        }

    told: dict[str, list[str]] = {}
    for key, origins in editing.drawn_from.items():
        for origin in origins:
            told.setdefault(origin.key, []).append(key)
    return {
        "serial": planning.serial,
        "heard": planning.heard.get(plan.source_name, 0),
        "names": [showable(plan.source_name), showable(plan.target_name)],
        "stretches": [_stretch(one, editing, numbers, home, author) for one in parts],
        "quoted": dict(editing.quotes),
        "told": told,
        "header": [showable(line) for line in editing.block.header],
        "sections": [
            {
                "title": title,
                "shown": titled(title),
                "lines": [
                    {
                        "key": line.key,
                        "text": showable(line.text),
                        "words": _words(line, rows, known, mark, home),
                        "code": any(origin.shape == "code" for origin in editing.drawn_from[line.key]),
                        "who": showable(_speaker(line, author)),
                        "cites": [mark(id) for id in line.cites],
                        "from": [origin.key for origin in editing.drawn_from[line.key]],
                        "why": showable(why[line.key]),
                    }
                    for line in editing.block.lines
                    if line.section == title and line.text.strip()
                ],
            }
            for title in editing.block.sections
        ],
        "budget": {"used": budget.used, "limit": budget.limit, "full": budget.full, "over": budget.over},
    }


def _words(
    line: BlockLine,
    rows: Sequence[PayloadRow],
    known: Sequence[MessageId],
    mark: Callable[[MessageId], dict[str, Any]],
    home: Home,
) -> list[tuple[str, str, str]]:
    """The words of a line in pieces: text, the address that it opens, and the short id of a message that it names."""
    opens = next((row.opens for row in rows if row.text.endswith(line.text)), NOTHING)
    pieces: list[tuple[str, str, str]] = []

    def plain(text: str) -> str:
        pieces.append((showable(text), "", ""))
        return ""

    def name(id: MessageId) -> str:
        named = mark(id)
        pieces.append(
            ("↗" if named["label"] == named["short"] else named["label"], named["href"], named["short"])
        )
        return ""

    def link(number: str, address: str) -> str:
        pieces.append((number, citation_link(home(MessageId(address))[0], address), ""))
        return ""

    PayloadRow(line.text, marks=_marks(line.text, known), opens=opens).drawn(plain, name, link)
    return [piece for piece in pieces if piece[0]]


def _marks(text: str, known: Sequence[MessageId]) -> dict[str, MessageId]:
    """What the marks in a line name: messages of the target, too, which a line of this branch does not rest on."""
    found = {
        mark: [id for id in known if id.removeprefix("b2:").startswith(mark)] for mark in _MARK.findall(text)
    }
    return {mark: ids[0] for mark, ids in found.items() if len(ids) == 1}


def _speaker(line: BlockLine, author: Author) -> str:
    """Who speaks in a line of the block, by name where the message that it cites has an author."""
    if line.speaker != "user":
        return line.speaker
    return next(filter(None, map(author, line.cites)), line.speaker)


def _stretch(
    one: SourceStretch, editing: Editing, numbers: dict[MessageId, int], home: Home, author: Author
) -> dict[str, Any]:
    if not one.drawn:
        return {"gap": len(one.messages), "key": one.messages[0].id}
    return {
        "messages": [
            {
                "number": numbers[message.id],
                "id": message.id,
                "short": short(message.id),
                "who": showable(who_said(message, author)),
                "role": message.role,
                "href": _href(home(message.id), message.id),
                "rows": _rows(message, editing),
            }
            for message in one.messages
        ]
    }


def _rows(message: Message, editing: Editing) -> list[list[tuple[str, str, str]]]:
    """The lines of a message, each as its pieces: key, text, shape."""
    rows: dict[int, list[SourceLine]] = {}
    for line in editing.source.by_message.get(message.id, ()):
        rows.setdefault(line.row, []).append(line)
    return [[(line.key, showable(line.text), line.shape) for line in row] for row in rows.values()]


def _href(home: tuple[ConversationId, str | None], id: MessageId) -> str:
    return f"./?{urlencode(chat_place(*home, id))}"
