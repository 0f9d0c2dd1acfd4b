"""A document's origin: its name, its size, and a way to read its bytes more than once without loading them at once."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from forky_core.model.document import DocumentId
from forky_core.model.errors import BadContent

LARGEST = 200_000_000
"""The most bytes of a document."""
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """A document that is to be read: its name, its size and its bytes."""

    name: str
    size: int
    open: Callable[[], BinaryIO]
    """Opens a new stream at the beginning, which can seek."""
    path: Path | None = None
    """The file with the bytes; None if they are in memory."""

    def start(self, length: int = 65_536) -> bytes:
        with self.open() as stream:
            return stream.read(length)

    def id(self) -> DocumentId:
        digest = sha256()
        with self.open() as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
        return DocumentId(digest.hexdigest())


def source_of_bytes(name: str, content: bytes) -> DocumentSource:
    return _checked(DocumentSource(_line(name), len(content), lambda: io.BytesIO(content)))


def source_of_file(path: Path) -> DocumentSource:
    """The source of a file. Raises BadContent if it cannot be read, is empty, or is larger than LARGEST."""
    name = _line(path.name)
    try:
        if path.is_dir():
            raise BadContent(f"“{name}” is a folder.", "Add the files in it.")
        size = path.stat().st_size
        with path.open("rb"):
            pass
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no name of a file"
        raise BadContent(f"“{name}” cannot be read: {why}.") from error
    return _checked(DocumentSource(name, size, lambda: path.open("rb"), path))


def _line(name: str) -> str:
    """A name on one line, at most 200 characters."""
    line = " ".join(name.replace("\\", "/").rpartition("/")[2].split())
    line = "".join(c for c in line if c.isprintable())
    return line[-200:] or "document"


def _checked(source: DocumentSource) -> DocumentSource:
    if not source.size:
        raise BadContent(f"“{source.name}” is empty.", "Add a file with text in it.")
    if source.size > LARGEST:
        raise too_large(source.name, source.size)
    return source


def too_large(name: str, size: int, megabytes: int = LARGEST // 1_000_000) -> BadContent:
    """The error for a document of more than so many megabytes."""
    return BadContent(
        f"“{_line(name)}” has {size / 1e6:,.0f} MB; at most {megabytes} MB fit.",
        "Split it, or add the part that matters.",
    )
