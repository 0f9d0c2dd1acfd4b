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


def plan_full(place: MergeInputs, wish: MergeOptions) -> MergePlan:
    """Plan a moved pointer if the target has not moved since the fork (unless forced), else one merge message."""
    if place.continues_target and (place.target is None or not wish.force):
        note = f"“{place.target_name}” has not moved since the fork: its pointer moves on, no merge message is needed."
        return replace(_brought(place), warnings=(note,), fast_forward=place.source)
    return plan_branch_merge(place, wish, full_of)


def full_of(place: MergeInputs, found: IncomingChanges) -> MergePlan:
    """Plan one message whose payload names the source's turns; the context shows them between a header and a footer."""
    short = place.short_ids()
    header = full_header(place.source_name, found, short, place.prompt_of_source(found))
    ids = tuple(message.id for message in found.turns)
    omitted = tuple(omission.message for omission in found.omitted)
    part = MergePart(payload_kinds.FULL.name, place.source_name, ids, header, omitted)
    tokens = place.tokens_full(found.turns, header)
    warnings = place.warnings(found, short)
    if dangling(found.turns):
        warnings.append("A tool call and its result are parted by the fork: that pair is flattened to text.")
    return replace(
        place.empty(payload_kinds.FULL.name, "merge"),
        delta=found.delta,
        bases=found.bases,
        turns=ids,
        payload="\n\n".join((header, transcript(found.turns, place.sight), merge_footer(part))),
        tokens=tokens,
        tokens_full=tokens,
        omitted=found.omitted,
        warnings=tuple(warnings),
        drafts=(place.merge_message(found, part),),
        header=header,
    )


def _brought(place: MergeInputs) -> MergePlan:
    """Return the plan of a fast-forward: the whole line comes unchanged, including an unfinished end."""
    line = place.line_of(place.source)
    start = len(place.line_of(place.target))
    tokens = place.context_tokens(line) - place.context_tokens(line[:start])
    brought = place.delta()
    return replace(
        place.empty(payload_kinds.FULL.name, "fast_forward"),
        delta=brought,
        bases=(place.target,) if place.target is not None else (),
        turns=tuple(message.id for message in line[start:]),
        payload=transcript(line[start:], place.sight),
        tokens=tokens,
        tokens_full=tokens,
    )


FULL = Strategy(
    payload=payload_kinds.FULL,
    label="Full",
    entry="Merge the branch in full …",
    icon="notes",
    caption="The model will read every message of the branch, as it was said.",
    caption_of_several="The model will read every message of the branches, as it was said.",
    plan=plan_full,
    plan_side=lambda place, found, _options: full_of(place, found),
    takes=frozenset({"force"}),
)
