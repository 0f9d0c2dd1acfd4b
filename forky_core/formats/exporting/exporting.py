"""What an exporter is: a conversation as a value in, the bytes of a file out, and what the format cannot hold.

An exporter knows one program's fields and nothing else. Merges are made ordinary messages by flattening.py, what gets
lost is told by losses.py, parts of a conversation and redacted copies are made by rewriting.py. So adding a format is
adding one file to `writers/` and one line to `EXPORTERS` in sharing.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Protocol

from forky_core.formats.forky_file.chat import Chat


class Exporter(Protocol):
    """Writes one format. Stateless: one object serves every conversation."""

    name: ClassVar[str]
    """A word for programs, e.g. "chatgpt"."""
    label: ClassVar[str]
    """For people, e.g. "ChatGPT (JSON)"."""
    suffix: ClassVar[str]
    """Of the file's name, with its dot."""
    media_type: ClassVar[str]

    def losses(self, chat: Chat) -> tuple[str, ...]:
        """What of this conversation the file will not hold: a sentence each, nothing where it holds all."""
        ...

    def write(self, chat: Chat) -> Iterator[bytes]:
        """The file, piece by piece."""
        ...
