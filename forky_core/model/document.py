"""Documents as frozen values: what is stored about a file so that answers can quote it.

A document is named by the hash of its bytes, so the same file is stored once, wherever it is added and under whatever
name. It is a run of chunks: pieces of its text in reading order, small enough to quote, each with its place in the
document. Documents are no part of a conversation's history; a conversation and a branch only name the ones they use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NewType

from forky_core.model.changed_fields import changed_fields

if TYPE_CHECKING:  # numpy is loaded by what counts with it: no page of a conversation without documents does.
    from numpy.typing import NDArray

ADDRESS = "doc:"
"""The prefix of the address of a passage in a document."""

DocumentId = NewType("DocumentId", str)
"""The sha256 of the document's bytes, 64 hex digits."""
Shelf = Literal["workspace", "", "trash"]
"""`workspace`: every conversation may use the document. "": only conversations that name it may. `trash`: none may,
until it is restored."""

if TYPE_CHECKING:
    Numbers = NDArray[Any]
else:
    Numbers = Any
"""An array of numbers."""


@dataclass(frozen=True, slots=True)
class Document:
    id: DocumentId
    name: str
    """The file's name, or the first words of a text without one."""
    media_type: str
    size: int
    """Bytes."""
    added: int
    """Microseconds since the epoch, UTC."""
    shelf: Shelf = "workspace"
    whole: bool = False
    """False while the document is read in, and for good if reading was cut short: such a document is never quoted."""
    chunks: int = 0
    terms: int = 0
    """The number of terms in all its chunks."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document's text."""

    number: int
    """1, 2, 3 … in reading order."""
    place: str
    """The chunk's place as a person would say it: "page 12", "Setup › Linux", "line 40"; "" if the document has one
    place only."""
    text: str
    overlap: int = 0
    """How many characters at its beginning repeat the end of the chunk before it."""
    counts: Mapping[int, int] = field(default_factory=dict)
    """How often each term occurs, by the term's number (retrieval/bm25.py). A store returns chunks with this empty."""

    @property
    def length(self) -> int:
        """The number of terms in the chunk, repeated ones counted each time."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class DocumentPiece:
    """Some chunks of a document on their way into a store."""

    document: Document
    chunks: tuple[Chunk, ...]
    last: bool = True
    """Whether this is the last piece, after which the document is complete."""


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Which documents a search may read: those of the workspace, and others by name."""

    workspace: bool = True
    named: tuple[DocumentId, ...] = ()


@dataclass(frozen=True, slots=True)
class OfferedPassage:
    """A passage as it is offered to a model: numbered, so that the answer can cite it."""

    number: int
    """From 1."""
    source: str
    """What a person would call it: "manual.pdf, page 12", "branch “debug”, reply 3f2a9c1b"."""
    address: str
    """The passage's address: `doc:3f2a…#12` in a document, or the id of a message in another branch."""
    text: str = ""
    """Empty in the stored record of a past call, where the address is enough to find the passage."""


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A passage that an answer cites, exported with the conversation so that it can be read without the document."""

    address: str
    """The address as the SOURCES line writes it."""
    document: DocumentId
    name: str
    """The document's name."""
    place: str
    """The passage's place in the document, as in `Chunk.place`."""
    text: str

    @property
    def source(self) -> str:
        """What a person would call it: "manual.pdf, page 12"."""
        return source_of(self.name, self.place)


def source_of(name: str, place: str) -> str:
    """Return what a person calls a place in a document: "manual.pdf, page 12"."""
    return f"{name}, {place}" if place else name


PassageOf = Callable[[str], CitedPassage | None]
"""Returns the passage at an address, or None if it is not available."""


@dataclass(frozen=True, slots=True)
class DocumentSearch:
    """The search that was made before a question was answered, and the passages it found."""

    search: str
    """The text that was searched for: the question made to stand alone, or as the person worded it."""
    passages: tuple[OfferedPassage, ...] = ()
    trouble: str = ""
    """A sentence about what did not work; "" if everything worked."""


@dataclass(frozen=True, slots=True)
class DocumentUse:
    """What a branch does with documents."""

    on: bool = False
    """Whether its questions are answered from them."""
    own: tuple[DocumentId, ...] = ()
    """Documents that belong to the branch alone."""
    condenser: str | None = None
    """The model that rewrites a follow-up question so that it stands alone; with None, a rule does."""
    passages: int | None = None
    """The most passages that are sent with a question; with None, the usual number."""

    def stored(self) -> dict[str, Any]:
        """Return the settings as JSON, without the fields that have their default."""
        return changed_fields(self, "on", "own", "condenser", "passages")

    @classmethod
    def from_stored(cls, entry: Mapping[str, Any]) -> DocumentUse:
        """Read what `stored()` wrote.

        Raises:
            TypeError: the entry is not of that form.
        """
        own, condenser = entry.get("own", []), entry.get("condenser")
        if not isinstance(own, list) or not all(isinstance(id, str) for id in own):
            raise TypeError("documents are named by texts")
        if not isinstance(condenser, str | None):
            raise TypeError("a model is named by a text")
        passages = entry.get("passages")
        if passages is not None and (type(passages) is not int or passages < 1):
            raise TypeError("passages are counted from 1")
        return cls(bool(entry.get("on")), tuple(DocumentId(id) for id in own), condenser, passages)


@dataclass(frozen=True, slots=True)
class Postings:
    """The occurrences of some terms: four arrays of one length, a row for each chunk and term."""

    chunk: Numbers
    """The chunk's key in the store."""
    term: Numbers
    frequency: Numbers
    length: Numbers
    """Terms of the chunk."""
    chunks: int
    """How many chunks were within reach of the search, whether or not a term occurs in them."""
    mean_length: float

    def of(self, terms: Sequence[int]) -> Postings:
        """Return only the rows of these terms."""
        import numpy as np  # noqa: PLC0415 - no page loads it before a document is looked through

        rows = np.isin(self.term, np.array(terms, np.int64))
        return replace(
            self,
            chunk=self.chunk[rows],
            term=self.term[rows],
            frequency=self.frequency[rows],
            length=self.length[rows],
        )


@dataclass(frozen=True, slots=True)
class Vectors:
    """A batch of chunks as vectors of an embedding model."""

    chunk: Numbers
    """The chunks' keys in the store, as in `Postings`."""
    rows: Numbers
    """float32, one row for each chunk, each of length 1."""
