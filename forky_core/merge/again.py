"""Merging a branch again after its merge was reverted: the source is still an ancestor of the target, so Δ is empty.

Either the revert is reverted, or the merge is made `again`: as if earlier merges of that source had brought nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forky_core.context.masking import reverted
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.plan import RevertedMessage
from forky_core.model import Message, MessageId
from forky_core.model.graph import ancestors, first_parent_path


def reverted_of_source(inputs: MergeInputs) -> tuple[RevertedMessage, ...]:
    """Return the reverted messages of the target's line that came from the source, oldest first: merges, copies, its
    own messages.
    """
    line = inputs.line_of(inputs.target)
    by = reverted(line)
    if not by:
        return ()
    source = ancestors((inputs.source,), inputs.parents_of)
    return tuple(RevertedMessage(m.id, by[m.id]) for m in line if m.id in by and _comes_from(m, source))


def _comes_from(message: Message, source: frozenset[MessageId]) -> bool:
    return message.id in source or not source.isdisjoint((*message.parents[1:], *message.sources))


def as_if_never_merged(inputs: MergeInputs) -> MergeInputs:
    """Return inputs in which the merges of the source on the target's line have brought nothing."""
    if inputs.target is None:
        return inputs
    source = ancestors((inputs.source,), inputs.parents_of)
    line = first_parent_path(inputs.target, inputs.parents_of)
    merges = {id for id in line if id not in source and not source.isdisjoint(inputs.parents_of(id)[1:])}
    parents_of = inputs.parents_of

    def only_the_line(id: MessageId) -> Sequence[MessageId]:
        return parents_of(id)[:1] if id in merges else parents_of(id)

    return replace(inputs, parents_of=only_the_line)
