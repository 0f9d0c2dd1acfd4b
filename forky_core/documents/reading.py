"""Kinds of document that are text: read as a stream, so that a large file is never held whole and can be given up.

Text comes with where it stands, because a citation is worth as much as the place it opens.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import BinaryIO

from forky_core.documents.chunking import SIZE, DocumentSection
from forky_core.documents.html_text import markdown_of
from forky_core.documents.kinds import DocumentKind
from forky_core.documents.source import DocumentSource
from forky_core.model.errors import BadContent
from forky_core.text.fences import parts

PARSED_WHOLE = 30_000_000
"""Bytes of HTML, which cannot be read piecemeal."""
_LONGEST_LINE = 100_000
"""Characters; a longer line is cut, so that a file without line ends is a stream too."""
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_LONGEST_TITLE = 160
"""Characters of a heading, or of the path of them, that tell where a section stands."""
_SAMPLE = 10_000
"""Characters by which a table's separator is guessed; the guess takes time by their square."""
_TOP_LEVEL = re.compile(
    r"(?:(?:export|default|pub|public|private|protected|static|abstract|async|final|inline|extern|unsafe)\s+)*"
    r"(?:def|class|function|func|fn|fun|interface|struct|enum|trait|impl|type|module|namespace|object|create\s+\w+)"
    r"\s+(?:\([^)]*\)\s*)?[\"'`\[]?([\w.$]+)",
    re.IGNORECASE,
)


def _html(source: DocumentSource) -> str:
    if source.size > PARSED_WHOLE:
        raise BadContent(
            f"“{source.name}” has {source.size / 1e6:,.0f} MB of HTML; at most {PARSED_WHOLE // 1_000_000} MB can be read.",
            "Save it as text or PDF.",
        )
    with source.open() as stream:
        content = stream.read()
    return content.decode(_encoding(source.start(), source.name), "replace")


def sections_of_html(html: str) -> Iterator[tuple[DocumentSection, float]]:
    """The sections of a page that is read whole, by its headings."""
    text = markdown_of(html, longest=len(html))
    for section in _headed(iter(text.splitlines())):
        yield section, 1.0


def _encoding(start: bytes, name: str) -> str:
    for bom, encoding in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if start.startswith(bom):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes  # noqa: PLC0415 - few files need it

        guess = from_bytes(start).best()
        if guess is None:
            raise BadContent(
                f"“{name}” is no text that can be read: its characters are in no known encoding.",
                "Save it as UTF-8 and add it again.",
            ) from None
        return guess.encoding
    return "utf-8"


class _StreamLines:
    """The lines of a stream, and how far it is read."""

    def __init__(self, stream: BinaryIO, source: DocumentSource) -> None:
        self._stream = stream
        self._size = source.size
        self._text = io.TextIOWrapper(stream, _encoding(source.start(), source.name), "replace")

    def __iter__(self) -> Iterator[str]:
        while line := self._text.readline(_LONGEST_LINE):
            yield line.rstrip("\r\n")

    @property
    def done(self) -> float:
        return min(1.0, self._stream.tell() / self._size)


def _streamed(
    source: DocumentSource, cut: Callable[[Iterator[str]], Iterator[DocumentSection]]
) -> Iterator[tuple[DocumentSection, float]]:
    with source.open() as stream:
        lines = _StreamLines(stream, source)
        for section in cut(iter(lines)):
            yield section, lines.done


def _headed(lines: Iterator[str]) -> Iterator[DocumentSection]:
    """Markdown by its headings; the place is the path of them."""
    path: list[tuple[int, str]] = []
    held: list[str] = []
    size = 0
    follows = False
    for line, part in parts(lines):
        heading = _HEADING.match(line) if part == "prose" else None
        if heading is not None or (size > 10 * SIZE and part == "prose" and not line.strip()):
            yield from _section(held, path, follows=follows)
            held, size, follows = [], 0, heading is None
        if heading is not None:
            level = len(heading.group(1))
            path = [*(entry for entry in path if entry[0] < level), (level, _title(heading.group(2)))]
        held.append(line)
        size += len(line)
    yield from _section(held, path, follows=follows)


def _section(
    held: Sequence[str], path: Sequence[tuple[int, str]], *, follows: bool
) -> Iterator[DocumentSection]:
    text = "\n".join(held)
    # A heading with nothing below it is said by the path of the one that follows.
    if text.strip() and not (len(held) == 1 and _HEADING.match(text)):
        place = " › ".join(title for _, title in path)[-_LONGEST_TITLE:]
        yield DocumentSection(place, text, follows, titled=True)


def _title(written: str) -> str:
    """A heading without the signs that may close it ("## Setup ##")."""
    return written.rstrip().rstrip("#").rstrip()[:_LONGEST_TITLE]


def _paragraphs(lines: Iterator[str]) -> Iterator[DocumentSection]:
    """Plain text in stretches of about a chunk, ended between paragraphs; the place is the first line's number."""
    yield from _stretches(lines, lambda line: not line.strip(), whole_lines=False)


def _definitions(lines: Iterator[str]) -> Iterator[DocumentSection]:
    """Code, ended before a definition at the left margin where a stretch is long enough."""
    yield from _stretches(lines, lambda line: _TOP_LEVEL.match(line) is not None, whole_lines=True)


def _stretches(
    lines: Iterator[str], ends: Callable[[str], bool], *, whole_lines: bool
) -> Iterator[DocumentSection]:
    held: list[str] = []
    size, first = 0, 1
    for number, line in enumerate(lines, 1):
        full = size > SIZE // 2 if whole_lines else size > SIZE
        if held and ((full and ends(line)) or size > 10 * SIZE):
            yield _stretch(held, first, whole_lines=whole_lines)
            held, size = [], 0
        if not held:
            first = number
        if held or line.strip():
            held.append(line)
            size += len(line) + 1
    if any(line.strip() for line in held):
        yield _stretch(held, first, whole_lines=whole_lines)


def _stretch(held: Sequence[str], first: int, *, whole_lines: bool) -> DocumentSection:
    place = f"line {first}"
    if whole_lines and (named := next(filter(None, map(_TOP_LEVEL.match, held)), None)):
        place += f", {named.group(1)[:_LONGEST_TITLE]}"
    return DocumentSection(place, "\n".join(held), whole_lines=whole_lines)


def _rows(lines: Iterator[str]) -> Iterator[DocumentSection]:
    """A table: each row as `column: value`, so that one row makes sense without the others."""
    sample = list(islice(lines, 20))
    try:
        dialect: type[csv.Dialect] | csv.Dialect = csv.Sniffer().sniff("\n".join(sample)[:_SAMPLE], ",;\t|")
    except csv.Error:
        dialect = csv.excel
    rows = csv.reader(chain(sample, lines), dialect)
    header: list[str] = []
    held: list[str] = []
    size, first = 0, 2
    try:
        header = next(rows, [])
        for number, row in enumerate(rows, 2):
            line = " · ".join(f"{name}: {value}" for name, value in _cells(header, row) if value.strip())
            if held and size + len(line) > SIZE:
                yield DocumentSection(f"rows {first}–{number - 1}", "\n".join(held), False, True)
                held, size, first = [], 0, number
            held.append(line)
            size += len(line) + 1
    except csv.Error as error:
        raise BadContent(
            f"This is no table that can be read: {error}.", "Give it the ending .txt."
        ) from error
    if held or header:
        text = "\n".join(held) or " · ".join(header)
        yield DocumentSection(
            f"rows {first}–{first + len(held) - 1}" if held else "the header", text, False, True
        )


def _cells(header: Sequence[str], row: Sequence[str]) -> Iterator[tuple[str, str]]:
    for at, value in enumerate(row):
        yield (header[at].strip() if at < len(header) and header[at].strip() else f"column {at + 1}", value)


TEXT = DocumentKind(
    name="text",
    label="text",
    media_type="text/plain",
    read=partial(_streamed, cut=_paragraphs),
    plain=True,
)
MARKDOWN = DocumentKind(
    name="markdown",
    label="Markdown",
    media_type="text/markdown",
    endings=frozenset((".md", ".markdown", ".mdx", ".rst")),
    read=partial(_streamed, cut=_headed),
    plain=True,
)
HTML = DocumentKind(
    name="html",
    label="HTML",
    media_type="text/html",
    endings=frozenset((".html", ".htm", ".xhtml")),
    read=lambda source: sections_of_html(_html(source)),
)
TABLE = DocumentKind(
    name="table",
    label="CSV",
    media_type="text/csv",
    endings=frozenset((".csv", ".tsv")),
    read=partial(_streamed, cut=_rows),
)
CODE = DocumentKind(
    name="code",
    label="code",
    media_type="text/x-source",
    endings=frozenset(
        (
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
        )
    ),
    read=partial(_streamed, cut=_definitions),
    plain=True,
)
