"""What a line of messages takes back of itself: values corrected, plans scrapped, fixes undone, code replaced.

A note shows the earlier statement struck through, so a false match misinforms: besides shared words, a word of
correction is required (“instead”, “actually”, “took it out again”, “scrap that”). Only code needs none: a key that is
assigned again, and a function that is defined again, replace the earlier one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from forky_core.merge.claims.assignments import assignments
from forky_core.merge.claims.cues import CHANGE, CORRECTS, DISPLACES, NO, REVERSES, TAKES_BACK
from forky_core.merge.claims.matching import (
    ClaimMatch,
    ClauseIndex,
    kind_of,
    likeness,
    one_scope,
    value_score,
)
from forky_core.merge.claims.names import names
from forky_core.merge.claims.pieces import Clause, pieces
from forky_core.merge.claims.quantities import Quantity, quantities
from forky_core.merge.claims.word_keys import ATTRIBUTES
from forky_core.model import Message, MessageId

SURE = 1.6
"""The lowest likeness at which a new value replaces an older one."""
SURE_OF_CODE = 0.6
_RARE = 6
"""The most pieces a word may occur in to link a reversal to what it reverses."""
_DEFINES = re.compile(r"^\s*(?:async\s+)?(?:def|class|function|fn|func)\s+(?P<name>\w+)")
_SHORT = 90
_FEW = 4
"""The most words of a short correction."""


@dataclass(frozen=True, slots=True)
class Supersession:
    """A statement that a later message of the same line corrects, replaces or takes back."""

    earlier: str
    """The earlier statement, word for word from `earlier_message`."""
    earlier_message: MessageId
    later: str
    """The statement that replaced it or took it back, word for word."""
    later_message: MessageId


def supersessions(line: Sequence[Message]) -> tuple[Supersession, ...]:
    """Return the statements that later messages of one line took back, in the order in which they did.

    An earlier statement appears once, with the last one that takes it back.
    """
    return _supersessions(tuple(line))


@lru_cache(maxsize=8)
def _supersessions(line: tuple[Message, ...]) -> tuple[Supersession, ...]:
    """Cached, because messages never change and a card plans several merges of one branch."""
    said = pieces(line)
    side = ClauseIndex.of(said)
    count = Counter(word for piece in said for word in piece.own)
    found: dict[tuple[str, str], ClaimMatch] = {}
    for later in said:
        for match in _replaced(later, side, count):
            found[match.mine.passage.message, match.mine.text] = match
    ordered = sorted(found.values(), key=lambda match: (match.theirs.at, match.mine.at))
    return tuple(
        Supersession(
            match.mine.text, match.mine.passage.message, match.theirs.text, match.theirs.passage.message
        )
        for match in ordered
    )


def _replaced(later: Clause, side: ClauseIndex, count: Counter[str]) -> Iterator[ClaimMatch]:
    """Yield the earlier pieces that a piece takes back."""
    if later.standing != "stands" or later.passage.shape in ("output", "call"):
        return
    code = later.passage.shape == "code"
    if code and not (_DEFINES.match(later.text) or assignments(later.text)):
        return
    before = [
        piece
        for piece in side.like(later)
        if piece.turn < later.turn and piece.standing == "stands" and one_scope(piece, later)
        if (piece.passage.shape == "code") == code and piece.passage.shape not in ("output", "call")
    ]
    if code:
        for piece in before:
            yield from _code(piece, later)
        return
    text, sentence = later.text, later.passage.text
    if CORRECTS.search(sentence) or CHANGE.search(sentence):
        yield from _values(before, later, side)
    if DISPLACES.search(text):
        yield from _displaced(before, later)
    if (CORRECTS.search(text) or NO.search(text)) and later.passage.role == "user" and len(later.own) <= _FEW:
        yield from _answered(later, side)
        yield from _renamed(later, side)
    if REVERSES.search(text) and later.sign > 0:
        for piece in before:
            if _same_thing(piece, later, count):
                yield ClaimMatch(1.0, piece, later, "polarity", "yes", "no")
    if len(sentence) <= _SHORT and later.passage.role == "user" and TAKES_BACK.search(sentence):
        yield from _just_done(later, side)


def _values(before: Sequence[Clause], later: Clause, side: ClauseIndex) -> Iterator[ClaimMatch]:
    """Yield the values nearest to the words of the new one, unless they are repeated later."""
    for new in later.quantities:
        best: ClaimMatch | None = None
        for piece in before:
            shared = (piece.own & later.own) - ATTRIBUTES
            if len(shared) < 2 and not (shared and piece.head and piece.head == later.head):
                continue
            base = likeness(piece, later)
            for old in piece.quantities:
                if old.dimension != new.dimension or old.noun != new.noun or old.same(new):
                    continue
                if not old.comparable(new) or _again(old, later, side):
                    continue
                score = value_score(old, new, piece, later, base)
                if score >= SURE and (best is None or score >= best.score):
                    best = _match(score, piece, old, later, new)
        if best is not None:
            yield best


def _displaced(before: Sequence[Clause], later: Clause) -> Iterator[ClaimMatch]:
    """Yield statements with a value or name that a sentence names as no longer valid."""
    cut = DISPLACES.search(later.text)
    gone = later.text[cut.end() :][:_SHORT] if cut else ""
    values = [one for one in quantities(gone)[:1] if one.dimension != "number" or len(one.digits) >= 3]
    named = [one for one in names(gone)[:1] if one.text in gone[: len(one.text) + 6]]
    for piece in before:
        if not (piece.own & later.own) - ATTRIBUTES:
            continue
        if any(
            old.dimension == value.dimension and old.same(value)
            for value in values
            for old in piece.quantities
        ):
            yield ClaimMatch(1.0, piece, later, "value", gone[values[0].start : values[0].end], later.text)
        elif any(name.text in piece.text for name in named) and piece.sign > 0 and piece.decides:
            yield ClaimMatch(1.0, piece, later, "choice", named[0].text, later.text)


def _answered(later: Clause, side: ClauseIndex) -> Iterator[ClaimMatch]:
    """Yield the last value of the same kind just before a short correction by the person.

    If statements before it share its words, it is about those: about the nearest, and others with that value.
    """
    window = [
        piece
        for piece in reversed(side.pieces[: later.at])
        if later.turn - 2 <= piece.turn and _before(piece, later)
    ]
    alike = [piece for piece in window if (piece.own & later.own) - ATTRIBUTES]
    for new in later.quantities:
        nearest: Quantity | None = None
        for piece in alike or window:
            old = next((one for one in piece.quantities if one.dimension == new.dimension), None)
            if old is None or (nearest is not None and not old.same(nearest)):
                continue
            counted = old.dimension != "number" or old.noun == new.noun or len(later.own) <= 1
            if counted and old.comparable(new) and not old.same(new):
                yield _match(1.0, piece, old, later, new)
            if not alike:
                break
            nearest = old


def _renamed(later: Clause, side: ClauseIndex) -> Iterator[ClaimMatch]:
    """Yield the last choice just before a short correction by the person that names another one."""
    told = names(later.text.lstrip(" ,.!"), answers=True)
    for piece in reversed(side.pieces[: later.at] if told else ()):
        if piece.turn < later.turn - 2:
            return
        if not _before(piece, later) or not piece.decides:
            continue
        said = [
            name
            for name in names(piece.text, answers=piece.answers)
            if not any(name.keys & new.keys for new in told)
        ]
        if said:
            yield ClaimMatch(1.0, piece, later, "choice", said[0].text, told[0].text)
            return


def _before(piece: Clause, later: Clause) -> bool:
    """Whether a short correction may be about the piece; a mere proposal can be corrected, too."""
    return piece.turn < later.turn and piece.standing in ("stands", "open") and piece.passage.shape == "prose"


def _match(score: float, piece: Clause, old: Quantity, later: Clause, new: Quantity) -> ClaimMatch:
    values = piece.text[old.start : old.end], later.text[new.start : new.end]
    return ClaimMatch(score, piece, later, kind_of(old, new), *values)


def _again(old: Quantity, later: Clause, side: ClauseIndex) -> bool:
    """Whether a value is repeated in `later` or after it: then it was not replaced."""
    if any(old.comparable(new) and old.same(new) for new in later.quantities):
        return True
    return any(
        other.at > later.at and other.sign > 0 for other in side.values.get((old.dimension, old.value), ())
    )


def _code(piece: Clause, later: Clause) -> Iterator[ClaimMatch]:
    old_name, new_name = _DEFINES.match(piece.text), _DEFINES.match(later.text)
    if old_name and new_name:
        if old_name["name"] == new_name["name"]:
            yield ClaimMatch(1.0, piece, later, "value", piece.text, later.text)
        return
    old = {one.key: one for one in assignments(piece.text)} if piece.sets else {}
    for new in assignments(later.text) if old else ():
        if (one := old.get(new.key)) is not None and one.value != new.value:
            if likeness(piece, later).near >= SURE_OF_CODE:
                yield ClaimMatch(1.0, piece, later, "value", one.value, new.value)
            return


def _same_thing(piece: Clause, later: Clause, count: Counter[str]) -> bool:
    """Whether both name the same rare things; in scripts without spaces, three pairs are about two words."""
    rare = [word for word in piece.own & later.own if count[word] <= _RARE]
    return len(rare) >= (2 if "".join(rare).isascii() or any(len(word) > 2 for word in rare) else 3)


def _just_done(later: Clause, side: ClauseIndex) -> Iterator[ClaimMatch]:
    """Yield the first piece of the last answer before a short “undo that”."""
    for piece in reversed(side.pieces[: later.at]):
        if piece.turn < later.turn - 2:
            return
        if piece.turn < later.turn and piece.passage.role == "assistant" and piece.passage.shape == "prose":
            first = next(
                one for one in side.pieces if one.turn == piece.turn and one.passage.shape == "prose"
            )
            if first.standing == "stands":
                yield ClaimMatch(1.0, first, later, "polarity", "yes", "no")
            return
