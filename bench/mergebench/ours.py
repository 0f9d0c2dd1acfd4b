"""Forky's own merge as MergeBench asks for it: from turns to messages, planned, and the text that would land.

What the benchmark knows of forky_core's merges stands here and in model_path.py; a change of theirs is followed here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event

from bench.mergebench.case import Method, Role, Turn
from bench.note_writing import notes_by
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.contract import Failed, ProviderMessage, Request, TextDelta
from forky_core.llm.tokens import estimate_tokens
from forky_core.merge.conflicts.conflict import ComparedSide
from forky_core.merge.conflicts.rules import possible_conflicts
from forky_core.merge.headings import HEADINGS
from forky_core.merge.incoming_changes import IncomingChanges
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.planner import plan_merge
from forky_core.merge.squash import squash_of
from forky_core.merge.strategy import IncomingSide
from forky_core.merge.three_way import three_way_of
from forky_core.merge.written.plan import SquashRejected, squash_written_by
from forky_core.model import Message, MessageId, seal
from forky_core.model.parts import Draft, Part, TextPart, ToolCallPart, ToolResultPart

_HEADER = re.compile(r"\A\[Merged [^\n]*\]\n?")
_MARKS = re.compile(r"(?: \[[0-9a-f]{6,32}\])+$", re.MULTILINE)


class NoAnswer(RuntimeError):
    """A model failed, so that there is nothing to score."""


def messages(turns: Sequence[Turn], after: MessageId | None = None) -> tuple[Message, ...]:
    """The turns as messages, each below the one before, the first below `after`.

    A tool's turn that names its arguments becomes the call and its result, as an importer would store them.
    """
    path: list[Message] = []

    def say(role: Role, part: Part, name: str = "") -> None:
        parent = path[-1].id if path else after
        path.append(seal(Draft(role, (part,), name=name), (parent,) if parent else ()))

    for number, turn in enumerate(turns):
        if turn.role == "tool" and turn.call:
            call = json.dumps(
                json.loads(turn.call), ensure_ascii=False, separators=(",", ":"), sort_keys=True
            )
            say("assistant", ToolCallPart(turn.name, call, f"call-{number}"))
            say("tool", ToolResultPart(turn.name, turn.text, f"call-{number}"))
        else:
            say(turn.role, TextPart(turn.text), turn.name if turn.role != "tool" else "")
    return tuple(path)


def squash(trunk: Sequence[Turn], side: Sequence[Turn], budget: int) -> str:
    """What squashing the side into the trunk would write, without a model."""
    return planned_squash(trunk, side, budget)[0].payload


def three_way(trunk: Sequence[Turn], side: Sequence[Turn], budget: int) -> str:
    """What merging the side three-way into the trunk would write, without a model."""
    inputs, found, _ = _incoming(trunk, side)
    return three_way_of([IncomingSide(inputs, found)], MergeOptions("three-way", budget=budget)).payload


def planned_squash(
    trunk: Sequence[Turn], side: Sequence[Turn], budget: int
) -> tuple[MergePlan, dict[MessageId, Message]]:
    """The plan of a squash of the whole side, and all messages."""
    inputs, found, known = _incoming(trunk, side)
    return squash_of(inputs, found, MergeOptions("squash", budget=budget)), known


def _incoming(
    trunk: Sequence[Turn], side: Sequence[Turn]
) -> tuple[MergeInputs, IncomingChanges, dict[MessageId, Message]]:
    """The whole side as what comes, also a turn at its end that has no answer yet; and all messages."""
    before = messages(trunk)
    branch = messages(side, before[-1].id if before else None)
    known = {message.id: message for message in (*before, *branch)}
    inputs = _place(known, before[-1].id if before else None, branch[-1].id)
    return inputs, replace(inputs.incoming(), turns=branch), known


def written_by(model: str) -> Method:
    """A squash that this model writes; quoted lines stand in where its summary is refused, as they would land.

    Raises:
        NoAnswer: the model failed.
    """
    opened = Catalogue().model(model)

    def ask(asked: tuple[ProviderMessage, ...]) -> str:
        said: list[str] = []
        for event in opened.stream(Request(opened.info().name, asked), Event()):
            if isinstance(event, Failed):
                raise NoAnswer(event.failure.sentence)
            if isinstance(event, TextDelta):
                said.append(event.text)
        return "".join(said)

    return lambda trunk, side, budget: write(ask, model, trunk, side, budget)


def write(
    ask: Callable[[tuple[ProviderMessage, ...]], str],
    model: str,
    trunk: Sequence[Turn],
    side: Sequence[Turn],
    budget: int,
) -> str:
    """The text of a squash by whoever `ask` asks."""
    plan, known = planned_squash(trunk, side, budget)
    try:
        made = squash_written_by(
            notes_by(ask, ask), plan, lookup=known.__getitem__, model=model, budget_tokens=budget
        )
    except SquashRejected as error:
        made = error.plan
    return made.payload


def contradicts(main: Sequence[Turn], side: Sequence[Turn]) -> bool:
    """Whether Forky's rules find a possible conflict between the side and what main has said since the fork."""
    sides = ComparedSide("main", messages(main)), ComparedSide("side", messages(side))
    return bool(possible_conflicts(sides))


def merge_warns(main: Sequence[Turn], side: Sequence[Turn]) -> bool:
    """Whether merging the side into main would show a possible conflict, as a person meets it before landing.

    A turn of the person at the end of the side would wait for its answer and stay behind, so it gets one here.
    """
    root = messages((Turn("user", "Let us go on from here."), Turn("assistant", "All right.")))
    answered = side if side[-1].role == "assistant" else (*side, Turn("assistant", "All right."))
    line, branch = messages(main, root[-1].id), messages(answered, root[-1].id)
    known = {message.id: message for message in (*root, *line, *branch)}
    inputs = _place(known, line[-1].id, branch[-1].id)
    return bool(plan_merge(inputs, MergeOptions("full", force=True)).conflicts)


def _place(known: dict[MessageId, Message], target: MessageId | None, source: MessageId) -> MergeInputs:
    return MergeInputs(
        target,
        source,
        "main",
        "side",
        lookup=known.__getitem__,
        parents_of=lambda id: known[id].parents,
        count_tokens=estimate_tokens,
    )


def without_signs(text: str, *, headings: bool = False) -> str:
    """A payload without what would give away that it is Forky's: its header, the ids, and unless kept the headings."""
    plain = _MARKS.sub("", _HEADER.sub("", text))
    rows = plain.splitlines()
    return "\n".join(row for row in rows if headings or row not in HEADINGS)
