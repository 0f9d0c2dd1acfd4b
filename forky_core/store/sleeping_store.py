"""A store that is open only while it is used, so that one server can keep very many of them.

It is opened at the first call and closed by `sleep`, which a keeper of many stores calls after a while without calls
(workspaces/open_workspaces.py). A later call opens it again. So nobody who holds this store can lose it: a reply that
is being written, an import or a stream finds it open whenever it reads or writes. Only one that nobody has used for
that long is closed, and never in the middle of a call.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from forky_core.model import ConversationId
from forky_core.model.document import SearchScope, Vectors
from forky_core.model.errors import StoreError
from forky_core.store.contract import (
    AnalysisSource,
    Store,
    StoreIdentity,
    StoreInFile,
    StoreStatus,
)
from forky_core.store.document_contract import DocumentKeeper
from forky_core.store.herald import Heard, Herald
from forky_core.store.moving.contract import MovableDocuments, MovableStore

P = ParamSpec("P")
T = TypeVar("T")


class WholeStore(MovableStore, AnalysisSource, Protocol):
    """What an open store has, whatever keeps it."""

    identity: StoreIdentity


class FileStore(WholeStore, StoreInFile, Protocol):
    """What the open store of a file has."""


S = TypeVar("S", bound=WholeStore)


def _of_store(
    method: Callable[Concatenate[WholeStore, P], T],
) -> Callable[Concatenate[SleepingStore[Any], P], T]:
    """A method of the contract that calls the same one of the open store."""

    @wraps(method)
    def call(self: SleepingStore[Any], /, *args: P.args, **options: P.kwargs) -> T:
        with self.awake() as store:
            found: T = getattr(store, method.__name__)(*args, **options)
            return found

    return call


def _of_keeper(
    method: Callable[Concatenate[MovableDocuments, P], T],
) -> Callable[Concatenate[SleepingDocuments, P], T]:
    """A method of the contract of documents that calls the same one of the open store's documents."""

    @wraps(method)
    def call(self: SleepingDocuments, /, *args: P.args, **options: P.kwargs) -> T:
        with self.sleeper.awake() as store:
            found: T = getattr(store.documents, method.__name__)(*args, **options)
            return found

    return call


class SleepingStore(Generic[S]):
    """A `Store` that is opened when it is needed; safe from any thread."""

    def __init__(
        self,
        open: Callable[[], S],
        name: str,
        *,
        woke: Callable[[], None] = lambda: None,
        slept: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`open` opens it, and `name` is what people call it. `woke` is called after it was opened and `slept` after it
        was closed, on any thread.
        """
        self._name = name
        self.keeps: object = None
        """What is to live as long as somebody holds this store."""
        self._open = open
        self._woke = woke
        self._slept = slept
        self._clock = clock
        self._lock = threading.RLock()
        """Held while it is opened or closed, and when a call begins or ends; never during a call."""
        self._store: S | None = None
        self._calls = 0
        self._used = clock()
        self._closed = False
        self._herald = Herald()
        self._documents = SleepingDocuments(self)

    @property
    def is_awake(self) -> bool:
        """Whether it is open."""
        return self._store is not None

    @property
    def used(self) -> float:
        """When the last call ended, on the clock of this store."""
        return self._used

    @property
    def open_identity(self) -> StoreIdentity | None:
        """The identity of the open store; None while it is closed. It is no use of the store."""
        store = self._store
        return store.identity if store is not None else None

    @contextmanager
    def awake(self) -> Iterator[S]:
        """The open store, for one call; it stays open within the block.

        Raises:
            StoreError: it was closed for good, or cannot be opened.
        """
        opened = False
        with self._lock:
            if self._store is None:
                if self._closed:
                    raise StoreError(f"{self._name} is closed.", "Open the page anew.")
                self._store, opened = self._open(), True
                self._store.hear(self._heard)
            store = self._store
            self._calls += 1
        try:
            if opened:
                self._woke()
            yield store
        finally:
            with self._lock:
                self._calls -= 1
                self._used = self._clock()

    def sleep(self, idle: float = 0.0) -> bool:
        """Close it if no call is going on and none has ended within the last `idle` seconds; whether it did."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            if self._store is None or self._calls or self._clock() - self._used < idle:
                return False
            store, self._store = self._store, None
            store.close()
        finally:
            self._lock.release()
        self._slept()
        return True

    def close(self) -> None:
        """Close it for good, once what is going on has ended what it writes."""
        with self._lock:
            store, self._store, self._closed = self._store, None, True
            if store is not None:
                store.close()
        if store is not None:
            self._slept()

    def _heard(self, conversation: ConversationId) -> None:
        self._herald.tell([conversation])

    # What needs more than to be passed on.

    @property
    def identity(self) -> StoreIdentity:
        """Another one each time that it was opened: meanwhile another program may have changed it."""
        with self.awake() as store:
            return store.identity

    @property
    def is_exclusive(self) -> bool:
        with self.awake() as store:
            return store.is_exclusive

    @property
    def process(self) -> str:
        with self.awake() as store:
            return store.process

    @property
    def documents(self) -> MovableDocuments:
        return self._documents

    def hear(self, heard: Heard) -> Callable[[], None]:
        return self._herald.hear(heard)

    def status(self, patience: float = 0.0) -> StoreStatus:
        store = self._store
        if store is not None:
            return store.status(patience)
        return StoreStatus(writes=True, answered=patience > 0, size=self._size_asleep())

    def _size_asleep(self) -> int:
        """Its size on disk while it is closed, in bytes; 0 where nobody says it."""
        return 0

    # The rest of the contracts.

    view = _of_store(Store.view)
    operations = _of_store(Store.operations)
    entries = _of_store(Store.entries)
    path = _of_store(Store.path)
    message = _of_store(Store.message)
    messages = _of_store(Store.messages)
    stems = _of_store(Store.stems)
    stretch = _of_store(Store.stretch)
    at_hand = _of_store(Store.at_hand)
    path_overlap = _of_store(Store.path_overlap)
    stretch_of_log = _of_store(Store.stretch_of_log)
    stretch_of_calls = _of_store(Store.stretch_of_calls)
    match = _of_store(Store.match)
    saying = _of_store(Store.saying)
    generations = _of_store(Store.generations)
    reuse = _of_store(Store.reuse)
    running = _of_store(Store.running)
    abandoned = _of_store(Store.abandoned)
    conversations = _of_store(Store.conversations)
    search = _of_store(Store.search)
    commit = _of_store(Store.commit)
    commit_all = _of_store(Store.commit_all)
    record = _of_store(Store.record)
    derived = _of_store(Store.derived)
    derived_under = _of_store(Store.derived_under)
    keep_derived = _of_store(Store.keep_derived)
    forget_derived = _of_store(Store.forget_derived)
    put_blob = _of_store(Store.put_blob)
    blob = _of_store(Store.blob)
    drop_blobs = _of_store(Store.drop_blobs)
    setting = _of_store(Store.setting)
    settings_of = _of_store(Store.settings_of)
    set_setting = _of_store(Store.set_setting)
    change_setting = _of_store(Store.change_setting)
    is_alive = _of_store(Store.is_alive)
    purge = _of_store(Store.purge)
    erase = _of_store(Store.erase)
    erased_of = _of_store(Store.erased_of)
    is_taken = _of_store(Store.is_taken)
    verify = _of_store(Store.verify)
    adopt = _of_store(MovableStore.adopt)
    settings = _of_store(MovableStore.settings)
    derived_keys = _of_store(MovableStore.derived_keys)
    blob_names = _of_store(MovableStore.blob_names)

    @wraps(AnalysisSource.write_tables)
    def write_tables(self, *given: Any, **options: Any) -> Path:
        with self.awake() as store:
            return store.write_tables(*given, **options)


class SleepingFile(SleepingStore[FileStore]):
    """A store whose file is opened when it is needed."""

    def __init__(self, open: Callable[[], FileStore], location: Path, **options: Callable[[], Any]) -> None:
        """As for `SleepingStore`; `location` is where the file is."""
        super().__init__(open, location.name, **options)
        self.location = location

    def _size_asleep(self) -> int:
        return self.location.stat().st_size if self.location.exists() else 0

    def backup(self) -> Path:
        """Make a complete copy of the file beside it. Raises StoreError if there is no room or no permission."""
        with self.awake() as store:
            return store.backup()


class SleepingDocuments:
    """The documents of a store that is opened when it is needed."""

    def __init__(self, sleeper: SleepingStore[Any]) -> None:
        self.sleeper = sleeper

    def vectors(self, model: str, scope: SearchScope) -> Iterator[Vectors]:
        """The store stays open until the last batch was taken."""
        with self.sleeper.awake() as store:
            yield from store.documents.vectors(model, scope)

    take_in = _of_keeper(DocumentKeeper.take_in)
    shelve = _of_keeper(DocumentKeeper.shelve)
    drop = _of_keeper(DocumentKeeper.drop)
    document = _of_keeper(DocumentKeeper.document)
    documents = _of_keeper(DocumentKeeper.documents)
    known = _of_keeper(DocumentKeeper.known)
    within = _of_keeper(DocumentKeeper.within)
    chunks = _of_keeper(DocumentKeeper.chunks)
    postings = _of_keeper(DocumentKeeper.postings)
    found = _of_keeper(DocumentKeeper.found)
    unembedded = _of_keeper(DocumentKeeper.unembedded)
    embed = _of_keeper(DocumentKeeper.embed)
    forget_vectors = _of_keeper(DocumentKeeper.forget_vectors)
    vector_sizes = _of_keeper(DocumentKeeper.vector_sizes)
    stored_chunks = _of_keeper(MovableDocuments.stored_chunks)
