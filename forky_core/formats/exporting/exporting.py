"""The contract of exporters: a conversation as a value in, the bytes of a file out, and what the format cannot hold.

An exporter knows one program's fields and nothing else. flattening.py turns merges into ordinary messages, losses.py
describes what gets lost, rewriting.py makes parts of a conversation and redacted copies. So adding a format is adding
one file to `writers/` and one line to `EXPORTERS` in sharing.py.
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
    """The suffix of the file's name, with its dot."""
    media_type: ClassVar[str]

    def losses(self, chat: Chat) -> tuple[str, ...]:
        """A sentence for each thing of this conversation that the file will not hold; () if it holds everything."""
        ...

    def write(self, chat: Chat) -> Iterator[bytes]:
        """The bytes of the file, piece by piece."""
        ...
