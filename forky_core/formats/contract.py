"""What an importer is: a file's content in, conversations as trees of nodes out.

An importer knows one program's fields and nothing else. It never builds a message id, follows a child pointer,
repairs a tree or counts: tree.py does that for all of them, by the rules that every format needs (edges from the
child's parent pointer, every branch kept, the live one checked out, nothing dropped without its children finding
another parent). So adding a format is adding one file to `importing/readers/` and one line to registry.py, or a
package of its own (docs/extending.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Literal, Protocol, runtime_checkable

from forky_core.model import GenerationStatus, Usage
from forky_core.model.parts import AttachmentPart, Draft, Json

NOTHING: Mapping[str, Json] = MappingProxyType({})

Shape = Literal["array", "object", "lines", "sqlite", "text"]
"""`array`, `object`: one JSON value; `lines`: JSON Lines; `text`: anything else that is UTF-8 (CSV, HTML, Markdown)."""


@dataclass(frozen=True, slots=True)
class Node:
    """One message as the source has it. Its id means something inside its conversation only."""

    id: str
    parent: str | None
    """None: a root. An id that no node has is told, and makes a root as well."""
    draft: Draft | None
    """None: it only holds the tree together; its children join the nearest ancestor that is a message."""
    created: int = 0
    """Microseconds since the epoch, UTC; 0 where the source does not say."""
    model: str = ""
    """Who answered, of a reply; "" where the source does not say."""
    status: GenerationStatus = "done"
    """How a reply ended: what was cut or stopped stays marked (law 6)."""
    usage: Usage = Usage()
    hidden: bool = False
    """Not shown and not merged: instructions and memory notes that the source hid as well."""
    extra: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """What has no place in a message, verbatim; kept beside it, never hashed."""
    piece: bool = False
    """One of several messages that a single node of the source becomes, all but the last of them."""
    why: str = ""
    """Of a node without a draft: why it is none, as a sentence for the account."""
    note: str = ""
    """What is odd about it and how it was read, as a sentence that the account counts; such a node is imported."""
    failure: str = ""
    """Why a reply ended before its time, in the source's words, which the record of the call gets: they are no part of
    what was said (law 6). A reply of which nothing had arrived has an empty draft."""


@dataclass(frozen=True, slots=True)
class ParsedConversation:
    """One conversation as the source tells it."""

    source_id: str
    """What the source calls it, "" where it has no name for it: imported again, it is recognised by this."""
    title: str
    nodes: tuple[Node, ...]
    """Every node of every branch. Their order is the order of siblings."""
    current: str | None = None
    """The node that was checked out there. None, or one that is not there: the newest leaf."""
    created: int = 0
    system: str | None = None
    """A system prompt that stands beside the messages."""
    model: str = ""
    """Who is to answer next, where the source says."""
    branch: str = "main"
    """What the live end is called."""
    names: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    """Other branches the source has names for: name → node id."""
    extra: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    session: str = ""
    """The id by which the program names this session in its requests to models (wire/session_ids.py), so that both make
    one conversation; "" where it names none."""
    folder: str = ""
    """The folder that the program worked in."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A conversation, or a whole document, that could not be read; the others go on."""

    label: str
    """What a person would call it: a title, an id, a line number."""
    why: str
    """A sentence."""


Result = ParsedConversation | Unreadable
"""What an importer yields."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a document: all that `fits` may look at."""

    name: str
    """The file's own name, without folders."""
    shape: Shape
    values: tuple[Json, ...] = ()
    """The object, or the first elements or lines."""
    text: str = ""
    """The first characters of a `text`."""
    tables: frozenset[str] = frozenset()
    """Of an `sqlite` database."""

    @property
    def objects(self) -> tuple[Mapping[str, Json], ...]:
        """Those of `values` that are objects."""
        return tuple(value for value in self.values if isinstance(value, dict))

    def has(self, *keys: str) -> bool:
        """Whether one of the objects has all these keys."""
        return any(all(key in value for key in keys) for value in self.objects)


class SourceDocument(Protocol):
    """One file, or one member of an archive."""

    name: str
    shape: Shape

    def values(self) -> Iterator[Json | Unreadable]:
        """The object; or the elements of the array, or the lines, one at a time: a file may have gigabytes.

        What is no JSON, nested too deep or too long comes as an `Unreadable` in its place.
        """
        ...

    def text(self) -> str:
        """The whole of a text, bounded. Raises BadContent where it is too long."""
        ...

    def on_disk(self) -> AbstractContextManager[Path]:
        """A file that holds it, to be read only: itself, or a copy of the member that is gone afterwards.

        Raises BadContent where it is too long.
        """
        ...


class SourceFiles(Protocol):
    """The files beside a document: the other members of its archive."""

    def names(self) -> tuple[str, ...]: ...

    def attach(self, name: str, media_type: str = "", shown: str = "") -> AttachmentPart | None:
        """The part that stands for the member of this name; None where there is none or it is too large."""
        ...

    def attach_bytes(self, content: bytes, media_type: str = "", shown: str = "") -> AttachmentPart | None:
        """The part that stands for bytes which the document itself carries; None for no bytes."""
        ...


@runtime_checkable
class Importer(Protocol):
    """Reads one format. Stateless: one object serves every file."""

    name: ClassVar[str]
    """A word for programs, e.g. "chatgpt". It is stored with what was imported, so that it is recognised again."""
    label: ClassVar[str]
    """For people, e.g. "ChatGPT export": in the preview and in the history."""

    def fits(self, sample: Sample) -> bool:
        """Whether this is the format. Asked in the order of the registry; the first that fits reads the document.

        Raises nothing, whatever the sample holds.
        """
        ...

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        """Every conversation of the document, one at a time, in its order.

        Raises BadContent if the document cannot be read any further; one conversation that cannot be read is yielded
        as an `Unreadable`.
        """
        ...
