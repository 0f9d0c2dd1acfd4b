"""Compares the pieces of two sides that share words, and scores how likely they contradict each other.

The score is the weight of the shared words (pieces.py weighs them by their distance), higher if one side says that
something changed or stays, and lower if each begins with a subject of its own. Whether a value also occurs on the other
side is decided by the pieces that are nearest to the same words.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from forky_core.merge.claims.assignments import Assignment, assignments
from forky_core.merge.claims.cues import CLOSED, DECIDES, NOT_WORD, OPPOSITE_MEASURES, OWNS
from forky_core.merge.claims.frames import difference, parallel
from forky_core.merge.claims.names import Name, listed, names
from forky_core.merge.claims.pieces import FAR, Clause, without_values
from forky_core.merge.claims.quantities import Quantity
from forky_core.merge.claims.word_keys import ATTRIBUTES, word_key, word_keys

Kind = Literal["value", "polarity", "choice", "date", "duration", "owner", "list"]

MOST = 64
"""The most pieces of the other side that one piece is compared with, those that share its rarest words first."""
_BEHIND = re.compile(r"\s([^\W\d_]{3,})")
_SHORT_ANSWER = 3
"""The most words an answer may have to leave out its subject."""
NEAR = 0.35
LEAST_OPPOSED = 0.49
CHANCE = 1.5
SAME_RECORD = -3.0
ALIKE = 0.3
"""The share of words that two sentences have in common if one only denies the other."""
FAR_SHARE = 0.5
ATTRIBUTE_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class ClaimMatch:
    """Two pieces that differ in a value, a choice or a polarity."""

    score: float
    mine: Clause
    theirs: Clause
    kind: Kind
    my_value: str
    their_value: str
    margin: float = 0.0
    """How much plainer than usual both must be: more for a mere denial, less for values of one key."""


@dataclass(slots=True)
class ClauseIndex:
    """The pieces of one side, indexed by their words and values."""

    pieces: Sequence[Clause]
    by_own: Mapping[str, list[Clause]] = field(default_factory=dict)
    """Standing pieces by their own words."""
    by_word: Mapping[str, list[Clause]] = field(default_factory=dict)
    """Standing pieces by their own words and the words around them."""
    values: Mapping[tuple[str, tuple[float, ...]], list[Clause]] = field(default_factory=dict)
    words: Mapping[str, int] = field(default_factory=dict)
    """The last place at which each word occurs."""

    @classmethod
    def of(cls, pieces: Sequence[Clause]) -> ClauseIndex:
        by_own: dict[str, list[Clause]] = defaultdict(list)
        by_word: dict[str, list[Clause]] = defaultdict(list)
        values: dict[tuple[str, tuple[float, ...]], list[Clause]] = defaultdict(list)
        last: dict[str, int] = {}
        for piece in pieces:
            for quantity in piece.quantities:
                values[quantity.dimension, quantity.value].append(piece)
            for word in piece.own:
                last[word] = piece.at
            if piece.standing == "stands":
                for word in piece.own:
                    by_own[word].append(piece)
                for word in piece.about:
                    by_word[word].append(piece)
        return cls(pieces, by_own, by_word, values, last)

    def like(self, piece: Clause) -> list[Clause]:
        """Return pieces that share words with a piece of the other side."""
        found: dict[int, Clause] = {}
        for index, words in ((self.by_own, piece.own), (self.by_word, piece.about)):
            for holding in sorted((index[word] for word in words if word in index), key=len):
                if len(found) >= MOST:
                    break
                for other in holding[-MOST:]:
                    found.setdefault(other.at, other)
        return [found[at] for at in sorted(found)]


def matches(mine: ClauseIndex, theirs: ClauseIndex) -> Iterator[ClaimMatch]:
    """Yield all differences between standing pieces of the two sides, with scores."""
    for piece in mine.pieces:
        if piece.standing == "stands":
            others = [
                other for other in theirs.like(piece) if _may_differ(piece, other) and one_scope(piece, other)
            ]
            if others:
                bases = [likeness(piece, other) for other in others]
                yield from _values(piece, others, bases, mine, theirs)
                yield from _opposites(piece, others, bases)
                yield from _denied(piece, others, bases)
                yield from _choices(piece, others, bases, mine, theirs)
                yield from _framed(piece, others, bases)
                yield from _lists(piece, others, bases)
                yield from _assigned(piece, others, bases)


def _may_differ(a: Clause, b: Clause) -> bool:
    """Whether both have content of one kind; a quick test that is made first."""
    return (
        bool(a.quantities and b.quantities)
        or a.sign != b.sign
        or (a.decides and b.decides)
        or (a.sets and b.sets)
        or not a.axes.keys().isdisjoint(b.axes)
        or (a.lists and b.lists)
        or (a.marks and b.marks)
        or (a.brief and b.brief)
    )


@dataclass(frozen=True, slots=True)
class Base:
    """How similar the contexts of two pieces are."""

    score: float
    near: float
    """The part of the score from words near both pieces."""
    contrast: float


def likeness(a: Clause, b: Clause) -> Base:
    """Compute how similar two pieces are by the words around them."""
    near, far = 0.0, FAR * FAR * _shared_far(a.far, b.far)
    shared = {word: worth * b.about[word] for word, worth in a.close.items() if word in b.about}
    shared |= {word: worth * a.about[word] for word, worth in b.close.items() if word in a.about}
    for word, both in shared.items():
        if word in ATTRIBUTES:
            both *= ATTRIBUTE_SHARE  # noqa: PLW2901
        if both >= NEAR:
            near += both
        else:
            far += both
    moved = 0.2 * (a.keeps or a.changes or b.changes or b.keeps)
    return Base(near + far * FAR_SHARE + moved, near, _contrast(a, b))


@lru_cache(maxsize=4_096)
def _shared_far(mine: frozenset[str], theirs: frozenset[str]) -> int:
    """Count the words that occur some turns around both; cached, since all pieces of two turns share the result."""
    return len(mine & theirs)


def _contrast(a: Clause, b: Clause) -> float:
    """Return the deduction for two pieces that each begin with a subject of their own."""
    if a.head and b.head:
        if a.head == b.head:
            return 0.0
        strange = (a.head not in b.own | b.asked) + (b.head not in a.own | a.asked)
        return 0.8 * strange
    for headed, other in ((a, b), (b, a)):
        if headed.head and not other.head and other.asked - ATTRIBUTES and headed.head not in other.about:
            return 0.8
    return 0.0


def one_scope(a: Clause, b: Clause) -> bool:
    """Whether both may be about the same environment."""
    if a.scopes and b.scopes:
        return bool(a.scopes & b.scopes)
    return not (a.scopes | b.scopes) - {"production"}


def _values(
    a: Clause, others: Sequence[Clause], bases: Sequence[Base], mine: ClauseIndex, theirs: ClauseIndex
) -> Iterator[ClaimMatch]:
    apart = {b.at for b in others if _of_other_moments(a, b) or (_is_json(a) and _is_json(b))}
    for q in a.quantities:
        agreed, last_agreed = -1.0, -1
        differing: list[tuple[float, Clause, Quantity]] = []
        for b, base in zip(others, bases, strict=True):
            for r in b.quantities if b.at not in apart else ():
                if not q.comparable(r):
                    continue
                if q.same(r):
                    if base.near >= NEAR and b.sign > 0 and not b.reason:
                        agreed, last_agreed = max(agreed, base.score), max(last_agreed, b.at)
                    continue
                score = value_score(q, r, a, b, base)
                if score > 0:
                    differing.append((score, b, r))
        for score, b, r in differing:
            if a.passage.shape == b.passage.shape == "prose" and parallel(_blank(a), _blank(b)):
                continue
            if last_agreed >= b.at or (agreed >= score - 0.3 and not b.changes):
                continue
            if any(
                piece.standing == "stands"
                and piece.sign > 0
                and not piece.reason
                and piece.at >= a.at - 6
                and not piece.about.keys().isdisjoint(a.own | a.asked)
                for piece in mine.values.get((r.dimension, r.value), ())
            ):
                continue
            known = any(piece.at < b.at for piece in theirs.values.get((q.dimension, q.value), ()))
            yield ClaimMatch(
                score + 0.4 * known, a, b, kind_of(q, r), a.text[q.start : q.end], b.text[r.start : r.end]
            )


def _is_json(piece: Clause) -> bool:
    """Whether a piece is a JSON object, whose values are compared by key."""
    return piece.text.lstrip("`").startswith("{")


def _of_other_moments(a: Clause, b: Clause) -> bool:
    """Whether each begins with a different value as its subject: Monday's session starts at 9, Friday's at 10."""
    if min(len(a.quantities), len(b.quantities)) < 2:
        return False
    q, r = a.quantities[0], b.quantities[0]
    begins = not word_keys(a.text[: q.start]) and not word_keys(b.text[: r.start])
    return begins and q.dimension == r.dimension and not q.same(r)


@lru_cache(maxsize=8_192)
def _blanked(text: str, values: tuple[Quantity, ...]) -> str:
    return without_values(text, values)


def _blank(piece: Clause) -> str:
    """Return a piece with each of its values replaced by a placeholder."""
    return _blanked(piece.text, piece.quantities)


def value_score(q: Quantity, r: Quantity, a: Clause, b: Clause, base: Base) -> float:
    """Score how likely two different values belong to the same subject; 0 if they do not."""
    score = base.score - base.contrast
    if q.noun and r.noun and q.noun != r.noun and (r.noun in a.about or q.noun in b.about):
        return 0.0
    if any({one, other} <= a.measures ^ b.measures for one, other in OPPOSITE_MEASURES):
        return 0.0
    if _of_other_things(q, a, b) or _of_other_things(r, b, a) or not _speak_of_one_thing(a, b):
        return 0.0
    low, high = sorted((abs(q.bare), abs(r.bare)))
    if q.dimension == r.dimension == "number":
        if high > 12 * low:
            return 0.0
        if q.noun and r.noun and q.noun != r.noun and not ({r.noun} & a.own or {q.noun} & b.own):
            score -= 1.0
        return score + (0.3 if low >= 100 and high <= 3 * low else 0.0)
    if q.dimension == r.dimension:
        return score + 0.5
    if not base.near or high > 4 * low or a.sets or b.sets:
        return 0.0
    return score


def _of_other_things(q: Quantity, a: Clause, b: Clause) -> bool:
    """Whether a value belongs to the noun right after it, and the other piece begins with another subject."""
    behind = _BEHIND.match(a.text, q.end)
    thing = word_key(behind[1]) if behind else ""
    return bool(thing and b.head) and thing not in b.about and thing != b.head and b.head not in a.own


def _speak_of_one_thing(a: Clause, b: Clause) -> bool:
    """Whether both name a common subject, or one is a short answer, which leaves it out."""
    if any(len(one.own) <= _SHORT_ANSWER and (one.asked or one.answers) for one in (a, b)):
        return True
    return not (a.own | a.asked).isdisjoint(b.own | b.asked)


def kind_of(q: Quantity, r: Quantity) -> Kind:
    """Return the kind of difference between two values."""
    dimension = q.dimension if q.dimension != "number" else r.dimension
    if dimension in ("date", "weekday", "clock", "quarter", "year"):
        return "date"
    return "duration" if dimension == "time" else "value"


def _opposites(a: Clause, others: Sequence[Clause], bases: Sequence[Base]) -> Iterator[ClaimMatch]:
    found: list[tuple[str, Clause, ClaimMatch]] = []
    last: dict[str, int] = {}
    for b, base in zip(others, bases, strict=True):
        if base.contrast > 1:
            continue
        for axis in a.axes.keys() & b.axes.keys():
            if a.axes[axis] == b.axes[axis] and base.near >= NEAR:
                last[axis] = b.at
        found += ((axis, b, match) for axis, match in _opposed(a, b, base))
    yield from (match for axis, b, match in found if last.get(axis, -1) <= b.at)


def _opposed(a: Clause, b: Clause, base: Base) -> Iterator[tuple[str, ClaimMatch]]:
    """Yield opposites of two pieces: by pairs of opposites, by a negating prefix, or by denial alone ("")."""
    score = base.score - base.contrast
    mine, theirs = _proposed(a), _proposed(b)
    both = mine & theirs
    shared = len(both) + (len(both) == 1 and _short(a, b))
    alike = len(both) / len(mine | theirs) if both else 0.0
    if base.near >= LEAST_OPPOSED and shared:
        for axis in a.axes.keys() & b.axes.keys():
            if a.axes[axis] != b.axes[axis]:
                yield axis, _says(score, a, b, a.axes[axis], margin=CHANCE * (alike < ALIKE))
    if _turned(a, b) or _turned(b, a):
        if a.sign == b.sign and base.near >= NEAR:
            yield "", _says(score, a, b, -1 if NOT_WORD.search(a.text) else 1)
    elif (
        a.sign != b.sign
        and (shared >= 2 or alike == 1.0)
        and alike >= ALIKE
        and not a.quantities
        and not b.quantities
    ):
        yield "", _says(score - 0.6, a, b, a.sign, margin=CHANCE)


def _says(score: float, a: Clause, b: Clause, sign: int, *, margin: float = 0.0) -> ClaimMatch:
    """Return a match in which one side affirms and the other denies; `sign` is that of `a`."""
    my, their = ("yes", "no") if sign > 0 else ("no", "yes")
    return ClaimMatch(score, a, b, "polarity", my, their, margin)


def _turned(a: Clause, b: Clause) -> bool:
    """Whether one has a word of the other with a negating prefix: unencrypted, encrypted."""
    return any(rest in b.text for word, rest in _not_words(a.text) if word not in b.text)


@lru_cache(maxsize=8_192)
def _not_words(text: str) -> tuple[tuple[str, str], ...]:
    """Return the words of a text that begin with a negating prefix, each with the rest of the word."""
    return tuple((match.group(), match["rest"]) for match in NOT_WORD.finditer(text))


def _short(a: Clause, b: Clause) -> bool:
    """Whether one answers yes or no, and the other says hardly more than the shared word."""
    return (a.whole and 0 < len(b.own) <= 2) or (b.whole and 0 < len(a.own) <= 2)


def _proposed(piece: Clause) -> frozenset[str]:
    """Return the words of what is affirmed or denied; an answer affirms or denies its question."""
    return piece.own | piece.asked if piece.answers or piece.whole else piece.own


def _denied(a: Clause, others: Sequence[Clause], bases: Sequence[Base]) -> Iterator[ClaimMatch]:
    """Yield matches in which the other side denies the very value that `a` names."""
    if a.sign < 0:
        return
    telling = {
        (q.dimension, q.value)
        for q in a.quantities
        if len(q.digits) >= 3 or q.dimension in ("date", "version")
    }
    if telling:
        for b, base in zip(others, bases, strict=True):
            if b.sign < 0 and any((r.dimension, r.value) in telling for r in b.quantities):
                yield ClaimMatch(base.score + 0.4, a, b, "polarity", "yes", "no")


def _choices(
    a: Clause, others: Sequence[Clause], bases: Sequence[Base], mine: ClauseIndex, theirs: ClauseIndex
) -> Iterator[ClaimMatch]:
    said = names(a.text, answers=a.answers) if a.sign > 0 else ()
    if not said:
        return
    for b, base in zip(others, bases, strict=True):
        if b.sign < 0 or _is_code(a) or _is_code(b) or not ((a.decides and b.decides) or base.near >= 1.4):
            continue
        told = names(b.text, answers=b.answers)
        one = [
            n for n in said if _new(n, a, told) and any(theirs.words.get(key, -1) < b.at for key in n.keys)
        ]
        two = [n for n in told if _new(n, b, said) and not all(key in mine.words for key in n.keys)]
        if one and two and not _apart(a, b, (*said, *told)):
            score = base.score - 0.2 + (0.4 if all(key in theirs.words for key in one[0].keys) else 0.0)
            owner = any(OWNS.search(text) for piece in (a, b) for text in (piece.text, piece.question))
            yield ClaimMatch(score, a, b, "owner" if owner else "choice", one[0].text, two[0].text)


def _apart(a: Clause, b: Clause, found: Sequence[Name]) -> bool:
    """Whether the choices are for different things: the words beside the names have nothing in common."""
    taken = frozenset().union(*(name.keys for name in found))
    one, other = (piece.own - taken - _deciding(piece.text) for piece in (a, b))
    return (
        bool(one and other)
        and one.isdisjoint(other)
        and a.asked.isdisjoint(b.own)
        and b.asked.isdisjoint(a.own)
    )


@lru_cache(maxsize=8_192)
def _deciding(text: str) -> frozenset[str]:
    """Return the keys of a text's words of decision, which do not name the subject."""
    return frozenset(key for match in DECIDES.finditer(text) for key in word_keys(match.group()))


def _is_code(piece: Clause) -> bool:
    return piece.passage.shape in ("code", "call") or piece.text.lstrip("`").startswith("{")


def _new(name: Name, piece: Clause, others: Sequence[Name]) -> bool:
    if name.keys <= piece.asked:
        return False
    return not any(name.keys <= other.keys or other.keys <= name.keys for other in others)


def _framed(a: Clause, others: Sequence[Clause], bases: Sequence[Base]) -> Iterator[ClaimMatch]:
    """Yield matches of sentences that differ in one place only."""
    for b, base in zip(others, bases, strict=True) if a.brief else ():
        if b.brief and a.sign == b.sign and (one := difference(a.text, b.text)) is not None:
            yield ClaimMatch(base.score + 0.5, a, b, "owner" if one.first else "choice", one.mine, one.theirs)


def _lists(a: Clause, others: Sequence[Clause], bases: Sequence[Base]) -> Iterator[ClaimMatch]:
    mine = listed(a.text)
    for b, base in zip(others, bases, strict=True) if mine else ():
        theirs = listed(b.text)
        both = mine & theirs
        if (
            both
            and mine != theirs
            and max(len(mine), len(theirs)) > 2
            and len(both) * 2 >= min(len(mine), len(theirs))
        ):
            if len(both) < 2 and max(len(mine), len(theirs)) > 3 - _closed(a) - _closed(b):
                continue
            if (mine < theirs and not _closed(a)) or (theirs < mine and not _closed(b)):
                continue
            yield ClaimMatch(base.score, a, b, "list", ", ".join(sorted(mine)), ", ".join(sorted(theirs)))


def _closed(piece: Clause) -> bool:
    """Whether the row of a list says that the list is complete, or that something changed."""
    return piece.changes or CLOSED.search(piece.passage.whole_row) is not None


def _assigned(a: Clause, others: Sequence[Clause], bases: Sequence[Base]) -> Iterator[ClaimMatch]:
    mine = {one.key: one for one in assignments(a.text)}
    for b, base in zip(others, bases, strict=True) if mine else ():
        if _other_record(tuple(mine.values()), assignments(b.text)):
            continue
        for other in assignments(b.text):
            one = mine.get(other.key)
            if one is not None and one.value != other.value and _one_sort(one, other):
                margin = SAME_RECORD if _is_json(a) and _is_json(b) else 0.0
                yield ClaimMatch(2 + base.near, a, b, "value", one.value, other.value, margin)


def _other_record(mine: Sequence[Assignment], theirs: Sequence[Assignment]) -> bool:
    """Whether two lists of settings belong to two things, distinguished by their first entry: oven 1, oven 2."""
    told = {one.key: one.value for one in theirs}
    differing = [one for one in mine if told.get(one.key, one.value) != one.value]
    return len(differing) > 1 and differing[0] is mine[0] and theirs[0].key == mine[0].key


def _one_sort(one: Assignment, other: Assignment) -> bool:
    return (":" in one.value) == (":" in other.value)
