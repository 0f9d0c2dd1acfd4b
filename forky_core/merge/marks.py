"""Which messages each sentence of a written note rests on.

The sources stand beside the text and not in it: a model that reads the note need not read them, and a person sees them
as small numbers. Where a text is shown or edited line by line, each sentence is followed by the short ids of its
sources, as in a block of quoted lines.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

from forky_core.merge.block import NamedMessages, PayloadLine, render
from forky_core.merge.conflicts.findings import MergeFindings
from forky_core.merge.headings import WRITTEN, is_heading
from forky_core.merge.wording import ShortIds
from forky_core.merge.written.sentences import Span, spans
from forky_core.model import MessageId
from forky_core.model.parts import MergePart

Sources = tuple[tuple[MessageId, ...], ...]
"""For each sentence of a text, in order, the messages that it rests on."""
_MARKS = re.compile(r"(?: \[[0-9a-f]{6,32}\])+")
_MARK = re.compile(r"[0-9a-f]{6,32}")


@dataclass(frozen=True, slots=True)
class NoteText:
    """A note that a model wrote, as it lands."""

    text: str
    sources: Sources
    below: tuple[PayloadLine, ...] = ()
    """Lines that belong to the branch and not to the writer: what it settled, its files, passages of documents."""

    @property
    def cites(self) -> tuple[MessageId, ...]:
        """Every message that it rests on."""
        return tuple(dict.fromkeys((*all_of(self.sources), *all_of([line.cites for line in self.below]))))

    def below_header(self, header: str, short: ShortIds, above: Sequence[PayloadLine] = ()) -> str:
        """Return the whole payload; below lines of the plan the note has a heading."""
        rows = [render(header, above, short), f"{WRITTEN}:"] if above else [header]
        rows.append(self.text)
        if self.below:
            rows.append(render("", self.below, short)[1:])
        return "\n".join(row for row in rows if row)

    def sources_in(self, text: str) -> Sources:
        """Return the sources of a text that contains the note."""
        return carried_over(self.text, self.sources, text)


def with_sources(kept: MergeFindings, text: str, sources: Sources) -> MergeFindings:
    """Return findings with what the sentences of their payload rest on."""
    return replace(kept, sources=sources, lines=tuple(_line_of(text, span) for span in spans(text)))


def note_sources(merge: MergePart) -> Sources:
    """Return what the sentences of a written note rest on; () for any other payload.

    Where a line has another number of sentences than when it was stored, its last one rests on what all of them did.
    """
    if '"sources"' not in merge.claims:
        return ()
    kept, found = MergeFindings.from_json(merge.claims), spans(merge.text)
    if len(kept.sources) == len(found):
        return kept.sources
    if len(kept.lines) != len(kept.sources):
        return kept.sources if len(kept.sources) < len(found) else ()
    by_line: dict[int, Sources] = {}
    for line, ids in zip(kept.lines, kept.sources, strict=True):
        by_line[line] = (*by_line.get(line, ()), ids)
    sources: list[tuple[MessageId, ...]] = []
    for line, same in groupby(found, partial(_line_of, merge.text)):
        stored, count = by_line.get(line, ()), len(list(same))
        sources += stored if len(stored) == count else (*((),) * (count - 1), all_of(stored))
    return tuple(sources)


def _line_of(text: str, span: Span) -> int:
    return text.count("\n", 0, span.end)


def marked(merge: MergePart) -> str:
    """Return a payload's text as it is shown: a written note with the short ids of its sources behind each sentence."""
    sources = note_sources(merge)
    if not sources:
        return merge.text
    return with_marks(merge.text, sources, ShortIds.among(map(MessageId, merge.messages)))


def with_marks(text: str, sources: Sources, short: ShortIds) -> str:
    """Return a text with the short ids of its sources behind each sentence."""
    # Below the note may stand lines without sources, such as corrections.
    for span, ids in reversed(list(zip(spans(text), sources, strict=False))):
        marks = "".join(f" [{short(id)}]" for id in ids)
        text = f"{text[: span.end]}{marks}{text[span.end :]}"
    return text


def without_marks(text: str, among: Iterable[MessageId]) -> tuple[str, Sources]:
    """Take the marks that name one of these messages out of a note's sentences; return the text with their sources.

    Lines below Forky's own headings keep theirs.
    """
    messages = NamedMessages(among)
    rows: list[str] = []
    places: list[tuple[int, tuple[MessageId, ...]]] = []
    size, is_note = 0, True
    for line in text.split("\n"):
        left = line
        if is_heading(line):
            is_note = line == f"{WRITTEN}:"
        elif is_note:
            left, last = "", 0
            for match in _MARKS.finditer(line):
                named = [messages.by(digits)[:1] for digits in _MARK.findall(match.group())]
                if () in named:
                    continue
                left += line[last : match.start()]
                places.append((size + len(left), all_of(named)))
                last = match.end()
            left += line[last:]
        rows.append(left)
        size += len(left) + 1
    plain = "\n".join(rows)
    found = spans(plain)
    return plain, tuple(
        tuple(dict.fromkeys(id for at, ids in places for id in ids if span.start < at <= span.end))
        for span in found
    )


def carried_over(old: str, sources: Sequence[tuple[MessageId, ...]], new: str) -> Sources:
    """Return the sources of a changed text: a sentence that stood in the old one keeps its own."""
    before: dict[str, deque[tuple[MessageId, ...]]] = {}
    for span, ids in zip(spans(old), sources, strict=False):
        before.setdefault(span.of(old), deque()).append(ids)
    said = (before.get(span.of(new)) for span in spans(new))
    return tuple(left.popleft() if left else () for left in said)


def all_of(sources: Sequence[Sequence[MessageId]]) -> tuple[MessageId, ...]:
    """Return every message that a sentence rests on, once."""
    return tuple(dict.fromkeys(id for ids in sources for id in ids))
