"""The whole tree in one window: a row for every branch, and what became of it.

The rows stand like the teeth of a comb: what left a branch last stands right below it, what left it first lowest. So
no line crosses another one, however many branches there are; only a branch that was brought back crosses some.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from forky_core.model import Message, MessageId, View
from forky_core.views.graph import GraphRow, GraphView, line_of_text, path_runs, preview_of
from forky_core.views.layout.colors import branch_colors, line_colors
from forky_core.views.layout.shape import Shape
from forky_core.views.shelf import count

Outcome = Literal["open", "back", "dropped"]
_TOLD = 1_500
"""Messages, at most, each of which can be told by its beginning; of more, those between forks can't."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A run of the shape, with the row that it lies on."""

    row: int
    above: int
    """The stretch that it continues; -1 for a beginning."""
    sides: tuple[int, ...]
    members: tuple[MessageId, ...]
    plain: bool
    role: str
    """Of its last message."""
    on_path: bool


@dataclass(frozen=True, slots=True)
class Overview:
    """What the window draws."""

    graph: GraphView
    """A row for every branch and for every end without one; its members are the messages that are its own."""
    outcomes: tuple[Outcome, ...]
    """By row."""
    said: tuple[str, ...]
    """By row: what became of the branch, as words; "" of a beginning that goes on."""
    stretches: tuple[Stretch, ...]
    words: Mapping[MessageId, str]
    """How messages begin."""

    @property
    def summary(self) -> str:
        """Return one sentence that counts branches by what became of them."""
        numbers = [(self.outcomes.count("back"), "brought back"), (self.outcomes.count("dropped"), "dropped")]
        ends = [f"{number} {what}" for number, what in numbers if number]
        going = sum(bool(said) for said, one in zip(self.said, self.outcomes, strict=True) if one == "open")
        parts = [*ends, *([f"{going} open"] if going else [])]
        total = f"{count(len(self.outcomes), 'branch')}, {count(self.graph.total, 'message')}"
        return f"{total}: {', '.join(parts)}" if parts else total


def build_overview(
    messages: Mapping[MessageId, Message],
    view: View,
    shape: Shape,
    *,
    current: MessageId | None = None,
    answering: Collection[MessageId] = (),
) -> Overview:
    """Build the overview of a shape; `answering` are the messages to which a reply is being written."""
    pieces = _pieces(shape)
    row_of = {number: row for row, piece in enumerate(pieces) for number in piece}
    path = path_runs(current, shape)
    by_name, colors = branch_colors(view.branches), line_colors(shape, view)
    aside = {stash.messages[-1]: stash.note for stash in view.stashes if stash.messages}
    back = _brought_back(messages, shape)
    rows, outcomes, said = [], [], []
    for piece in pieces:
        members = tuple(id for number in piece for id in shape.runs[number].messages)
        end = messages[members[-1]]
        names, tags = shape.branches.get(end.id, ()), shape.tags.get(end.id, ())
        outcome, words = _outcome(piece, shape, back)
        if not words and not names and not tags:
            outcome, words = (
                "dropped",
                f"put aside: {aside[end.id]}" if aside.get(end.id) else "not continued",
            )
        elif not words and end.role == "user" and len(end.parents) < 2 and end.id not in answering:
            outcome, words = "dropped", "no answer"
        elif not words and shape.runs[piece[0]].above >= 0:
            words = "open"
        outcomes.append(outcome)
        said.append(words)
        rows.append(
            GraphRow(
                end.id,
                "message",
                0,
                end.role,
                "you" if end.role == "user" else "assistant",
                line_of_text(messages[members[0]]),
                by_name[names[0]] if names else colors[shape.runs[piece[0]].line],
                preview=preview_of(end),
                members=members,
                branches=names,
                tags=tags,
                folded=len(members),
                on_path=any(number in path for number in piece),
                current=current in members,
            )
        )
    total = len(shape.run_of)
    told = shape.run_of if total <= _TOLD else [run.messages[-1] for run in shape.runs]
    return Overview(
        GraphView(tuple(rows), (), 1, total=total),
        tuple(outcomes),
        tuple(said),
        tuple(
            Stretch(
                row_of[number],
                run.above,
                run.sides,
                run.messages,
                run.plain,
                messages[run.messages[-1]].role,
                number in path,
            )
            for number, run in enumerate(shape.runs)
        ),
        {id: preview_of(messages[id]) or line_of_text(messages[id]) for id in told},
    )


def _pieces(shape: Shape) -> list[tuple[int, ...]]:
    """Return the runs of each row, top to bottom: a line, cut below every message that a branch names."""
    lines: dict[int, list[list[int]]] = {}
    for number, run in enumerate(shape.runs):
        line = lines.setdefault(run.line, [])
        if not line or shape.runs[line[-1][-1]].messages[-1] in shape.branches:
            line.append([])
        line[-1].append(number)
    pieces = [tuple(piece) for line in lines.values() for piece in line]
    first = {number: piece[0] for piece in pieces for number in piece} | {-1: -1}
    below: dict[int, list[tuple[int, ...]]] = {}
    for piece in sorted(pieces):
        below.setdefault(first[shape.runs[piece[0]].above], []).append(piece)
    waiting, found = below.get(-1, [])[::-1], []
    while waiting:
        found.append(waiting.pop())
        waiting += below.get(found[-1][0], ())
    return found


_Back = Mapping[int, tuple[int, bool]]


def _brought_back(messages: Mapping[MessageId, Message], shape: Shape) -> _Back:
    """Return, for each run that was brought back, the last run that has it, and whether that was left out again."""
    reverted = {target for message in messages.values() for target in message.reverts}
    return {
        side: (number, run.messages[-1] in reverted)
        for number, run in enumerate(shape.runs)
        for side in run.sides
    }


def _outcome(piece: Sequence[int], shape: Shape, back: _Back) -> tuple[Outcome, str]:
    side = max((number for number in piece if number in back), default=-1)
    since = sum(len(shape.runs[number].messages) for number in piece if number > side)
    if side < 0 or (since and shape.runs[piece[0]].above < 0):
        return "open", ""  # A beginning that others took up goes on.
    target, gone = back[side]
    into = shape.line_names[shape.runs[target].line] or "another branch"
    if gone:
        return "dropped", f"brought back into “{into}”, then left out again"
    return ("open" if since else "back"), f"brought back into “{into}”" + (
        f", {count(since, 'message')} since" if since else ""
    )
