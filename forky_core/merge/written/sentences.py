"""A written note in sentences, each with its place in the text, so that one can be marked or struck out alone.

The text itself is never changed here: headings, list signs and blank lines belong to no sentence. A block of code and a
row of a table count as one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from forky_core.fences import parts
from forky_core.retrieval.sentences import language_of, sentence_ends

_SIGN = re.compile(r"\s*(?:>\s?)*(?:(?:[-*+•–]|\(?\d{1,3}[.)])\s+)?(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(
    r"\s*(?:#{1,6}\s.*|\*\*[^*]+\*\*:?|__[^_]+__:?|[^\s.!?。！？][^.!?。！？]{0,60}[:：])\s*"
)
_RULE = re.compile(r"[\s|:*_=-]*")
_ENDS = ".!?:;。！？：])"
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|Dr|Mr|Mrs|Ms|Mme|Mlle|Prof|St|No|Nr|Sr|Sra|vs|approx|ca)\.\s*$"
)
"""The end of a piece that goes on: an initial or a title before a name."""


@dataclass(frozen=True, slots=True)
class Span:
    """The place of a sentence in a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]


@lru_cache(maxsize=64)
def spans(text: str) -> tuple[Span, ...]:
    """Return the places of the sentences of a note, in order."""
    return tuple(_spans(text))


def is_heading(line: str) -> bool:
    """Whether a line only names what stands below it."""
    return _HEADING.fullmatch(line) is not None


def cut(text: str, out: Sequence[Span]) -> str:
    """Return a text without these sentences, and without the list signs and headings that would stand empty."""
    lines: list[tuple[str, bool]] = []
    at = 0
    for line in text.split("\n"):
        end = at + len(line)
        inside = [one for one in out if one.start < end and one.end > at]
        left = line
        for one in reversed(inside):
            left = (
                left[: max(0, one.start - at)].rstrip(" ")
                + " "
                + left[min(len(line), one.end - at) :].lstrip(" ")
            )
        lines.append((left.rstrip() if inside else line, bool(inside)))
        at = end + 1
    rows = [
        line
        for line, changed in lines
        if not changed or re.search(r"\w", re.sub(r"^\W*\d{1,3}[.)]", "", line))
    ]
    kept: list[str] = []
    for number, line in enumerate(rows):
        below = next((row for row in rows[number + 1 :] if row.strip()), "")
        emptied = bool(out) and line.strip() and is_heading(line) and (not below or _is_higher(below, line))
        if not emptied:
            kept.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def _is_higher(below: str, line: str) -> bool:
    """Whether the line below a heading is another heading, of the same rank or a higher one."""
    ranks = [len(one) - len(one.lstrip("#")) for one in (below.strip(), line.strip())]
    return is_heading(below) and ranks[0] <= ranks[1]


def _spans(text: str) -> Iterator[Span]:
    language = language_of(text)
    at, code = 0, -1
    prose: Span | None = None
    for line, part in parts(text.split("\n")):
        end = at + len(line.rstrip())
        sign = _SIGN.match(line)
        start = at + (sign.end() if sign else 0)
        if prose is not None and part == "prose" and _goes_on(text, prose, line):
            prose = Span(prose.start, end)
        else:
            if prose is not None:
                yield from _sentences(text, prose, language)
            prose = None
            if part == "prose" and not _RULE.fullmatch(line) and not is_heading(line):
                prose = Span(start, end)
                if line.lstrip().startswith("|"):
                    yield prose
                    prose = None
        if part == "opens":
            code = at
        if code >= 0 and (part == "closes" or at + len(line) >= len(text)):
            yield Span(code, end)
            code = -1
        at += len(line) + 1
    if prose is not None:
        yield from _sentences(text, prose, language)


def _goes_on(text: str, above: Span, line: str) -> bool:
    """Whether a line is only wrapped, and belongs to the paragraph above it."""
    sign = _SIGN.match(line)
    ended = text[above.end - 1] in _ENDS or text.startswith(">", text.rfind("\n", 0, above.start) + 1)
    return bool(line.strip()) and not ended and not (sign and sign[0].strip()) and not is_heading(line)


def _sentences(text: str, where: Span, language: str) -> Iterator[Span]:
    begun = where.start
    for end in sentence_ends(where.of(text), language):
        at = where.start + end
        said = text[begun:at]
        in_code = said.count("`") % 2 == 1 and "`" in text[at : where.end]
        if at < where.end and (in_code or _ABBREVIATED.search(said)):
            continue
        if said.strip():
            yield Span(begun + len(said) - len(said.lstrip()), begun + len(said.rstrip()))
        begun = at
