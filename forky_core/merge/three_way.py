"""Three-way: what both branches claim, set against each other; what they disagree on stays visible until it is settled.

Code merges the claims (claims.py) and never a model: a model may find them, align their keys and propose. The payload
is a squash that says more: what was settled, what is UNRESOLVED with both values and their sources, what the source
claims, and its best lines where there is room. The claims are frozen in the message, so that a later merge reads
them back; the text and they are two forms of one thing, and are made in one place, `_told`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType

from forky_core.context.quoting import in_quotes
from forky_core.dag import ancestors
from forky_core.merge.attribution import Attribution, attribute, said_texts
from forky_core.merge.block import PayloadLine, render
from forky_core.merge.branch_merge import plan_branch_merge
from forky_core.merge.claims.active_claims import active_claims
from forky_core.merge.claims.claim_set import SECTION_OF, Claim, ClaimSet, Frozen, Verbatim, folded
from forky_core.merge.claims.conflict_resolution import Choice, Clash, by_policy, choose, clashes
from forky_core.merge.headings import OF_CLAIMS, SETTLED, UNRESOLVED
from forky_core.merge.incoming_changes import IncomingChanges
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.lines.choosing import default_budget, extract
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.wording import ShortIds, full_header, three_way_header
from forky_core.model import Message, MessageId

CLAIMS_SHARE = 0.6
"""Of the room, the most that claims take which replace nothing and contradict nothing."""


@dataclass(frozen=True, slots=True)
class ThreeWayPlan(MergePlan):
    """A merge plan with its conflicts."""

    clashes: tuple[Clash, ...] = ()
    """By key."""
    brought: ClaimSet = field(default_factory=ClaimSet)
    """What joining the source's claims adds to the target's."""
    replaced: tuple[Claim, ...] = ()
    """Claims of the target that the source has superseded: it knew them and says something else."""
    lines: tuple[PayloadLine, ...] = ()
    """Excerpts that fill the room."""
    disputed: tuple[str, ...] = ()
    """Quotations of the source about what is in conflict: no excerpt repeats what was decided against."""
    verbatim: tuple[Verbatim, ...] = ()
    room: int = 0
    """Tokens for all below the header."""
    reader: str = ""
    """The model that found the claims; "": the rules did."""

    @property
    def unresolved(self) -> tuple[Clash, ...]:
        """Those that would land open."""
        return tuple(clash for clash in self.clashes if clash.choice is None)

    def resolved(self, choices: Mapping[str, Choice | None]) -> ThreeWayPlan:
        """The plan with these choices, by key or hash of the conflict; None opens one again.

        Words a person had put into the payload are replaced by it.

        Raises:
            BadContent: there is no such conflict or no such side.
        """
        return written(replace(self, clashes=choose(self.clashes, choices), by_hand=False))


def plan_three_way(place: MergeInputs, wish: MergeOptions) -> MergePlan:
    """What a three-way merge would do; always a message, so that it can be read and changed.

    Raises:
        BadContent: a choice names no conflict.
    """
    return plan_branch_merge(place, wish, lambda place, found: _planned(place, found, wish))


def _planned(place: MergeInputs, found: IncomingChanges, wish: MergeOptions) -> MergePlan:
    ours, theirs, base = sides(place, found)
    met = clashes(ours, theirs, base, place.resolutions)
    met = tuple(by_policy(clash, wish.policy, lambda id: place.lookup(id).created) for clash in met)
    met = choose(met, wish.choices)
    brought = ours.join(theirs).without(ours)
    short = place.short_ids()
    said = attribute(found.turns, place.lookup, short)
    prompt = place.prompt_of_source(found)
    header = three_way_header(place.source_name, found, short, prompt, made_by=place.reader)
    count = place.count_tokens
    cost = place.cost(found.turns)
    room = default_budget(cost) if wish.budget is None else max(0, wish.budget - count(header))
    tokens_full = place.tokens_full(found.turns, full_header(place.source_name, found, short, prompt))
    warnings = place.warnings(found, short)
    if not found.bases and place.target is not None:
        warnings.append("No base: the two share no message. Claims are compared without one.")
    if not place.reader:
        warnings.append("Claims were found by rules, without a model: plain statements only.")
    empty = place.empty("three-way", "merge", *warnings)
    plan = ThreeWayPlan(
        **{name: getattr(empty, name) for name in MergePlan.__dataclass_fields__},
        clashes=met,
        brought=brought,
        replaced=tuple(claim for claim in ours.ordered if claim.id in brought.gone),
        disputed=_about(place, said, {folded(clash.key) for clash in met}),
        room=room,
        reader=place.reader,
        verbatim=place.verbatim,
    )
    plan = replace(
        plan,
        delta=found.delta,
        bases=found.bases,
        turns=tuple(message.id for message in found.turns),
        through=said.through,
        tokens_full=tokens_full,
        omitted=found.omitted,
        header=header,
        short=short,
    )
    first = plan.squash_block(header, ())
    plan = replace(plan, payload=header, tokens=count(header), drafts=(place.merge_message(found, first),))
    plan = written(replace(plan, lines=_excerpts(place, said, plan, wish)))
    if plan.tokens >= tokens_full:
        note = f"The payload ({plan.tokens} tokens) is no shorter than the branch: use full ({tokens_full})."
        plan = replace(plan, warnings=(*plan.warnings, note))
    return plan


def sides(place: MergeInputs, found: IncomingChanges) -> tuple[ClaimSet, ClaimSet, ClaimSet]:
    """What the target claims, what the source claims, and what both claimed where they parted."""
    known = (
        ancestors((place.target,), place.parents_of) if place.target is not None else frozenset[MessageId]()
    )
    coming = {message.id for message in found.turns}
    path = place.line_of(place.source)
    shared = [message for message in path if message.id in known]

    def said(line: Sequence[Message]) -> ClaimSet:
        return active_claims(line, lookup=place.lookup, parents_of=place.parents_of, extract=place.extract)

    theirs = said([message for message in path if message.id in known or message.id in coming])
    return said(place.line_of(place.target)), theirs, said(shared)


def _about(place: MergeInputs, said: Attribution, keys: set[str]) -> tuple[str, ...]:
    every = chain.from_iterable(map(place.extract, said.messages)) if keys else ()
    return tuple(claim.quote for claim in every if claim.quote and folded(claim.key) in keys)


def _excerpts(
    place: MergeInputs, said: Attribution, plan: ThreeWayPlan, wish: MergeOptions
) -> tuple[PayloadLine, ...]:
    """The best lines of what the claims do not say already, for the room that is left."""
    told, rows = _told(plan)
    left = plan.room - sum(map(plan.count_tokens, rows.values()))
    if left <= 0:
        return ()
    known = said_texts(place.read_on(place.target))
    known += [text for claim in told for text in (claim.text, claim.quote)]
    lines = extract(
        said.messages, known, left, names=said.names, focus=wish.focus, count_tokens=plan.count_tokens
    )
    return tuple(lines)


def written(plan: ThreeWayPlan) -> ThreeWayPlan:
    """The plan with its payload made anew from its claims and choices."""
    told, rows = _told(plan)
    lines = [
        line
        for line in plan.lines
        if not any(quote in line.text for quote in plan.disputed) and not _said(line.text, told)
    ]
    sections = [f"{title}:\n{row}" for title, row in rows.items()]
    rest = render("", lines, plan.short).lstrip("\n") if lines else ""
    text = "\n".join(part for part in (plan.header, *sections, rest) if part)
    cites = {cite for claim in told for cite in claim.cites}
    cites.update(chain.from_iterable(line.cites for line in lines))
    cites.update(one.cite for one in plan.verbatim if one.span in text)
    results = [result for clash in plan.clashes if (result := clash.result) is not None]
    frozen = Frozen(
        ClaimSet.of((*told, *results), plan.brought.gone),
        tuple(one for one in plan.verbatim if one.span in text),
    )
    block = replace(plan.squash_block(text, cites, plan.reader), claims=frozen.to_json())
    chosen = {
        f"resolutions/{clash.conflict.hash}": clash.remembered()
        for clash in plan.clashes
        if clash.choice is not None and not clash.choice.by.startswith(("remembered", "policy"))
    }
    made = plan.with_block(block)
    assert isinstance(made, ThreeWayPlan)
    return replace(made, entries=MappingProxyType(chosen))


def _said(line: str, told: Sequence[Claim]) -> bool:
    """Whether claims say most of this line already."""
    rest = line
    for claim in told:
        if claim.quote:
            rest = rest.replace(claim.quote, "")
    return len(rest) < len(line) / 2


def _told(plan: ThreeWayPlan) -> tuple[tuple[Claim, ...], dict[str, str]]:
    """The claims that the payload tells beside the resolutions, and its sections but for the excerpts."""
    short, sections = plan.short, dict[str, list[str]]()
    disputed = {claim for clash in plan.clashes for claim in clash.conflict.claims}
    told: list[Claim] = []
    for clash in plan.clashes:
        if clash.result is not None:
            sections.setdefault(SETTLED, []).append(_settled_row(clash, clash.result, short))
        elif clash.theirs:
            sections.setdefault(UNRESOLVED, []).append(_open_row(clash, plan, short))
            # Both sides are frozen: a later merge may find claims in another way, and the conflict must stay.
            told += (*clash.mine, *clash.theirs)
    spent = sum(plan.count_tokens(row) for rows in sections.values() for row in rows)
    was = {claim: _replaced_by(claim, plan.replaced) for claim in plan.brought.ordered}
    # What replaces something must be told: the frozen set takes the old value away.
    first = [claim for claim in plan.brought.ordered if was[claim] or claim.supersedes]
    rest = [claim for claim in plan.brought.ordered if claim not in first]
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


def _open_row(clash: Clash, plan: ThreeWayPlan, short: ShortIds) -> str:
    def side(name: str, claims: Sequence[Claim]) -> str:
        return " / ".join(f"{in_quotes(name)} says “{c.text}” {_marks(c.cites, short)}" for c in claims)

    both = (side(plan.target_name, clash.mine), side(plan.source_name, clash.theirs))
    return f"- {clash.key}: {'; '.join(text for text in both if text)}"


def _marks(cites: Sequence[str], short: ShortIds) -> str:
    return " ".join(f"[{short(MessageId(cite))}]" for cite in cites)
