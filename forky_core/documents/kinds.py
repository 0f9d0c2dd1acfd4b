"""What kind of document some bytes are: by what they say of themselves first, by the file's name second.

A name can lie, and people rename things. So a PDF called notes.txt is read as a PDF, and a picture called notes.txt is
refused by saying what it is.
"""

from __future__ import annotations

import codecs
import zipfile
from pathlib import PurePath
from typing import Literal

from forky_core.documents.source import DocumentSource
from forky_core.model.errors import BadContent

Kind = Literal["pdf", "docx", "html", "markdown", "table", "code", "text"]

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
_CODE = frozenset(
    [
        ".py",
        ".js",
        ".ts",
        ".tsx",
        ".jsx",
        ".java",
        ".c",
        ".h",
        ".cpp",
        ".hpp",
        ".cc",
        ".cs",
        ".go",
        ".rs",
        ".rb",
        ".php",
        ".swift",
        ".kt",
        ".scala",
        ".sql",
        ".sh",
        ".bash",
        ".lua",
        ".r",
        ".jl",
        ".pl",
        ".ex",
        ".exs",
        ".erl",
        ".hs",
        ".ml",
        ".clj",
        ".dart",
        ".m",
        ".mm",
        ".vue",
        ".svelte",
        ".css",
        ".scss",
        ".json",
        ".yaml",
        ".yml",
        ".toml",
        ".ini",
        ".cfg",
        ".xml",
    ]
)
_MEDIA_TYPES: dict[Kind, str] = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "html": "text/html",
    "markdown": "text/markdown",
    "table": "text/csv",
    "code": "text/x-source",
    "text": "text/plain",
}


def media_type(kind: Kind) -> str:
    return _MEDIA_TYPES[kind]


def kind_of(source: DocumentSource) -> Kind:
    """BadContent where it holds no text that can be read."""
    start = source.start()
    if b"%PDF-" in start[:1024]:
        return "pdf"
    if start.startswith(b"PK\x03\x04"):
        return _zipped(source)
    if start.startswith(_OLD_OFFICE):
        raise BadContent(
            f"“{source.name}” is in an old Office format, or protected by a password.",
            "Save it as DOCX or PDF, without a password, and add that.",
        )
    said = next((what for magic, what in _MAGIC if start.startswith(magic)), None)
    if said or (b"\0" in start and not start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))):
        raise BadContent(
            f"“{source.name}” is {said or 'no text'}: there is nothing in it that could be quoted.",
            "Add text, Markdown, HTML, PDF, DOCX, CSV or code.",
        )
    return _by_name(source, start)


def _by_name(source: DocumentSource, start: bytes) -> Kind:
    match PurePath(source.name).suffix.lower():
        case ".md" | ".markdown" | ".mdx" | ".rst":
            return "markdown"
        case ".csv" | ".tsv":
            return "table"
        case ".html" | ".htm" | ".xhtml":
            return "html"
        case suffix if suffix in _CODE:
            return "code"
    head = start.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    return "html" if head.startswith((b"<!doctype html", b"<html")) else "text"


def _zipped(source: DocumentSource) -> Kind:
    try:
        with source.open() as stream, zipfile.ZipFile(stream) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise BadContent(f"“{source.name}” is damaged: it cannot be unpacked.", "Get it anew.") from error
    if "word/document.xml" in names:
        return "docx"
    what = (
        "a spreadsheet"
        if "xl/workbook.xml" in names
        else "a presentation"
        if "ppt/presentation.xml" in names
        else ""
    )
    raise BadContent(
        f"“{source.name}” is {what or 'an archive'}, which Forky does not read.",
        "Save it as PDF or CSV and add that." if what else "Unpack it and add the files.",
    )
