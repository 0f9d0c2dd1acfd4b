"""Extracts the numbered chunks of a document from its bytes: the work of a reader process."""

from __future__ import annotations

from collections.abc import Iterator

from forky_core.documents.chunking import DocumentSection, chunked
from forky_core.documents.kinds import DocumentKind
from forky_core.documents.source import DocumentSource
from forky_core.model.document import Chunk


def extracted(source: DocumentSource, kind: DocumentKind) -> Iterator[tuple[Chunk, float]]:
    """The chunks in reading order, each with the share of the document that has been read, 0 to 1.

    Raises:
        BadContent: the document is protected or damaged.
    """
    done = 0.0

    def read() -> Iterator[DocumentSection]:
        nonlocal done
        for section, done in kind.read(source):  # noqa: B007 - it is yielded with the chunks below
            yield section

    for chunk in chunked(read()):
        yield chunk, done
