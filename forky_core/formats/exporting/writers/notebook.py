"""A Jupyter notebook (nbformat 4.5): messages as Markdown cells, and Python code in answers as runnable code cells."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from typing import ClassVar

from forky_core.formats.exporting.flattening import origins_of, plain_parts
from forky_core.formats.exporting.losses import losses
from forky_core.formats.exporting.outline import outline
from forky_core.formats.exporting.rewriting import visible
from forky_core.formats.exporting.writers.json_pieces import array, object_with
from forky_core.formats.exporting.writers.markdown import (
    closed,
    one_line,
    part_as_markdown,
    section_name,
    when,
    who,
)
from forky_core.formats.forky_file.chat import Chat
from forky_core.model import Message
from forky_core.model.parts import AttachmentPart, Json, Part

_UNSAFE = re.compile(r"[^\w. -]")
_PYTHON = re.compile(r"^```(?:python|py|python3)[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


class NotebookExporter:
    name: ClassVar[str] = "notebook"
    label: ClassVar[str] = "Jupyter notebook"
    suffix: ClassVar[str] = ".ipynb"
    media_type: ClassVar[str] = "application/x-ipynb+json"

    def losses(self, chat: Chat) -> tuple[str, ...]:
        return losses(chat, ("tree", "branch names", "reasoning", "authors", "models"))

    def write(self, chat: Chat) -> Iterator[bytes]:
        plain = visible(chat)
        read, origins = outline(plain), origins_of(plain)

        def cells() -> Iterator[Json]:
            yield notebook_cell("title", f"# {one_line(plain.title) or 'Untitled'}")
            for at, section in enumerate(read.sections):
                if len(read.sections) > 1:
                    yield notebook_cell(f"branch-{at + 1}", section_name(section, first=at == 0))
                for number, id in section.messages:
                    message = plain.messages[id]
                    heading = f"## {number}. {who(message, origins.of(id).models)}{when(message)}"
                    yield from _cells(plain, message, heading, section.name)

        yield from notebook_pieces(plain.title, cells())


def notebook_pieces(title: str, cells: Iterable[Json], **metadata: Json) -> Iterator[bytes]:
    """A notebook of these cells, piece by piece."""
    about: dict[str, Json] = {
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            "title": title,
            **metadata,
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    yield from object_with(about, "cells", array(cells))
    yield b"\n"


def notebook_cell(id: str, text: str, *, code: bool = False) -> dict[str, Json]:
    """A cell of Markdown, or of Python."""
    cell: dict[str, Json] = {
        "cell_type": "code" if code else "markdown",
        "id": id[:64],
        "metadata": {},
        "source": text.splitlines(keepends=True),
    }
    return {**cell, "execution_count": None, "outputs": []} if code else cell


def _cells(chat: Chat, message: Message, heading: str, branch: str) -> list[dict[str, Json]]:
    parts = plain_parts(message, chat.messages)
    pictures = {name: data for part in parts for name, data in _picture(chat, part)}
    text = "\n\n".join(filter(None, (_shown(part, pictures) for part in parts)))
    pieces: list[tuple[bool, str]] = []
    last = 0
    for match in _PYTHON.finditer(text) if message.role == "assistant" else ():
        pieces += [(False, text[last : match.start()].strip()), (True, match[1].rstrip("\n"))]
        last = match.end()
    pieces.append((False, closed(text[last:].strip())))
    cells = []
    name = message.id.removeprefix("b2:")
    for number, (code, piece) in enumerate(pieces):
        shown = f"{heading}\n\n{piece}".rstrip() if number == 0 else piece
        if shown:
            cell = notebook_cell(f"{name}-{number}", shown, code=code)
            cell["metadata"] = {"forky": {"id": message.id, "role": message.role, "branch": branch}}
            held = {key: data for key, data in pictures.items() if f"(attachment:{key})" in piece}
            if held:
                cell["attachments"] = held
            cells.append(cell)
    return cells


def _picture(chat: Chat, part: Part) -> Iterator[tuple[str, dict[str, str]]]:
    if isinstance(part, AttachmentPart) and part.media_type.startswith("image/"):
        blob = chat.blobs.get(part.sha256)
        if blob is not None:
            yield part.sha256[:16], {part.media_type: base64.b64encode(blob.content).decode()}


def _shown(part: Part, pictures: dict[str, dict[str, str]]) -> str:
    if isinstance(part, AttachmentPart) and part.sha256[:16] in pictures:
        return f"![{_UNSAFE.sub('', part.name)}](attachment:{part.sha256[:16]})"
    return part_as_markdown(part)
