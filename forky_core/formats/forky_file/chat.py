"""A conversation as a value: the content of a Forky chat file, between the file and a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from forky_core.model import Blob, ConversationId, Generation, Message, MessageId, Operation, View
from forky_core.model.document import PassageOf
from forky_core.model.parts import Json


@dataclass(frozen=True, slots=True)
class Chat:
    """Everything of one conversation that can be exported.

    Keys, accounts and settings are not included: they belong to a workspace.
    """

    id: ConversationId
    messages: Mapping[MessageId, Message]
    """Parents before children, in the order they were written."""
    generations: Iterable[Generation]
    """Generations that have ended, in the order they were started; can be iterated more than once."""
    entries: Mapping[str, Json]
    """The view: title, branches, rules, tags, kept tips, stashes."""
    operations: Sequence[Operation] = ()
    """The whole log, or () if the file holds only a part of the conversation."""
    blobs: Mapping[str, Blob] = field(default_factory=lambda: MappingProxyType({}))
    """The available attachments by sha256."""
    origins: tuple[Mapping[str, Json], ...] = ()
    """The origins of imported messages: `message`, the source's `id`, and `x`, the source's fields that have no place
    here.
    """
    other_lines: tuple[str, ...] = ()
    """Lines of types that this version does not know, unchanged."""
    forked_from: Mapping[str, Json] | None = None
    """The conversation this one was forked from: `id`, `name`; `of`, if that was itself a copy of another."""
    passage_of: PassageOf = field(default=lambda _address: None, compare=False)
    """Looks up a passage that its answers cite, by address; the documents themselves are not included."""
    begins: str = field(default="", compare=False)
    """The branch to open, from the file; used only if there is no log, which determines it otherwise."""

    @property
    def view(self) -> View:
        return View(self.entries, self.operations[-1].number if self.operations else 0)

    @property
    def title(self) -> str:
        return self.view.title

    @property
    def copied_of(self) -> str:
        """The conversation that this is a redacted or partial copy of, "" if it is none.

        Such a copy has a derived id (a version-8 UUID), which differs with the words that are replaced.
        """
        derived = self.id[14:15] == "8"
        return str(self.forked_from["id"]) if derived and self.forked_from is not None else ""
