"""A merge as a plan: what the model will read, what that costs, what is left out and what will be written (law 8).

`plan_merge` writes nothing. Its result holds the finished drafts with their parents, so that landing is one commit:
seal each `Planned`, move the branch to the last. The frozen payload inside them is what later contexts read (law 3);
`tokens` is what that context grows by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from forky_core.errors import BadContent, RequestError
from forky_core.merge.block import cited
from forky_core.merge.incoming import Omission
from forky_core.merge.wording import ShortIds
from forky_core.model import MessageId
from forky_core.parts import Draft, MergePart, Strategy

Relation = Literal["up_to_date", "fast_forward", "merge"]
"""`up_to_date`: the source has nothing the target lacks. `fast_forward`: the source's line continues the target's."""


@dataclass(frozen=True, slots=True)
class Reverted:
    """Something of the source that the target has and took back."""

    message: MessageId
    """The merge, pick or message on the target's line."""
    revert: MessageId
    """What took it back; reverting this brings it back."""


NO_ROOM = "No line of it found room."


@dataclass(frozen=True, slots=True)
class Planned:
    """One message a plan will write."""

    parents: tuple[MessageId, ...]
    draft: Draft


@dataclass(frozen=True, slots=True)
class MergePlan:
    """What merging would do."""

    strategy: Strategy
    relation: Relation
    target_name: str
    source_name: str
    target: MessageId | None
    """Head of the target the plan was made for; landing expects it there still."""
    source: MessageId | None
    """Head of the source the plan was made from."""
    delta: tuple[MessageId, ...]
    """What merging brings, as `git rev-list T..S` (of a cherry-pick: the picks)."""
    bases: tuple[MessageId, ...]
    turns: tuple[MessageId, ...]
    """What the source's own context showed of Δ: what the payload draws from."""
    payload: str
    """What the model will read, word for word; of turns, each under its role."""
    tokens: int
    """What the target's context grows by."""
    tokens_full: int
    """What a full merge would cost."""
    omitted: tuple[Omission, ...]
    warnings: tuple[str, ...]
    drafts: tuple[Planned, ...]
    """Parents before children, each below the one before; () where nothing is to be written."""
    header: str = ""
    """What stands above the turns or the lines."""
    fast_forward: MessageId | None = None
    """Where landing only moves the target's pointer: to this message."""
    reverted: tuple[Reverted, ...] = ()
    """What the target took back of the source: reverting those reverts brings it back, and so does merging `again`."""
    badge: str = ""
    """Why this payload is not the one asked for (a model's answer was refused)."""
    short: ShortIds = field(default_factory=ShortIds, repr=False, compare=False)
    """How the payload writes ids."""
    count_tokens: Callable[[str], int] = field(default=len, repr=False, compare=False)

    @property
    def lands(self) -> bool:
        """Whether landing would change anything."""
        return bool(self.drafts) or self.fast_forward is not None

    @property
    def expected_heads(self) -> Mapping[str, MessageId | None]:
        """The heads by branch that the plan was made for."""
        return {self.target_name: self.target, self.source_name: self.source}

    @property
    def block(self) -> MergePart | None:
        """The payload a person may edit: of a squash, or of picks quoted as one block."""
        first = self.drafts[0].draft.parts[0] if self.drafts and self.drafts[0].draft.parts else None
        if not isinstance(first, MergePart) or first.strategy != self.strategy:
            return None
        # A picked message may itself hold a quotation; its copy stays as it is.
        own = self.strategy == "squash" or (self.strategy == "cherry-pick" and first.messages == self.turns)
        return first if own else None

    def edited(self, text: str) -> MergePlan:
        """The plan with this text as its payload, counted again.

        Raises:
            RequestError: its payload is turns, which nobody may put words into.
            BadContent: the text is empty.
        """
        block = self.block
        if block is None:
            raise RequestError(
                "This merge brings the messages as they are.", "Use a squash to change the words."
            )
        if not text.strip():
            raise BadContent("A merge needs some text.", "To merge nothing, cancel.")
        if self.strategy != "squash":
            return self.with_block(replace(block, text=text))
        stands_for = cited(text, self.turns) or self.turns
        return self.with_block(self.squash_block(text, stands_for, block.made_by))

    def squash_block(self, text: str, stands_for: tuple[MessageId, ...], made_by: str = "") -> MergePart:
        """A squash payload of this plan; all it does not stand for is listed in it as omitted."""
        quoted = frozenset(stands_for)
        omitted = tuple(id for id in self.delta if id not in quoted)
        return MergePart("squash", self.source_name, stands_for, text, omitted, made_by)

    def with_block(self, block: MergePart) -> MergePlan:
        """The same plan with another block in place of its own."""
        planned, old = self.drafts[0], self.block
        assert old is not None
        omitted = self.omitted
        if self.strategy == "squash":
            kept = tuple(omission for omission in omitted if omission.why != NO_ROOM)
            omitted = (*(Omission(id, NO_ROOM) for id in self.turns if id not in block.messages), *kept)
        draft = replace(planned.draft, parts=(block, *planned.draft.parts[1:]))
        return replace(
            self,
            payload=block.text,
            tokens=self.tokens - self.count_tokens(old.text) + self.count_tokens(block.text),
            omitted=omitted,
            drafts=(Planned(planned.parents, draft), *self.drafts[1:]),
        )
