"""Adding documents: they are read, cut and counted as a stream and written in batches, with progress and cancellation.

At most a batch of chunks is in memory, so a set of 10,000 pages needs no more memory than one of ten. A document whose
reading was interrupted, by a person or a crash, is not quoted, and is read again when it is added again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from forky_core.documents.readers import READERS, Readers
from forky_core.documents.registry import media_type
from forky_core.documents.source import DocumentSource, source_of_file
from forky_core.model.document import Chunk, Document, DocumentId, DocumentPiece, Shelf
from forky_core.model.errors import BadContent
from forky_core.store.document_contract import DocumentKeeper

BATCH = 256
"""Chunks per write."""
_LOOKED_UP = 64
"""Documents whose content is looked up in one call."""


@dataclass(frozen=True, slots=True)
class AddingProgress:
    """How far adding has come."""

    name: str
    """Name of the document that is being read."""
    number: int
    """Its position among all documents, from 1."""
    of: int
    done: float
    """The share of this document that has been read, 0 to 1."""
    chunks: int
    """Chunks of this document so far."""


@dataclass(frozen=True, slots=True)
class RefusedDocument:
    name: str
    why: str
    """The reason, in a sentence or two."""


@dataclass(frozen=True, slots=True)
class Added:
    """The outcome of adding documents."""

    documents: tuple[Document, ...] = ()
    """Newly added documents, in the order of their sources."""
    already: tuple[Document, ...] = ()
    """Documents whose content is stored already, under whatever name."""
    refused: tuple[RefusedDocument, ...] = ()
    stopped: bool = False
    """Whether adding was cancelled; documents completed before that are stored."""
    note: str = ""
    """A sentence about additional work that was done; "" if there was none."""


Tell = Callable[[AddingProgress], None]


def add_all(
    keeper: DocumentKeeper,
    sources: Iterable[DocumentSource | Path],
    *,
    shelf: Shelf,
    at: Callable[[], int],
    tell: Tell | None = None,
    stop: Event | None = None,
    readers: Readers = READERS,
) -> Added:
    """Add every source that can be read; an unreadable one does not stop the others."""
    given = list(sources)
    work = _Intake(keeper, shelf, at, tell, stop or Event(), readers, len(given))
    for first in range(0, len(given), _LOOKED_UP):
        work.group(given[first : first + _LOOKED_UP], first + 1)
    work.write()
    return work.added()


@dataclass(slots=True)
class _Intake:
    keeper: DocumentKeeper
    shelf: Shelf
    at: Callable[[], int]
    tell: Tell | None
    stop: Event
    readers: Readers
    of: int
    fresh: dict[DocumentId, None] = field(default_factory=dict)
    already: dict[DocumentId, Document] = field(default_factory=dict)
    refused: list[RefusedDocument] = field(default_factory=list)
    pending: list[DocumentPiece] = field(default_factory=list)
    waiting: int = 0
    """Number of chunks in the pending pieces."""

    def group(self, given: Sequence[DocumentSource | Path], first: int) -> None:
        """Add a few sources, whose ids are looked up together."""
        named: list[tuple[int, DocumentSource, DocumentId]] = []
        for number, one in enumerate(given, first):
            if self.stop.is_set():
                return
            with self._refusing(one.name):
                source = source_of_file(one) if isinstance(one, Path) else one
                named.append((number, source, source.id()))
        known = self.keeper.known([id for _, _, id in named])
        for number, source, id in named:
            if self.stop.is_set():
                return
            if id in self.fresh:
                continue
            if id in known and known[id].whole:
                self.already[id] = known[id]
                continue
            with self._refusing(source.name):
                self._read(source, id, number)

    @contextmanager
    def _refusing(self, name: str) -> Iterator[None]:
        try:
            yield
        except BadContent as error:
            self.refused.append(RefusedDocument(name, str(error)))
        except OSError as error:
            self.refused.append(RefusedDocument(name, f"“{name}” cannot be read: {error.strerror or error}."))

    def _read(self, source: DocumentSource, id: DocumentId, number: int) -> None:
        self._say(source.name, number, 0.0, 0)
        document: Document | None = None
        held: list[Chunk] = []
        count = 0
        try:
            with closing(self.readers.read(source, self.stop)) as chunks:
                for one in chunks:
                    if document is None:
                        document = Document(
                            id, source.name, media_type(one.kind), source.size, self.at(), self.shelf
                        )
                    held.append(one.chunk)
                    count += 1
                    if len(held) == BATCH:
                        self._take(DocumentPiece(document, tuple(held), last=False))
                        held = []
                    self._say(source.name, number, one.done, count)
                    if self.stop.is_set():
                        break
        except BaseException:
            self._forget(id)
            raise
        if self.stop.is_set():
            self._forget(id)
            return
        if document is None:
            raise BadContent(f"“{source.name}” holds no text.", "Add a file with text in it.")
        self._take(DocumentPiece(document, tuple(held)))
        self.fresh[id] = None
        self._say(source.name, number, 1.0, count)

    def _say(self, name: str, number: int, done: float, chunks: int) -> None:
        if self.tell is not None:
            self.tell(AddingProgress(name, number, self.of, done, chunks))

    def _take(self, piece: DocumentPiece) -> None:
        self.pending.append(piece)
        self.waiting += len(piece.chunks)
        if self.waiting >= BATCH:
            self.write()

    def write(self) -> None:
        pieces, self.pending, self.waiting = self.pending, [], 0
        self.keeper.take_in(pieces)

    def _forget(self, id: DocumentId) -> None:
        """Remove what was written of a document that was not read to its end."""
        self.pending = [piece for piece in self.pending if piece.document.id != id]
        self.keeper.drop([id])

    def added(self) -> Added:
        known = self.keeper.known(list(self.fresh))
        fresh = tuple(known[id] for id in self.fresh if id in known)
        return Added(fresh, tuple(self.already.values()), tuple(self.refused), self.stop.is_set())
