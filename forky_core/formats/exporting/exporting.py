"""The contract of exporters: a conversation as a value in, the bytes of a file out, and what the format cannot hold.

An exporter knows one program's fields and nothing else. flattening.py turns merges into ordinary messages, losses.py
describes what gets lost, rewriting.py makes parts of a conversation and redacted copies. So adding a format is adding
one file to `writers/` and one line to registry.py, or a package of its own (docs/extending.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Protocol, runtime_checkable

from forky_core.formats.forky_file.chat import Chat


@runtime_checkable
class Exporter(Protocol):
    """Writes one format. Stateless: one object serves every conversation.

    One that writes the operation log has `holds_log = True`, too; any other is given what can be seen alone.
    """

    name: ClassVar[str]
    """A word for programs, e.g. "chatgpt": what `forky export --as` takes."""
    label: ClassVar[str]
    """For people, e.g. "ChatGPT (JSON)": what the dialog offers."""
    suffix: ClassVar[str]
    """The suffix of the file's name, with its dot."""
    media_type: ClassVar[str]
    """Of the file, as a browser downloads it."""

    def losses(self, chat: Chat) -> tuple[str, ...]:
        """A sentence for each thing of this conversation that the file will not hold; () if it holds everything."""
        ...

    def write(self, chat: Chat) -> Iterator[bytes]:
        """The file, piece by piece; the same bytes for the same conversation, as far as the format allows.

        Raises:
            BadContent: the format cannot hold it.
        """
        ...
