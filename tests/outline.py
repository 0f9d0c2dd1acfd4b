"""A strategy that nobody ships, as somebody's package would write it: the first sentence of every message."""

from __future__ import annotations

from forky_core.merge.block import PayloadLine
from forky_core.merge.branch_merge import plan_branch_merge
from forky_core.merge.incoming_changes import IncomingChanges
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.plan_lines import plan_of_lines
from forky_core.merge.strategy import Strategy
from forky_core.merge.wording import squash_header
from forky_core.model.payload_kinds import PayloadKind

HEADING = "Outline"


def plan_outline(place: MergeInputs, options: MergeOptions) -> MergePlan:
    return plan_branch_merge(place, options, lambda here, found: outline_of(here, found, options))


def outline_of(place: MergeInputs, found: IncomingChanges, _options: MergeOptions) -> MergePlan:
    header = squash_header(place.source_name, found, place.short_ids())
    lines = [
        PayloadLine(f"{turn.text.partition('. ')[0].strip()}", (turn.id,), HEADING, quoted=True)
        for turn in found.turns
        if turn.text.strip()
    ]
    return plan_of_lines("outline", place, found, header, lines)


OUTLINE = Strategy(
    payload=PayloadKind("outline", "outlined", headings=(HEADING,)),
    label="Outline",
    entry="Outline the branch …",
    icon="toc",
    caption="The model will read the first sentence of every message.",
    caption_of_several="The model will read the first sentence of every message of each branch.",
    plan=plan_outline,
    plan_side=outline_of,
)
