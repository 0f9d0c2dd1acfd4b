"""A rebase: the line of a branch copied onto another place. The copies name their originals.

The answers among them were given without the messages that now stand above, so one short message before them says so,
to the person and to the model. Nothing of the old line is changed; its tip stays visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from forky_core.context.account import Context
from forky_core.context.build import build_context
from forky_core.context.masking import reverted
from forky_core.context.quoting import in_quotes
from forky_core.context.transcript import UNFINISHED as UNFINISHED_ENDS
from forky_core.merge.incoming_changes import HIDDEN, KNOWN_MERGE, PICKED, UNFINISHED, Omission
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.plan import PlannedMessage, microseconds
from forky_core.merge.wording import transcript
from forky_core.model import Message, MessageId, Rules, seal
from forky_core.model.graph import ancestors, first_parent_path
from forky_core.model.parts import Draft, MergePart, Part, RevertPart
from forky_core.model.payload_kinds import REBASE

OLD_MARK = "It spoke of an earlier rebase."
NOTHING_LEFT = "It took back what does not come along."


@dataclass(frozen=True, slots=True)
class RebasePlan:
    """What a rebase would do. Nothing is written yet (law 8)."""

    branch: str
    onto_name: str
    relation: Literal["up_to_date", "fast_forward", "rebase"]
    """`fast_forward`: the branch has nothing of its own, so that only its pointer moves."""
    head: MessageId
    """Head of the branch the plan was made for; landing requires that it has not moved."""
    onto: MessageId
    line: tuple[Message, ...]
    """The branch's messages that `onto` lacks, oldest first."""
    copies: tuple[PlannedMessage, ...]
    """Parents before children: the note about the rebase, if answers are copied, then the line."""
    rules: Rules
    """The branch's rules, with pins and exclusions naming the copies."""
    payload: str
    """The messages that would stand below `onto`, each under its role."""
    tokens: int
    """What the branch's context grows by; negative if the new place has less above it."""
    omitted: tuple[Omission, ...]
    turns: tuple[tuple[Message, ...], ...]
    """The messages before each answer, which could be asked again instead of copied."""
    tokens_asked: int
    """The approximate tokens of asking them again, if the answers are as long as the old ones."""
    warnings: tuple[str, ...]
    made: int = field(default_factory=microseconds, compare=False)
    """When the branch was read (MergePlan.made)."""

    @property
    def lands(self) -> bool:
        """Whether landing would change anything."""
        return self.relation != "up_to_date"


def plan_rebase(inputs: MergeInputs, rules: Rules) -> RebasePlan:
    """Plan moving the source's line onto the target; `rules` are those of the source branch."""
    assert inputs.target is not None
    known = ancestors((inputs.target,), inputs.parents_of)
    path = inputs.source_line
    line = tuple(message for message in path if message.id not in known)
    nothing = _empty(inputs, rules, line)
    if not line:
        if inputs.source == inputs.target:
            note = f"“{inputs.source_name}” stands there already."
            return replace(nothing, warnings=(note,))
        note = f"“{inputs.source_name}” has nothing of its own: its pointer moves to “{inputs.target_name}”."
        after = _context(inputs, inputs.target_line, rules)
        growth = after.tokens - _context(inputs, path, rules).tokens
        return replace(nothing, relation="fast_forward", tokens=growth, warnings=(note,))
    taken, omitted = _sorted_out(inputs, line, known)
    copying = _Copying(inputs, inputs.target_line, taken)
    new = [seal(planned.draft, planned.parents) for planned in copying.planned]
    omitted = (*omitted, *copying.dropped)
    moved = replace(rules, pins=copying.renamed(rules.pins), exclusions=copying.renamed(rules.exclusions))
    above = inputs.target_line
    return replace(
        nothing,
        # If nothing stands between, copies would have the same content as the line itself.
        relation="up_to_date" if line[0].parent == inputs.target else "rebase",
        copies=tuple(copying.planned),
        rules=moved,
        payload=transcript(new, inputs.file_access),
        tokens=_context(inputs, [*above, *new], moved).tokens - _context(inputs, path, rules).tokens,
        omitted=omitted,
        turns=_turns(line, omitted),
        tokens_asked=_asked(inputs, above, taken, rules),
        warnings=tuple(_warnings(inputs, line, omitted)),
    )


def _turns(line: Sequence[Message], omitted: Sequence[Omission]) -> tuple[tuple[Message, ...], ...]:
    """Return the messages before each answer, without omitted and reverted messages; an unanswered end is left out."""
    out = {one.message for one in omitted if one.why != UNFINISHED} | set(reverted(line))
    turns: list[tuple[Message, ...]] = []
    said: list[Message] = []
    for message in line:
        if message.id in out or message.reverts:
            continue
        if message.role in ("user", "system"):
            said.append(message)
        elif any(one.role == "user" for one in said):
            turns.append(tuple(said))
            said = []
    return tuple(turns)


def _empty(inputs: MergeInputs, rules: Rules, line: tuple[Message, ...]) -> RebasePlan:
    assert inputs.target is not None
    return RebasePlan(
        inputs.source_name, inputs.target_name, "up_to_date", inputs.source, inputs.target, line, (), rules,
        "", 0, (), (), 0, (),
    )  # fmt: skip


def _context(inputs: MergeInputs, path: Sequence[Message], rules: Rules) -> Context:
    return build_context(
        path,
        rules,
        lookup=inputs.lookup,
        count_tokens=inputs.count_tokens,
        blob=inputs.file_access.blob,
        pictures=inputs.file_access.pictures,
    )


def _asked(inputs: MergeInputs, above: Sequence[Message], line: Sequence[Message], rules: Rules) -> int:
    context, total, asked = _context(inputs, above, rules).tokens, 0, False
    for message in line:
        if message.role == "assistant" and not asked:
            total += context
        asked = message.role in ("assistant", "tool")
        context += inputs.cost((message,))
    return total


def _sorted_out(
    inputs: MergeInputs, line: Sequence[Message], known: frozenset[MessageId]
) -> tuple[list[Message], tuple[Omission, ...]]:
    """Return the messages to copy, and why the others are not."""
    copies = inputs.copies(known)
    taken, omitted = [], []
    for at, message in enumerate(line):
        brought = [id for merge in message.merges for id in merge.messages]
        last = at == len(line) - 1
        why = (
            HIDDEN
            if message.hidden
            else OLD_MARK
            if any(merge.kind == REBASE for merge in message.merges)
            else KNOWN_MERGE
            if brought and known.issuperset(brought)
            else PICKED
            if copies.has(message)
            else UNFINISHED
            if last and message.role == "assistant" and inputs.statuses.get(message.id) in UNFINISHED_ENDS
            else ""
        )
        if why:
            omitted.append(Omission(message.id, why))
        else:
            taken.append(message)
    return taken, tuple(omitted)


class _Copying:
    """Copies messages one below the other; references to copied messages become references to the copies."""

    def __init__(self, inputs: MergeInputs, above: Sequence[Message], line: Sequence[Message]) -> None:
        assert inputs.target is not None
        self.planned: list[PlannedMessage] = []
        self.dropped: list[Omission] = []
        self._copy_of: dict[MessageId, MessageId] = {}
        self._reached = {message.id for message in above}
        self._reached.update(MessageId(id) for m in above for part in m.merges for id in part.messages)
        self._head = inputs.target
        if any(message.role == "assistant" for message in line):
            self._put(Draft("user", (mark(inputs.source_name, line),)), ())
        for message in line:
            self._copy(message)

    def renamed(self, ids: Sequence[MessageId]) -> tuple[MessageId, ...]:
        return tuple(self._copy_of.get(id, id) for id in ids)

    def _copy(self, message: Message) -> None:
        parts = [self._part(part) for part in message.parts]
        if any(part is None for part in parts):
            self.dropped.append(Omission(message.id, NOTHING_LEFT))
            return
        kept = tuple(part for part in parts if part is not None)
        self._copy_of[message.id] = self._put(
            Draft(message.role, kept, message.name, (message.id,)), message.parents[1:]
        )
        self._reached.update(MessageId(id) for part in message.merges for id in part.messages)

    def _part(self, part: Part) -> Part | None:
        if not isinstance(part, RevertPart):
            return part
        targets = (MessageId(id) for id in part.targets)
        found = tuple(
            self._copy_of.get(id, id) for id in targets if id in self._copy_of or id in self._reached
        )
        return RevertPart(found) if found else None

    def _put(self, draft: Draft, sides: Sequence[MessageId]) -> MessageId:
        parents = (self._head, *sides)
        self.planned.append(PlannedMessage(parents, draft))
        self._head = seal(draft, parents).id
        return self._head


def mark(branch: str, line: Sequence[Message]) -> MergePart:
    """Return the note that stands above copied turns."""
    count = f"The next {len(line)} messages were" if len(line) > 1 else "The next message was"
    text = (
        f"[{count} moved here with branch {in_quotes(branch)}. They were written before that, without the messages"
        " directly above: answered before the rebase.]"
    )
    return MergePart(REBASE.name, branch, tuple(message.id for message in line), text)


def _warnings(inputs: MergeInputs, line: Sequence[Message], omitted: Sequence[Omission]) -> list[str]:
    name, other = inputs.source_name, inputs.target_name
    said: list[str] = []
    if inputs.target in first_parent_path(inputs.source, inputs.parents_of):
        return [f"“{name}” stands on “{other}” already."]
    if inputs.target is not None and inputs.lookup(inputs.target).role == "user":
        said.append(f"“{other}” ends on a user turn: what is copied is joined to it.")
    for why, what in (
        (PICKED, "in “{}” already, as a copy"),
        (KNOWN_MERGE, "merged what “{}” has already"),
        (HIDDEN, "hidden"),
        (UNFINISHED, "not answered to its end"),
    ):
        if count := sum(one.why == why for one in omitted):
            said.append(f"{count} of {len(line)} left out: {what.format(other)}.")
    return said
