"""What Forky needs of a store: the one place where durable state is written, and every way it is read.

A store keeps values and checks one thing: that every changed key still has the value its author saw. All meaning
(verbs, undo, merging) lives above it, so that a store is small enough to be proven by one law suite
(tests/store/laws/), which memory and DuckDB both pass. Calls are safe from any thread. A commit that returns is
durable; one that raises has left nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from forky_core.model import (
    Along,
    Blob,
    Change,
    ConversationId,
    ConversationSummary,
    Generation,
    GenerationId,
    Hit,
    Message,
    MessageId,
    Operation,
    Reuse,
    Role,
    Stem,
    Verb,
    View,
)
from forky_core.model.parts import Json
from forky_core.store.document_contract import DocumentKeeper


@dataclass(frozen=True, slots=True)
class Commit:
    """One change of one conversation, published whole or not at all."""

    conversation: ConversationId
    verb: Verb
    summary: str
    changes: tuple[Change, ...] = ()
    """`before` of each is what the author saw; a store refuses the commit where it is no longer so."""
    messages: tuple[Message, ...] = ()
    """Parents before children. One that is already stored is left as it is."""
    generations: tuple[Generation, ...] = ()
    """Inserted, or replaced where one of that id exists."""
    actor: str = "you"
    at: int = 0
    """Microseconds since the epoch, UTC."""
    group: int | None = None
    reverts: tuple[int, ...] = ()
    seen: int | None = None
    """Number of the operation after which nothing at all may have come; None: only the changed keys matter."""
    derived: Mapping[str, str] = field(default_factory=dict)
    """Kept with it as by `keep_derived`, whole or not at all."""
    in_bulk: bool = False
    """One of many that nobody is about to read: a store need not keep what it wrote at hand."""


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """How a store is doing, for those who operate it."""

    writes: bool
    """Whether what writes has answered, or is only busy; False: it has ended, or hangs."""
    answered: bool
    """Whether it was asked, and answered within the time that was given."""
    busy: float = 0.0
    """Seconds that it has been at what it does now; 0.0: it is free."""
    waiting: int = 0
    """Requests in its queue."""
    cached_bytes: int = 0
    """Of messages in memory, roughly."""
    cached_conversations: int = 0
    cache_limit: int = 0
    """Bytes that may be cached; 0: nothing is."""
    size: int = 0
    """Bytes on disk."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `verify` found."""

    conversation: ConversationId | None
    what: str
    """A sentence."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` looked at and what it found."""

    conversations: int
    messages: int
    operations: int
    blobs: int
    findings: tuple[Finding, ...]
    remarks: tuple[Finding, ...] = ()
    """What is not wrong by itself but can mean that something is missing, and what it can mean."""
    newest: int = 0
    """When the newest operation was made: microseconds since the epoch, UTC; 0 where there is none. Whether something
    came after it and was lost without a trace cannot be known from the database alone."""

    @property
    def clean(self) -> bool:
        return not self.findings


class Store(Protocol):
    @property
    def documents(self) -> DocumentKeeper:
        """What answers may quote, beside the conversations."""
        ...

    def commit(self, commit: Commit) -> Operation:
        """Write messages, generations, the changed keys and the operation, durably.

        A conversation exists from its first commit on (verb "create").

        Raises:
            Outdated: a changed key does not have the `before` the commit expected, or something came after `seen`;
                names the operation that moved it.
            NotFound: a message's parent is not stored in this conversation.
            StoreFull, StoreError: nothing was written.
        """
        ...

    def commit_all(self, commits: Sequence[Commit]) -> tuple[Operation, ...]:
        """Each as by `commit`, in their order; they share transactions, so that an import is not one fsync a message.

        Raises what `commit` raises, for the first that is refused, once none of them is under way any more. What came
        before it is durable; whether what came behind it was written as well is not said: name `seen` where that
        matters.
        """
        ...

    def record(self, conversation: ConversationId, generation: Generation) -> None:
        """Insert or replace a generation without an operation: the progress of a running reply."""
        ...

    def view(self, conversation: ConversationId) -> View:
        """The current view. NotFound where there is no such conversation."""
        ...

    def operations(
        self, conversation: ConversationId, *, after: int = 0, limit: int | None = None
    ) -> tuple[Operation, ...]:
        """Operations with a number above `after`, oldest first; with `limit`, the newest that many of them."""
        ...

    def entries(self, key: str) -> Mapping[ConversationId, Json]:
        """The value of this key in the current view of every conversation that has it, trashed ones too."""
        ...

    def path(self, conversation: ConversationId, head: MessageId) -> tuple[Message, ...]:
        """The first-parent chain from the root to `head`, `head` included. NotFound for an unknown head."""
        ...

    def message(self, conversation: ConversationId, message: MessageId) -> Message:
        """NotFound where this conversation has none of that id."""
        ...

    def messages(self, conversation: ConversationId) -> Mapping[MessageId, Message]:
        """Every message of the conversation, pruned and undone ones too, in the order they were written.

        A read-only mapping; later calls return the same objects for the same messages.
        """
        ...

    def stems(self, conversation: ConversationId) -> Mapping[MessageId, Stem]:
        """Every message of the conversation without what it says, in the order they were written."""
        ...

    def stretch(self, conversation: ConversationId, *, after: int, most: int) -> tuple[Message, ...]:
        """Up to `most` messages behind the first `after`, in the order they were written.

        For whoever reads all of a long conversation and wants to hold a part of it at a time: nothing is kept at hand.
        """
        ...

    def at_hand(self, conversation: ConversationId) -> bool:
        """Whether all of its messages are in memory, or lie so that to read them is the quickest there is."""
        ...

    def along(self, conversation: ConversationId, path: Sequence[MessageId], *, most: int) -> Along | None:
        """How far the path of these ids, each the parent of the next and the first a root, is stored.

        None where more than `most` messages leave it. For whoever would not read all of a long conversation.
        """
        ...

    def stretch_of_log(self, conversation: ConversationId, *, after: int, most: int) -> tuple[Operation, ...]:
        """Up to `most` operations with a number above `after`, oldest first; nothing is kept at hand."""
        ...

    def stretch_of_calls(
        self, conversation: ConversationId, *, after: Generation | None, most: int
    ) -> tuple[Generation, ...]:
        """Up to `most` generations behind `after` in the order they were started, or the first of them; nothing is kept
        at hand.
        """
        ...

    def match(self, conversation: ConversationId, prefix: str, limit: int = 10) -> tuple[MessageId, ...]:
        """Ids that begin with `prefix`, with or without the leading `b2:`."""
        ...

    def saying(self, text: str, role: Role) -> tuple[tuple[ConversationId, MessageId], ...]:
        """Every message of this role whose text, white space around it aside, is exactly this, in all conversations.

        Those of one conversation in the order they were written; trashed conversations and hidden messages too.
        """
        ...

    def generations(self, conversation: ConversationId) -> tuple[Generation, ...]:
        """All of a conversation, in the order they were started."""
        ...

    def reuse(self, conversation: ConversationId | None = None) -> Reuse:
        """What giving stored answers again came to, here or in all conversations."""
        ...

    def running(self) -> tuple[tuple[ConversationId, GenerationId], ...]:
        """Generations whose status is "running": after a crash, the ones to be found again."""
        ...

    def conversations(self, *, trashed: bool = False) -> tuple[ConversationSummary, ...]:
        """Those in, or those not in, the trash; the one that changed last first."""
        ...

    def search(
        self, words: str, *, conversation: ConversationId | None = None, limit: int = 50
    ) -> tuple[Hit, ...]:
        """Messages that contain every word, in any order and case, best first. Trashed conversations are left out.

        Words are split on white space; a text in double quotes counts as one word.
        """
        ...

    def put_blob(self, content: bytes, media_type: str, name: str = "") -> str:
        """Keep the bytes once; the sha256 as 64 hex digits."""
        ...

    def blob(self, sha256: str) -> Blob:
        """NotFound where there is none."""
        ...

    def drop_blobs(self, names: Iterable[str]) -> None:
        """Remove those of these bytes, named by their sha256, that no message and no stash of any conversation names.

        Bytes are kept before the message that names them, so call this only while nobody is between the two.
        """
        ...

    def derived(self, conversation: ConversationId, keys: Iterable[str]) -> Mapping[str, str]:
        """What was worked out of this conversation's messages and kept under these keys; only those there are."""
        ...

    def derived_under(self, key: str) -> Mapping[ConversationId, str]:
        """What is kept under this key, of every conversation that has it."""
        ...

    def keep_derived(
        self, conversation: ConversationId, entries: Mapping[str, str], *, waits: bool = True
    ) -> None:
        """Keep what could be worked out again at a price (a model's reading of a range of messages), or missed.

        No part of the history: no operation, never hashed, gone with the conversation. Without `waits` it returns at
        once, and nobody hears of it where it could not be kept.
        """
        ...

    def forget_derived(self, key: str) -> None:
        """Remove what is kept under this key from every conversation."""
        ...

    def setting(self, key: str) -> str | None:
        """A small value of the workspace (never a key or a token)."""
        ...

    def set_setting(self, key: str, value: str | None) -> None: ...

    def purge(self, conversation: ConversationId) -> None:
        """Remove a trashed conversation for good. InTheWay where it is not in the trash."""
        ...

    def verify(self, conversation: ConversationId | None = None) -> Verification:
        """Re-derive every id, check parents, refs, blobs, and replay the chained log against the stored view."""
        ...

    def status(self, patience: float = 0.0) -> StoreStatus:
        """How it is doing. With `patience`, what writes is asked for an answer and waited for so many seconds at most.

        Never raises, also of a store that is closed.
        """
        ...

    def close(self) -> None:
        """Finish what is queued and release the file. Closing twice is harmless."""
        ...
