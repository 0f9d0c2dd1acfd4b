"""A payload as rows for a person: each line with the messages it rests on.

In what a model reads, neighbouring lines of one message share the id at their end, which saves a fifth of the room
(docs/design/what-a-squash-keeps.md). A person reads single lines, so here each has its own.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from forky_core.context.citations import NOTHING, Opens, linked, opened_by_line, opens_of, sources_of
from forky_core.merge.attribution import citable_ids
from forky_core.merge.block import ParsedLine, parse_payload
from forky_core.merge.headings import is_heading
from forky_core.merge.marks import marked, note_sources
from forky_core.model import MessageId
from forky_core.model.parts import MergePart

_MARK = re.compile(r"\[([0-9a-f]{6,32})\]")


@dataclass(frozen=True, slots=True)
class PayloadRow:
    text: str
    """The text without the marks at its end, if they name messages."""
    cites: tuple[MessageId, ...] = ()
    marks: Mapping[str, MessageId] = field(default_factory=lambda: MappingProxyType({}))
    """Marks inside the text, as for both sides of an open conflict, with the messages they name."""
    opens: Opens = field(default_factory=lambda: NOTHING)
    """The addresses that the numbers of passages in it open."""
    kind: Literal["header", "heading", "line"] = "line"
    """A header or a heading is no message's text."""

    def drawn(
        self,
        words: Callable[[str], str],
        mark: Callable[[MessageId], str],
        passage: Callable[[str, str], str] | None = None,
    ) -> str:
        """Return the text with marks formatted by `mark`, numbers of passages by `passage`, and the rest by `words`."""
        if passage is not None and self.opens:
            plain = replace(self, opens=NOTHING)
            return linked(
                self.text, self.opens, lambda text: replace(plain, text=text).drawn(words, mark), passage
            )
        pieces = _MARK.split(self.text)
        known = [self.marks.get(piece) if at % 2 else None for at, piece in enumerate(pieces)]
        return "".join(
            mark(id) if id is not None else words(f"[{piece}]" if at % 2 else piece)
            for at, (piece, id) in enumerate(zip(pieces, known, strict=True))
        )


def payload_rows(merge: MergePart, limit: int) -> Iterator[PayloadRow]:
    """Yield the first `limit` characters of a payload, line by line."""
    return iter(_opening(_rows(merge, limit)))


def text_rows(text: str, limit: int) -> Iterator[PayloadRow]:
    """Yield the rows of a turn that is shown unchanged: its lines cite no messages."""
    lines = (text[:limit] + ("\n…" if len(text) > limit else "")).split("\n")
    opened = opened_by_line(lines)
    return (PayloadRow(line, opens=opens) for line, opens in zip(lines, opened, strict=True))


def _opening(rows: Sequence[PayloadRow]) -> list[PayloadRow]:
    """Add what the rows' numbers open: those of the SOURCES line that rests on the same message."""
    said: dict[MessageId, dict[int, str]] = {}
    for row in rows:
        for id in row.cites:
            said.setdefault(id, {}).update(sources_of(row.text))
    by_line = opened_by_line([row.text for row in rows])
    return [
        replace(
            row, opens=opens_of(row.text, ChainMap(*(said[id] for id in row.cites))) if row.cites else opens
        )
        for row, opens in zip(rows, by_line, strict=True)
    ]


def payload_text(merge: MergePart, mark: Callable[[MessageId], str]) -> str:
    """Return a payload for a person on a terminal: every line that rests on messages ends in their marks."""

    def shown(id: MessageId) -> str:
        return f"[{mark(id)}]"

    return "\n".join(
        " ".join((row.drawn(str, shown), *map(shown, row.cites))) for row in _rows(merge, len(marked(merge)))
    )


def _rows(merge: MergePart, limit: int) -> list[PayloadRow]:
    text = marked(merge)
    cut = text[:limit] + ("\n…" if len(text) > limit else "")
    return [
        PayloadRow(row.text, row.cites, row.inside, kind=_kind(row))
        for row in parse_payload(cut, citable_ids(merge), shared=not note_sources(merge))
    ]


def _kind(row: ParsedLine) -> Literal["header", "heading", "line"]:
    if row.section is not None:
        return "line"
    return "heading" if is_heading(row.text) else "header"
