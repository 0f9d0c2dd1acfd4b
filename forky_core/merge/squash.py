"""A squash without a model: one message that quotes the lines most worth keeping.

What merges of the branch told in other words is no line of anybody: it is passed on as it was told, claims and all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

from forky_core.merge.attribution import attribute, said_texts
from forky_core.merge.block import PayloadLine, fitting, render
from forky_core.merge.branch_merge import plan_branch_merge
from forky_core.merge.claims.active_claims import frozen_in
from forky_core.merge.claims.claim_set import ClaimSet, Frozen
from forky_core.merge.headings import SETTLED, UNRESOLVED
from forky_core.merge.incoming_changes import IncomingChanges
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.note.compose import default_budget, note
from forky_core.merge.note.passages import plain, plain_lines
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan, still_said
from forky_core.merge.superseded import superseded_in
from forky_core.merge.wording import ShortIds, full_header, squash_header
from forky_core.model import Message

NOTHING_TO_TELL = (
    "No line of it is told: none has words, the target has them already, or none finds room in the budget."
)
CLAIMS_SHARE = 0.6
"""Of the room, the most that passed on claims take which settle nothing and are not open."""
_ALWAYS = frozenset({SETTLED, UNRESOLVED})


def plan_squash(place: MergeInputs, wish: MergeOptions) -> MergePlan:
    """What squashing would do; always a message, so that its block can be read and changed."""
    return plan_branch_merge(place, wish, lambda here, found: squash_of(here, found, wish))


def squash_of(place: MergeInputs, found: IncomingChanges, wish: MergeOptions) -> MergePlan:
    """One message that quotes the lines most worth keeping, chosen without a model."""
    short = place.short_ids()
    prompt = place.prompt_of_source(found)
    header = squash_header(place.source_name, found, short, prompt)
    count = place.count_tokens
    room = (
        default_budget(place.cost(found.turns))
        if wish.budget is None
        else max(0, wish.budget - count(header))
    )
    said = attribute(found.turns, place.lookup, short)
    known = said_texts(place.read_on(place.target))
    told = _passed_on(said.claims, known, room * CLAIMS_SHARE if said.messages else room, short, count)
    known += [line.text for line in told]
    left = room - count(render("", told, short)) if told else room
    superseded = superseded_in(said.messages)
    lines = note(said.messages, known, left, focus=wish.focus, count_tokens=count, superseded=superseded)
    text = render(header, (*told, *lines), short)
    tokens = count(text)
    tokens_full = place.tokens_full(found.turns, full_header(place.source_name, found, short, prompt))
    warnings = place.warnings(found, short)
    if tokens >= tokens_full:
        warnings.append(
            f"The squash ({tokens} tokens) is no shorter than the branch: use full ({tokens_full})."
        )
    plan = replace(
        place.empty("squash", "merge", *warnings),
        delta=found.delta,
        bases=found.bases,
        turns=tuple(message.id for message in found.turns),
        through=said.through,
        payload=text,
        tokens=tokens,
        tokens_full=tokens_full,
        omitted=found.omitted,
        superseded=superseded,
        header=header,
        short=short,
    )
    cites = {id for line in (*told, *lines) for id in line.cites}
    if not cites:
        plan = replace(plan, warnings=(*plan.warnings, NOTHING_TO_TELL))
    # It stands for the whole branch where the target knows all of it already, or no line finds room.
    block = plan.squash_block(text, cites or set(plan.speakers))
    block = replace(block, claims=_frozen(found.turns, told))
    return replace(plan, drafts=(place.merge_message(found, block),)).with_block(block)


def _passed_on(
    claims: Sequence[PayloadLine],
    known: Sequence[str],
    room: float,
    short: ShortIds,
    count_tokens: Callable[[str], int],
) -> list[PayloadLine]:
    """What merges told in other words, as far as it is news and finds room; what is open or settled does."""
    read = plain_lines(known) if claims else set()
    new = [line for line in claims if plain(line.text) not in read]
    first = [line for line in new if line.section in _ALWAYS]
    rest = (line for line in new if line.section not in _ALWAYS)
    more, _ = fitting(rest, room - count_tokens(render("", first, short)), short, count_tokens)
    return [*first, *more]


def _frozen(turns: Sequence[Message], told: Sequence[PayloadLine]) -> str:
    """The claims that merges of the branch froze, as far as they are told again."""
    found = [frozen for turn in turns for merge in turn.merges if (frozen := frozen_in(merge))]
    claims = chain.from_iterable(one.set.claims for one in found)
    gone = chain.from_iterable(one.set.gone for one in found)
    verbatim = tuple(dict.fromkeys(chain.from_iterable(one.verbatim for one in found)))
    joined = Frozen(ClaimSet.of(claims, gone), verbatim)
    return still_said(joined.to_json(), "\n".join(line.text for line in told))
