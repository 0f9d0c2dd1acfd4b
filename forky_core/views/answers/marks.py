"""What each of several answers says that others do not: marks on the words, lines and cells of their blocks.

One answer is the base. What an answer shares with the base is found by aligning their blocks and comparing aligned ones
word by word; what it shares with any other, also in another place, by three words in a row. So a paragraph that only
moved is not marked. Code is compared by lines, tables by cells.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Literal
from unicodedata import category

from forky_core.text.words import WIDE
from forky_core.views.answers.blocks import AnswerBlock, InlineRun, Style, blocks_of

Mark = Literal["", "some", "other", "only", "gone", "clash"]
"""Whether all say it (""), the base and some others ("some"), others but not the base ("other"), or this answer alone
("only"); "gone" are words of the base that are missing here, "clash" are words that another answer contradicts."""

ALIKE = 0.3
"""The share of words in common from which two blocks are taken for versions of one."""
MOST_PAIRS = 40_000
"""Blocks of one answer times blocks of the other, above which only equal blocks are aligned."""
MOST_WORD_PAIRS = 1_000_000
"""Words of one block times words of the other, above which they are not compared word by word."""
IN_A_ROW = 3
"""Words that have to stand in a row for another answer to say them too, wherever it does."""
_FORMULA = "\x00"
"""Begins a formula where words are compared, so that none is taken for a word."""
_EAST = WIDE.replace("\uac00-\ud7af", "")
"""Characters of languages that are written without spaces; Korean has some."""
_JOINS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963"
    "\u0966-\u0e3a\u0e40-\u0e4e\u0eb0-\u0ebd\u0ec0-\u0ece\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3\u1ab0-\u1aff"
    "\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f"
)
"""What belongs to the character before it: accents, vowels of Hindi and Thai, and what joins two signs."""
_LETTERS = rf"[^\W{_EAST}]++(?:[{_JOINS}][^\W{_EAST}]*+)*"
_UNIT = (
    r"(?:(?<=[\d⁰¹²³⁴-⁹])[ \u00a0\u202f]?"
    r"(?:°[CF]?|[kMGTµμmnc]?(?:i?B|bit|s|m|g|W|Wh|V|A|Hz|l|L)|min|h|d|ct|[€$%])(?:/[^\W\d_]{1,5}[²³]?)?"
    rf"(?![^\W{_EAST}]))?"
)
_PAINT = rf"[{_JOINS}\U0001f3fb-\U0001f3ff]*"
_TOKEN = re.compile(
    rf"""
      \s+ | https?://[^\s<>]*[\w/]                                       # an address
    | [+−±-]?\d{{1,3}}(?:[ \u00a0\u202f]\d{{3}})+(?!\d)(?:[.,]\d+)?{_UNIT}  # a number in groups of digits
    | \d+(?:[.,:]\d+)*[{_EAST}] | [{_EAST}]                             # 5元, 7月
    | (?:--?|[A-Z]{{0,3}}[$€£¥]|[~./]{{1,4}}|[+−±])?{_LETTERS}            # a word, an option, a path, a number
      (?:[-–.,:/=@'’+~&\\×^±⁻⁺]+[$€£¥]?[0-9A-Za-z_⁰¹²³⁴-⁹]+)*(?:[+]{{2}}|[#])?%?{_UNIT}
    | [\U0001f1e6-\U0001f1ff]{{2}} | [^\w\s]{_PAINT}(?:(?<=\u200d)[^\w\s]{_PAINT})* # a flag, a sign, an emoji
    """,
    re.VERBOSE,
)
"""What is marked as a whole: half of an option, of an address or of a number with its unit says something else."""
_SAYS = re.compile(r"\w")
_WORDS = re.compile(rf"[{_EAST}]|{_LETTERS}")


@dataclass(frozen=True, slots=True)
class MarkedRun:
    """A stretch of an answer's text with one look and one mark."""

    text: str
    mark: Mark = ""
    styles: tuple[Style, ...] = ()
    href: str = ""


@dataclass(frozen=True, slots=True)
class MarkedBlock:
    """A block with marks on its text: words of prose, whole lines of code, whole cells of tables."""

    block: AnswerBlock
    spans: tuple[tuple[MarkedRun, ...], ...]

    @property
    def marks(self) -> frozenset[Mark]:
        return frozenset(run.mark for span in self.spans for run in span if run.text.strip())


def unmarked(blocks: Sequence[AnswerBlock]) -> tuple[MarkedBlock, ...]:
    """Return the blocks as they are, without a mark."""
    return tuple(
        MarkedBlock(
            block,
            tuple(
                tuple(MarkedRun(run.text, "", run.styles, run.href) for run in span) for span in block.spans
            ),
        )
        for block in blocks
    )


def quoted(blocks: Sequence[MarkedBlock], quotes: Iterable[tuple[str, Mark]]) -> tuple[MarkedBlock, ...]:
    """Return the blocks with a mark on each quotation that stands whole in a paragraph or a row.

    Of a quotation of which some words are marked already, those alone get the new mark.
    """
    wanted = [(words, mark) for text, mark in quotes if (words := _WORDS.findall(text.casefold()))]
    return tuple(_quoted(one, wanted) if one.block.kind in ("paragraph", "row") else one for one in blocks)


def _quoted(block: MarkedBlock, wanted: Sequence[tuple[list[str], Mark]]) -> MarkedBlock:
    said = [run for span in block.spans for run in span if run.mark != "gone"]
    text = "".join(run.text for run in said)
    before = [run.mark for run in said for _ in run.text]
    found = list(_WORDS.finditer(text))
    words = [one[0].casefold() for one in found]
    marks: dict[int, Mark] = {}
    for quote, mark in wanted:
        for at in range(len(words) - len(quote) + 1):
            if words[at : at + len(quote)] == quote:
                places = range(found[at].start(), found[at + len(quote) - 1].end())
                marks |= dict.fromkeys([place for place in places if before[place]] or places, mark)
    if not marks:
        return block
    spans: list[tuple[MarkedRun, ...]] = []
    at = 0
    for span in block.spans:
        runs: list[MarkedRun] = []
        for run in span:
            if run.mark == "gone":
                runs.append(run)
                continue
            own: list[Mark] = [marks.get(place, run.mark) for place in range(at, at + len(run.text))]
            if _is_whole(run):
                own = own[:1] * len(own)
            at += len(own)
            runs += _merged(zip(own, run.text, strict=True), run)
        spans.append(tuple(runs))
    return MarkedBlock(block.block, tuple(spans))


def marked(texts: Sequence[str], base: int) -> tuple[tuple[MarkedBlock, ...], ...]:
    """Return the blocks of each answer with marks; `base` is the index of the one the others are compared with.

    An empty text is an answer that is not there: it neither says nor lacks anything.
    """
    return _marked(tuple(texts), base)


@lru_cache(maxsize=256)
def _marked(texts: tuple[str, ...], base: int) -> tuple[tuple[MarkedBlock, ...], ...]:
    """Cached, because answers never change and a page is drawn often."""
    answers = [_answer(text) for text in texts]
    there = [at for at, text in enumerate(texts) if text.strip()]
    if len(there) < 2:
        return tuple(unmarked(one.blocks) for one in answers)
    base = base if base in there else there[0]
    shared: dict[tuple[int, int], set[_Spot]] = {}
    gone: dict[int, dict[_Spot, str]] = {}
    for at in there:
        if at != base:
            shared[base, at], shared[at, base], gone[at] = _shared(answers[base], answers[at])
    return tuple(
        tuple(
            one.mark(
                [(answers[other], shared.get((at, other), set())) for other in there if other != at],
                None if at == base else [other for other in there if other != at].index(base),
                gone.get(at, {}),
            )
        )
        if at in there
        else ()
        for at, one in enumerate(answers)
    )


_Spot = tuple[int, int]
"""A block and, in it, a word of prose, a line of code or a cell."""
_Saying = tuple[tuple[int, ...], tuple[str, ...]]
"""The places of units in a block, and what they say together."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer's blocks, the units that are compared, and what it says anywhere."""

    blocks: tuple[AnswerBlock, ...]
    units: tuple[tuple[str, ...], ...]
    """Of each block: its words, lines or cells as they are compared; "" for what is compared with nothing."""
    sayings: tuple[tuple[_Saying, ...], ...]
    """Of each block: what is looked for in other answers, wherever it stands there."""
    says: frozenset[tuple[str, ...]]

    def mark(
        self, others: Sequence[tuple[_Answer, set[_Spot]]], base: int | None, gone: dict[_Spot, str]
    ) -> Iterator[MarkedBlock]:
        """Yield the marked blocks. Each of the `others` has the places that it shares by alignment, and `base` is its
        index among them, or None for the base itself.
        """
        for at, (block, units) in enumerate(zip(self.blocks, self.units, strict=True)):
            saying = [0] * len(units)  # For each unit a bit for each of the others that says it.
            for number, (other, spots) in enumerate(others):
                bit = 1 << number
                for places, said in self.sayings[at]:
                    if said in other.says:
                        for unit in places:
                            saying[unit] |= bit
                for unit in range(len(units)) if spots else ():
                    if (at, unit) in spots:
                        saying[unit] |= bit
            marks = [
                _mark(by, len(others), base) if word else None for by, word in zip(saying, units, strict=True)
            ]
            here = {unit: words for (of, unit), words in gone.items() if of == at} if gone else {}
            yield MarkedBlock(block, _spans(block, _filled(marks), here))


def _mark(saying: int, others: int, base: int | None) -> Mark:
    """The mark of a unit, of which each of the `others` that says it has its bit set in `saying`."""
    if saying == (1 << others) - 1:
        return ""
    if not saying:
        return "only"
    return "some" if base is None or saying >> base & 1 else "other"


@lru_cache(maxsize=1_024)
def _answer(text: str) -> _Answer:
    blocks = blocks_of(text)
    units = tuple(tuple(_units(block)) for block in blocks)
    sayings = tuple(tuple(_sayings(block, own)) for block, own in zip(blocks, units, strict=True))
    return _Answer(blocks, units, sayings, frozenset(said for own in sayings for _, said in own))


def _units(block: AnswerBlock) -> Iterator[str]:
    if block.kind == "code":
        yield from ("".join(run.text for run in line).strip() for line in block.spans)
    elif block.kind == "row":
        yield from (" ".join("".join(run.text for run in cell).split()).casefold() for cell in block.spans)
    elif block.kind in ("paragraph", "heading"):
        for run in (run for span in block.spans for run in span):
            if "formula" in run.styles and run.text:
                yield f"{_FORMULA}{''.join(run.text.split())}"
            elif _is_whole(run):
                yield f"{run.text.strip()}{run.href}"
            else:
                yield from map(_compared, _TOKEN.findall(run.text))


@lru_cache(maxsize=10_000)
def _compared(token: str) -> str:
    """Return a word or a sign that says something as it is compared; "" for spaces and punctuation."""
    return token.casefold() if _SAYS.search(token) or category(token[0])[0] == "S" else ""


def _tokens(block: AnswerBlock) -> list[str]:
    return [token for span in block.spans for run in span for token in _tokens_of(run)]


def _tokens_of(run: InlineRun) -> list[str]:
    """The words and signs of a stretch of text; one of which half cannot be drawn is one word."""
    return [run.text] if _is_whole(run) else _TOKEN.findall(run.text)


def _is_whole(run: InlineRun | MarkedRun) -> bool:
    """Whether it is a formula, a piece of code or a link."""
    return bool(run.text) and (bool(run.href) or "formula" in run.styles or "code" in run.styles)


def _sayings(block: AnswerBlock, units: Sequence[str]) -> Iterator[_Saying]:
    """Yield what a block says."""
    if block.kind == "code":
        yield from (((at,), ("line", line)) for at, line in enumerate(units) if line)
    elif block.kind == "row":
        first = units[0] if units else ""
        yield from (((at,), ("cell", first, str(at), cell)) for at, cell in enumerate(units) if cell)
    else:
        words = _placed(units)
        size = min(IN_A_ROW, len(words))
        for start in range(len(words) - size + 1) if size else ():
            window = words[start : start + size]
            whole = ("whole",) if size < IN_A_ROW else ()
            yield tuple([at for at, _ in window]), (*whole, *[word for _, word in window])


def _shared(base: _Answer, other: _Answer) -> tuple[set[_Spot], set[_Spot], dict[_Spot, str]]:
    """Return the units of both that are equal in aligned blocks, and before which of the other's words are missing."""
    mine: set[_Spot] = set()
    theirs: set[_Spot] = set()
    gone: dict[_Spot, str] = {}
    for one, two in aligned(base.blocks, other.blocks):
        ours, others = _placed(base.units[one]), _placed(other.units[two])
        if not ours or not others or len(ours) * len(others) > MOST_WORD_PAIRS:
            continue
        prose = base.blocks[one].kind in ("paragraph", "heading")
        tokens = _tokens(base.blocks[one]) if prose else ()
        words, theirs_words = ([word for _, word in side] for side in (ours, others))
        matcher = SequenceMatcher(None, words, theirs_words, autojunk=False)
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag == "equal":
                mine |= {(one, at) for at, _ in ours[a:b]}
                theirs |= {(two, at) for at, _ in others[c:d]}
            elif prose and b > a:
                at = others[c][0] if c < len(others) else len(other.units[two])
                gone[two, at] = "".join(tokens[ours[a][0] : ours[b - 1][0] + 1])
    return mine, theirs, gone


def _placed(units: Sequence[str]) -> list[tuple[int, str]]:
    """Return what is compared of a block, with its place."""
    return [(at, unit) for at, unit in enumerate(units) if unit]


def aligned(blocks: Sequence[AnswerBlock], others: Sequence[AnswerBlock]) -> list[tuple[int, int]]:
    """Return which blocks of two answers are versions of one, in the order of both; the most alike in all."""
    found: list[tuple[int, int]] = []
    mine, theirs = ([(str(block.kind), block.text) for block in side] for side in (blocks, others))
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            found += ((a + step, c + step) for step in range(b - a))
        elif tag == "replace" and (b - a) * (d - c) <= MOST_PAIRS:
            found += ((a + one, c + two) for one, two in _alike(blocks[a:b], others[c:d]))
    return found


def _alike(blocks: Sequence[AnswerBlock], others: Sequence[AnswerBlock]) -> list[tuple[int, int]]:
    """Return the pairs, in order, whose likeness is greatest in sum."""
    mine, theirs = ([(block.kind, _words(block)) for block in side] for side in (blocks, others))
    likeness = [[_likeness(one, two) for two in theirs] for one in mine]
    best = [[0.0] * (len(theirs) + 1) for _ in range(len(mine) + 1)]
    for a in range(len(mine) - 1, -1, -1):
        for b in range(len(theirs) - 1, -1, -1):
            paired = likeness[a][b] + best[a + 1][b + 1] if likeness[a][b] else 0.0
            best[a][b] = max(paired, best[a + 1][b], best[a][b + 1])
    pairs: list[tuple[int, int]] = []
    a = b = 0
    while a < len(mine) and b < len(theirs):
        if likeness[a][b] and best[a][b] == likeness[a][b] + best[a + 1][b + 1]:
            pairs.append((a, b))
            a, b = a + 1, b + 1
        elif best[a][b] == best[a + 1][b]:
            a += 1
        else:
            b += 1
    return pairs


def _words(block: AnswerBlock) -> Counter[str]:
    return Counter(_WORDS.findall(block.text.casefold()))


def _likeness(one: tuple[str, Counter[str]], other: tuple[str, Counter[str]]) -> float:
    """Return the share of words in common; 0 for blocks of two kinds and for ones that have too little in common."""
    if one[0] != other[0]:
        return 0.0
    words, others = one[1], other[1]
    total = words.total() + others.total()
    share = 2 * (words & others).total() / total if total else 0.0
    return share if share >= ALIKE else 0.0


def _filled(marks: Sequence[Mark | None]) -> list[Mark]:
    """Give what stands between two words their mark, if both have the same."""
    spots = [at for at, mark in enumerate(marks) if mark is not None]
    filled: list[Mark] = [mark or "" for mark in marks]
    for before, after in pairwise(spots):
        if marks[before] == marks[after]:
            filled[before + 1 : after] = [filled[before]] * (after - before - 1)
    return filled


def _spans(
    block: AnswerBlock, marks: Sequence[Mark], gone: dict[int, str]
) -> tuple[tuple[MarkedRun, ...], ...]:
    if block.kind in ("code", "row"):
        return tuple(
            tuple(MarkedRun(run.text, mark, run.styles, run.href) for run in span)
            for span, mark in zip(block.spans, marks, strict=True)
        )
    if block.kind not in ("paragraph", "heading"):
        return unmarked((block,))[0].spans
    spans: list[tuple[MarkedRun, ...]] = []
    at = 0
    for span in block.spans:
        runs: list[MarkedRun] = []
        for run in span:
            pieces: list[tuple[Mark, str]] = []
            for token in _tokens_of(run):
                if gone.get(at):
                    pieces.append(("gone", gone[at]))
                pieces.append((marks[at], token))
                at += 1
            runs += _merged(pieces, run)
        spans.append(tuple(runs))
    if spans and gone.get(at):
        spans[-1] = (*spans[-1], MarkedRun(gone[at], "gone"))
    return tuple(spans)


def _merged(pieces: Iterable[tuple[Mark, str]], run: InlineRun | MarkedRun) -> Iterator[MarkedRun]:
    for mark, group in groupby(pieces, key=lambda piece: piece[0]):
        text = "".join(text for _, text in group)
        yield MarkedRun(text, mark) if mark == "gone" else MarkedRun(text, mark, run.styles, run.href)


def shares(texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
    """Return for each pair of answers the share of words in common, of the longer one; 1 for two equal ones."""
    words = [Counter(word for units in _answer(text).units for word in units if word) for text in texts]

    def share(one: Counter[str], other: Counter[str]) -> float:
        most = max(one.total(), other.total())
        return (one & other).total() / most if most else 1.0

    return tuple(tuple(share(one, other) for other in words) for one in words)
