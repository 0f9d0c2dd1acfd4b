"""What Forky needs of a store: the one place where durable state is written, and every way to read it.

A store keeps values and checks one thing: that every changed key still has the value its author saw. All meaning
(verbs, undo, merging) lies above it, so that a store is small enough to be proven by one law suite (tests/store/laws/),
which memory and DuckDB both pass. Calls are safe from any thread. A commit that returns is durable; one that raises has
left nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from forky_core.model import (
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
    PathOverlap,
    Reuse,
    Role,
    Stem,
    Verb,
    View,
)
from forky_core.model.erasure import Erasure, Passages
from forky_core.model.parts import Json
from forky_core.store.document_contract import DocumentKeeper
from forky_core.store.herald import Heard


@dataclass(frozen=True, slots=True)
class Commit:
    """One change of one conversation, published whole or not at all."""

    conversation: ConversationId
    verb: Verb
    summary: str
    changes: tuple[Change, ...] = ()
    """`before` of each is the value its author saw; a store refuses the commit if the current value differs."""
    messages: tuple[Message, ...] = ()
    """Parents before children. A message that is already stored is left unchanged."""
    generations: tuple[Generation, ...] = ()
    """Inserted, or replacing the stored generation with the same id."""
    actor: str = "you"
    at: int = 0
    """Microseconds since the epoch, UTC."""
    group: int | None = None
    reverts: tuple[int, ...] = ()
    expected: int | None = None
    """If set, the commit is refused when any operation follows the one with this number; None: only changed keys
    matter.
    """
    derived: Mapping[str, str] = field(default_factory=dict)
    """Stored like `keep_derived` entries, in the same transaction as the commit."""
    in_bulk: bool = False
    """Part of a bulk import that nobody is about to read: the store need not cache what it writes."""
    made_elsewhere: bool = False
    """Whether `actor` did it in a fork that is given back now. Stores ignore it; a guard leaves the name as it is where
    nobody here has it.
    """


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """How a store is doing, for its operators."""

    writes: bool
    """False if the writer thread has ended or hangs; True while it works, even if it is busy."""
    answered: bool
    """Whether the writer thread was pinged and replied within the given time."""
    busy: float = 0.0
    """Seconds spent on the writer's current task; 0.0 if it is idle."""
    waiting: int = 0
    """Requests in the writer's queue."""
    cached_bytes: int = 0
    """Approximate bytes of cached messages."""
    cached_conversations: int = 0
    cache_limit: int = 0
    """The most bytes that may be cached; 0: nothing is cached."""
    size: int = 0
    """Bytes on disk."""


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure has changed."""

    operation: Operation
    """The operation that records it in the conversation of the message."""
    conversations: tuple[ConversationId, ...]
    """Where something was erased: the conversation of the message, and those that have copies or cite it."""
    messages: int
    """Messages that were erased, as a whole or in part."""
    files: int
    """Attachments that were removed."""
    passages: Passages
    """The erased texts, for what is kept beside the store; it holds them, so nobody should keep it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem or remark that `verify` reports."""

    conversation: ConversationId | None
    what: str
    """A sentence."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` checked and what it found."""

    conversations: int
    messages: int
    operations: int
    blobs: int
    findings: tuple[Finding, ...]
    remarks: tuple[Finding, ...] = ()
    """Observations that are no errors by themselves but can mean that something is missing, with an explanation."""
    newest: int = 0
    """When the newest operation was made: microseconds since the epoch, UTC; 0 if there is none. A later operation that
    was lost without a trace cannot be detected from the database alone.
    """

    @property
    def clean(self) -> bool:
        return not self.findings


CopyForm = Literal["duckdb", "parquet"]
"""One DuckDB file, or a ZIP archive of Parquet files."""


NewSetting = str | Callable[[str | None], str | None] | None
"""The new value of a setting, or a function that makes it of the present one; None is for a setting that is not set."""


class StoreIdentity:
    """Stands for one open database, as a key for what a process remembers about it."""


class Store(Protocol):
    @property
    def identity(self) -> StoreIdentity:
        """The same object for every way to reach this database, such as a store that shows one person their part."""
        ...

    @property
    def documents(self) -> DocumentKeeper:
        """The documents that answers may quote."""
        ...

    @property
    def is_exclusive(self) -> bool:
        """Whether nobody but this process can write to this database while it is open."""
        ...

    @property
    def process(self) -> str:
        """The name of this process among those that use the database."""
        ...

    def is_alive(self, process: str) -> bool:
        """Whether the process with this name still uses the database.

        One that has ended counts as alive for some seconds, and one that was held up for longer than that does not.
        """
        ...

    def hear(self, heard: Heard) -> Callable[[], None]:
        """Have a function called for each conversation that a commit changes, or that is deleted for good, as soon as
        that can be read; returns the function that ends it.

        It is called on any thread, also one that writes. So it must return at once, raise nothing and not use the
        store. Where other processes write, too, it may be called more than once for one change.
        """
        ...

    def commit(self, commit: Commit) -> Operation:
        """Write messages, generations, changed keys and the operation durably.

        A conversation exists from its first commit on (verb "create").

        Raises:
            Outdated: a changed key does not have the `before` the commit expected, or something came after `expected`;
                names the operation that moved it.
            NotFound: a message's parent is not stored in this conversation.
            StoreFull, StoreError: nothing was written.
        """
        ...

    def commit_all(self, commits: Sequence[Commit]) -> tuple[Operation, ...]:
        """Commit each in order. The commits share transactions, so that an import does not need one fsync a message.

        Raises what `commit` raises for the first refused commit, after all others have finished. Commits before it are
        durable; later ones may or may not have been written: set `expected` if that matters.
        """
        ...

    def record(self, conversation: ConversationId, generation: Generation) -> None:
        """Insert or replace a generation without an operation, to save the progress of a running reply."""
        ...

    def view(self, conversation: ConversationId) -> View:
        """The current view. Raises NotFound for an unknown conversation."""
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
        """The first-parent chain from the root to `head`, including `head`. Raises NotFound for an unknown head."""
        ...

    def message(self, conversation: ConversationId, message: MessageId) -> Message:
        """Look up a message. Raises NotFound if this conversation has none with this id."""
        ...

    def messages(self, conversation: ConversationId) -> Mapping[MessageId, Message]:
        """Every message of the conversation, pruned and undone ones too, in the order they were written.

        A read-only mapping; later calls return the same objects for the same messages.
        """
        ...

    def stems(self, conversation: ConversationId) -> Mapping[MessageId, Stem]:
        """Every message of the conversation without its content, in the order they were written."""
        ...

    def stretch(self, conversation: ConversationId, *, after: int, most: int) -> tuple[Message, ...]:
        """Up to `most` messages after the first `after`, in the order they were written.

        This reads a long conversation piece by piece; the messages are not cached.
        """
        ...

    def at_hand(self, conversation: ConversationId) -> bool:
        """Whether all messages are cached, or stored so that reading them takes the least possible time."""
        ...

    def path_overlap(
        self, conversation: ConversationId, path: Sequence[MessageId], *, most: int
    ) -> PathOverlap | None:
        """How much of a path is stored; each id is the parent of the next, and the first is a root.

        None if more than `most` messages branch off the path. This avoids reading all of a long conversation.
        """
        ...

    def stretch_of_log(self, conversation: ConversationId, *, after: int, most: int) -> tuple[Operation, ...]:
        """Up to `most` operations with a number above `after`, oldest first; they are not cached."""
        ...

    def stretch_of_calls(
        self, conversation: ConversationId, *, after: Generation | None, most: int
    ) -> tuple[Generation, ...]:
        """Up to `most` generations after `after`, in the order they were started; None starts at the first.

        The generations are not cached.
        """
        ...

    def match(self, conversation: ConversationId, prefix: str, limit: int = 10) -> tuple[MessageId, ...]:
        """Ids of messages that begin with `prefix`, with or without the leading `b2:`."""
        ...

    def saying(self, text: str, role: Role) -> tuple[tuple[ConversationId, MessageId], ...]:
        """Every message with this role whose text, without surrounding white space, equals `text`, in all
        conversations.

        Messages of one conversation are in the order they were written. Trashed conversations and hidden messages count
        too.
        """
        ...

    def generations(self, conversation: ConversationId) -> tuple[Generation, ...]:
        """All generations of a conversation, in the order they were started."""
        ...

    def reuse(self, conversation: ConversationId | None = None) -> Reuse:
        """How often stored answers were reused and what that saved, in one conversation or in all."""
        ...

    def running(self, *, abandoned: bool = False) -> tuple[tuple[ConversationId, GenerationId], ...]:
        """Generations whose status is "running"; with `abandoned`, those that nobody writes any more, because their
        process is gone.

        Where only one process has the database open, all are abandoned until it has begun one.
        """
        ...

    def conversations(self, *, trashed: bool = False) -> tuple[ConversationSummary, ...]:
        """The conversations in the trash or outside it, the most recently changed first."""
        ...

    def search(
        self,
        words: str,
        *,
        conversation: ConversationId | None = None,
        among: Collection[ConversationId] | None = None,
        limit: int = 50,
    ) -> tuple[Hit, ...]:
        """Messages that contain every word, in any order and case, best first. Trashed conversations are excluded.

        Words are split on white space; a text in double quotes counts as one word. `conversation` searches one alone,
        `among` only these; ids of conversations that do not exist count for nothing there.
        """
        ...

    def put_blob(self, content: bytes, media_type: str, name: str = "") -> str:
        """Store the bytes once and return their sha256 as 64 hex digits."""
        ...

    def blob(self, sha256: str) -> Blob:
        """The blob with this sha256. Raises NotFound if it is not stored."""
        ...

    def drop_blobs(self, names: Iterable[str]) -> None:
        """Remove each of these blobs, given by sha256, unless a message or a stash of any conversation names it.

        A blob is stored before the message that names it, so call this only while nobody is between these two steps.
        """
        ...

    def derived(self, conversation: ConversationId, keys: Iterable[str]) -> Mapping[str, str]:
        """The derived values of this conversation that are stored under these keys; missing keys are left out."""
        ...

    def derived_under(self, key: str) -> Mapping[ConversationId, str]:
        """The derived value stored under this key for each conversation that has one."""
        ...

    def keep_derived(
        self, conversation: ConversationId, entries: Mapping[str, str], *, waits: bool = True
    ) -> None:
        """Store values that could be lost or recomputed at a cost, such as a model's reading of some messages.

        They are no part of the history: no operation, never hashed, purged with the conversation. Without `waits` the
        call returns at once and a failure to store them goes unreported.
        """
        ...

    def forget_derived(self, key: str) -> None:
        """Remove the derived value under this key from every conversation."""
        ...

    def setting(self, key: str) -> str | None:
        """A small value of the workspace, never a key or a token; None if it is not set."""
        ...

    def settings_of(self, keys: Iterable[str]) -> Mapping[str, str]:
        """The settings with these keys that are set, by their keys."""
        ...

    def set_setting(self, key: str, value: NewSetting) -> str | None:
        """Set a setting, or remove it if the value is None, and return the value.

        A function is called with the present value and returns the new one; no other thread or process changes the
        setting in between. It may be called more than once. It must return at once and not use the store; if it raises,
        nothing is changed.
        """
        ...

    def purge(self, conversation: ConversationId) -> None:
        """Remove a trashed conversation for good. Raises InTheWay if it is not in the trash."""
        ...

    def erase(self, conversation: ConversationId, message: MessageId, *, by: str, at: int) -> Erased:
        """Erase what a message says, for good: from it, its copies and attachments, from what quotes it, the log, the
        model calls and everything derived, and from the bytes of the store's files.

        The message keeps its id and place; model/erasure.py says how that is still checked. `by` is the actor, `at` the
        time in microseconds since the epoch.

        Raises:
            NotFound: there is no such message.
            NothingToDo: it was erased already.
        """
        ...

    def is_taken(self, conversation: ConversationId) -> bool:
        """Whether there is a conversation of this id that this store does not show. Its `view` raises NotFound then."""
        ...

    def erased_of(
        self, conversation: ConversationId, messages: Iterable[MessageId]
    ) -> Mapping[MessageId, Erasure]:
        """Those of these messages of a conversation that were erased as a whole, in it or in one that was forked from
        it or that it was forked from. Empty for an unknown conversation.

        This is for files that were exported before: whoever asks has the messages.
        """
        ...

    def verify(self, conversation: ConversationId | None = None) -> Verification:
        """Re-derive every id, check parents, refs, blobs, and replay the chained log against the stored view."""
        ...

    def status(self, patience: float = 0.0) -> StoreStatus:
        """How the store is doing. With `patience`, the writer is pinged and given at most so many seconds to reply.

        It never raises, even on a closed store.
        """
        ...

    def close(self) -> None:
        """Finish what is queued and release the file. Closing twice is harmless."""
        ...


@runtime_checkable
class StoreInFile(Protocol):
    """A store that is one file."""

    @property
    def location(self) -> Path: ...

    def backup(self) -> Path:
        """Make a complete copy of the file beside it."""
        ...


@runtime_checkable
class StoreOnServer(Protocol):
    """A store that a server of its own keeps."""

    @property
    def server(self) -> str:
        """What people call it: the database's name and host, without a password."""
        ...


class Talk(Protocol):
    """Messages about one topic between the processes that use one database; safe from any thread."""

    def tell(self, message: str) -> None:
        """Send a message to the other processes, soon. One longer than 7,000 bytes, or sent while the server is away,
        is lost.
        """
        ...

    def end(self) -> None: ...


@runtime_checkable
class TalkingStore(Protocol):
    """A store whose server passes messages between the processes that use it."""

    def talk(self, topic: str, heard: Callable[[str], None], met: Callable[[Talk], None]) -> Talk:
        """Take part in a talk. `heard` is called with what another process told. `met` is called with the talk at the
        beginning, maybe before this returns, and after each time that something may have been missed. Both are called
        on a thread that has others to serve.
        """
        ...


@runtime_checkable
class AnalysisSource(Protocol):
    """A store that can write the tables for analysis. The store in memory cannot."""

    def write_tables(
        self,
        folder: Path,
        form: CopyForm,
        conversations: Collection[ConversationId] | None = None,
    ) -> Path:
        """Write the tables of docs/analysis.md, all as of one moment, into one file of an empty folder.

        With `conversations`, only what belongs to those, and the documents that they name.

        Raises:
            StoreFull, StoreError: something may be left in the folder.
        """
        ...


@runtime_checkable
class StoreWithViews(Protocol):
    """A store whose database other programs can query in SQL."""

    def make_views(self) -> None:
        """Make the views of docs/analysis.md in the database itself, in a schema `forky_v1`.

        Raises:
            StoreError: they cannot be made there.
        """
        ...
