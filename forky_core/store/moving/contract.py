"""What moving a workspace needs of a store, beyond the contract that everything else uses.

It is a protocol of its own because only moving writes history that somebody else has made: an operation keeps its id,
actor and time, also where its content was erased and no longer gives that id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from forky_core.model import ConversationId, Generation, Message, Operation
from forky_core.model.document import Chunk, DocumentId, Numbers
from forky_core.store.contract import Store
from forky_core.store.document_contract import DocumentKeeper


@dataclass(frozen=True, slots=True)
class ConversationPart:
    """Some of what another store has of a conversation."""

    conversation: ConversationId
    messages: tuple[Message, ...] = ()
    """In the order they were written, so parents before children. One that is stored already is left unchanged."""
    operations: tuple[Operation, ...] = ()
    """Those that follow the last stored one, without gaps. The first part of a conversation has its first one."""
    generations: tuple[Generation, ...] = ()
    """Inserted, or replacing the stored generation with the same id."""
    derived: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk of a document with all that a store has of it."""

    key: int
    """By which this store knows it."""
    chunk: Chunk
    """With the counts of its terms."""
    model: str = ""
    """The model of its vector; "" if it has none."""
    vector: Numbers | None = None


class MovableDocuments(DocumentKeeper, Protocol):
    def stored_chunks(self, document: DocumentId, *, first: int, most: int) -> tuple[StoredChunk, ...]:
        """Up to `most` chunks of a document in order, from number `first` on."""
        ...


@runtime_checkable
class MovableStore(Store, Protocol):
    """A store that a workspace can be moved from and to."""

    @property
    def documents(self) -> MovableDocuments: ...

    def adopt(self, parts: Sequence[ConversationPart]) -> None:
        """Write parts of conversations as they are, in one transaction; each names another conversation.

        What the operations say of each other is checked, but not that ids fit contents: whoever calls this has done so.
        Nothing of it need be cached.

        Raises:
            Outdated: the operations of a part do not follow those that are stored.
            NotFound: a message's parent is not stored, or the first operation of a conversation is missing.
            StoreFull, StoreError: nothing was written.
        """
        ...

    def settings(self) -> Mapping[str, str]:
        """Every setting of the workspace, without what the store notes for itself."""
        ...

    def derived_keys(self, conversation: ConversationId) -> tuple[str, ...]:
        """The keys of all derived values of a conversation, sorted."""
        ...

    def blob_names(self) -> tuple[str, ...]:
        """The sha256 of every stored blob, sorted."""
        ...
