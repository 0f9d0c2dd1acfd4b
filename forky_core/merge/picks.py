"""A cherry-pick: copies of chosen messages below the target, or a quotation of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forky_core.context.transcript import dangling, open_calls, tool_closures
from forky_core.merge.incoming_changes import HIDDEN, PICKED, REVERT, SYSTEM, Omission
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan, PlannedMessage
from forky_core.merge.pointing import dangling_in, dangling_warnings
from forky_core.merge.strategy import Strategy
from forky_core.merge.wording import quoted_messages, transcript
from forky_core.model import Message, MessageId, payload_kinds, seal
from forky_core.model.errors import BadContent
from forky_core.model.graph import ancestors, first_parent_path, topological_order
from forky_core.model.parts import AttachmentPart, Draft, MergePart, Part

IN_TARGET = "It is in the target already."


def plan_picks(inputs: MergeInputs, options: MergeOptions) -> MergePlan:
    """Plan copies of the picked messages below the target: as turns if they alternate, else quoted in one message.

    Raises:
        BadContent: nothing is picked.
    """
    wanted = tuple(dict.fromkeys(options.picks))
    if not wanted:
        raise BadContent("Nothing is picked.", "Tick the messages to bring over.")
    messages, warnings = _with_closures(inputs, wanted)
    taken, omitted = _sorted_out(inputs, messages)
    if picked := sum(omission.why in (PICKED, IN_TARGET) for omission in omitted):
        warnings.append(f"{picked} of {len(messages)} already picked.")
    if hidden := sum(omission.why == HIDDEN for omission in omitted):
        warnings.append(f"{'1 message' if hidden == 1 else f'{hidden} messages'} hidden, left out.")
    if not taken:
        return replace(inputs.empty(payload_kinds.CHERRY_PICK.name, "up_to_date", *warnings), omitted=omitted)
    if dangling(taken):
        warnings.append(
            "A tool call is picked without its result, or a result without its call: flattened to text."
        )
    known = ancestors((inputs.target,), inputs.parents_of) if inputs.target is not None else frozenset()
    pointers = dangling_in(taken, known)
    warnings += dangling_warnings(pointers, inputs.short_ids([message.id for message in taken]))
    last = inputs.lookup(inputs.target) if inputs.target is not None else None
    as_turns = _alternate(last, taken)
    if last is not None and last.role == "user":
        warnings.append(f"“{inputs.target_name}” ends on a user turn: the quotation is joined to it.")
    drafts = _copies(inputs.target, taken) if as_turns else (_quotation(inputs, taken),)
    payload = transcript(taken, inputs.file_access) if as_turns else _text(drafts[0])
    landed = [seal(planned.draft, planned.parents) for planned in drafts]
    ids = tuple(message.id for message in taken)
    return replace(
        inputs.empty(payload_kinds.CHERRY_PICK.name, "merge", *warnings),
        delta=ids,
        turns=ids,
        payload=payload,
        tokens=inputs.cost(landed),
        tokens_full=inputs.cost(taken),
        omitted=omitted,
        dangling=pointers,
        drafts=drafts,
    )


def _with_closures(inputs: MergeInputs, wanted: Sequence[MessageId]) -> tuple[list[Message], list[str]]:
    """Return the picks in order, with the messages that their tool calls and results require, and warnings."""
    path = [inputs.lookup(id) for id in first_parent_path(inputs.source, inputs.parents_of)]
    closures = tool_closures(path)
    whole = {other for id in wanted for other in closures.get(id, (id,))}
    order = topological_order((inputs.source, *wanted), inputs.parents_of)
    added = len(whole) - len(wanted)
    more = "1 message comes" if added == 1 else f"{added} messages come"
    warnings = [f"{more} along: a tool call and its results move together."] if added else []
    return [inputs.lookup(id) for id in order if id in whole], warnings


def _read(inputs: MergeInputs) -> frozenset[MessageId]:
    """Return the ids that the target shows as turns. A message that a squash only summarises can still be picked."""
    return frozenset(message.id for message in inputs.read_on_target)


def _sorted_out(
    inputs: MergeInputs, messages: Sequence[Message]
) -> tuple[list[Message], tuple[Omission, ...]]:
    """Return the messages that can be picked, and why the others cannot."""
    known = _read(inputs)
    copies = inputs.copies(known)
    taken: list[Message] = []
    omitted: list[Omission] = []
    for message in messages:
        why = (
            HIDDEN
            if message.hidden
            else SYSTEM
            if message.role == "system"
            else IN_TARGET
            if message.id in known
            else REVERT
            if message.reverts
            else PICKED
            if copies.has(message)
            else ""
        )
        if why:
            omitted.append(Omission(message.id, why))
        else:
            taken.append(message)
    return taken, tuple(omitted)


def _alternate(last: Message | None, messages: Sequence[Message]) -> bool:
    """Whether the messages can follow `last` as turns and be followed by a question."""
    before = last.role if last is not None else "assistant"
    for message in messages:
        follows = {"user": ("assistant",), "assistant": ("user", "tool"), "tool": ("assistant", "tool")}
        full = any(part.brings_turns for part in message.merges)
        if before not in follows.get(message.role, ()) or full:
            return False
        before = message.role
    waits = last is not None and open_calls((last,), 1)
    return before == "assistant" and not waits and not dangling(messages)


def _copies(target: MessageId | None, messages: Sequence[Message]) -> tuple[PlannedMessage, ...]:
    planned: list[PlannedMessage] = []
    parents = (target,) if target is not None else ()
    for message in messages:
        draft = Draft(message.role, message.parts, message.name, (message.id,))
        planned.append(PlannedMessage(parents, draft))
        parents = (seal(draft, parents).id,)
    return tuple(planned)


def _quotation(inputs: MergeInputs, messages: Sequence[Message]) -> PlannedMessage:
    ids = tuple(message.id for message in messages)
    text = quoted_messages(inputs.source_name, messages, inputs.short_ids(ids))
    block: Part = MergePart(payload_kinds.CHERRY_PICK.name, inputs.source_name, ids, text)
    files = {part.sha256: part for m in messages for part in m.parts if isinstance(part, AttachmentPart)}
    parents = (inputs.target,) if inputs.target is not None else ()
    return PlannedMessage(parents, Draft("user", (block, *files.values()), sources=ids))


def _text(planned: PlannedMessage) -> str:
    block = planned.draft.parts[0]
    assert isinstance(block, MergePart)
    return block.text


CHERRY_PICK = Strategy(
    payload=payload_kinds.CHERRY_PICK,
    label="Chosen messages",
    entry="Only this message …",
    icon="playlist_add_check",
    caption="The model reads the messages that you tick (cherry-pick).",
    plan=plan_picks,
    takes=frozenset({"picks"}),
)
