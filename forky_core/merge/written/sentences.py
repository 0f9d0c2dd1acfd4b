"""A written note in sentences, each with its place in the text, so that one can be marked or struck out alone.

The text itself is never changed here: headings, list signs and blank lines belong to no sentence. A block of code and a
row of a table count as one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from forky_core.text.fences import CodeBlocks, parts
from forky_core.text.sentences import language_of, sentence_ends

_SIGN = re.compile(r"\s*(?:>\s?)*(?:(?:[-*+•–]|\(?\d{1,3}[.)])\s+)?(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(
    r"\s*(?:#{1,6}\s+(?P<title>.*?)\s*#*|\*\*(?P<bold>[^*]+)\*\*:?|__(?P<under>[^_]+)__:?|(?P<plain>[^\s|][^:：]*)[:：])\s*"
)
_NO_TITLE = re.compile(r"[.!?。！？`\d]")
_LONGEST_TITLE = 6
"""Words of a heading: a longer line says something, whatever it looks like."""
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
    return _rank(line) > 0


def is_code(sentence: str) -> bool:
    """Whether a sentence of a note, or a line of a payload, is a block of code."""
    return CodeBlocks().take(sentence.partition("\n")[0]) == "opens"


def _rank(line: str) -> int:
    """Return the rank of a heading, 1 for the highest; 0 for any other line."""
    found = _HEADING.fullmatch(line)
    if found is None:
        return 0
    title = next(filter(None, found.groups()), "")
    if len(title.split()) > _LONGEST_TITLE or len(title) > 60 or _NO_TITLE.search(title.rstrip(".:")):
        return 0
    return len(line.lstrip()) - len(line.lstrip().lstrip("#")) or _LOWEST


_LOWEST = 7


def cut(text: str, out: Sequence[Span]) -> str:
    """Return a text without these sentences, and without the list signs and headings that would stand empty."""
    if not out:
        return text.strip()
    lines: list[tuple[str, int, bool]] = []
    """Each line that is left, with its rank as a heading, and whether it was emptied."""
    left_out = iter(sorted(out, key=lambda one: one.start))
    one = next(left_out, None)
    at = 0
    for line, part in parts(text.split("\n")):
        end, left, kept_to = at + len(line), "", at
        touched = False
        while one is not None and one.start < end:
            touched = True
            left += text[kept_to : max(kept_to, one.start)]
            kept_to = min(end, one.end)
            if one.end > end:
                break
            one = next(left_out, None)
        left += text[kept_to:end]
        rank = _rank(line) if part == "prose" and not touched else 0
        empty = touched and not re.search(r"\w", re.sub(r"^\W*\d{1,3}[.)]", "", left))
        lines.append((re.sub(r"(?<=\S) {2,}", " ", left).rstrip() if touched else line, rank, empty))
        at = end + 1
    kept: list[str] = []
    for number, (line, rank, empty) in enumerate(lines):
        if empty or (rank and _stands_empty(lines[number + 1 :], rank)):
            continue
        if not line and kept and not kept[-1] and number and lines[number - 1][2]:
            continue
        kept.append(line)
    return "\n".join(kept).strip()


def _stands_empty(below: Sequence[tuple[str, int, bool]], rank: int) -> bool:
    """Whether everything that stood below a heading of this rank is gone."""
    gone = False
    for line, other, empty in below:
        if other and other <= rank:
            break
        if empty:
            gone = True
        elif gone and rank == _LOWEST and not line.strip():
            break
        elif line.strip() and not other:
            return False
    return gone


def _spans(text: str) -> Iterator[Span]:
    language = language_of(text)
    at, code = 0, -1
    prose: Span | None = None
    for line, part in parts(text.split("\n")):
        end = at + len(line.rstrip())
        if code >= 0 and part == "prose":
            # The block was in a quotation, and ended with it.
            yield Span(code, at - 1)
            code = -1
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
    if line.lstrip().startswith("|"):
        return False
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
