"""Lazy mappings of messages and files in the store, so that an export holds only a part of them in memory.

To readers of a `Chat` they are ordinary mappings. Iteration in the order of writing reads stretch by stretch; single
messages are looked up in the few stretches that were read last. Of every message, only its stem stays in memory, and
only once somebody asks how the messages are connected.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, ValuesView
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import islice
from threading import Lock
from types import MappingProxyType
from typing import Protocol

from forky_core.model import Blob, ConversationId, Linked, Message, MessageId, Stem
from forky_core.model.errors import NotFound
from forky_core.model.parts import AttachmentPart
from forky_core.store.contract import Store

STRETCH = 1_000
"""Messages that are read at a time."""
_HELD = 4
"""Stretches that are cached."""


class _Source:
    """The messages of one conversation in its store, without those that are added after the first read."""

    def __init__(self, store: Store, conversation: ConversationId) -> None:
        self._store = store
        self._conversation = conversation
        self._count: int | None = None
        """The number of messages, once it is known."""
        self._held: OrderedDict[int, tuple[Message, ...]] = OrderedDict()
        self._lock = Lock()
        self._named: dict[int, tuple[tuple[MessageId, str], ...]] = {}
        """For each stretch that has been read, the files that its messages name."""

    @cached_property
    def stems(self) -> Mapping[MessageId, Stem]:
        stems = self._store.stems(self._conversation)
        if self._count is None:
            self._count = len(stems)
        return MappingProxyType(dict(islice(stems.items(), self._count)))

    @cached_property
    def _place(self) -> dict[MessageId, int]:
        return {id: at for at, id in enumerate(self.stems)}

    def one(self, id: MessageId) -> Message:
        number, at = divmod(self._place[id], STRETCH)
        with self._lock:
            stretch = self._held.get(number)
            if stretch is None:
                stretch = self._held[number] = self._read(number)
                if len(self._held) > _HELD:
                    self._held.popitem(last=False)
            self._held.move_to_end(number)
        return stretch[at]

    def all(self) -> Iterator[Message]:
        number = 0
        while stretch := self._read(number):
            yield from stretch
            number += 1

    def files(self) -> Iterator[tuple[MessageId, str]]:
        number = 0
        while number in self._named or self._read(number):
            yield from self._named[number]
            number += 1

    def _read(self, number: int) -> tuple[Message, ...]:
        after = number * STRETCH
        most = STRETCH if self._count is None else min(STRETCH, self._count - after)
        stretch = self._store.stretch(self._conversation, after=after, most=most) if most > 0 else ()
        if len(stretch) < STRETCH and self._count is None:
            self._count = after + len(stretch)
        if stretch:
            self._named[number] = tuple(naming(stretch))
        return stretch


class MessageSource(Protocol):
    """Messages that are stored elsewhere, or generated on demand."""

    @property
    def stems(self) -> Mapping[MessageId, Stem]:
        """The stems of all messages, parents before children."""
        ...

    def one(self, id: MessageId) -> Message: ...

    def all(self) -> Iterator[Message]:
        """All messages, in the order of `stems`."""
        ...

    def files(self) -> Iterator[tuple[MessageId, str]]:
        """The id of every message that names a file, and the file's sha256."""
        ...


class StoredMessages(Mapping[MessageId, Message]):
    """All messages of a conversation, or some of them."""

    def __init__(self, source: MessageSource, wanted: AbstractSet[MessageId] | None = None) -> None:
        self._source = source
        self._wanted = wanted

    @classmethod
    def of(cls, store: Store, conversation: ConversationId) -> StoredMessages:
        return cls(_Source(store, conversation))

    @property
    def stems(self) -> Mapping[MessageId, Stem]:
        """The stems of all messages."""
        return self._source.stems

    def only(self, wanted: AbstractSet[MessageId]) -> StoredMessages:
        return StoredMessages(self._source, wanted if self._wanted is None else wanted & self._wanted)

    def files(self) -> Iterator[str]:
        """The sha256 of each file that messages name, as often as they name it."""
        return (sha256 for id, sha256 in self._source.files() if self._holds(id))

    def _holds(self, id: MessageId) -> bool:
        return self._wanted is None or id in self._wanted

    def __getitem__(self, id: MessageId) -> Message:
        if not self._holds(id):
            raise KeyError(id)
        return self._source.one(id)

    def __contains__(self, id: object) -> bool:
        return id in self.stems if self._wanted is None else id in self._wanted

    def __iter__(self) -> Iterator[MessageId]:
        return (id for id in self.stems if self._holds(id))

    def __len__(self) -> int:
        return len(self.stems) if self._wanted is None else len(self._wanted)

    def values(self) -> ValuesView[Message]:
        return _Values(self)

    def in_order(self) -> Iterator[Message]:
        """The messages as they were written, with one stretch in memory at a time."""
        return (message for message in self._source.all() if self._holds(message.id))


class _Values(ValuesView[Message]):
    _mapping: StoredMessages

    def __iter__(self) -> Iterator[Message]:
        return self._mapping.in_order()


class StoredFiles(Mapping[str, Blob]):
    """Attachments by sha256, each read on demand. An attachment whose bytes are missing is left out."""

    def __init__(self, store: Store, names: Callable[[], Iterable[str]]) -> None:
        self.store = store
        self._names = names

    @cached_property
    def _listed(self) -> dict[str, None]:
        return dict.fromkeys(self._names())

    def _read(self, sha256: str) -> Blob | None:
        try:
            return self.store.blob(sha256)
        except NotFound:
            return None  # `verify` reports it; the message still names it.

    def __getitem__(self, sha256: str) -> Blob:
        blob = self._read(sha256)
        if blob is None:
            raise KeyError(sha256)
        return blob

    def __iter__(self) -> Iterator[str]:
        return (sha256 for sha256 in self._listed if self._read(sha256) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def linked(messages: Mapping[MessageId, Message]) -> Mapping[MessageId, Linked]:
    """How the messages are connected, without reading their content."""
    return messages.stems if isinstance(messages, StoredMessages) else messages


def only(
    messages: Mapping[MessageId, Message], wanted: AbstractSet[MessageId]
) -> Mapping[MessageId, Message]:
    """The messages whose ids are `wanted`, all of which `messages` has."""
    if isinstance(messages, StoredMessages):
        return messages.only(wanted)
    return MappingProxyType({id: message for id, message in messages.items() if id in wanted})


def files_named(messages: Mapping[MessageId, Message]) -> Iterator[str]:
    """The sha256 of each file that messages name, in order, as often as they name it."""
    if isinstance(messages, StoredMessages):
        return messages.files()
    return (sha256 for _, sha256 in naming(messages.values()))


def files_of(blobs: Mapping[str, Blob], messages: Mapping[MessageId, Message]) -> Mapping[str, Blob]:
    """The `blobs` that the messages name."""
    if isinstance(blobs, StoredFiles):
        return StoredFiles(blobs.store, lambda: files_named(messages))
    named = frozenset(files_named(messages))
    return MappingProxyType({sha256: blob for sha256, blob in blobs.items() if sha256 in named})


def naming(messages: Iterable[Message]) -> Iterator[tuple[MessageId, str]]:
    """The id of every message that names a file, and the file's sha256."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, AttachmentPart):
                yield message.id, part.sha256
