"""Writes the conversations of an import to the store in batches, many to a transaction.

A durable write takes milliseconds whatever its size, so conversations wait until a batch is full; a thread waits for
the database while the next ones are read. A refused conversation is reported and does not stop the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from forky_core.formats.account import ImportAccount
from forky_core.model import ConversationId, Operation
from forky_core.model.errors import ForkyError, Outdated, StoreError
from forky_core.model.parts import AttachmentPart
from forky_core.store.contract import Commit, Store

MOST_MESSAGES = 2_000
MOST_CHARACTERS = 2_000_000
"""The most characters of a batch. Two batches are in memory at a time, one being filled and one being written."""


PendingFiles = tuple[tuple[AttachmentPart, Callable[[], bytes]], ...]
"""Attachments, with functions that read them."""


@dataclass(frozen=True, slots=True)
class PendingCommit:
    """The commit of a new conversation, or of new content of one, ready to be written."""

    commit: Commit
    title: str
    files: PendingFiles
    """The files of its messages, with functions that read them, so that they are in memory only while being stored."""
    account: ImportAccount


@dataclass(frozen=True, slots=True)
class RefusedBatch:
    waiting: PendingCommit
    why: str
    outdated: bool = False
    """Whether somebody else has changed the conversation, or created it, since the commit was made."""


Outcome = tuple[PendingCommit, Operation | RefusedBatch]


@dataclass(slots=True)
class Batches:
    """Collects the commits of one thread, and writes them on another. The first thread calls `settled` for each
    conversation, once it is durable or refused.

    The thread that writes calls `expect_files` with the sha256 of a batch's files before it stores them.
    """

    store: Store
    settled: Callable[[PendingCommit, Operation | RefusedBatch], None]
    expect_files: Callable[[Iterable[str]], None] = lambda _names: None
    lost: str = ""
    """After dropping: the title of the first conversation that was added and not written."""
    _batch: list[PendingCommit] = field(default_factory=list)
    _ids: set[ConversationId] = field(default_factory=set)
    """Ids of conversations that were added and have not settled."""
    _messages: int = 0
    _characters: int = 0
    _sent: Sequence[PendingCommit] = ()
    """Conversations in the batch being written, whose outcome is not reported yet."""
    _writing: Future[list[Outcome]] | None = None
    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "forky-import"))

    def add(self, waiting: PendingCommit) -> None:
        self._batch.append(waiting)
        self._ids.add(waiting.commit.conversation)
        self._messages += max(1, len(waiting.commit.messages))
        self._characters += sum(len(message.text) for message in waiting.commit.messages)
        if self._messages >= MOST_MESSAGES or self._characters >= MOST_CHARACTERS:
            self._send()

    def holds(self, conversation: ConversationId) -> bool:
        """Whether a commit of the conversation is still to be written."""
        return conversation in self._ids

    def flush(self) -> None:
        """Wait until everything is durable or refused. Raises StoreError if the database cannot store it."""
        self._send()
        self._settle()

    def close(self) -> None:
        self._thread.shutdown()

    def drop(self) -> None:
        """Discard unsent conversations, wait for the batch being written, and close. `settled` is called for the
        commits that were stored.
        """
        never_sent, self._batch = self._batch, []
        self._thread.shutdown()
        with suppress(StoreError):
            self._settle()
        failed, self._sent = self._sent, ()
        lost = []
        for waiting in failed:
            stored = _stored(self.store, waiting)
            if stored is not None:
                self.settled(waiting, stored)
            else:
                lost.append(waiting)
        self.lost = self.lost or next((one.title or "untitled" for one in (*lost, *never_sent)), "")

    def _send(self) -> None:
        batch, self._batch = self._batch, []
        self._messages = self._characters = 0
        self._settle()
        if batch:
            self._sent = batch
            self._writing = self._thread.submit(_write, self.store, batch, self.expect_files)

    def _settle(self) -> None:
        writing, self._writing = self._writing, None
        if writing is None:
            return
        outcomes = writing.result()
        self._sent = ()
        for waiting, outcome in outcomes:
            self._ids.discard(waiting.commit.conversation)
            self.settled(waiting, outcome)


def _write(
    store: Store, batch: Sequence[PendingCommit], expect_files: Callable[[Iterable[str]], None]
) -> list[Outcome]:
    expect_files(part.sha256 for waiting in batch for part, _ in waiting.files)
    for waiting in batch:
        for part, read in waiting.files:
            store.put_blob(read(), part.media_type, part.name)
    try:
        return list(zip(batch, store.commit_all([one.commit for one in batch]), strict=True))
    except StoreError:
        raise
    except (ForkyError, ValueError):
        return [(waiting, _written(store, waiting)) for waiting in batch]


def _written(store: Store, waiting: PendingCommit) -> Operation | RefusedBatch:
    """Write a commit whose batch contained a refused one, unless it is stored already. Return its operation or
    refusal.
    """
    try:
        stored = _stored(store, waiting)
        return stored if stored is not None else store.commit(waiting.commit)
    except StoreError:
        raise
    except (ForkyError, ValueError) as error:
        return RefusedBatch(waiting, str(error), outdated=isinstance(error, Outdated))


def _stored(store: Store, waiting: PendingCommit) -> Operation | None:
    """Return the operation of a commit that was written; None if it was not."""
    commit = waiting.commit
    try:
        for operation in store.operations(commit.conversation, after=commit.expected or 0):
            if (operation.verb, operation.at, operation.changes) == (commit.verb, commit.at, commit.changes):
                return operation
    except ForkyError:
        """The conversation does not exist, so its first commit was not written."""
    return None


def without(account: ImportAccount, refused: RefusedBatch) -> ImportAccount:
    """Return the account with a refused conversation counted as unreadable; its numbers still add up."""
    lost = refused.waiting.account.imported
    skipped = dict(account.skipped)
    skipped[refused.why] = skipped.get(refused.why, 0) + lost
    refused_unread = refused.waiting.account.unread
    unread = {what: number - refused_unread.get(what, 0) for what, number in account.unread.items()}
    return replace(
        account,
        unreadable=account.unreadable + 1,
        imported=account.imported - lost,
        skipped=MappingProxyType(skipped),
        lost=account.lost + lost,
        unread=MappingProxyType({what: left for what, left in unread.items() if left}),
    )
