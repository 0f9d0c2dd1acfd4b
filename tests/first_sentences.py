"""A strategy that nobody ships, as somebody's package would write it: the first sentence of every message."""

from __future__ import annotations

from forky_core import MergePlan
from forky_core.extending import (
    IncomingChanges,
    MergeInputs,
    MergeOptions,
    PayloadKind,
    PayloadLine,
    Strategy,
    plan_branch_merge,
    plan_of_lines,
    squash_header,
)

HEADING = "First sentences"


def plan_first_sentences(inputs: MergeInputs, options: MergeOptions) -> MergePlan:
    return plan_branch_merge(inputs, options, lambda here, found: first_sentences_of(here, found, options))


def first_sentences_of(inputs: MergeInputs, found: IncomingChanges, _options: MergeOptions) -> MergePlan:
    header = squash_header(inputs.source_name, found, inputs.short_ids())
    lines = [
        PayloadLine(f"{turn.text.partition('. ')[0].strip()}", (turn.id,), HEADING, quoted=True)
        for turn in found.turns
        if turn.text.strip()
    ]
    return plan_of_lines("first-sentences", inputs, found, header, lines)


FIRST_SENTENCES = Strategy(
    payload=PayloadKind("first-sentences", "put into first sentences", headings=(HEADING,)),
    label="First sentences",
    entry="Bring the first sentences …",
    icon="toc",
    caption="The model will read the first sentence of every message.",
    caption_of_several="The model will read the first sentence of every message of each branch.",
    plan=plan_first_sentences,
    plan_side=first_sentences_of,
)
