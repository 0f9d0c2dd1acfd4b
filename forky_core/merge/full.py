"""A full merge: the source's turns as they were said, or the target's pointer moved if that has the same effect."""

from __future__ import annotations

from dataclasses import replace

from forky_core.context.quoting import merge_footer
from forky_core.context.transcript import dangling
from forky_core.merge.branch_merge import plan_branch_merge
from forky_core.merge.incoming_changes import IncomingChanges
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.strategy import Strategy
from forky_core.merge.wording import full_header, transcript
from forky_core.model import payload_kinds
from forky_core.model.parts import MergePart


def plan_full(inputs: MergeInputs, options: MergeOptions) -> MergePlan:
    """Plan a moved pointer if the target has not moved since the fork (unless forced), else one merge message."""
    if inputs.continues_target and (inputs.target is None or not options.force):
        note = f"“{inputs.target_name}” has not moved since the fork: its pointer moves on, no merge message is needed."
        return replace(_brought(inputs), warnings=(note,), fast_forward=inputs.source)
    return plan_branch_merge(inputs, options, full_of)


def full_of(inputs: MergeInputs, found: IncomingChanges) -> MergePlan:
    """Plan one message whose payload names the source's turns; the context shows them between a header and a footer."""
    short = inputs.short_ids()
    header = full_header(inputs.source_name, found, short, inputs.prompt_of_source(found))
    ids = tuple(message.id for message in found.turns)
    omitted = tuple(omission.message for omission in found.omitted)
    part = MergePart(payload_kinds.FULL.name, inputs.source_name, ids, header, omitted)
    tokens = inputs.tokens_full(found.turns, header)
    warnings = inputs.warnings(found, short)
    if dangling(found.turns):
        warnings.append("A tool call and its result are parted by the fork: that pair is flattened to text.")
    return replace(
        inputs.empty(payload_kinds.FULL.name, "merge"),
        delta=found.delta,
        bases=found.bases,
        turns=ids,
        payload="\n\n".join((header, transcript(found.turns, inputs.file_access), merge_footer(part))),
        tokens=tokens,
        tokens_full=tokens,
        omitted=found.omitted,
        warnings=tuple(warnings),
        drafts=(inputs.merge_message(found, part),),
        header=header,
    )


def _brought(inputs: MergeInputs) -> MergePlan:
    """Return the plan of a fast-forward: the whole line comes unchanged, including an unfinished end."""
    line = inputs.source_line
    start = len(inputs.target_line)
    tokens = inputs.tokens_ahead()
    brought = inputs.delta()
    return replace(
        inputs.empty(payload_kinds.FULL.name, "fast_forward"),
        delta=brought,
        bases=(inputs.target,) if inputs.target is not None else (),
        turns=tuple(message.id for message in line[start:]),
        payload=transcript(line[start:], inputs.file_access),
        tokens=tokens,
        tokens_full=tokens,
    )


FULL = Strategy(
    payload=payload_kinds.FULL,
    label="Everything as it was said",
    entry="Everything as it was said …",
    icon="notes",
    caption="The model reads every message of the branch (full merge).",
    caption_of_several="The model reads every message of the branches (full merge).",
    plan=plan_full,
    plan_side=lambda inputs, found, _options: full_of(inputs, found),
    takes=frozenset({"force"}),
)
