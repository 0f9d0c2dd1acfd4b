"""What a kind of document is: how its files are recognised, and how their text is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from forky_core.documents.chunking import DocumentSection
from forky_core.documents.source import DocumentSource


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentKind:
    """A kind of document that can be quoted. Documents are read in processes of their own (readers.py)."""

    name: str
    """A word for programs: "pdf"."""
    label: str
    """For people, within a sentence: "PDF"."""
    media_type: str
    """What is stored with the document."""
    endings: frozenset[str] = frozenset()
    """Of the names of its files, in small letters with their dots. They count where no content is recognised."""
    recognises: Callable[[DocumentSource, bytes], bool] = lambda _source, _start: False
    """Whether the content says that it is of this kind, whatever the file is called. It gets the first 64 KB as well,
    and raises nothing."""
    read: Callable[[DocumentSource], Iterator[tuple[DocumentSection, float]]]
    """The text in order, as a stream: each section with the share of the file that has been read, 0 to 1. It raises
    BadContent for a file that is protected, damaged, or holds no text."""
    plain: bool = False
    """Whether reading takes time and memory in proportion to the text, whatever stands in it. Small files of such a
    kind are read in the program itself."""
