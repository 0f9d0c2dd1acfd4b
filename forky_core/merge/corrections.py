"""Corrections of earlier merges: lines in them that no longer hold.

A payload is frozen, so the earlier line stays unchanged in every context; the later payload names it and says what
holds now. The correction is also recorded with it, so that a page can strike the earlier line through. Only a
merge further down a line corrects one above it; if two correct each other, the later one wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from forky_core.context.masking import reverted
from forky_core.merge.conflicts.conflict import Conflict
from forky_core.merge.conflicts.findings import Correction, MergeFindings, settled_and_open
from forky_core.merge.headings import CORRECTS
from forky_core.merge.plan import MergePlan, PlannedMessage
from forky_core.merge.wording import ShortIds, one_line
from forky_core.model import Message, MessageId
from forky_core.model.parts import MergePart

_LONGEST = 160
"""The most characters of what holds now that a payload quotes."""
_MOST = 8
"""The most corrections that a payload spells out; all are recorded."""
_NONE: Mapping[MessageId, tuple[CorrectedLine, ...]] = MappingProxyType({})


def corrections_in(message: Message) -> tuple[Correction, ...]:
    """Return the corrections of a merge message."""
    return tuple(one for merge in message.merges for one in MergeFindings.from_json(merge.claims).corrects)


def conflicts_in(message: Message) -> tuple[Conflict, ...]:
    """Return the conflicts that a merge message left open."""
    return settled_and_open(message.merges)[1]


@dataclass(frozen=True, slots=True)
class CorrectedLine:
    """A line of a merge that no longer holds, because a merge further down the same path corrects it."""

    line: str
    """The words of the earlier merge."""
    now: str
    """The words of the later merge that replace them."""
    by: MessageId
    """The later merge."""


def corrected_lines(path: Sequence[Message]) -> Mapping[MessageId, tuple[CorrectedLine, ...]]:
    """Return, for each merge of a path, which of its lines later merges of that path correct, oldest first.

    A correction does not count if it stands above the merge that it names, or if its merge was reverted.
    """
    merges = [message for message in path if message.merges]
    if len(merges) < 2:
        return _NONE
    by = reverted(path)
    found: dict[MessageId, tuple[CorrectedLine, ...]] = {}
    for message in merges:
        for one in corrections_in(message) if message.id not in by else ():
            if one.merge in found:
                found[one.merge] += (CorrectedLine(one.line, one.now, message.id),)
        found[message.id] = ()
    return {merge: lines for merge, lines in found.items() if lines}


def correction_rows(corrects: Sequence[Correction], short: ShortIds) -> str:
    """Return the section of a payload that lists corrections; "" if there are none."""
    rows = [
        f"- Merge [{short(one.merge)}] said “{one.quoted}”; said later: “{one_line(one.now, _LONGEST)}” "
        f"[{short(one.by)}]"
        for one in corrects[:_MOST]
    ]
    return "\n".join((f"{CORRECTS}:", *rows)) if rows else ""


def with_corrections(plan: MergePlan) -> MergePlan:
    """Return the plan with its corrections in the payload; unchanged if they are there already.

    A squash lists them in its text. Unchanged turns need no text, so for them the corrections are only recorded.
    """
    if not plan.corrects or not plan.drafts:
        return plan
    if plan.sides:
        return plan.of_sides([with_corrections(side) for side in plan.sides])
    draft = plan.drafts[0].draft
    part = draft.parts[0] if draft.parts else None
    if not isinstance(part, MergePart) or (found := MergeFindings.from_json(part.claims)).corrects:
        return plan
    kept = replace(part, claims=replace(found, corrects=plan.corrects).to_json())
    if part.kind.reading == "lines":
        rows = correction_rows(plan.corrects, plan.short)
        return plan.with_block(replace(kept, text=f"{part.text}\n{rows}"))
    parts = (kept, *draft.parts[1:])
    return replace(
        plan, drafts=(PlannedMessage(plan.drafts[0].parents, replace(draft, parts=parts)), *plan.drafts[1:])
    )
