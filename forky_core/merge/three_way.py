"""Three-way: the conflicts between branches, each settled by a person, and below them the same note as a squash.

Rules find possible conflicts, or a model that has examined the branches (comparison.py). Choices rewrite the lines
about the conflicts and leave the note as it is, but for lines that a choice has rejected. The conflicts are recorded in
the message, so that a later merge reads them back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType

from forky_core.context.quoting import in_quotes
from forky_core.merge.block import PayloadLine, render
from forky_core.merge.branch_merge import NOTHING_TO_TELL, plan_branch_merge
from forky_core.merge.comparison import compare
from forky_core.merge.conflicts.conflict import CUT, Choice, Conflict, by_policy, choose, told_apart
from forky_core.merge.conflicts.findings import MergeFindings
from forky_core.merge.corrections import correction_rows
from forky_core.merge.headings import SETTLED, UNRESOLVED, WRITTEN
from forky_core.merge.incoming_changes import IncomingChanges
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.marks import NoteText, with_sources
from forky_core.merge.note.compose import default_budget
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan, PlannedMessage
from forky_core.merge.squash import branch_note
from forky_core.merge.strategy import IncomingSide, Strategy
from forky_core.merge.wording import ShortIds, full_header, joined_header
from forky_core.merge.written.sentences import cut, spans
from forky_core.model import MessageId, payload_kinds
from forky_core.model.parts import MergePart

_NUMBER = re.compile(r"\w*\d\w*")


@dataclass(frozen=True, slots=True)
class SourceNote:
    """The note on one source."""

    turns: tuple[MessageId, ...]
    lines: tuple[PayloadLine, ...]
    tokens_full: int
    """What a full merge of this source would cost."""
    text: NoteText | None = None
    """What stands in the place of the quoted lines, if a model wrote it."""
    writer: str = ""
    """That model."""


@dataclass(frozen=True, slots=True)
class ThreeWayPlan(MergePlan):
    """A merge plan whose conflicts can be settled."""

    carried: frozenset[str] = frozenset()
    """Hashes of the conflicts that the target carries: it tells them already, as long as they are open."""
    notes: tuple[SourceNote, ...] = ()
    """The notes below the conflicts, one for each source."""

    @property
    def unresolved(self) -> tuple[Conflict, ...]:
        """The conflicts that would land open."""
        return tuple(one for one in self.conflicts if one.choice is None)

    @property
    def written_apart(self) -> tuple[MergePlan, ...]:
        # What one branch says takes nothing back of another one.
        return (self,) if len(self.notes) == 1 else tuple(map(self._alone, self.notes))

    def _alone(self, note: SourceNote) -> ThreeWayPlan:
        """Return the plan with one note, and without the conflicts and corrections of all."""
        return written(
            replace(
                self,
                turns=note.turns,
                tokens_full=note.tokens_full,
                conflicts=(),
                corrects=(),
                notes=(note,),
            )
        )

    def with_note(self, note: NoteText, made_by: str) -> MergePlan:
        (one,) = self.notes
        return written(
            replace(self, notes=(replace(one, lines=(), text=note, writer=made_by),), by_hand=False)
        )

    def with_written(self, made: Sequence[MergePlan]) -> MergePlan:
        if len(self.notes) == 1:
            return made[0]
        notes = tuple(chain.from_iterable(one.notes for one in made if isinstance(one, ThreeWayPlan)))
        warnings = dict.fromkeys(chain(self.warnings, *(one.warnings for one in made)))
        doubts = tuple(chain.from_iterable(one.doubts for one in made))
        return written(replace(self, notes=notes, warnings=tuple(warnings), doubts=doubts, by_hand=False))

    def resolved(self, choices: Mapping[str, Choice | None]) -> ThreeWayPlan:
        """Return the plan with these choices, by subject or hash of the conflict; None opens one again.

        This discards a person's changes to the payload.

        Raises:
            BadContent: there is no such conflict or no such side.
        """
        return written(replace(self, conflicts=choose(self.conflicts, choices), by_hand=False))


def plan_three_way(inputs: MergeInputs, options: MergeOptions) -> MergePlan:
    """Plan a three-way merge; it always writes a message, so that it can be read and changed.

    Raises:
        BadContent: a choice names no conflict.
    """
    return plan_branch_merge(
        inputs, options, lambda inputs, found: three_way_of([IncomingSide(inputs, found)], options)
    )


def three_way_of(coming: Sequence[IncomingSide], options: MergeOptions) -> ThreeWayPlan:
    """Plan a merge of these sources, each of which brings something, into their one target.

    All are compared at once, so that every conflict appears once, with who says what.
    """
    inputs = coming[0].inputs
    compared = compare([(one.inputs, one.found.turns) for one in coming])
    met = (
        by_policy(one, options.policy, lambda id: inputs.lookup(id).created)
        for one in told_apart((*compared.conflicts, *compared.carried))
    )
    short = replace(inputs, other_tips=tuple(one.inputs.source for one in coming)).short_ids()
    turns = tuple(turn for one in coming for turn in one.found.turns)
    full = [_tokens_full(*one, short) for one in coming]
    header = joined_header(
        [(one.inputs.source_name, one.found, one.inputs.prompt_of_source(one.found)) for one in coming], short
    )
    names = tuple(one.inputs.source_name for one in coming)
    empty = replace(
        inputs.empty(payload_kinds.THREE_WAY.name, "merge", *_warnings(coming, short, cut=compared.cut)),
        source_name=", ".join(names),
        source=inputs.source if len(coming) == 1 else None,
        heads=MappingProxyType(
            {} if len(coming) == 1 else {one.inputs.source_name: one.inputs.source for one in coming}
        ),
        delta=tuple(dict.fromkeys(id for one in coming for id in one.found.delta)),
        bases=tuple(dict.fromkeys(id for one in coming for id in one.found.bases)),
        turns=tuple(turn.id for turn in turns),
        tokens_full=sum(full),
        omitted=tuple(omission for one in coming for omission in one.found.omitted),
        header=header,
        corrects=compared.corrects,
        compared=compared.sides,
        examined_by=compared.examined_by,
        conflicts=choose(met, options.choices),
        short=short,
    )
    plan = ThreeWayPlan(
        **{name: getattr(empty, name) for name in MergePlan.__dataclass_fields__},
        carried=frozenset(one.hash for one in compared.carried),
    )
    told = [
        branch_note(one.inputs, one.found.turns, room, options.focus)
        for one, room in zip(coming, _rooms(plan, coming, options.budget), strict=True)
    ]
    plan = replace(
        plan,
        citations_of_merges=MappingProxyType(
            {id: cites for note in told for id, cites in note.citations_of_merges.items()}
        ),
        payload=header,
        tokens=inputs.count_tokens(header),
        notes=tuple(
            SourceNote(tuple(turn.id for turn in one.found.turns), note.lines, tokens)
            for one, note, tokens in zip(coming, told, full, strict=True)
        ),
    )
    plan = written(replace(plan, drafts=(_message(coming, plan.squash_block(header, ())),)))
    if plan.tokens >= plan.tokens_full:
        longer = f"The payload ({plan.tokens} tokens) is no shorter than the branch: use full ({plan.tokens_full})."
        plan = replace(plan, warnings=(*plan.warnings, longer))
    return plan


def _rooms(plan: ThreeWayPlan, coming: Sequence[IncomingSide], budget: int | None) -> list[int]:
    """Return the tokens of each source's note: a share of what it costs in full, or of what is left of a budget."""
    costs = [one.inputs.cost(one.found.turns) for one in coming]
    if budget is None:
        return [default_budget(cost) for cost in costs]
    # As if all were open, so that the room of a note does not depend on the choices.
    open_ones = [replace(one, choice=None) for one in plan.conflicts]
    above = render(plan.header, _rows(open_ones, plan.short), plan.short) + _corrections(plan)
    left = max(0, budget - plan.count_tokens(above))
    return [left * cost // max(1, sum(costs)) for cost in costs]


def _warnings(coming: Sequence[IncomingSide], short: ShortIds, *, cut: bool) -> tuple[str, ...]:
    inputs = coming[0].inputs
    found = [warning for one in coming for warning in one.inputs.warnings(one.found, short)]
    for one in coming:
        if not one.found.bases and inputs.target is not None:
            who = "the two" if len(coming) == 1 else f"“{inputs.target_name}” and “{one.inputs.source_name}”"
            found.append(f"No base: {who} share no message. They are compared without one.")
    if cut:
        found.append(CUT)
    return tuple(dict.fromkeys(found))


def _message(coming: Sequence[IncomingSide], part: MergePart) -> PlannedMessage:
    """Return the message that lands: the target is its context, the last complete turn of each source a further
    parent.
    """
    planned = [one.inputs.merge_message(one.found, part) for one in coming]
    parents = tuple(dict.fromkeys(id for one in planned for id in one.parents))
    sources = tuple(id for one in planned for id in one.draft.sources)
    return PlannedMessage(parents, replace(planned[0].draft, sources=sources))


def _tokens_full(inputs: MergeInputs, found: IncomingChanges, short: ShortIds) -> int:
    header = full_header(inputs.source_name, found, short, inputs.prompt_of_source(found))
    return inputs.tokens_beside(found.turns, header)


def written(plan: ThreeWayPlan) -> ThreeWayPlan:
    """Return the plan with its payload rebuilt from its conflicts, its choices and its note."""
    told = [one for one in plan.conflicts if one.choice is not None or one.hash not in plan.carried]
    conflicts = _rows(told, plan.short)
    lines = [*conflicts, *_left(chain.from_iterable(one.lines for one in plan.notes), plan.conflicts)]
    note = _note_left([one.text for one in plan.notes if one.text is not None], plan.conflicts)
    text = render(plan.header, lines, plan.short)
    if note is not None:
        lines += note.below
        text = note.below_header(plan.header, plan.short, conflicts)
    text += _corrections(plan)
    found = MergeFindings(tuple(told), plan.corrects)
    cites = {
        *chain.from_iterable(one.cites for one in told),
        *chain.from_iterable(line.cites for line in lines),
    }
    if note is not None:
        cites.update(note.cites)
        found = with_sources(found, text, note.sources_in(text))
    writer = next((one.writer for one in plan.notes if one.writer), "")
    block = replace(plan.squash_block(text, cites, writer), claims=found.to_json())
    chosen = {
        f"resolutions/{one.hash}": one.stored()
        for one in plan.conflicts
        if one.choice is not None and not one.choice.by.startswith(("remembered", "policy"))
    }
    warnings = [one for one in plan.warnings if one != NOTHING_TO_TELL]
    if text == plan.header:
        warnings.append(NOTHING_TO_TELL)
    made = plan.with_block(block)
    assert isinstance(made, ThreeWayPlan)
    return replace(made, warnings=tuple(warnings), entries=MappingProxyType(chosen))


def _left(lines: Iterable[PayloadLine], conflicts: Sequence[Conflict]) -> tuple[PayloadLine, ...]:
    """Return the lines that no conflict has overtaken."""
    return tuple(line for line in lines if not any(_overtaken(line, one) for one in conflicts))


def _note_left(notes: Sequence[NoteText], conflicts: Sequence[Conflict]) -> NoteText | None:
    """Return written notes as one, without the sentences that a conflict has overtaken; None if there are none."""
    if not notes:
        return None
    text = "\n\n".join(note.text for note in notes)
    whole = NoteText(text, tuple(chain.from_iterable(note.sources for note in notes)))
    out = [
        span
        for span, ids in zip(spans(text), whole.sources, strict=False)
        if not _left([PayloadLine(span.of(text), ids, WRITTEN)], conflicts)
    ]
    kept = cut(text, out)
    below = _left(chain.from_iterable(note.below for note in notes), conflicts)
    return NoteText(kept, whole.sources_in(kept), below)


def _corrections(plan: MergePlan) -> str:
    rows = correction_rows(plan.corrects, plan.short)
    return f"\n{rows}" if rows else ""


def _rows(conflicts: Sequence[Conflict], short: ShortIds) -> tuple[PayloadLine, ...]:
    """Return a line for each conflict: what was settled first, then what is open."""
    settled = [PayloadLine(_settled(one), one.cites, SETTLED) for one in conflicts if one.choice is not None]
    still = [PayloadLine(_both(one, short), (), UNRESOLVED) for one in conflicts if one.choice is None]
    return (*settled, *still)


def _settled(conflict: Conflict) -> str:
    other = " / ".join(dict.fromkeys(one.text for one in conflict.rejected))
    return f"{conflict.about}: {conflict.result}{f' (instead of: {other})' if other else ''}"


def _both(conflict: Conflict, short: ShortIds) -> str:
    """Return every side's words of an open conflict, with who says them."""
    said = [f"{in_quotes(one.side)} says “{one.text}” [{short(one.message)}]" for one in conflict.says]
    return f"{conflict.about}: {'possibly: ' if conflict.possible else ''}{'; '.join(said)}"


def _overtaken(line: PayloadLine, conflict: Conflict) -> bool:
    """Whether a line of the note only repeats a conflict, or says what a choice has rejected."""
    if line.section in (SETTLED, UNRESOLVED):
        return line.text.startswith(f"{conflict.about}: ")
    if any(one.text in line.text for one in conflict.rejected) or _tells_rejected(line, conflict):
        return True
    return any(one.text in line.text and len(line.text) < 2 * len(one.text) for one in conflict.says)


def _tells_rejected(line: PayloadLine, conflict: Conflict) -> bool:
    """Whether a line has a number that only rejected words have, and is about the same or rests on their message."""
    kept = {*_NUMBER.findall(conflict.result)}
    told = {*_NUMBER.findall(line.text)} - kept
    return any(
        (one.message in line.cites or conflict.about in line.text)
        and not told.isdisjoint(_NUMBER.findall(one.text))
        for one in conflict.rejected
    )


THREE_WAY = Strategy(
    payload=payload_kinds.THREE_WAY,
    label="A note, and where the two disagree",
    entry="A note, and where the two disagree …",
    icon="alt_route",
    caption="A short note, below what the branches disagree on, which you decide (three-way).",
    caption_of_several="One note of all branches, below what they disagree on, which you decide (three-way).",
    plan=plan_three_way,
    plan_joined=three_way_of,
    takes=frozenset({"focus", "budget", "model", "policy", "choices"}),
    model="writes",
)
