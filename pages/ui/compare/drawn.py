"""Turns a comparison into the JSON that the browser draws, in which everything from models and people is plain text
or a tree of elements (forky_core/render/marked_prose.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forky_core.merge.conflicts.examination import Examination
from forky_core.model import Message, MessageId
from forky_core.model.model_names import together
from forky_core.model.parts import AttachmentPart
from forky_core.render.marked_prose import marked_prose
from forky_core.render.trees import Tree
from forky_core.text.showable import showable
from forky_core.views.answers.agreement import agreement
from forky_core.views.answers.blocks import blocks_of
from forky_core.views.answers.marks import Mark, MarkedBlock, marked, quoted, shares, unmarked
from forky_core.views.captions import SAME, brought_back, dollars, ended, seconds, tokens
from forky_core.views.compare import Column, ColumnEntry, Comparison, Turn, TurnRow, column_numbers
from pages.ui.compare.window import RowWindow
from pages.ui.wording import bare, cells_of, unlisted

BLOCKS = 400
"""How many blocks of one message are drawn at first."""
_NOTABLE = 0.1
"""The shortest time to the first token, in seconds, that is shown."""
_MUCH = 0.5
"""The share of words in common from which differences are marked without being asked for."""
_SHARED = 20
"""How many of the newest common messages are shown."""

Json = dict[str, Any]
Label = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class DrawnComparison:
    """A comparison, with what decides how a run of the page draws it."""

    found: Comparison
    label: Label
    """Returns the label of a model."""
    window: RowWindow
    """The rows that are drawn."""
    pinned: int
    """The column that the others are compared with."""
    marks: str
    """What is marked: "off" for nothing, "on" for what one alone says and what they disagree on, "gone" for what is
    missing, too. "": as "on", but only where a model has examined the answers or they have much in common.
    """
    examined: Callable[[tuple[MessageId, ...]], Examination | None] = lambda _ids: None
    """Returns what a model has found in answers."""
    whole: frozenset[MessageId] = frozenset()
    """Long messages that are drawn completely."""
    author: Callable[[MessageId], str] = lambda _id: ""
    """Returns the member of a team who wrote a message; "" for “You”."""

    def rows(self) -> list[Json]:
        return [
            self._row(number, row)
            for number, row in enumerate(
                self.found.rows[self.window.first : self.window.stop], self.window.first
            )
        ]

    def _row(self, number: int, row: TurnRow) -> Json:
        asked = row.asked or self._question(row)
        texts = [_answer_text(turn) for turn in row.turns]
        found = self._marked(number, texts)
        return {
            "n": number,
            "asked": self._plain(asked) if asked is not None else None,
            "asker": self._who(asked) if asked is not None else "",
            "files": _files(asked) if asked is not None else "",
            "rivals": len(row.rivals),
            "answers": sum(bool(text) for text in texts),
            "cells": [
                self._cell(turn, marks, together=row.asked is not None)
                for turn, marks in zip(row.turns, found, strict=True)
            ],
        }

    def _marked(self, number: int, texts: Sequence[str]) -> Sequence[Sequence[MarkedBlock] | None]:
        """Return the blocks of the answers of a row with their marks, in place of each that has none None."""
        none = [None] * len(texts)
        there = [text for text in texts if text]
        if self.marks == "off" or len(there) < 2:
            return none
        answers = self.compared(number)
        examined = self.examined(tuple(dict.fromkeys(one.id for one in answers if one is not None)))
        if not self.marks and examined is None and not alike(there):
            return none
        by_words = examined is None or self.marks == "gone"
        found = marked(texts, self.pinned) if by_words else [unmarked(blocks_of(text)) for text in texts]
        quotes: list[list[tuple[str, Mark]]] = [[] for _ in texts]
        for point in agreement(answers, examined).points:
            if point.kind != "agree":
                for at, text in point.says:
                    quotes[at].append((bare(text), "clash" if point.kind == "conflict" else "only"))
        return [quoted(blocks, own) if own else blocks for blocks, own in zip(found, quotes, strict=True)]

    def _cell(self, turn: Turn | None, marks: Sequence[MarkedBlock] | None, *, together: bool) -> list[Json]:
        if turn is None:
            return []
        entries = [self._entry(entry) for entry in turn.brought]
        if turn.question is not None and not together:
            entries.append(self._entry(turn.question))
        compared = _compared(turn)
        entries += (self._entry(one, marks if one is compared else None) for one in turn.answers)
        return entries

    def _entry(self, entry: ColumnEntry, marks: Sequence[MarkedBlock] | None = None) -> Json:
        message = entry.message
        drawn: Json = {
            "id": message.id,
            "role": "user" if message.role == "user" else "assistant",
            "took": _origin(entry, self.label, self.author),
            "why": showable(ended(entry.generation)),
        }
        if message.reverts or message.merge is not None:
            drawn["event"] = showable(brought_back(message))
        if entry.same_as is not None and message.role != "user":
            return drawn | {"same": showable(entry.same_as), "blocks": []}
        if message.reverts:
            return drawn | {"blocks": []}
        found = marks if marks is not None else unmarked(blocks_of(message.text))
        shown = found if message.id in self.whole else found[:BLOCKS]
        left = sum(len(block.block.text) for block in found[len(shown) :])
        if message.id not in self.whole:
            plain = [at for at, one in enumerate(shown) if one.block.kind == "plain"]
            if plain:
                left += sum(len(one.block.text) for one in shown[plain[0] :])
                shown = shown[: plain[0]]
        return drawn | {
            "blocks": marked_prose(shown),
            "left": left,
            "marked": marks is not None,
            "files": _files(message),
            "pick": message.role == "assistant" and bool(message.text),
        }

    def _plain(self, message: Message) -> list[Tree]:
        return marked_prose(unmarked(blocks_of(message.text)[:BLOCKS]))

    def pairs(self, number: int) -> Json:
        """Return how much every two columns of a row have in common."""
        row = self.found.rows[number]
        at = [place for place, turn in enumerate(row.turns) if _answer_text(turn)]
        found = shares([_answer_text(row.turns[place]) for place in at])
        return {"columns": at, "shares": [[round(share, 3) for share in line] for line in found]}

    def compared(self, number: int) -> list[Message | None]:
        """Return the answers of a row that are compared, by column."""
        found = [_compared(turn) for turn in self.found.rows[number].turns]
        return [one.message if one is not None else None for one in found]

    def claims(self, number: int, examined: Examination | None) -> Json:
        """Return where the columns of a row agree and disagree."""
        found = agreement(self.compared(number), examined)
        return {
            "model": showable(self.label(found.model)) if found.model else "",
            "dropped": found.dropped,
            "points": [
                {
                    "kind": point.kind,
                    "about": showable(point.about),
                    "says": [(at, _quote(text)) for at, text in point.says],
                }
                for point in found.points
            ],
        }

    def _question(self, row: TurnRow) -> Message | None:
        """Return the question that the first turns answer, if it is among the shared messages."""
        turns = [turn for turn in row.turns if turn is not None]
        first = row is self.found.rows[0] and all(turn.question is None for turn in turns)
        last = self.found.shared[-1] if first and self.found.shared else None
        return last if last is not None and last.role == "user" else None

    def shared(self) -> Json:
        shown = self.found.shared[-_SHARED:]
        return {
            "before": len(self.found.shared) - len(shown),
            "messages": [
                {"role": one.role, "who": self._who(one), "blocks": self._plain(one)} for one in shown
            ],
        }

    def last(self) -> list[Tree]:
        """Return the last common message, which a column without anything of its own shows."""
        return self._plain(self.found.shared[-1]) if self.found.shared else []

    def _who(self, message: Message) -> str:
        return _author(message, self.author) if message.role == "user" else message.role


def alike(texts: Sequence[str]) -> bool:
    """Return whether answers have so much in common that marks on what differs say something."""
    found = [share for at, line in enumerate(shares(texts)) for share in line[at + 1 :]]
    return sum(found) / len(found) >= _MUCH


def _quote(text: str) -> str:
    """Return a claim of an answer without Markdown markup."""
    cells = cells_of(text)
    return showable(bare(" · ".join(cells) if cells else unlisted(text)[0]))


def _compared(turn: Turn | None) -> ColumnEntry | None:
    """Return the answer of a turn that is compared with those of other columns: the last one with text."""
    if turn is None:
        return None
    found = [one for one in turn.answers if one.message.role == "assistant" and one.message.text.strip()]
    return found[-1] if found else None


def _answer_text(turn: Turn | None) -> str:
    compared = _compared(turn)
    return compared.message.text if compared is not None else ""


def _files(message: Message) -> str:
    files = [part.name or part.media_type for part in message.parts if isinstance(part, AttachmentPart)]
    return showable(", ".join(files))[:300]


def _origin(entry: ColumnEntry, label: Label, author: Callable[[MessageId], str]) -> str:
    """Say who wrote a message, and what it cost in tokens, money and time."""
    call = entry.generation
    if entry.message.role != "assistant":
        if entry.message.merge or entry.message.role != "user":
            return "Note" if entry.message.merge else entry.message.role
        return _author(entry.message, author)
    if call is None and entry.origin.models:
        return showable(f"{together(map(label, entry.origin.models))} · {SAME}")
    if call is None:
        return f"Answer, about {tokens(entry.tokens)} tokens"
    facts = [label(call.model), f"{tokens(entry.tokens)} tokens"]
    if call.usage.cost:
        facts.append(dollars(call.usage.cost))
    if entry.seconds is not None:
        facts.append(seconds(entry.seconds))
    if (entry.seconds_to_first_token or 0) >= _NOTABLE:
        facts.append(f"first token after {seconds(entry.seconds_to_first_token or 0)}")
    return showable(" · ".join(facts))


def _author(message: Message, author: Callable[[MessageId], str]) -> str:
    return showable(message.name or author(message.id) or "You")


def facts(column: Column, context: int | None) -> str:
    """Say on one line how many messages only this column has, and how large its context is."""
    own = "1 message" if column.messages == 1 else f"{column.messages} messages"
    parts = [f"{own} of its own"]
    if context is not None:
        parts.append(f"{tokens(context)} tokens of context")
    return " · ".join(parts)


def drawn_heads(
    found: Comparison, pinned: int, colors: Sequence[str], label: Label, context: Mapping[str, int]
) -> list[Json]:
    """Return the heads above the columns."""
    numbers = column_numbers(found.columns)
    return [
        {
            "key": column.side.key,
            "name": showable(column.side.label),
            "branch": column.side.branch is not None,
            "color": colors[at],
            "model": showable(
                ", ".join(
                    label(model) for model in column.models if not column.side.label.startswith(label(model))
                )
            ),
            "facts": facts(column, context.get(column.side.key)),
            "empty": not column.messages,
            "pinned": at == pinned,
            "numbers": [{"name": one.name, "shown": one.shown, "best": one.best} for one in numbers[at]],
        }
        for at, column in enumerate(found.columns)
    ]
