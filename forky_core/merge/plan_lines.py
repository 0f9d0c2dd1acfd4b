"""The plan of a strategy that puts a branch into lines, each with the messages it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from forky_core.merge.block import PayloadLine, render
from forky_core.merge.incoming_changes import IncomingChanges
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.plan import MergePlan
from forky_core.merge.wording import full_header
from forky_core.model import MessageId

NOTHING_TO_TELL = (
    "No line of it is told: none has words, the target has them already, or none finds room in the budget."
)
_NONE: Mapping[MessageId, tuple[MessageId, ...]] = MappingProxyType({})


def plan_of_lines(
    name: str,
    inputs: MergeInputs,
    found: IncomingChanges,
    header: str,
    lines: Sequence[PayloadLine],
    *,
    citations_of_merges: Mapping[MessageId, tuple[MessageId, ...]] = _NONE,
    claims: str = "",
) -> MergePlan:
    """Return the plan of one message with these lines below the header, with its costs and omissions.

    `name` is the strategy's. `citations_of_merges` maps each merge among the turns to the messages that it
    cites, so that lines may cite them. `claims` are the payload's claims, as JSON.
    """
    short = inputs.short_ids()
    text = render(header, lines, short)
    tokens = inputs.count_tokens(text)
    prompt = inputs.prompt_of_source(found)
    tokens_full = inputs.tokens_beside(found.turns, full_header(inputs.source_name, found, short, prompt))
    warnings = inputs.warnings(found, short)
    if tokens >= tokens_full:
        warnings.append(
            f"The {name} ({tokens} tokens) is no shorter than the branch: use full ({tokens_full})."
        )
    cites = {id for line in lines for id in line.cites}
    if not cites:
        warnings.append(NOTHING_TO_TELL)
    plan = replace(
        inputs.empty(name, "merge", *warnings),
        delta=found.delta,
        bases=found.bases,
        turns=tuple(message.id for message in found.turns),
        citations_of_merges=citations_of_merges,
        payload=text,
        tokens=tokens,
        tokens_full=tokens_full,
        omitted=found.omitted,
        header=header,
        short=short,
    )
    # It stands for the whole branch if the target knows all of it already, or if no line fits.
    block = replace(plan.squash_block(text, cites or set(plan.citable)), claims=claims)
    return replace(plan, drafts=(inputs.merge_message(found, block),)).with_block(block)
