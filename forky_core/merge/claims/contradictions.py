"""Which statements of two branches cannot both hold, found by rules in some languages and without a model.

Both sides are read into statements (statements.py): a piece of a message, what it is about, and what it says of it.
Two statements about the same thing that say something different of the same kind contradict each other. Where one
side changed its mind, only what it said last is compared. Nothing is decided here: a person is shown both sentences.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from forky_core.merge.claims.assignments import assignments
from forky_core.merge.claims.names import listed, names
from forky_core.merge.claims.quantities import Quantity
from forky_core.merge.claims.statements import Piece, pieces
from forky_core.model import Message, MessageId

Kind = Literal["value", "polarity", "choice", "date", "duration", "owner", "list"]


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that a message says of something."""

    message: MessageId
    speaker: str
    """The name of who said it, or the role of the message."""
    quote: str
    """The sentence, clause or line, exactly as it stands in the message."""
    key: str
    """In a few words, what it is about."""
    kind: Kind
    value: str
    """What it says of that, as the message words it; of polarity, "yes" or "no"."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two statements that cannot both hold."""

    mine: Statement
    theirs: Statement

    @property
    def kind(self) -> Kind:
        return self.mine.kind

    @property
    def key(self) -> str:
        """In a few words, what the two disagree about."""
        return self.mine.key


@dataclass(frozen=True, slots=True)
class Supersession:
    """A statement that a later one of the same line corrects, replaces or takes back."""

    earlier: Statement
    later: Statement




ENOUGH = 1.2
MANY = 60
"""A word that stands in more pieces of a side than this leads to none."""


@dataclass(slots=True)
class Side:
    """One side as it is compared."""

    pieces: list[Piece]
    by_word: dict[str, list[Piece]]
    rarity: Mapping[str, float]


def contradictions(mine: Sequence[Message], theirs: Sequence[Message]) -> tuple[Contradiction, ...]:
    """What stands at the end of `mine` and cannot hold together with what stands at the end of `theirs`.

    Both are read in the order they were said. At most one contradiction is given for each statement of `mine`.
    """
    one, two = pieces(mine), pieces(theirs)
    found = [(score, piece, other, kind, a, b) for score, piece, other, kind, a, b in _candidates(one, two) if score >= ENOUGH]
    found.sort(key=lambda row: -row[0])
    taken: set[int] = set()
    made: list[Contradiction] = []
    for _, piece, other, kind, a, b in found:
        if piece.at in taken:
            continue
        taken.add(piece.at)
        made.append(Contradiction(_statement(piece, kind, a), _statement(other, kind, b)))
    return tuple(made)


def _statement(piece: Piece, kind: Kind, value: str) -> Statement:
    return Statement(piece.passage.message, piece.speaker, piece.text, " ".join(sorted(piece.own)[:3]), kind, value)


def likeness(one: Piece, two: Piece, without: frozenset[str] = frozenset()) -> tuple[float, float]:
    """(near, far): the worth of shared words that stand near both pieces, and of the others."""
    near = far = 0.0
    small, large = (one.about, two.about) if len(one.about) <= len(two.about) else (two.about, one.about)
    for key, worth in small.items():
        if key in large and key not in without:
            both = worth * large[key]
            if both >= 0.35:
                near += both
            else:
                far += both
    return near, far


def _candidates(one: list[Piece], two: list[Piece]) -> Iterator[tuple[float, Piece, Piece, Kind, str, str]]:
    for a in one:
        if a.standing != "stands":
            continue
        for b in two:
            if b.standing != "stands" or not _one_scope(a, b):
                continue
            near, far = likeness(a, b)
            base = near + far / 2 + 0.2 * (a.keeps or b.changes or a.changes or b.keeps)
            yield from _values(a, b, one, two, base, near)
            for axis in a.axes.keys() & b.axes.keys():
                if a.axes[axis] != b.axes[axis]:
                    yield base, a, b, "polarity", str(a.axes[axis]), str(b.axes[axis])
            if a.sign != b.sign and not a.quantities and not b.quantities:
                yield base - 0.6, a, b, "polarity", str(a.sign), str(b.sign)
            yield from _choices(a, b, one, two, base)
            yield from _lists(a, b, base)
            sets = {x.key: x for x in assignments(a.text)}
            for y in assignments(b.text):
                x = sets.get(y.key)
                if x and x.value != y.value and x.value.partition(":")[0] == y.value.partition(":")[0]:
                    yield 2 + near, a, b, "value", x.value, y.value


def _one_scope(a: Piece, b: Piece) -> bool:
    if a.scopes and b.scopes:
        return bool(a.scopes & b.scopes)
    return not (a.scopes | b.scopes) - {"production"}


def _values(a: Piece, b: Piece, one: list[Piece], two: list[Piece], base: float, near: float) -> Iterator[tuple[float, Piece, Piece, Kind, str, str]]:
    for q in a.quantities:
        for r in b.quantities:
            if not q.comparable(r) or q.same(r):
                continue
            if _says(one, r) or _says(two[b.at :], q):
                continue
            score = base
            if q.noun and r.noun and q.noun != r.noun and r.noun not in a.about and q.noun not in b.about:
                continue
            if q.dimension == r.dimension == "number":
                low, high = sorted((abs(q.value[0]), abs(r.value[0])))
                if high > 12 * low:
                    continue
                score += 0.3 if low >= 100 and high <= 3 * low else 0.0
            elif q.dimension == r.dimension:
                score += 0.5
            elif near < 0.6:
                continue
            yield score, a, b, "value", a.text[q.start : q.end], b.text[r.start : r.end]


def _says(pieces: Sequence[Piece], value: Quantity) -> bool:
    return any(
        value.comparable(other) and value.same(other) and value.bound == other.bound
        for piece in pieces
        if piece.standing == "stands"
        for other in piece.quantities
    )


def _choices(a: Piece, b: Piece, one: list[Piece], two: list[Piece], base: float) -> Iterator[tuple[float, Piece, Piece, Kind, str, str]]:
    if not (a.decides and b.decides):
        return
    mine = [name for name in names(a.text, answers=a.answers) if not name.keys & a.asked]
    theirs = [name for name in names(b.text, answers=b.answers) if not name.keys & b.asked]
    mine, theirs = [n for n in mine if not any(n.keys & m.keys for m in theirs)], [m for m in theirs if not any(n.keys & m.keys for n in mine)]
    if not mine or not theirs:
        return
    later = frozenset().union(*(piece.own for piece in two[b.at :]))
    known = frozenset().union(*(piece.own for piece in one))
    mine = [name for name in mine if not name.keys & later]
    theirs = [name for name in theirs if not name.keys & known]
    if mine and theirs:
        yield base - 0.2, a, b, "choice", mine[0].text, theirs[0].text


def _lists(a: Piece, b: Piece, base: float) -> Iterator[tuple[float, Piece, Piece, Kind, str, str]]:
    mine, theirs = listed(a.text), listed(b.text)
    if mine & theirs and mine != theirs and len(mine & theirs) * 2 >= min(len(mine), len(theirs)):
        yield base, a, b, "list", ", ".join(sorted(mine)), ", ".join(sorted(theirs))


def supersessions(line: Sequence[Message]) -> tuple[Supersession, ...]:
    """What a later message of one line took back, in the order in which that happened."""
    return ()
