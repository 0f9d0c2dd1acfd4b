"""Three-way: the conflicts between branches, each settled by a person, and below them the same note as a squash.

Rules find the conflicts (comparison.py); a model is asked for the note only, as for a squash. Choices rewrite the lines
about the conflicts and leave the note as it is, but for lines that a choice has rejected. The claims that the text
tells are frozen in the message, so that a later merge reads them back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType

from forky_core.context.quoting import in_quotes
from forky_core.merge.block import PayloadLine, render
from forky_core.merge.branch_merge import plan_branch_merge
from forky_core.merge.claims.claim_set import Claim, ClaimSet, StoredClaims, has_words
from forky_core.merge.claims.conflict_resolution import Choice, Clash, by_policy, choose
from forky_core.merge.comparison import CUT, compare
from forky_core.merge.corrections import correction_rows
from forky_core.merge.headings import SETTLED, UNRESOLVED, WRITTEN
from forky_core.merge.incoming_changes import IncomingChanges
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.marks import NoteText, with_sources
from forky_core.merge.note.compose import default_budget
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan, PlannedMessage
from forky_core.merge.plan_lines import NOTHING_TO_TELL
from forky_core.merge.squash import branch_note
from forky_core.merge.strategy import IncomingSide, Strategy
from forky_core.merge.wording import ShortIds, full_header, joined_header
from forky_core.merge.written.sentences import cut, spans
from forky_core.model import MessageId, payload_kinds
from forky_core.model.parts import MergePart


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
    """A merge plan with its conflicts."""

    clashes: tuple[Clash, ...] = ()
    """Sorted by key."""
    incoming_claims: ClaimSet = field(default_factory=ClaimSet)
    """What joining the source's claims adds to the target's: those that the text tells are frozen with it."""
    replaced: tuple[Claim, ...] = ()
    """Claims of the target that the source knew and superseded."""
    notes: tuple[SourceNote, ...] = ()
    """The notes below the conflicts, one for each source."""

    @property
    def unresolved(self) -> tuple[Clash, ...]:
        """The conflicts that would land open."""
        return tuple(clash for clash in self.clashes if clash.choice is None)

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
                clashes=(),
                corrects=(),
                incoming_claims=ClaimSet(),
                replaced=(),
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
        """Return the plan with these choices, by key or hash of the conflict; None opens one again.

        This discards a person's changes to the payload.

        Raises:
            BadContent: there is no such conflict or no such side.
        """
        return written(replace(self, clashes=choose(self.clashes, choices), by_hand=False))


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

    The claims of all are compared at once, so that every conflict appears once, with who says what.
    """
    inputs = coming[0].inputs
    compared = compare([(one.inputs, one.found.turns) for one in coming], whole=True)
    met = tuple(
        by_policy(clash, options.policy, lambda id: inputs.lookup(id).created) for clash in compared.clashes
    )
    met = choose(met, options.choices)
    brought = compared.joined.without(compared.target)
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
        short=short,
    )
    plan = ThreeWayPlan(
        **{name: getattr(empty, name) for name in MergePlan.__dataclass_fields__},
        clashes=met,
        incoming_claims=brought,
        replaced=tuple(claim for claim in compared.target.ordered if claim.id in brought.superseded_ids),
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
    open_ones = [replace(clash, choice=None) for clash in plan.clashes]
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
    found.append("Conflicts are found by rules, in plain statements only.")
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
    conflicts = _rows(plan.clashes, plan.short)
    lines = [*conflicts, *_left(chain.from_iterable(one.lines for one in plan.notes), plan.clashes)]
    note = _note_left([one.text for one in plan.notes if one.text is not None], plan.clashes)
    text = render(plan.header, lines, plan.short)
    if note is not None:
        lines += note.below
        text = note.below_header(plan.header, plan.short, conflicts)
    text += _corrections(plan)
    open_claims = [claim for clash in plan.unresolved for claim in clash.conflict.claims]
    results = [result for clash in plan.clashes if (result := clash.result) is not None]
    frozen = _frozen(plan, text, open_claims, results)
    cites = {cite for claim in (*open_claims, *results) for cite in claim.cites}
    cites.update(chain.from_iterable(line.cites for line in lines))
    if note is not None:
        cites.update(note.cites)
        frozen = with_sources(frozen, text, note.sources_in(text))
    writer = next((one.writer for one in plan.notes if one.writer), "")
    block = replace(plan.squash_block(text, cites, writer), claims=frozen.to_json())
    chosen = {
        f"resolutions/{clash.conflict.hash}": clash.remembered()
        for clash in plan.clashes
        if clash.choice is not None and not clash.choice.by.startswith(("remembered", "policy"))
    }
    warnings = [one for one in plan.warnings if one != NOTHING_TO_TELL]
    if text == plan.header:
        warnings.append(NOTHING_TO_TELL)
    made = plan.with_block(block)
    assert isinstance(made, ThreeWayPlan)
    return replace(
        made,
        warnings=tuple(warnings),
        entries=MappingProxyType(chosen),
        contradictions=made.unresolved,
    )


def _left(lines: Iterable[PayloadLine], clashes: Sequence[Clash]) -> tuple[PayloadLine, ...]:
    """Return the lines that no conflict has overtaken."""
    return tuple(line for line in lines if not any(_overtaken(line, clash) for clash in clashes))


def _note_left(notes: Sequence[NoteText], clashes: Sequence[Clash]) -> NoteText | None:
    """Return written notes as one, without the sentences that a conflict has overtaken; None if there are none."""
    if not notes:
        return None
    text = "\n\n".join(note.text for note in notes)
    whole = NoteText(text, tuple(chain.from_iterable(note.sources for note in notes)))
    out = [
        span
        for span, ids in zip(spans(text), whole.sources, strict=False)
        if not _left([PayloadLine(span.of(text), ids, WRITTEN)], clashes)
    ]
    kept = cut(text, out)
    below = _left(chain.from_iterable(note.below for note in notes), clashes)
    return NoteText(kept, whole.sources_in(kept), below)


def _corrections(plan: MergePlan) -> str:
    rows = correction_rows(plan.corrects, plan.short)
    return f"\n{rows}" if rows else ""


def _frozen(
    plan: ThreeWayPlan, text: str, open_claims: Sequence[Claim], results: Sequence[Claim]
) -> StoredClaims:
    """Return what later merges read back: both sides of an open conflict, since they may find claims in another way;
    resolutions; and the source's claims that the text tells, each in place of what it replaced.
    """
    disputed = {claim for clash in plan.clashes for claim in clash.conflict.claims}
    brought = ClaimSet(plan.incoming_claims.claims - disputed)
    told = StoredClaims(brought).still_in(text).set.claims
    untold = (
        old.id
        for old in plan.replaced
        if not any(one.contradicts(old) or one.repeats(old) or old.id in one.supersedes for one in told)
    )
    gone = plan.incoming_claims.superseded_ids.difference(untold)
    return StoredClaims(ClaimSet.of((*told, *open_claims, *results), gone), plan.corrects)


def _rows(clashes: Sequence[Clash], short: ShortIds) -> tuple[PayloadLine, ...]:
    """Return a line for each conflict: what was settled first, then what is open. A conflict that the target carries is
    told there already, as long as it is open.
    """
    settled = [
        PayloadLine(_settled(clash, result), tuple(map(MessageId, result.cites)), SETTLED)
        for clash in clashes
        if (result := clash.result) is not None
    ]
    still = (clash for clash in clashes if clash.choice is None and clash.theirs)
    return (*settled, *(PayloadLine(_both(clash, short), (), UNRESOLVED) for clash in still))


def _settled(clash: Clash, result: Claim) -> str:
    kept = {result.says, *(result.value.split(" and ") if result.value else ())}
    against = [value for value in clash.conflict.values if value.says not in kept]
    other = " / ".join(value.claims[0].value or value.text for value in against)
    instead = f" (instead of: {other})" if other and clash.choice and clash.choice.take != "both" else ""
    return f"{clash.key}: {result.text}{instead}"


def _both(clash: Clash, short: ShortIds) -> str:
    """Return every value of an open conflict, with who says it."""
    said = [
        f"{in_quotes(one.name)} says “{claim.text}” {' '.join(f'[{short(MessageId(cite))}]' for cite in claim.cites)}"
        for one in clash.claims_by_source
        for claim in one.claims
    ]
    return f"{clash.key}: {'; '.join(said)}"


def _overtaken(line: PayloadLine, clash: Clash) -> bool:
    """Whether a line of the note only repeats a conflict, or says what a choice has rejected."""
    if line.section in (SETTLED, UNRESOLVED):
        return line.text.startswith(f"{clash.key}: ")
    quotes = [claim.quote for claim in clash.conflict.claims if claim.quote and claim.quote in line.text]
    if clash.result is not None:
        kept = {claim.quote for claim in clash.taken}
        rejected = [
            claim
            for claim in clash.conflict.claims
            if claim.quote not in kept
            and claim.says != clash.result.says
            and claim.text not in clash.result.text
        ]
        if any(claim.quote in quotes or _tells(line, claim) for claim in rejected):
            return True
    return any(len(line.text) < 2 * len(quote) for quote in quotes)


def _tells(line: PayloadLine, claim: Claim) -> bool:
    """Whether a line that a model wrote tells a claim in other words: its value, from one of its messages."""
    return has_words(line.text, claim.value) and not set(line.cites).isdisjoint(claim.cites)


THREE_WAY = Strategy(
    payload=payload_kinds.THREE_WAY,
    label="Three-way",
    entry="Merge three-way …",
    icon="alt_route",
    caption="A squash below the points on which the branches disagree. You decide each.",
    caption_of_several="One squash of all branches, below the points on which they disagree. You decide each.",
    plan=plan_three_way,
    plan_joined=three_way_of,
    takes=frozenset({"focus", "budget", "model", "policy", "choices"}),
    model="writes",
)
