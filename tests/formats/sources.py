"""Sources for importers, as short as a test can say them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from forky_core.formats.contract import Importer, Node, ParsedConversation, SourceFiles, Unreadable
from forky_core.formats.files.source import opened, sample
from forky_core.model.parts import Draft, Json, TextPart

PROGRAM_FILES = Path(__file__).parent / "program_files"
"""A short file of each format that is read, as its program writes it."""
SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "samples"
"""Files of other people's programs, beside the checkout where they are to be had."""


def program_file(name: str) -> Json:
    """What a file of `program_files` holds: one value, a list of the values of its lines, or a text."""
    text = (PROGRAM_FILES / name).read_text("utf-8")
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in text.splitlines()]
    return json.loads(text) if name.endswith(".json") else text


def node(id: str, parent: str | None, text: str | None, role: str = "user", **more: Json) -> Node:
    """A node that says `text`; None: one that only holds the tree together."""
    draft = None if text is None else Draft(role, (TextPart(text),) if text else ())  # type: ignore[arg-type]
    return Node(id, parent, draft, **more)


def found(*nodes: Node, current: str | None = None, **more: Json) -> ParsedConversation:
    return ParsedConversation("one", "A title", nodes, current, **more)


def written(folder: Path, value: Json, name: str = "export.json") -> Path:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8", "surrogatepass")
    return path


def packed(folder: Path, members: Mapping[str, bytes | str], name: str = "export.zip") -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return path


def read(importer: Importer, path: Path) -> Iterator[ParsedConversation | Unreadable]:
    """Everything `importer` finds in a file or an archive."""
    with opened(path) as archive:
        files: SourceFiles = archive.beside
        for document in archive.documents:
            if importer.fits(sample(document)):
                yield from importer.read(document, files)


def every(importer: Importer, path: Path) -> list[ParsedConversation]:
    """The conversations in it, all of which can be read."""
    found = list(read(importer, path))
    assert not [what for what in found if isinstance(what, Unreadable)]
    return [what for what in found if isinstance(what, ParsedConversation)]


def one(importer: Importer, path: Path) -> ParsedConversation:
    """The only conversation in it."""
    (only,) = every(importer, path)
    return only
