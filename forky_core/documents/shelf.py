"""`DocumentShelf`: the documents of one place (the workspace, a conversation, a branch), to add to and to search.

The same document may be in several places; it is stored once. A place lists its own documents, but a search also covers
the enclosing places: a branch finds its own documents, its conversation's and the workspace's.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from threading import Event
from typing import Protocol

from forky_core.documents.adding import Added, Tell, add_all
from forky_core.documents.readers import READERS, Readers
from forky_core.documents.searching import Embedder, FoundChunk, changed_size, search
from forky_core.documents.source import DocumentSource, source_of_bytes
from forky_core.llm.tokens import estimate_tokens
from forky_core.model.document import Document, DocumentId, SearchScope, Shelf
from forky_core.model.errors import BadContent, ModelError
from forky_core.store.document_contract import DocumentKeeper

_EMBEDDED_AT_ONCE = 64
"""Chunks per call of an embedding model."""
_NAME = 50
"""Characters of the name that is made for a text without one."""


class DocumentPlace(Protocol):
    """Something that documents can belong to."""

    @property
    def shelf(self) -> Shelf:
        """Where a document is offered that is first added here."""
        ...

    def own(self) -> tuple[DocumentId, ...]:
        """The documents of this place itself."""
        ...

    def reach(self) -> SearchScope:
        """The documents that can be found from here."""
        ...

    def add(self, documents: Sequence[Document]) -> None: ...

    def remove(self, documents: Sequence[Document]) -> None: ...


@dataclass(frozen=True, slots=True)
class Findings:
    """What a search found, and what a person should know about it."""

    found: tuple[FoundChunk, ...]
    trouble: str = ""
    """Why the search by meaning failed; "" if it did not."""


class DocumentShelf:
    """Documents to retrieve from: `append`, `extend`, `add_documents`, `retrieve`, `reset`."""

    def __init__(
        self,
        keeper: DocumentKeeper,
        place: DocumentPlace,
        embedder: Embedder | None = None,
        readers: Readers = READERS,
    ) -> None:
        self._keeper = keeper
        self._place = place
        self._embedder = embedder
        self._readers = readers

    def append(self, text: str, *, name: str = "") -> Document:
        """Add a text. If it is stored already, the existing document is returned. Raises BadContent if it is empty."""
        return self.extend([text], names=[name])[0]

    def extend(self, texts: Iterable[str], *, names: Sequence[str] = ()) -> tuple[Document, ...]:
        """Add several texts at once; a single string is one text.

        Raises:
            BadContent: one is empty; then none is added.
        """
        sources = [
            source_of_bytes(names[at] if at < len(names) and names[at] else _name_of(text), text.encode())
            for at, text in enumerate([texts] if isinstance(texts, str) else texts)
        ]
        added = self.add_sources(sources)
        if added.refused:
            raise BadContent(added.refused[0].why)
        known = {document.id: document for document in (*added.documents, *added.already)}
        return tuple(known[source.id()] for source in sources)

    def add_documents(
        self, paths: str | Path | Iterable[str | Path], *, tell: Tell | None = None, stop: Event | None = None
    ) -> Added:
        """Read files, one or several, and add them.

        Setting `stop` cancels; documents that are complete by then are stored. A file that cannot be read does not stop
        the others: `refused` says why.
        """
        several = [paths] if isinstance(paths, str | Path) else paths
        return self.add_sources([Path(path).expanduser() for path in several], tell=tell, stop=stop)

    def add_sources(
        self, sources: Sequence[DocumentSource | Path], *, tell: Tell | None = None, stop: Event | None = None
    ) -> Added:
        added = add_all(
            self._keeper,
            sources,
            shelf=self._place.shelf,
            at=lambda: time.time_ns() // 1_000,
            tell=tell,
            stop=stop,
            readers=self._readers,
        )
        here = (*added.documents, *added.already)
        if here:
            self._place.add(here)
        return added

    def retrieve(self, query: str, n: int = 5, *, budget: int | None = None) -> tuple[FoundChunk, ...]:
        """The chunks that are relevant to a query, best first: at most `n`, and at most `budget` tokens in total."""
        return self.look(query, n, budget=budget).found

    def look(self, query: str, n: int = 5, *, budget: int | None = None) -> Findings:
        """Like `retrieve`, and also report why the search by meaning failed, if it did."""
        scope = self._place.reach()
        try:
            findings = Findings(search(self._keeper, query, scope, n, self._embedder))
        except (ModelError, BadContent) as error:
            findings = Findings(search(self._keeper, query, scope, n), str(error))
        if budget is None:
            return findings
        spent = accumulate(estimate_tokens(one.chunk.text) for one in findings.found)
        fitting = tuple(one for one, sum in zip(findings.found, spent, strict=True) if sum <= budget)
        return Findings(fitting, findings.trouble)

    def documents(self) -> tuple[Document, ...]:
        """The documents of this place itself, newest first."""
        own = self._keeper.known(self._place.own())
        return tuple(sorted(own.values(), key=lambda document: (-document.added, document.id)))

    def embed_missing(self, *, anew: bool = False, stop: Event | None = None) -> int:
        """Compute missing vectors for chunks, here and elsewhere; returns the number of chunks.

        Does nothing without an embedding model. `anew` recomputes all vectors and removes those of other models.

        Raises:
            ModelError: the model did not answer; vectors computed before that are stored.
            BadContent: its vectors have another size than those it gave before.
        """
        if self._embedder is None:
            return 0
        if anew:
            self._keeper.forget_vectors()
        done = 0
        while not (stop and stop.is_set()) and (
            given := self._keeper.unembedded(self._embedder.name, _EMBEDDED_AT_ONCE)
        ):
            rows = self._embedder.embed(list(given.values()))
            had = self._keeper.vector_sizes().get(self._embedder.name, rows.shape[1])
            if had != rows.shape[1]:
                raise changed_size(self._embedder.name, had=had, has=rows.shape[1])
            self._keeper.embed(self._embedder.name, list(given), rows)
            done += len(given)
        return done

    @property
    def size(self) -> tuple[int, int]:
        """How many documents and chunks can be found from here."""
        return self._keeper.within(self._place.reach())

    def remove(self, *documents: str) -> tuple[Document, ...]:
        """Remove documents from this place, by ids or beginnings of ids. They stay stored; see `reset`."""
        gone = tuple(self._keeper.document(id) for id in documents)
        self._place.remove(gone)
        return gone

    def reset(self) -> None:
        """Remove all documents from this place: a workspace's go to the trash, a conversation's are removed by an
        operation.
        """
        own = self.documents()
        if own:
            self._place.remove(own)


def _name_of(text: str) -> str:
    """A name made of the first words of a text."""
    line = " ".join(text[:200].split())
    return line if len(line) <= _NAME else line[:_NAME].rstrip() + "…"


class WorkspacePlace:
    """The place of documents that every conversation may use."""

    shelf: Shelf = "workspace"

    def __init__(self, keeper: DocumentKeeper) -> None:
        self._keeper = keeper

    def own(self) -> tuple[DocumentId, ...]:
        return tuple(document.id for document in self._keeper.documents() if document.shelf == "workspace")

    def reach(self) -> SearchScope:
        return SearchScope()

    def add(self, documents: Sequence[Document]) -> None:
        for document in documents:
            if document.shelf != "workspace":
                self._keeper.shelve(document.id, "workspace")

    def remove(self, documents: Sequence[Document]) -> None:
        for document in documents:
            self._keeper.shelve(document.id, "trash")
