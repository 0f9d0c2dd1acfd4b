"""A squash without a model: one message that quotes the most relevant lines.

Lines of the branch's merges that no message says word for word are passed on unchanged, with their claims.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

from forky_core.merge.attribution import attribute, texts_to_match
from forky_core.merge.block import PayloadLine, lines_that_fit, render
from forky_core.merge.branch_merge import plan_branch_merge
from forky_core.merge.claims.active_claims import frozen_in
from forky_core.merge.claims.claim_set import ClaimSet, StoredClaims
from forky_core.merge.headings import SETTLED, UNRESOLVED
from forky_core.merge.incoming_changes import IncomingChanges
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.note.compose import default_budget, note
from forky_core.merge.note.passages import plain, plain_lines
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan, claims_still_in
from forky_core.merge.plan_lines import plan_of_lines
from forky_core.merge.strategy import Strategy
from forky_core.merge.superseded import superseded_in
from forky_core.merge.wording import ShortIds, squash_header
from forky_core.model import Message, payload_kinds

CLAIMS_SHARE = 0.6
"""The largest share of the room for passed on claims that settle nothing and are not open."""
_ALWAYS = frozenset({SETTLED, UNRESOLVED})


def plan_squash(inputs: MergeInputs, options: MergeOptions) -> MergePlan:
    """Plan a squash; it always writes a message, so that its block can be read and changed."""
    return plan_branch_merge(inputs, options, lambda here, found: squash_of(here, found, options))


def squash_of(inputs: MergeInputs, found: IncomingChanges, options: MergeOptions) -> MergePlan:
    """Return a plan of one message that quotes the most relevant lines, chosen without a model."""
    short = inputs.short_ids()
    header = squash_header(inputs.source_name, found, short, inputs.prompt_of_source(found))
    count = inputs.count_tokens
    room = (
        default_budget(inputs.cost(found.turns))
        if options.budget is None
        else max(0, options.budget - count(header))
    )
    said = attribute(found.turns, inputs.lookup, short)
    known = texts_to_match(inputs.read_on(inputs.target))
    told = _passed_on(said.claims, known, room * CLAIMS_SHARE if said.messages else room, short, count)
    known += [line.text for line in told]
    left = room - count(render("", told, short)) if told else room
    superseded = superseded_in(said.messages)
    lines = note(said.messages, known, left, focus=options.focus, count_tokens=count, superseded=superseded)
    plan = plan_of_lines(
        payload_kinds.SQUASH.name,
        inputs,
        found,
        header,
        (*told, *lines),
        citations_of_merges=said.citations_of_merges,
        claims=_frozen(found.turns, told),
    )
    return replace(plan, superseded=superseded)


def _passed_on(
    claims: Sequence[PayloadLine],
    known: Sequence[str],
    room: float,
    short: ShortIds,
    count_tokens: Callable[[str], int],
) -> list[PayloadLine]:
    """Return lines of merges that no message says word for word, if they are new and fit; open and settled ones always
    fit.
    """
    read = plain_lines(known) if claims else set()
    new = [line for line in claims if plain(line.text) not in read]
    first = [line for line in new if line.section in _ALWAYS]
    rest = (line for line in new if line.section not in _ALWAYS)
    more, _ = lines_that_fit(rest, room - count_tokens(render("", first, short)), short, count_tokens)
    return [*first, *more]


def _frozen(turns: Sequence[Message], told: Sequence[PayloadLine]) -> str:
    """Return the claims frozen in the branch's merges, as far as the lines repeat them."""
    found = [frozen for turn in turns for merge in turn.merges if (frozen := frozen_in(merge))]
    claims = chain.from_iterable(one.set.claims for one in found)
    gone = chain.from_iterable(one.set.superseded_ids for one in found)
    verbatim = tuple(dict.fromkeys(chain.from_iterable(one.verbatim for one in found)))
    joined = StoredClaims(ClaimSet.of(claims, gone), verbatim)
    return claims_still_in(joined.to_json(), "\n".join(line.text for line in told))


SQUASH = Strategy(
    payload=payload_kinds.SQUASH,
    label="Squash",
    entry="Squash the branch …",
    icon="compress",
    caption="The model will read one short message: the lines that matter.",
    caption_of_several="The model will read one short message of each branch: the lines that matter.",
    plan=plan_squash,
    plan_side=squash_of,
    takes=frozenset({"focus", "budget", "model"}),
    model="writes",
)
