"""A conversation as a value: what a Forky chat file holds, between the file and a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from forky_core.model import EMPTY_VIEW, Blob, ConversationId, Generation, Message, MessageId, Operation, View
from forky_core.model.document import PassageOf
from forky_core.model.parts import Json


@dataclass(frozen=True, slots=True)
class Chat:
    """Everything of one conversation that may leave its database.

    Keys, accounts and settings are no part of it: they belong to a workspace.
    """

    id: ConversationId
    messages: Mapping[MessageId, Message]
    """Parents before children, in the order they were written."""
    generations: Iterable[Generation]
    """Those that have ended, in the order they were started; more than once, if need be."""
    entries: Mapping[str, Json]
    """The view: title, branches, rules, tags, kept tips, stashes."""
    operations: Sequence[Operation] = ()
    """The whole log, or () where the file holds a part of the conversation only."""
    blobs: Mapping[str, Blob] = field(default_factory=lambda: MappingProxyType({}))
    """The attachments by sha256, as far as they came along."""
    origins: tuple[Mapping[str, Json], ...] = ()
    """Where imported messages come from: `message`, the source's `id`, and `x`, its fields without a place."""
    other_lines: tuple[str, ...] = ()
    """Lines of types that this version does not know, as they were."""
    forked_from: Mapping[str, Json] | None = None
    """The conversation this one was forked from: `id`, `name`; `of`, where that was itself a copy of another."""
    passage_of: PassageOf = field(default=lambda _address: None, compare=False)
    """What its answers cite of documents, by address; documents themselves do not come along."""
    begins: str = field(default="", compare=False)
    """The branch its file says to begin at; heeded where there is no log, which says so itself."""

    @property
    def view(self) -> View:
        return View(self.entries, self.operations[-1].number if self.operations else 0)

    @property
    def title(self) -> str:
        return self.view.title

    @property
    def copied_of(self) -> str:
        """The conversation that this is a copy of with other words or fewer messages, "" where it is none.

        Such a copy has an id that is derived (a version-8 UUID), another one whenever other words are replaced.
        """
        derived = self.id[14:15] == "8"
        return str(self.forked_from["id"]) if derived and self.forked_from is not None else ""


def replayed(operations: Sequence[Operation]) -> View:
    """The view that a log adds up to."""
    view = EMPTY_VIEW
    for operation in operations:
        view = view.apply(operation.changes, operation.number)
    return view
