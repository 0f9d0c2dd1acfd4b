"""Documents as frozen values: what is kept of a file so that answers can quote it.

A document is named by the hash of its bytes, so the same file is kept once, wherever it is added and under whatever
name. It is a run of chunks: pieces of its text in reading order, small enough to quote, each of which knows where it
stands. Documents are no part of a conversation's history; a conversation and a branch only name the ones they use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NewType

if TYPE_CHECKING:  # numpy is loaded by what counts with it: no page of a conversation without documents does.
    from numpy.typing import NDArray

ADDRESS = "doc:"
"""How the address of a passage in a document begins."""

DocumentId = NewType("DocumentId", str)
"""The sha256 of its bytes, 64 hex digits."""
Shelf = Literal["workspace", "", "trash"]
"""`workspace`: every conversation may use it. "": only those that name it. `trash`: nobody, until it is taken back."""

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
    """False while it is read in, and for ever where that was cut short: then nothing quotes it."""
    chunks: int = 0
    terms: int = 0
    """Terms of all its chunks."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document's text."""

    number: int
    """1, 2, 3 … in reading order."""
    place: str
    """Where it stands, as a person would say it: "page 12", "Setup › Linux", "line 40"; "" where there is one place."""
    text: str
    overlap: int = 0
    """Characters at its beginning that the chunk before it ends with."""
    counts: Mapping[int, int] = field(default_factory=dict)
    """How often each term occurs, by the term's number (retrieval/bm25.py). Empty in what a store gives back."""

    @property
    def length(self) -> int:
        """Terms in it, repeated ones each time."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class DocumentPiece:
    """Some chunks of a document on their way into a store."""

    document: Document
    chunks: tuple[Chunk, ...]
    last: bool = True
    """Nothing follows: the document is whole."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Which documents may be looked into: those of the workspace, and others by name."""

    workspace: bool = True
    named: tuple[DocumentId, ...] = ()


@dataclass(frozen=True, slots=True)
class Quoted:
    """A passage as it is offered to a model: numbered, so that the answer can cite it."""

    number: int
    """From 1."""
    source: str
    """What a person would call it: "manual.pdf, page 12", "branch “debug”, reply 3f2a9c1b"."""
    address: str
    """Where it stands: `doc:3f2a…#12` in a document, a message's id in another branch."""
    text: str = ""
    """Empty in what is kept of a past call: the address finds it."""


@dataclass(frozen=True, slots=True)
class Cited:
    """A passage that an answer cites, as it leaves with a conversation: it opens where its document is not."""

    address: str
    """As in the SOURCES line."""
    document: DocumentId
    name: str
    """Of the document."""
    place: str
    """Where it stands in it, as of a chunk."""
    text: str

    @property
    def source(self) -> str:
        """What a person would call it: "manual.pdf, page 12"."""
        return source_of(self.name, self.place)


def source_of(name: str, place: str) -> str:
    """What a person calls a place in a document."""
    return f"{name}, {place}" if place else name


PassageOf = Callable[[str], Cited | None]
"""The passage of an address; None where it is not at hand."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What was looked for before a question was answered, and what was found."""

    search: str
    """The question as it was searched for: made to stand alone, or as the person worded it."""
    passages: tuple[Quoted, ...] = ()
    trouble: str = ""
    """A sentence about what did not work; "" where all did."""


@dataclass(frozen=True, slots=True)
class DocumentUse:
    """What a branch does with documents."""

    on: bool = False
    """Whether its questions are answered from them."""
    own: tuple[DocumentId, ...] = ()
    """Those that belong to the branch alone."""
    condenser: str | None = None
    """The model that makes a follow-up question stand alone; None: a rule does."""
    passages: int | None = None
    """How many passages go along with a question at most; None: the usual number."""

    def stored(self) -> dict[str, Any]:
        """Only what differs from the default."""
        entry: dict[str, Any] = {}
        if self.on:
            entry["on"] = True
        if self.own:
            entry["own"] = list(self.own)
        if self.condenser is not None:
            entry["condenser"] = self.condenser
        if self.passages is not None:
            entry["passages"] = self.passages
        return entry

    @classmethod
    def from_stored(cls, entry: Mapping[str, Any]) -> DocumentUse:
        """TypeError for what none is stored as."""
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
    """Where some terms occur: four arrays of one length, a row for each chunk and term."""

    chunk: Numbers
    """The chunk's key in the store."""
    term: Numbers
    frequency: Numbers
    length: Numbers
    """Terms of the chunk."""
    chunks: int
    """How many there are within reach, whether or not a term occurs in them."""
    mean_length: float

    def of(self, terms: Sequence[int]) -> Postings:
        """Those of some of the terms."""
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
    """Chunks as an embedding model sees them, a batch of them."""

    chunk: Numbers
    """Keys, as in `Postings`."""
    rows: Numbers
    """float32, one row for each chunk, of length 1."""
