"""A merge as a plan: what the model will read, what that costs, what is left out and what will be written (law 8).

`plan_merge` writes nothing. Its result has the finished drafts with their parents, so that landing is one commit: seal
each `PlannedMessage`, move the branch to the last. The frozen payload inside them is what later contexts read (law 3);
`tokens` is what that context grows by.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from forky_core.merge.block import cited
from forky_core.merge.conflicts.conflict import ComparedSide, Conflict
from forky_core.merge.conflicts.findings import Correction, MergeFindings
from forky_core.merge.headings import WRITTEN
from forky_core.merge.incoming_changes import REPRESENTED, Omission
from forky_core.merge.marks import (
    NoteText,
    Sources,
    all_of,
    carried_over,
    marked,
    note_sources,
    with_sources,
)
from forky_core.merge.options import MergeOptions
from forky_core.merge.pointing import Dangling
from forky_core.merge.wording import ShortIds
from forky_core.merge.written.sentences import spans
from forky_core.model import ConversationId, Message, MessageId
from forky_core.model.errors import BadContent, NotFound, RequestError
from forky_core.model.parts import Draft, Json, MergePart
from forky_core.model.payload_kinds import PayloadKind, kind_of

Relation = Literal["up_to_date", "unanswered", "fast_forward", "merge"]
"""How the source relates to the target.

`up_to_date`: it has nothing the target lacks. `unanswered`: it has only a question without an answer, or an unfinished
reply, which no merge brings. `fast_forward`: its line continues the target's.
"""


@dataclass(frozen=True, slots=True)
class RevertedMessage:
    """A part of the source that the target has reverted."""

    message: MessageId
    """The merge, pick or message on the target's line."""
    revert: MessageId
    """The message that reverted it; reverting this one restores it."""


NO_ROOM = "No line of it was taken."


@dataclass(frozen=True, slots=True)
class Doubt:
    """What is to be said of one sentence that a model wrote."""

    sentence: str
    why: str
    out: bool
    """Whether it was struck out of what lands; else it lands, and was not confirmed."""
    message: MessageId | None = None
    """The message that speaks against it."""
    sources: tuple[MessageId, ...] = ()
    after: str = ""
    """The sentence before it that lands; "" if there is none."""
    joint: str = " "
    """What stands between the two: a space, or a new line with its list sign."""

    @property
    def told(self) -> str:
        """The doubt as a sentence for somebody who does not see the page."""
        what = "Left out" if self.out else "Not confirmed"
        return f"{what}: “{self.sentence}” {self.why}"


def microseconds() -> int:
    """Return the time in microseconds since the epoch, UTC."""
    return time.time_ns() // 1_000


@dataclass(frozen=True, slots=True)
class PlannedMessage:
    """One message a plan will write."""

    parents: tuple[MessageId, ...]
    draft: Draft


@dataclass(frozen=True, slots=True)
class Graft:
    """The origin of a source that is no branch of this conversation."""

    conversation: ConversationId
    branch: str
    taken_in: tuple[Message, ...]
    """Messages of that conversation that landing copies here first, parents before children."""


@dataclass(frozen=True, slots=True)
class MergePlan:
    """What merging would do."""

    strategy: str
    relation: Relation
    target_name: str
    source_name: str
    target: MessageId | None
    """Head of the target the plan was made for; landing requires that it has not moved."""
    source: MessageId | None
    """Head of the source the plan was made from."""
    delta: tuple[MessageId, ...]
    """What merging brings, as `git rev-list T..S` (for a cherry-pick, the picks)."""
    bases: tuple[MessageId, ...]
    turns: tuple[MessageId, ...]
    """The messages of Δ in the source's own context: the material of the payload."""
    payload: str
    """What the model will read, word for word; turns are each under their role."""
    tokens: int
    """What the target's context grows by."""
    tokens_full: int
    """What a full merge would cost."""
    omitted: tuple[Omission, ...]
    warnings: tuple[str, ...]
    drafts: tuple[PlannedMessage, ...]
    """Parents before children, each below the one before; () if there is nothing to write."""
    citations_of_merges: Mapping[MessageId, tuple[MessageId, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """For each merge among the turns, the messages that its payload cites: the new payload cites them instead."""
    made: int = field(default_factory=microseconds, compare=False)
    """When the branches were read. What was erased since may still stand in the plan."""
    header: str = ""
    """The text above the turns or the lines."""
    fast_forward: MessageId | None = None
    """The message to which landing moves the target's pointer, if it does nothing else."""
    reverted: tuple[RevertedMessage, ...] = ()
    """What the target reverted of the source: reverting those reverts restores it, and so does merging `again`."""
    sides: tuple[MergePlan, ...] = ()
    """For an octopus with a payload for each source: the plan of each, in the order shown. () for any other merge."""
    heads: Mapping[str, MessageId] = field(default_factory=lambda: MappingProxyType({}))
    """For several sources in one payload: the head of each, in the order shown."""
    dangling: tuple[Dangling, ...] = ()
    """For picks: references to messages that are left behind."""
    graft: Graft | None = None
    """For a graft: the other conversation."""
    conflicts: tuple[Conflict, ...] = ()
    """Where the incoming messages contradict the target or another source: shown before landing (law 9)."""
    examined_by: str = ""
    """The model that has read the sides against each other; "" if none has: then rules name possible conflicts."""
    compared: tuple[ComparedSide, ...] = field(default=(), repr=False, compare=False)
    """The texts that were set against each other, for a model to examine."""
    corrects: tuple[Correction, ...] = ()
    """Lines of earlier merges on the target that the incoming messages correct; the payload says so."""
    unanswered: tuple[MessageId, ...] = ()
    """Messages of the source that wait for an answer, if nothing else is new there: they can be cherry-picked."""
    badge: str = ""
    """Why this payload is not the requested one (a model's answer was refused)."""
    doubts: tuple[Doubt, ...] = ()
    """The sentences of a model's note that were struck out, or not confirmed."""
    options: MergeOptions | None = None
    """The options it was planned from, so that it can be planned again when a branch has moved."""
    by_hand: bool = False
    """Whether a person has changed the text."""
    entries: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """View entries that landing sets too: resolutions to remember."""
    request: int | None = None
    """Number of the merge request that landing accepts."""
    short: ShortIds = field(default_factory=ShortIds, repr=False, compare=False)
    """Writes ids in the payload."""
    count_tokens: Callable[[str], int] = field(default=len, repr=False, compare=False)

    @property
    def lands(self) -> bool:
        """Whether landing would change anything."""
        return bool(self.drafts) or self.fast_forward is not None

    @property
    def nothing(self) -> str:
        """Why landing would change nothing, as a sentence; only for a plan that does not land."""
        if self.relation == "unanswered":
            return self.warnings[0]
        return f"“{self.target_name}” has all of “{self.source_name}” already."

    @property
    def sources(self) -> tuple[str, ...]:
        """The branches it brings something from, in the order shown."""
        return tuple(side.source_name for side in self.sides) or tuple(self.heads) or (self.source_name,)

    @property
    def expected_heads(self) -> Mapping[str, MessageId | None]:
        """The heads that the plan was made for, by branch of this conversation."""
        if self.graft is not None:
            return {self.target_name: self.target}
        of = {side.source_name: side.source for side in self.sides}
        of = of or dict(self.heads) or {self.source_name: self.source}
        return {self.target_name: self.target, **of}

    @property
    def block(self) -> MergePart | None:
        """The payload that a person may edit, of a squash, or of picks quoted as one block; None for an octopus, which
        has several.
        """
        if self.sides:
            return None
        first = self.drafts[0].draft.parts[0] if self.drafts and self.drafts[0].draft.parts else None
        if not isinstance(first, MergePart) or first.strategy != self.strategy:
            return None
        # A picked message may itself have a quotation; its copy stays unchanged.
        match first.kind.reading:
            case "lines" | "answer":
                return first
            case "quotation" if first.messages == self.turns:
                return first
        return None

    @property
    def kind(self) -> PayloadKind:
        """How its payload is read."""
        return kind_of(self.strategy)

    @property
    def _cites(self) -> bool:
        """Whether the lines of its payload cite messages."""
        return self.kind.reading == "lines"

    @property
    def citable(self) -> tuple[MessageId, ...]:
        """The messages that the payload may cite: the turns and, before each merge among them, those that the merge
        cites.
        """
        return tuple(
            dict.fromkeys(id for turn in self.turns for id in (*self.citations_of_merges.get(turn, ()), turn))
        )

    @property
    def written_apart(self) -> tuple[MergePlan, ...]:
        """The plans whose notes a model writes one by one: one for each source."""
        return self.sides or (self,)

    def budgets_apart(self, budget: int | None) -> tuple[int | None, ...]:
        """Return the tokens of each note of `written_apart`; None for the usual size. Notes that become one text share
        the budget, and those of several texts have the usual size.
        """
        full = sum(one.tokens_full for one in self.written_apart)
        if budget is None or self.sides:
            return (None,) * len(self.written_apart)
        return tuple(budget * one.tokens_full // max(1, full) for one in self.written_apart)

    def with_written(self, made: Sequence[MergePlan]) -> MergePlan:
        """Return the plan with the notes of these plans, which `written_apart` has returned."""
        return self.of_sides(made) if self.sides else made[0]

    @property
    def marked(self) -> str:
        """The payload as it is shown line by line: with the sources of each sentence behind it."""
        return marked(self.block) if self.block is not None else self.payload

    def with_note(self, note: NoteText, made_by: str) -> MergePlan:
        """Return the plan with a note that the model `made_by` wrote in the place of its lines."""
        block = self.block
        assert block is not None
        text = note.below_header(self.header, self.short)
        made = self.squash_block(text, note.cites or self.turns, made_by)
        kept = with_sources(MergeFindings.from_json(block.claims).still_in(text), text, note.sources_in(text))
        return self.with_block(replace(made, claims=kept.to_json()))

    def edited(self, text: str, sources: Sources | None = None) -> MergePlan:
        """Return the plan with this text as its payload, and with its costs counted again.

        `sources` are what the sentences of a written note rest on; by default those that stood before keep theirs.

        Raises:
            RequestError: its payload is turns, whose words nobody may change.
            BadContent: the text is empty.
        """
        block = self.block
        if self.sides:
            raise RequestError("This merge has a text for each branch.", "Say which one: edited_side.")
        if block is None:
            raise RequestError(
                "This merge brings the messages as they are.", "Use a squash to change the words."
            )
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if not text.strip():
            raise BadContent("A merge needs some text.", "To merge nothing, cancel.")
        if not self._cites:
            return replace(self.with_block(replace(block, text=text)), by_hand=True)
        found = MergeFindings.from_json(block.claims)
        if sources is None:
            sources = carried_over(block.text, note_sources(block), text)
        cites = (*all_of(sources), *cited(text, self.citable)) or self.turns
        kept = with_sources(found.still_in(text), text, sources).to_json()
        edited = replace(self.squash_block(text, cites, block.made_by), claims=kept)
        return replace(self.with_block(edited), by_hand=True)

    def brought_back(self, doubt: Doubt) -> MergePlan:
        """Return the plan with a sentence that was struck out in its place again; unchanged if it is there already."""
        block = self.block
        if block is None or doubt.sentence in block.text:
            return self
        at = block.text.find(doubt.after, len(self.header)) if doubt.after else -1
        if at >= 0:
            at += len(doubt.after)
        else:
            top = f"\n{WRITTEN}:\n"
            at = block.text.index(top) + len(top) - 1 if top in block.text else len(self.header)
        joint = doubt.joint if doubt.after or "\n" in doubt.joint else "\n"
        text = f"{block.text[:at]}{joint}{doubt.sentence}{block.text[at:]}"
        before = carried_over(block.text, note_sources(block), text)
        sources = tuple(
            ids or (doubt.sources if span.of(text) == doubt.sentence else ())
            for span, ids in zip(spans(text), before, strict=True)
        )
        return self.edited(text, sources)

    def edited_side(self, source: str, text: str) -> MergePlan:
        """Return the octopus with this text as the payload of one of its sources; further errors as in `edited`.

        Raises:
            NotFound: it has no source of that name.
        """
        if all(side.source_name != source for side in self.sides):
            raise NotFound(f"This merge brings nothing of “{source}”.")
        return self.of_sides(
            [side.edited(text) if side.source_name == source else side for side in self.sides]
        )

    def of_sides(self, sides: Sequence[MergePlan]) -> MergePlan:
        """Return the octopus of these plans, each of which brings something and has one draft."""
        planned = [side.drafts[0] for side in sides]
        parts = tuple(part for one in planned for part in one.draft.parts)
        heads = dict.fromkeys(head for one in planned for head in one.parents[1:])
        parents = (*planned[0].parents[:1], *heads)
        sources = tuple(source for one in planned for source in one.draft.sources)
        payload = "\n\n".join(side.payload for side in sides)
        return replace(
            self,
            source_name=", ".join(side.source_name for side in sides),
            source=None,
            delta=tuple(dict.fromkeys(id for side in sides for id in side.delta)),
            bases=tuple(dict.fromkeys(id for side in sides for id in side.bases)),
            turns=tuple(id for side in sides for id in side.turns),
            citations_of_merges=MappingProxyType(
                {id: told for side in sides for id, told in side.citations_of_merges.items()}
            ),
            payload=payload,
            # Payloads of lines stand in one message and are counted as such.
            tokens=self.count_tokens(payload) if self._cites else sum(side.tokens for side in sides),
            tokens_full=sum(side.tokens_full for side in sides),
            omitted=tuple(one for side in sides for one in side.omitted),
            warnings=tuple(dict.fromkeys((*self.warnings, *(w for side in sides for w in side.warnings)))),
            doubts=tuple(one for side in sides for one in side.doubts),
            drafts=(PlannedMessage(parents, Draft("user", parts, sources=sources)),),
            short=sides[0].short,
            sides=tuple(sides),
        )

    def squash_block(self, text: str, cites: Container[str], made_by: str = "") -> MergePart:
        """Return a payload of this plan with these citations; everything that it does not stand for is listed as
        omitted.

        It stands for what it cites, and for merges whose messages it cites.
        """
        stands_for = tuple(
            id
            for id in self.citable
            if id in cites or any(told in cites for told in self.citations_of_merges.get(id, ()))
        )
        quoted = frozenset(stands_for)
        omitted = tuple(id for id in self.delta if id not in quoted)
        return MergePart(self.strategy, self.source_name, stands_for, text, omitted, made_by)

    def with_block(self, block: MergePart) -> MergePlan:
        """Return the plan with another block in place of its own."""
        planned, old = self.drafts[0], self.block
        assert old is not None
        omitted = self.omitted
        if self._cites:
            omitted = self._left_out(frozenset(block.messages))
        draft = replace(planned.draft, parts=(block, *planned.draft.parts[1:]))
        return replace(
            self,
            payload=block.text,
            tokens=self.tokens - self.count_tokens(old.text) + self.count_tokens(block.text),
            omitted=omitted,
            drafts=(PlannedMessage(planned.parents, draft), *self.drafts[1:]),
        )

    def _left_out(self, told: Container[str]) -> tuple[Omission, ...]:
        """Return what a payload with these citations leaves out, and why."""
        turns = frozenset(self.turns)
        beside = {id for id in self.citable if id not in turns}
        return (
            *(Omission(id, NO_ROOM) for id in self.turns if id not in told),
            *(one for one in self.omitted if one.why != NO_ROOM and one.message not in beside),
            *(Omission(id, REPRESENTED) for id in self.delta if id in beside and id not in told),
        )
