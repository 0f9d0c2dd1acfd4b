"""A note beside the branch it is made from: what stands where, and each line taken in or out by a click.

What is to be known of a line is a mark below it: that it is not confirmed, what the target says against it, what a
reviewer said of it. A conflict that can be settled opens at its line.

The browser draws both (editor.js) and sends what a person changes as numbered orders, all that were not answered yet
each time: an order that is overtaken on its way is sent again, and one that was carried out is known by its number. So
no click is lost and none counts twice. What the next run draws is right, whatever the browser showed meanwhile.
Everything is set as text: models and people wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import streamlit as st

from forky_core.context.citations import NOTHING
from forky_core.context.masking import Lookup
from forky_core.conversation.session import short
from forky_core.merge.attribution import citable_ids
from forky_core.merge.editing import BlockLine, Editing, SourceLine
from forky_core.merge.plan import Doubt, MergePlan
from forky_core.model import ConversationId, Message, MessageId
from forky_core.views.merge_lines import SourceStretch, reasons, stretches
from forky_core.views.payload import PayloadRow, payload_rows
from pages.ui.components.links import chat_place, citation_link
from pages.ui.components.markdown import showable
from pages.ui.frame import Frame, saying
from pages.ui.merge.choices import authors
from pages.ui.merge.conflicts import conflict_at, disagreements, question_of, questions, settle
from pages.ui.merge.planning import Planning
from pages.ui.merge.reviewing import LineTalk
from pages.ui.note import numbers_in
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


class Around(NamedTuple):
    """What a note is drawn with: where messages are to be seen, who wrote them, what a review says of its lines."""

    home: Home
    author: Author
    talk: LineTalk | None


def draw_editor(
    frame: Frame,
    planning: Planning,
    at: int,
    *,
    lookup: Lookup,
    home: Home,
    talk: LineTalk | None,
) -> None:
    """The note of side number `at` of the plan; `talk` is what a review says of it. Key: `merge.editor.<at>`."""
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
                if order.get("act") == "comment" and talk is not None:
                    talk.about(str(order.get("text", "")))
                else:
                    _carry_out(planning, at, order, lookup)

    _component(
        key=key,
        data=(_data(planning, editing, Editing.of(before, source), Around(home, authors(frame), talk)),),
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
        case "settle":
            settle(planning, key, str(order.get("take", "")), str(order.get("text", "")))
        case "back" if key.isdecimal() and int(key) < len(struck := _struck(side)):
            planning.put(side.brought_back(struck[int(key)]))
        case "open":
            planning.opened.update(id for id in side.turns if id == key)
        case _:
            pass


def _struck(side: MergePlan) -> list[Doubt]:
    """The sentences that were left out of a written note."""
    return [one for one in side.doubts if one.out and one.sentence not in side.payload]


def _data(planning: Planning, editing: Editing, before: Editing, around: Around) -> dict[str, Any]:
    home, author, talk = around
    plan, source = editing.plan, editing.source
    cited = {id for line in editing.block.lines for id in line.cites}
    parts = stretches(source, cited & source.words.keys(), planning.opened)
    why = reasons(editing, before)
    block = plan.block
    every = list(payload_rows(block, len(block.text))) if block else []
    numbers = numbers_in(block, every) if block else {}
    rows = [row for row in every if row.opens]
    known = citable_ids(block) if block else ()
    whole = planning.plan
    assert whole is not None
    asked = {line.key: conflict_at(whole, line) for line in editing.block.lines}
    told_of = {one.hash for one in asked.values() if one is not None}
    alone = not whole.sides
    code = {one.text for one in source.lines if one.shape == "code"}

    def href(id: MessageId) -> str:
        return _href(home(id), id)

    def doubt(one: Doubt) -> list[str]:
        return [showable(one.why), href(one.message) if one.message is not None else ""]

    def marks(line: BlockLine) -> list[list[str]]:
        """What is to be known of a line: a sign, words, and where it is shown."""
        open_ones = (one for one in plan.doubts if not one.out and one.sentence in plan.payload)
        return [
            *(
                ["help", "Not confirmed: " + words, shown]
                for one in open_ones
                if one.sentence in line.text or line.text in one.sentence
                for words, shown in (doubt(one),)
            ),
            *(["call_split", words, ""] for words in disagreements(whole, line)),
            *(
                [sign, showable(words), href(message) if message is not None else ""]
                for sign, words, message in (talk.marks(line.text) if talk is not None else ())
            ),
        ]

    def question(line: BlockLine) -> dict[str, Any] | None:
        conflict = asked[line.key]
        return question_of(planning, conflict, href) if conflict is not None and whole.kind.settles else None

    def mark(id: MessageId) -> dict[str, Any]:
        return {
            "label": str(numbers.get(id) or short(id)),
            "id": id,
            "href": href(id),
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
        "fills": alone,
        "talks": talk is not None,
        "stretches": [_stretch(one, editing, numbers, around) for one in parts],
        "quoted": dict(editing.quotes),
        "told": told,
        "sections": [
            {
                "title": title,
                "shown": titled(title),
                "lines": [
                    {
                        "key": line.key,
                        "text": showable(line.text),
                        "words": _words(line, rows, known, mark, home),
                        "code": line.text in code
                        or any(origin.shape == "code" for origin in editing.drawn_from[line.key]),
                        "who": showable(_speaker(line, author)),
                        "cites": [mark(id) for id in line.cites],
                        "from": [origin.key for origin in editing.drawn_from[line.key]],
                        "why": showable(why[line.key]),
                        "marks": marks(line),
                        "question": question(line),
                        "fresh": talk is not None and talk.is_fresh(line.text, line.cites),
                    }
                    for line in editing.block.lines
                    if line.section == title and line.text.strip()
                ],
            }
            for title in editing.block.sections
        ],
        "questions": [
            question_of(planning, one, href)
            for one in questions(planning)
            if alone and one.hash not in told_of
        ],
        "struck": [[showable(one.sentence), *doubt(one)] for one in _struck(plan)],
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
    one: SourceStretch, editing: Editing, numbers: dict[MessageId, int], around: Around
) -> dict[str, Any]:
    home, author, talk = around
    if not one.drawn:
        return {"gap": len(one.messages), "key": one.messages[0].id}
    return {
        "messages": [
            {
                "number": str(numbers.get(message.id, "")),
                "id": message.id,
                "short": short(message.id),
                "who": showable(who_said(message, author)),
                "role": message.role,
                "href": _href(home(message.id), message.id),
                "rows": _rows(message, editing),
                "left": not any(message.id in line.cites for line in editing.block.lines),
                "fresh": talk is not None and message.id in talk.fresh,
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
