"""A squash that a model writes: the same plan as without one, with the model's note in place of the quoted lines.

What lands is the writer's text without the sentences that are struck out. If nothing of it stands, `SquashRejected`
carries the plan without a model, badged, so that the person can still merge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from forky_core.context.citing import own_sources
from forky_core.context.convert import message_as_text
from forky_core.context.masking import Lookup
from forky_core.merge.attribution import attribute, payload_lines
from forky_core.merge.block import PayloadLine
from forky_core.merge.headings import FACTS, FILES, SETTLED, UNRESOLVED
from forky_core.merge.marks import NoteText, all_of, carried_over
from forky_core.merge.note.compose import default_budget, file_line
from forky_core.merge.plan import Doubt, MergePlan
from forky_core.merge.written.material import MOST_SOURCES, NoteMaterial
from forky_core.merge.written.note import (
    NoteFailed,
    NoteSentence,
    WrittenNote,
    with_doubt,
    without,
)
from forky_core.merge.written.sentences import spans
from forky_core.model import Message, MessageId
from forky_core.model.errors import ForkyError
from forky_core.model.graph import first_parent_path
from forky_core.model.parts import AttachmentPart
from forky_core.text.words import terms

_KNOWN_TURNS = 60
"""The last messages of the target whose words a note may use."""

Write = Callable[[NoteMaterial, Sequence[Message], int, Callable[[str], int]], WrittenNote]
"""Writes the note of a branch for a reader who knows these messages, in so many tokens by this way of counting."""


class SquashRejected(ForkyError):
    """Nothing of what the model wrote can be used; nothing was saved."""

    def __init__(self, problems: Sequence[str], answer: str, plan: MergePlan) -> None:
        self.problems = tuple(problems)
        """Why, in sentences."""
        super().__init__("What the model wrote cannot be used.", " ".join(self.problems[:6]))
        self.answer = answer
        self.plan = plan
        """The plan without a model, badged."""


def squash_written_by(
    write: Write,
    plan: MergePlan,
    *,
    lookup: Lookup,
    model: str,
    budget_tokens: int | None = None,
    looked_at: bool = False,
) -> MergePlan:
    """Return the squash `plan` with the note that `write` returns, by the model of that name.

    `looked_at` says that a person reads the plan before it lands: then a sentence that was not confirmed is only
    marked in the plan, and else says so in the text.

    Raises:
        SquashRejected: nothing of the note stands, or it saves nothing.
        ModelError: from `write`; nothing was written.
    """
    target = target_view(plan, lookup)
    room = note_room(plan, budget_tokens)
    try:
        note = write(material_of(plan, lookup, target), target, room, plan.count_tokens)
    except NoteFailed as error:
        raise SquashRejected(error.problems, error.answer, badged(plan, model)) from error
    return squash_of_note(plan, note, lookup=lookup, model=model, looked_at=looked_at)


def material_of(plan: MergePlan, lookup: Lookup, target: Sequence[Message]) -> NoteMaterial:
    """Return the branch as a writer reads it."""
    return NoteMaterial(tuple(lookup(id) for id in plan.turns), tuple(map(message_as_text, target)))


def target_view(plan: MergePlan, lookup: Lookup) -> list[Message]:
    """Return the last messages of the branch that is merged into."""
    path = first_parent_path(plan.target, lambda id: lookup(id).parents)[-_KNOWN_TURNS:]
    return [message for message in map(lookup, path) if not message.hidden]


def note_room(plan: MergePlan, budget_tokens: int | None) -> int:
    """Return the tokens of a note: a share of what it stands for, or the person's own number. The header, and what
    earlier merges settled, come on top.
    """
    return default_budget(plan.tokens_full) if budget_tokens is None else max(0, budget_tokens)


def squash_of_note(
    plan: MergePlan, note: WrittenNote, *, lookup: Lookup, model: str, looked_at: bool = False
) -> MergePlan:
    """Return the squash `plan` with a note's sentences that stand.

    Raises:
        SquashRejected: it saves nothing over the branch itself.
    """
    text = without(note)
    sources = [_originals(one.span.of(note.text), one.sources, plan, lookup) for one in note.sentences]
    doubts = _doubts(note, sources)
    told = carried_over(note.text, sources, text)
    if not looked_at:
        text = _unconfirmed(text, note)
    made = plan.with_note(NoteText(text, told, _below(plan, lookup, all_of(told))), model)
    if made.tokens >= plan.tokens_full:
        wrong = f"It is no shorter than the branch itself ({plan.tokens_full} tokens)."
        raise SquashRejected((wrong, *(one.why for one in doubts)), note.answer, badged(plan, model))
    return replace(made, warnings=(*made.warnings, *note.remarks), doubts=doubts)


def badged(plan: MergePlan, model: str) -> MergePlan:
    """Return the plan without a model, marked as the replacement of an answer that was refused."""
    return replace(plan, badge=f"Quoted lines; the note by {model} could not be used.")


def _doubts(note: WrittenNote, sources: Sequence[tuple[MessageId, ...]]) -> tuple[Doubt, ...]:
    """Return what is to be said of single sentences, in their order."""
    found: list[Doubt] = []
    before: NoteSentence | None = None
    was_read = any(one.state not in ("struck", "unread") for one in note.sentences)
    for one, rests_on in zip(note.sentences, sources, strict=True):
        if one.state != "stands" and (one.state != "unread" or was_read):
            start = before.span.end if before is not None else 0
            line = note.text[max(start, note.text.rfind("\n", 0, one.span.start)) : one.span.start]
            found.append(
                Doubt(
                    one.span.of(note.text),
                    one.why or "The verifier did not speak of it.",
                    out=one.state == "struck",
                    message=one.place,
                    sources=rests_on,
                    after=before.span.of(note.text) if before is not None else "",
                    joint=line if "\n" in line else " ",
                )
            )
        if one.state != "struck":
            before = one
    return tuple(found)


def _unconfirmed(text: str, note: WrittenNote) -> str:
    """Return the text of what lands of a note, where it says itself which of its sentences were not confirmed."""
    kept = [one for one in note.sentences if one.state != "struck"]
    for one, span in reversed(list(zip(kept, spans(text), strict=False))):
        text = f"{text[: span.start]}{with_doubt(span.of(text), one.state)}{text[span.end :]}"
    return text


def _originals(
    sentence: str, sources: Sequence[MessageId], plan: MergePlan, lookup: Lookup
) -> tuple[MessageId, ...]:
    """Return what a sentence rests on: instead of a merge among the messages, what the line of it that is most like the
    sentence cites.
    """
    mine = frozenset(terms(sentence))
    found: dict[MessageId, None] = {}
    for id in sources:
        rows = [
            row for row in payload_lines(lookup(id)) if any(cite in plan.citable for cite in row.all_cites)
        ]
        best = max(rows, key=lambda row: len(mine & frozenset(terms(row.text))), default=None)
        cites = [cite for cite in best.all_cites if cite in plan.citable] if best is not None else [id]
        found.update(dict.fromkeys(cites))
    return tuple(found)[-MOST_SOURCES:]


def _below(plan: MergePlan, lookup: Lookup, cites: Sequence[MessageId]) -> tuple[PayloadLine, ...]:
    """Return what stands below a note: what earlier merges of the branch settled or left open, word for word; its
    files; the passages of documents that the cited answers rest on.
    """
    turns = [lookup(id) for id in plan.turns]
    lines: list[PayloadLine] = []
    if any(turn.merges for turn in turns):
        found = attribute(turns, lookup, plan.short).claims
        lines += [line for line in found if line.section in (SETTLED, UNRESOLVED)]
    for turn in turns:
        said = own_sources(turn.text) if turn.id in cites and turn.role == "assistant" else ""
        if said:
            lines.append(PayloadLine(said, (turn.id,), FACTS, quoted=True))
    lines += [
        PayloadLine(file_line(part), (turn.id,), FILES)
        for turn in turns
        for part in turn.parts
        if isinstance(part, AttachmentPart)
    ]
    return tuple(lines)
