"""The inputs of a merge plan: two heads, the conversation around them, and how tokens are counted."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from forky_core.context.build import build_context
from forky_core.context.conversion_cache import converter
from forky_core.context.convert import FileAccess
from forky_core.context.masking import Lookup, reverted, turns_of
from forky_core.context.quoting import merge_footer
from forky_core.context.transcript import last_complete, tool_closures
from forky_core.merge.conflicts.conflict import ComparedSide
from forky_core.merge.conflicts.examination import Examination
from forky_core.merge.incoming_changes import (
    EXCLUDED,
    HIDDEN,
    PICKED,
    REVERT,
    TAKEN_BACK,
    TAKEN_BACK_HERE,
    UNFINISHED,
    Copies,
    IncomingChanges,
    Omission,
    Sorting,
)
from forky_core.merge.plan import MergePlan, PlannedMessage, Relation
from forky_core.merge.wording import ShortIds
from forky_core.model import GenerationStatus, Message, MessageId, Rules
from forky_core.model.graph import (
    ParentsOf,
    ancestors,
    delta,
    first_parent_path,
    is_ancestor,
    merge_bases,
    topological_order,
)
from forky_core.model.parts import Draft, Json, MergePart
from forky_core.model.payload_kinds import FULL
from forky_core.text.counting import counted

_NO_SIGHT = FileAccess()


@dataclass(frozen=True)
class MergeInputs:
    """Two heads, and the conversation as a plan needs it. What is read of it once is kept."""

    target: MessageId | None
    source: MessageId
    target_name: str
    source_name: str
    lookup: Lookup
    parents_of: ParentsOf
    count_tokens: Callable[[str], int]
    """Counts tokens as the model that answers on the target does."""
    statuses: Mapping[MessageId, GenerationStatus] = field(default_factory=lambda: MappingProxyType({}))
    """The status of each reply's generation; a failed or interrupted reply does not complete a turn."""
    file_access: FileAccess = _NO_SIGHT
    """As in `build_context`, so that a plan's `tokens` are what the context grows by."""
    target_system: str | None = None
    """The branches' own system prompts, if set."""
    source_system: str | None = None
    exclusions: tuple[MessageId, ...] = ()
    """Messages that the source branch leaves out of its own context: they are not merged."""
    other_tips: tuple[MessageId, ...] = ()
    """Heads of the other sources of an octopus: short ids must be unique among their messages too."""
    resolutions: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """Earlier resolutions of conflicts, by the hash of their words."""
    examined: Callable[[Sequence[ComparedSide]], Examination | None] = lambda _sides: None
    """Returns what a model has found in these texts; None if none has examined them."""

    @cached_property
    def continues_target(self) -> bool:
        """Whether the source's line continues the target's, so that moving the pointer is enough.

        If the target is reached only through a side parent, the source's line is another context: moving there would
        change what was said. So it would if the source begins with copies of the target's messages.
        """
        if self.target is None:
            return True
        line = first_parent_path(self.source, lambda id: self.lookup(id).parents)
        return self.target != self.source and self.target in line

    @cached_property
    def known(self) -> frozenset[MessageId]:
        """All messages that the target was reached through, and its head."""
        return ancestors((self.target,), self.parents_of) if self.target is not None else frozenset()

    @cached_property
    def target_line(self) -> tuple[Message, ...]:
        """The messages of the target's linear context."""
        return self._line_of(self.target)

    @cached_property
    def source_line(self) -> tuple[Message, ...]:
        return self._line_of(self.source)

    def _line_of(self, head: MessageId | None) -> tuple[Message, ...]:
        return tuple(map(self.lookup, first_parent_path(head, self.parents_of)))

    @cached_property
    def taken_back(self) -> Mapping[MessageId, MessageId]:
        """The messages that reverts on the target's line mask, mapped to the reverts."""
        return reverted(self.target_line)

    @cached_property
    def read_on_target(self) -> tuple[Message, ...]:
        """The target's line and the turns that full merges show on it, without reverted messages."""
        back = self.taken_back
        read = [message for message in self.target_line if message.id not in back]
        full = (part for message in read for part in message.merges if part.brings_turns)
        turns = (turn for part in full for turn in turns_of(part, self.lookup))
        return (*read, *(turn for turn in turns if turn.id not in back))

    def context_tokens(self, path: Sequence[Message]) -> int:
        """Return the tokens of the target's prompt and this path."""
        context = build_context(
            path,
            Rules(system=self.target_system),
            lookup=self.lookup,
            count_tokens=self.count_tokens,
            blob=self.file_access.blob,
            pictures=self.file_access.pictures,
        )
        return context.tokens

    def incoming(self) -> IncomingChanges:
        """Find what the source would bring to the target."""
        path, known, here = self.source_line, self.known, self.taken_back
        shared = next((at for at, message in enumerate(path) if message.id not in known), len(path))
        fork = path[shared - 1] if shared else None
        line = path[shared:]
        complete = last_complete(line, self.statuses)
        cut = tuple(Omission(message.id, UNFINISHED) for message in line[len(complete) :])
        bases = merge_bases(self.target, self.source, self.parents_of) if self.target is not None else ()
        if not complete:
            return IncomingChanges((), bases, None, (), cut, fork, None, ())
        head = complete[-1].id
        brought = topological_order((head,), self.parents_of, without=known)
        closures = tool_closures(path) if self.exclusions else {}
        excluded = (other for id in self.exclusions for other in closures.get(id, (id,)))
        masked = dict.fromkeys(excluded, EXCLUDED)
        masked |= dict.fromkeys(reverted(path), TAKEN_BACK)
        masked |= dict.fromkeys(here, TAKEN_BACK_HERE)
        sorting = Sorting(self.lookup, known, frozenset(brought), masked, self.copies(known, without=here))
        sorting.take(complete)
        return IncomingChanges(
            brought,
            bases,
            head,
            tuple(sorting.turns),
            (*sorting.omitted, *sorting.represented(brought), *cut),
            fork,
            self._continues(fork),
            tuple(sorting.prompts),
        )

    def _continues(self, fork: Message | None) -> MessageId | None:
        """Return the merge on the target's line that brought `fork`; None if the fork is on the line itself.

        An ancestor of one message is an ancestor of all further down, so the first such merge is found by bisection.
        """
        line = [message.id for message in self.target_line]
        if fork is None or not line or fork.id in line:
            return None
        return line[bisect_left(line, True, key=lambda id: is_ancestor(fork.id, id, self.parents_of))]

    def delta(self) -> tuple[MessageId, ...]:
        return delta(self.target, self.source, self.parents_of)

    def copies(self, known: Iterable[MessageId], *, without: Container[MessageId] = ()) -> Copies:
        return Copies(self.lookup, known, without=without)

    def merge_message(self, found: IncomingChanges, part: MergePart) -> PlannedMessage:
        """Return the message that lands: the target is its context, the source's last complete turn its second parent.

        An empty target has no head to be a parent, so there the source is named as provenance only.
        """
        assert found.head is not None
        if self.target is None:
            return PlannedMessage((), Draft("user", (part,), sources=(found.head,)))
        return PlannedMessage((self.target, found.head), Draft("user", (part,)))

    def short_ids(self, also: Iterable[MessageId] = ()) -> ShortIds:
        return self._short(self.source, *self.other_tips, *also) if also else self._usual_short

    @cached_property
    def _usual_short(self) -> ShortIds:
        return self._short(self.source, *self.other_tips)

    def _short(self, *tips: MessageId) -> ShortIds:
        return ShortIds.among(self.known | ancestors(tips, self.parents_of))

    def cost(self, messages: Sequence[Message]) -> int:
        """Return the tokens of the messages in a context."""
        return converter(self.count_tokens).tokens(messages, self.file_access)

    def empty(self, strategy: str, relation: Relation, *warnings: str) -> MergePlan:
        """Return a plan that writes nothing."""
        return MergePlan(
            strategy,
            relation,
            self.target_name,
            self.source_name,
            self.target,
            self.source,
            delta=(),
            bases=(),
            turns=(),
            payload="",
            tokens=0,
            tokens_full=0,
            omitted=(),
            warnings=warnings,
            drafts=(),
            count_tokens=self.count_tokens,
        )

    def prompt_of_source(self, found: IncomingChanges) -> str:
        """Return the source's system prompt if it differs from the target's, else ""."""
        chain = [
            message.text for message in self.target_line if message.role == "system" and not message.hidden
        ]
        ours = self.target_system if self.target_system is not None else "\n\n".join(chain)
        theirs = self.source_system if self.source_system is not None else "\n\n".join(found.prompts)
        return theirs if theirs.strip() and theirs.strip() != ours.strip() else ""

    def warnings(self, found: IncomingChanges, short: ShortIds) -> list[str]:
        """Return warnings that apply before landing under any strategy."""
        name, other = self.source_name, self.target_name
        said: list[str] = []
        last = self.lookup(self.target) if self.target is not None else None
        if last is not None and last.role == "user":
            said.append(f"“{other}” ends on a user turn: the merge is joined to it.")
        if self.prompt_of_source(found):
            said.append(f"“{name}” has another system prompt. That of “{other}” counts; the other is quoted.")
        if found.turns and (cut := found.count(UNFINISHED)):
            said.append(
                f"“{name}” is cut back to its last complete turn: {counted(cut, 'message')} left out."
            )
        if picked := found.count(PICKED):
            said.append(f"{picked} of {len(found.turns) + picked} already picked.")
        if hidden := found.count(HIDDEN) + found.count(EXCLUDED):
            said.append(f"{counted(hidden, 'message')} hidden in “{name}”, left out.")
        if back := found.count(TAKEN_BACK):
            said.append(f"{counted(back, 'message')} that “{name}” took back stay out.")
        if found.count(REVERT):
            said.append(f"What “{name}” took back by a revert, “{other}” keeps where it has it.")
        if back := found.count(TAKEN_BACK_HERE):
            said.append(f"{counted(back, 'message')} that “{other}” took back stay out.")
        if found.continues is not None:
            said.append(f"This continues merge {short(found.continues)}: only what is new comes.")
        return said

    def tokens_full(self, turns: Sequence[Message], header: str) -> int:
        """The tokens that the source takes in full, in one message below its header."""
        part = MergePart(FULL.name, self.source_name, (), header)
        return self.count_tokens(header) + self.cost(turns) + self.count_tokens(merge_footer(part))

    def tokens_beside(self, turns: Sequence[Message], header: str) -> int:
        """The tokens that a shorter merge is held against: of the source in full, which where the target can just move
        on has no header.
        """
        return self.tokens_ahead() if self.continues_target else self.tokens_full(turns, header)

    def tokens_ahead(self) -> int:
        """The tokens of what the source has beyond the end of the target, on the same line."""
        line = self.source_line
        return self.context_tokens(line) - self.context_tokens(line[: len(self.target_line)])
