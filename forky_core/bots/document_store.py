"""A collection of texts to search by itself: what a `QueryBot` answers from, and useful without one.

A collection with a name is a conversation of one's own database without messages, whose documents are the texts. So it
is found again by its name, and what is added or reset is an operation that can be undone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.document_places import ConversationPlace
from forky_core.conversation.identity import title_line
from forky_core.documents.readers import READERS
from forky_core.documents.searching import FoundChunk
from forky_core.documents.shelf import DocumentShelf
from forky_core.documents.source import source_of_bytes, source_of_file
from forky_core.forky import Forky, own_database
from forky_core.llm.contract import Passage
from forky_core.model.document import Document, SearchScope
from forky_core.model.errors import BadContent
from forky_core.model.parts import Json

_METADATA = "documents.metadata/"
"""The prefix of the workspace's setting that has a collection's metadata by the ids of its documents."""


class RetrievedText(str):
    """A text that a search found. It is a string that knows where it stands and what was said of it."""

    __slots__ = ("metadata", "passage", "score")
    metadata: Mapping[str, Json]
    passage: Passage
    score: float
    """Comparable within one search only."""

    @classmethod
    def of(cls, found: FoundChunk, metadata: Mapping[str, Json]) -> RetrievedText:
        made = cls(found.chunk.text)
        made.metadata, made.passage, made.score = metadata, found.passage, found.score
        return made


@dataclass(frozen=True, slots=True)
class _Collection(ConversationPlace):
    """The documents of a conversation alone, without those of the workspace."""

    def reach(self) -> SearchScope:
        return SearchScope(workspace=False, named=self.own())


class DocumentStore:
    """Texts to retrieve from: `append`, `extend`, `add_documents`, `retrieve`, `reset`."""

    def __init__(self, collection_name: str = "", *, forky: Forky | None = None) -> None:
        """Open a collection, or begin it with the first text that is added.

        Without a `forky`, a named collection is stored in your own database, and an unnamed one in memory.

        Raises:
            StoreBusy: another process has your database open.
        """
        self.forky = forky or (own_database() if collection_name else Forky.open(":memory:"))
        self.collection_name = title_line(collection_name)
        self._title = f"{self.collection_name} (documents)"

    @cached_property
    def chat(self) -> Conversation:
        """The conversation whose documents these are, created on first use."""
        return self._known or self.forky.create(self._title)

    @property
    def _known(self) -> Conversation | None:
        if "chat" in self.__dict__:
            return self.chat
        if not self.collection_name:
            return None
        ids = (one.id for one in self.forky.conversations() if one.title == self._title)
        id = next(ids, None)
        return self.forky.conversation(id) if id is not None else None

    @property
    def _shelf(self) -> DocumentShelf:
        return DocumentShelf(self.forky.store.documents, _Collection(self.chat._session))

    def documents(self) -> tuple[Document, ...]:
        """The documents of this collection, newest first."""
        return self._shelf.documents() if self._known is not None else ()

    def append(self, document: str, metadata: Mapping[str, Json] | None = None) -> None:
        """Add a text, with whatever is to be known of it. Raises BadContent if it is empty."""
        self.extend([document], [metadata] if metadata else None)

    def extend(
        self, documents: str | Iterable[str], metadatas: Sequence[Mapping[str, Json]] | None = None
    ) -> None:
        """Add several texts at once; a single string is one text.

        Raises:
            BadContent: one is empty, or there are not as many `metadatas` as texts; then none is added.
        """
        texts = [documents] if isinstance(documents, str) else list(documents)
        if metadatas is not None and len(metadatas) != len(texts):
            raise BadContent(f"There are {len(texts)} texts, and metadata of {len(metadatas)}.")
        if not texts:
            return
        names = [str(one.get("source", "")) for one in metadatas or ()]
        added = self._shelf.extend(texts, names=names)
        if metadatas is not None:
            told = {one.id: dict(about) for one, about in zip(added, metadatas, strict=True) if about}
            key = _METADATA + self.chat.id
            self.forky.store.set_setting(key, lambda kept: json.dumps({**json.loads(kept or "{}"), **told}))

    def add_documents(
        self,
        document_paths: str | Path | Iterable[str | Path],
        chunk_size: int | None = None,
        chunk_overlap: int | None = None,
    ) -> None:
        """Read files and add them.

        Without a size, a document is cut where its structure allows it. With `chunk_size`, it becomes texts of at most
        so many characters, each of which repeats `chunk_overlap` characters of the one before it.

        Raises:
            BadContent: a file cannot be read, or the overlap is not smaller than the size.
        """
        given = [document_paths] if isinstance(document_paths, str | Path) else document_paths
        paths = [Path(one).expanduser() for one in given]
        if chunk_size is None:
            refused = self._shelf.add_documents(paths).refused
            if refused:
                raise BadContent(refused[0].why)
            return
        step = chunk_size - (chunk_overlap or 0)
        if not 0 < step <= chunk_size:
            raise BadContent(
                "A piece has at least one character, and repeats fewer than it has.",
                "Choose a chunk_size above chunk_overlap.",
            )
        for path in paths:
            chunks = (one.chunk for one in READERS.read(source_of_file(path)))
            text = "\n\n".join(chunk.text[chunk.overlap :].strip() for chunk in chunks)
            ends = max(len(text) - (chunk_overlap or 0), 1)
            pieces = [text[start : start + chunk_size] for start in range(0, ends, step)]
            names = [f"{path.name} ({number})" for number in range(1, len(pieces) + 1)]
            self._shelf.extend(pieces, names=names)

    def retrieve(self, query: str, n_results: int = 10) -> list[RetrievedText]:
        """Return the texts that are relevant to a query, best first, at most `n_results`."""
        if self._known is None:
            return []
        about = json.loads(self.forky.store.setting(_METADATA + self.chat.id) or "{}")
        return [
            RetrievedText.of(found, about.get(found.document.id, {}))
            for found in self._shelf.retrieve(query, n_results)
        ]

    def __contains__(self, document: str) -> bool:
        id = source_of_bytes("document", document.encode()).id() if document else ""
        return any(one.id == id for one in self.documents())

    def reset(self) -> None:
        """Remove all texts from this collection."""
        if self._known is not None:
            self._shelf.reset()
            self.forky.store.set_setting(_METADATA + self.chat.id, None)
