"""Cuts a text into chunks by its structure: at headings and paragraphs, and at sentences if a paragraph is too long.

A chunk is what a search finds and an answer quotes, so it should make sense by itself: it never crosses a heading or a
page, and it repeats the last lines of the chunk before it, for a thought that runs over the cut. 2,000 characters (some
500 tokens) found more on Cranfield than 1,200 (docs/numbers.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from forky_core.documents.retrieval.bm25 import term_counts
from forky_core.model.document import Chunk
from forky_core.text.sentences import sentences

SIZE = 2_000
"""The most characters of a chunk, without its overlap."""
OVERLAP = 200
"""The most characters that are repeated from the chunk before."""
_PARAGRAPHS = re.compile(r"\n[ \t]*\n+")


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """A stretch of text under one heading, on one page or in one function."""

    place: str
    text: str
    follows: bool = True
    """Whether a thought may run over from the previous section (a page), so that the two overlap."""
    whole_lines: bool = False
    """Whether to cut only between lines, as for code and tables."""
    titled: bool = False
    """Whether the place describes the content (headings), so that its words are searched too."""


def chunked(sections: Iterable[DocumentSection], first: int = 1) -> Iterator[Chunk]:
    """The chunks of a document's sections, numbered from `first` on."""
    number = first
    before = ""
    for section in sections:
        if not section.follows:
            before = ""
        for piece in _pieces(section):
            tail = _tail(before, whole_lines=section.whole_lines)
            text = f"{tail}\n{piece}" if tail else piece
            about = f"{section.place}\n{text}" if section.titled else text
            yield Chunk(number, section.place, text, len(text) - len(piece), term_counts(about))
            number += 1
            before = piece


def _pieces(section: DocumentSection) -> Iterator[str]:
    """The section's text in as few pieces of at most SIZE characters as possible."""
    joint = "\n" if section.whole_lines else "\n\n"
    held: list[str] = []
    size = 0
    for unit in _units(section):
        if held and size + len(unit) > SIZE:
            yield joint.join(held)
            held, size = [], 0
        held.append(unit)
        size += len(unit) + len(joint)
    if held:
        yield joint.join(held)


def _units(section: DocumentSection) -> Iterator[str]:
    """The units that should stay whole if possible: paragraphs, or lines."""
    text = section.text.strip("\n")
    parts = text.split("\n") if section.whole_lines else _PARAGRAPHS.split(text)
    for part in parts:
        if section.whole_lines or part.strip():
            yield from _cut(part if section.whole_lines else part.strip()) if len(part) > SIZE else (part,)


def _cut(text: str) -> Iterator[str]:
    """Cut a paragraph or line that is too long at ends of sentences, else at spaces, else anywhere."""
    held = ""
    for sentence in _sentences(text):
        if held and len(held) + len(sentence) + 1 > SIZE:
            yield held
            held = ""
        held = f"{held} {sentence}" if held else sentence
        while len(held) > SIZE:
            at = held.rfind(" ", SIZE // 2, SIZE)
            at = at if at > 0 else SIZE
            yield held[:at]
            held = held[at:].lstrip()
    if held:
        yield held


def _sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text with spaces; a text without spaces (a key, minified code) is not split."""
    return sentences(text) if " " in text[:SIZE] or not text.isascii() else (text,)


def _tail(text: str, *, whole_lines: bool) -> str:
    """The end of a piece that the next one repeats: whole lines or sentences of up to OVERLAP characters."""
    end = text[-OVERLAP:]
    if not whole_lines and len(text) > OVERLAP:
        starts = [match.end() for match in re.finditer(r"[.!?]\s+|[。！？]|\n", end)]
        return end[starts[0] :].strip() if starts else end.partition(" ")[2].strip()
    if len(text) <= OVERLAP:
        return text.strip("\n")
    return end.partition("\n")[2].strip("\n")
