"""Three-way: the claims of branches, compared; their disagreements stay visible until they are settled.

Code merges the claims (claims/claim_set.py), never a model: a model may find them, align their keys and propose. The
payload is a squash with more sections: what was settled, what is UNRESOLVED with every value and who says it, the
sources' claims, and their best lines if there is room. The claims are frozen in the message, so that a later merge
reads them back; the text and the claims have the same content, and both come from `_told`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType

from forky_core.context.quoting import in_quotes
from forky_core.merge.attribution import Attribution, attribute, texts_to_match
from forky_core.merge.block import PayloadLine, render
from forky_core.merge.branch_merge import plan_branch_merge
from forky_core.merge.claims.claim_set import SECTION_OF, Claim, ClaimSet, StoredClaims, Verbatim, folded
from forky_core.merge.claims.conflict_resolution import Choice, Clash, by_policy, choose
from forky_core.merge.comparison import CUT, compare
from forky_core.merge.corrections import correction_rows
from forky_core.merge.headings import FACTS, OF_CLAIMS, SETTLED, UNRESOLVED
from forky_core.merge.incoming_changes import IncomingChanges
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.note.compose import default_budget, note
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan, PlannedMessage
from forky_core.merge.plan_lines import NOTHING_TO_TELL
from forky_core.merge.strategy import IncomingSide, Strategy
from forky_core.merge.wording import ShortIds, full_header, three_way_header
from forky_core.model import MessageId, payload_kinds
from forky_core.model.parts import MergePart

CLAIMS_SHARE = 0.6
"""The largest share of the room for claims that replace nothing and contradict nothing."""


@dataclass(frozen=True, slots=True)
class ThreeWayPlan(MergePlan):
    """A merge plan with its conflicts."""

    clashes: tuple[Clash, ...] = ()
    """Sorted by key."""
    incoming_claims: ClaimSet = field(default_factory=ClaimSet)
    """What joining the source's claims adds to the target's."""
    replaced: tuple[Claim, ...] = ()
    """Claims of the target that the source knew and superseded."""
    lines: tuple[PayloadLine, ...] = ()
    """Excerpts that fill the room."""
    disputed: tuple[str, ...] = ()
    """The source's quotations about conflicts: no excerpt repeats a rejected value."""
    verbatim: tuple[Verbatim, ...] = ()
    room: int = 0
    """The tokens for everything below the header."""
    reader: str = ""
    """The model that found the claims; "" if the rules did."""

    @property
    def unresolved(self) -> tuple[Clash, ...]:
        """The conflicts that would land open."""
        return tuple(clash for clash in self.clashes if clash.choice is None)

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

    The claims of all are joined at once, so that every conflict appears once, with who says what.
    """
    inputs = coming[0].inputs
    compared = compare([(one.inputs, one.found.turns) for one in coming], whole=True)
    met = tuple(
        by_policy(clash, options.policy, lambda id: inputs.lookup(id).created) for clash in compared.clashes
    )
    met = choose(met, options.choices)
    brought = compared.joined.without(compared.target)
    several = replace(inputs, other_tips=tuple(one.inputs.source for one in coming))
    short = several.short_ids()
    turns = tuple(turn for one in coming for turn in one.found.turns)
    said = attribute(turns, inputs.lookup, short)
    header = three_way_header(
        [(one.inputs.source_name, one.found, one.inputs.prompt_of_source(one.found)) for one in coming],
        short,
        made_by=inputs.claims.model,
    )
    count = inputs.count_tokens
    room = (
        default_budget(inputs.cost(turns))
        if options.budget is None
        else max(0, options.budget - count(header))
    )
    tokens_full = sum(_tokens_full(*one, short) for one in coming)
    warnings = [note for one in coming for note in one.inputs.warnings(one.found, short)]
    for one in coming:
        if not one.found.bases and inputs.target is not None:
            who = "the two" if len(coming) == 1 else f"“{inputs.target_name}” and “{one.inputs.source_name}”"
            warnings.append(f"No base: {who} share no message. Claims are compared without one.")
    if not inputs.claims.model:
        warnings.append("Claims were found by rules, without a model: plain statements only.")
    if compared.cut:
        warnings.append(CUT)
    names = tuple(one.inputs.source_name for one in coming)
    empty = replace(
        inputs.empty(payload_kinds.THREE_WAY.name, "merge", *dict.fromkeys(warnings)),
        source_name=", ".join(names),
        source=inputs.source if len(coming) == 1 else None,
        heads=MappingProxyType(
            {} if len(coming) == 1 else {one.inputs.source_name: one.inputs.source for one in coming}
        ),
        delta=tuple(dict.fromkeys(id for one in coming for id in one.found.delta)),
        bases=tuple(dict.fromkeys(id for one in coming for id in one.found.bases)),
        turns=tuple(turn.id for turn in turns),
        citations_of_merges=said.citations_of_merges,
        tokens_full=tokens_full,
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
        disputed=_about(inputs, said, met),
        room=room,
        reader=inputs.claims.model,
        verbatim=inputs.claims.verbatim,
    )
    first = plan.squash_block(header, ())
    plan = replace(plan, payload=header, tokens=count(header), drafts=(_message(coming, first),))
    plan = written(replace(plan, lines=_excerpts(inputs, said, plan, options)))
    if plan.tokens >= tokens_full:
        note = f"The payload ({plan.tokens} tokens) is no shorter than the branch: use full ({tokens_full})."
        plan = replace(plan, warnings=(*plan.warnings, note))
    return plan


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


def _about(inputs: MergeInputs, said: Attribution, met: Sequence[Clash]) -> tuple[str, ...]:
    """Return the sources' quotations about what is in conflict."""
    keys = {folded(clash.key) for clash in met}
    every = chain.from_iterable(map(inputs.claims.extract, said.messages)) if keys else ()
    keyed = (claim.quote for claim in every if claim.quote and folded(claim.key) in keys)
    stated = (claim.quote for clash in met for claim in clash.theirs if claim.quote)
    return tuple(dict.fromkeys((*keyed, *stated)))


def _excerpts(
    inputs: MergeInputs, said: Attribution, plan: ThreeWayPlan, options: MergeOptions
) -> tuple[PayloadLine, ...]:
    """Return the best lines that the claims do not cover, for the room that is left."""
    told, rows = _told(plan)
    left = plan.room - sum(map(plan.count_tokens, rows.values()))
    if left <= 0:
        return ()
    known = texts_to_match(inputs.read_on(inputs.target))
    known += [text for claim in told for text in (claim.text, claim.quote)]
    return tuple(note(said.messages, known, left, focus=options.focus, count_tokens=plan.count_tokens))


def written(plan: ThreeWayPlan) -> ThreeWayPlan:
    """Return the plan with its payload rebuilt from its claims and choices."""
    told, rows = _told(plan)
    lines = [
        line
        for line in plan.lines
        if not any(quote in line.text for quote in plan.disputed) and not _said(line.text, told)
    ]
    rest = render("", lines, plan.short).lstrip("\n") if lines else ""
    if FACTS in rows and any(line.section == FACTS for line in lines):
        # One heading for both, so that the block can be parsed unchanged.
        rest = f"\n{rest}".replace(f"\n{FACTS}:\n", f"\n{FACTS}:\n{rows.pop(FACTS)}\n", 1).lstrip("\n")
    sections = [f"{title}:\n{row}" for title, row in rows.items()]
    corrected = correction_rows(plan.corrects, plan.short)
    text = "\n".join(part for part in (plan.header, *sections, rest, corrected) if part)
    cites = {cite for claim in told for cite in claim.cites}
    cites.update(chain.from_iterable(line.cites for line in lines))
    cites.update(one.cite for one in plan.verbatim if one.span in text)
    results = [result for clash in plan.clashes if (result := clash.result) is not None]
    frozen = StoredClaims(
        ClaimSet.of((*told, *results), plan.incoming_claims.superseded_ids),
        tuple(one for one in plan.verbatim if one.span in text),
        plan.corrects,
    )
    block = replace(plan.squash_block(text, cites, plan.reader), claims=frozen.to_json())
    chosen = {
        f"resolutions/{clash.conflict.hash}": clash.remembered()
        for clash in plan.clashes
        if clash.choice is not None and not clash.choice.by.startswith(("remembered", "policy"))
    }
    made = plan.with_block(block)
    assert isinstance(made, ThreeWayPlan)
    warnings = [one for one in made.warnings if one != NOTHING_TO_TELL]
    if text == plan.header:
        warnings.append(NOTHING_TO_TELL)
    made = replace(made, warnings=tuple(warnings))
    return replace(made, entries=MappingProxyType(chosen), contradictions=made.unresolved)


def _said(line: str, told: Sequence[Claim]) -> bool:
    """Whether claims cover most of this line already."""
    rest = line
    for claim in told:
        if claim.quote:
            rest = rest.replace(claim.quote, "")
    return len(rest) < len(line) / 2


def _told(plan: ThreeWayPlan) -> tuple[tuple[Claim, ...], dict[str, str]]:
    """Return the claims in the payload other than resolutions, and its sections without the excerpts."""
    short, sections = plan.short, dict[str, list[str]]()
    disputed = {claim for clash in plan.clashes for claim in clash.conflict.claims}
    told: list[Claim] = []
    for clash in plan.clashes:
        if clash.result is not None:
            sections.setdefault(SETTLED, []).append(_settled_row(clash, clash.result, short))
        elif clash.theirs:
            sections.setdefault(UNRESOLVED, []).append(_open_row(clash, short))
            # Both sides are frozen: a later merge may find claims in another way, and the conflict must stay.
            told += (*clash.mine, *clash.theirs)
    spent = sum(plan.count_tokens(row) for rows in sections.values() for row in rows)
    was = {claim: _replaced_by(claim, plan.replaced) for claim in plan.incoming_claims.ordered}
    # A claim that replaces another must be in the text: the frozen set removes the earlier claim.
    first = [
        claim
        for claim in plan.incoming_claims.ordered
        if was[claim] or claim.supersedes or any(claim.repeats(old) for old in plan.replaced)
    ]
    rest = [claim for claim in plan.incoming_claims.ordered if claim not in first]
    for claim in (*first, *rest):
        if claim in disputed:
            continue
        row = f"- {claim.text}{_instead(was[claim])} {_marks(claim.cites, short)}"
        cost = plan.count_tokens(row)
        if claim in rest and spent + cost > plan.room * CLAIMS_SHARE:
            continue
        spent += cost
        told.append(claim)
        sections.setdefault(SECTION_OF[claim.type], []).append(row)
    for one in plan.verbatim:
        row = f"- {one.span} {_marks((one.cite,), short)}"
        cost = plan.count_tokens(row)
        if spent + cost <= plan.room * CLAIMS_SHARE:
            spent += cost
            sections.setdefault(SECTION_OF["verbatim"], []).append(row)
    return tuple(told), {title: "\n".join(sections[title]) for title in OF_CLAIMS if title in sections}


def _replaced_by(claim: Claim, replaced: Sequence[Claim]) -> tuple[Claim, ...]:
    return tuple(old for old in replaced if claim.contradicts(old) or old.id in claim.supersedes)


def _instead(old: Sequence[Claim]) -> str:
    return f" (no longer: {' / '.join(one.value or one.text for one in old)})" if old else ""


def _settled_row(clash: Clash, result: Claim, short: ShortIds) -> str:
    against = [v for v in clash.conflict.values if v.says not in {result.says, *_parts(result)}]
    other = " / ".join(value.claims[0].value or value.text for value in against)
    instead = f" (instead of: {other})" if other and clash.choice and clash.choice.take != "both" else ""
    return f"- {clash.key}: {result.text}{instead} {_marks(result.cites, short)}"


def _parts(result: Claim) -> tuple[str, ...]:
    return tuple(result.value.split(" and ")) if result.value else ()


def _open_row(clash: Clash, short: ShortIds) -> str:
    """Return a row with every value and who says it."""
    said = [
        f"{in_quotes(one.name)} says “{claim.text}” {_marks(claim.cites, short)}"
        for one in clash.claims_by_source
        for claim in one.claims
    ]
    return f"- {clash.key}: {'; '.join(said)}"


def _marks(cites: Sequence[str], short: ShortIds) -> str:
    return " ".join(f"[{short(MessageId(cite))}]" for cite in cites)


THREE_WAY = Strategy(
    payload=payload_kinds.THREE_WAY,
    label="Three-way",
    entry="Merge three-way …",
    icon="alt_route",
    caption="A squash that compares both branches. You decide where they disagree.",
    caption_of_several="One squash that compares all the branches. You decide where they disagree.",
    plan=plan_three_way,
    plan_joined=three_way_of,
    takes=frozenset({"focus", "budget", "model", "policy", "choices"}),
    model="reads",
)
