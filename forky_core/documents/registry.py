"""Every kind of document, and of which kind a file is: by its content first, and by its name second.

A name can lie, and people rename things. So a PDF called notes.txt is read as a PDF, and a picture called notes.txt is
refused by saying what it is. A package of somebody else adds a kind by an entry point of the group `forky.documents`
that names a `DocumentKind`; the process that reads documents finds the package where this program finds it. A kind that
a program adds while it runs is loaded by that process from the module in which it stands.
"""

from __future__ import annotations

import codecs
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.metadata import EntryPoint
from pathlib import PurePath

from forky_core.documents.docx import DOCX
from forky_core.documents.kinds import DocumentKind
from forky_core.documents.pdf import PDF
from forky_core.documents.reading import CODE, HTML, MARKDOWN, TABLE, TEXT
from forky_core.documents.source import DocumentSource
from forky_core.model.errors import BadContent
from forky_core.process import events
from forky_core.process.plugins import Registry

KINDS: tuple[DocumentKind, ...] = (TEXT, MARKDOWN, HTML, PDF, DOCX, TABLE, CODE)
"""Those that Forky brings, in the order in which people are told of them."""


def _place(kind: DocumentKind) -> str:
    """Where a kind stands, as an entry point says it: “package.module:NAME”.

    Raises:
        ValueError: it stands at the top of no module that another process can import.
    """
    for module in tuple(sys.modules.values()):
        spec = getattr(module, "__spec__", None)
        # Python runs a program as `__main__`, which is another module in another process.
        if spec is None or not spec.has_location or module.__name__ == "__main__":
            continue
        for name, value in tuple(vars(module).items()):
            if value is kind:
                return f"{spec.name}:{name}"
    raise ValueError(
        f"The kind of document “{kind.name}” cannot be added from here. Documents are read in another process, "
        "which imports the kind: assign it to a name at the top of a module other than the program's main one."
    )


def _check_reachable(kind: DocumentKind) -> None:
    _place(kind)


REGISTRY = Registry("forky.documents", DocumentKind, KINDS, check_added=_check_reachable)

_MAGIC = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"RIFF", "a picture, sound or film"),
    (b"ID3", "a sound file"),
    (b"OggS", "a sound file"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"SQLite format 3", "a database"),
    (b"\x1f\x8b", "a compressed file"),
    (b"7z\xbc\xaf", "an archive"),
    (b"Rar!", "an archive"),
)
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_ZIP = b"PK\x03\x04"


def kinds() -> tuple[DocumentKind, ...]:
    """Every kind there is: those of Forky, of installed packages, and what this program has added."""
    return tuple(REGISTRY)


def add_document_kind(kind: DocumentKind) -> None:
    """Offer one more kind of document in this process.

    Documents are read in processes of their own, which import the kind from the module in which it stands.

    Raises:
        ValueError: its name is taken, or it stands at the top of no module that another process can import.
    """
    REGISTRY.add(kind)


def remove_document_kind(kind: DocumentKind) -> None:
    """Undo `add_document_kind`."""
    REGISTRY.remove(kind)


def added_kinds() -> tuple[str, ...]:
    """Where the kinds stand that this program has added, for `loaded_kinds` in another process."""
    return tuple(map(_place, REGISTRY.additions))


@contextmanager
def loaded_kinds(places: Sequence[str]) -> Iterator[None]:
    """Within the block, the kinds that stand at these places are offered in this process too.

    Raises:
        BadContent: one of them cannot be loaded here.
    """
    with ExitStack() as stack:
        for place in places:
            try:
                stack.enter_context(REGISTRY.added(EntryPoint("", place, REGISTRY.group).load()))
            except Exception as fault:
                raise BadContent(
                    f"No document can be read: the added kind “{place}” cannot be loaded ({type(fault).__name__}).",
                    "Check that its module can be imported by another process, or remove the kind.",
                ) from fault
        yield


def labels() -> str:
    """The kinds there are, as words within a sentence: “text, Markdown or PDF”."""
    *most, last = (kind.label for kind in kinds())
    return f"{', '.join(most)} or {last}"


def media_type(name: str) -> str:
    """What is stored with a document of the kind of this name."""
    return (REGISTRY.find(name) or TEXT).media_type


def kind_of(source: DocumentSource) -> DocumentKind:
    """The kind of a document. Kinds of packages are asked where none of ours fits.

    Raises:
        BadContent: it holds no text that can be read.
    """
    start, ending = source.start(), PurePath(source.name).suffix.lower()
    for kind in KINDS:
        if kind.recognises(source, start):
            return kind
    refusal = _refusal(source, start)
    if refusal is None:
        for kind in KINDS:
            if ending in kind.endings:
                return kind
    for kind in REGISTRY.others:
        if ending in kind.endings or _recognises(kind, source, start):
            return kind
    if refusal is not None:
        raise refusal
    head = start.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    return HTML if head.startswith((b"<!doctype html", b"<html")) else TEXT


def _recognises(kind: DocumentKind, source: DocumentSource, start: bytes) -> bool:
    """Whether a package recognises the content. One that raises an exception does not."""
    try:
        return kind.recognises(source, start)
    except Exception as fault:  # noqa: BLE001 - somebody else's code must not keep documents from being read
        events.plugin_skipped(
            group=REGISTRY.group, name=kind.name, reason="it failed to look at a file", fault=fault
        )
        return False


def _refusal(source: DocumentSource, start: bytes) -> BadContent | None:
    """Why none of ours reads a content that is no text; None for what may be text."""
    if start.startswith(_ZIP):
        return _of_archive(source)
    if start.startswith(_OLD_OFFICE):
        return BadContent(
            f"“{source.name}” is in an old Office format, or protected by a password.",
            "Save it as DOCX or PDF, without a password, and add that.",
        )
    said = next((what for magic, what in _MAGIC if start.startswith(magic)), None)
    if said or (b"\0" in start and not start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))):
        return BadContent(
            f"“{source.name}” is {said or 'no text'}: there is nothing in it that could be quoted.",
            f"Add {labels()}.",
        )
    return None


def _of_archive(source: DocumentSource) -> BadContent:
    try:
        with source.open() as stream, zipfile.ZipFile(stream) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        refusal = BadContent(f"“{source.name}” is damaged: it cannot be unpacked.", "Get it anew.")
        refusal.__cause__ = error
        return refusal
    what = (
        "a spreadsheet"
        if "xl/workbook.xml" in names
        else "a presentation"
        if "ppt/presentation.xml" in names
        else ""
    )
    return BadContent(
        f"“{source.name}” is {what or 'an archive'}, which Forky does not read.",
        "Save it as PDF or CSV and add that." if what else "Unpack it and add the files.",
    )
