"""Checks for a value that the branch replaced later without saying so: “42 seats”, and further on “45 seats”.

The line and the later messages are read into statements as for contradictions between branches (claims/pieces.py). A
later statement replaces the line's value if it gives the same words another value of the same measure, and if no
statement after it repeats the old value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from forky_core.merge.claims.matching import one_scope
from forky_core.merge.claims.pieces import Clause, pieces, without_values
from forky_core.merge.claims.quantity import Quantity
from forky_core.merge.claims.word_keys import ATTRIBUTES, word_keys
from forky_core.merge.headings import FACTS, RESULT
from forky_core.merge.models.line_checks.evidence import Evidence
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.statements import THEN, denies
from forky_core.merge.models.transcript import Transcript
from forky_core.model import seal
from forky_core.model.parts import Draft, TextPart

_IS = re.compile(r"(?:\b(?:is|are|ist|sind|est|sont|es|son)|[是])\s*$", re.IGNORECASE)
"""What stands before a value that is predicated of something: “the vegetarians are six”."""
_MOST_CHANGED = 12
"""The factor by which a plain number may grow or shrink and still be a new value of the same thing."""


def replaced_value(line: NoteLine, here: Evidence) -> str | None:
    """Reject a value under Result or Facts that a later message replaces, unless the old one is repeated after it."""
    if line.section not in (RESULT, FACTS):
        return None
    last = max(here.cited)
    after = [one for one in here.transcript.statements if one.turn > last]
    if not after:
        return None
    mine = _statements_of(line)
    told = [value for one in mine for value in one.quantities]
    known = [
        value for one in here.transcript.statements if one.turn in here.cited for value in one.quantities
    ]
    for piece in mine:
        for value in piece.quantities if piece.standing == "stands" and piece.sign > 0 else ():
            if sum(other.dimension == value.dimension for other in told) > 1:
                continue
            found = _replaced(piece, value, after, alone=len(told) == 1)
            chosen = found is not None and (found[0].changes or THEN.match(found[0].passage.text) is not None)
            beside = told if chosen else (*told, *known)
            if found is not None and not any(found[1].same(other) for other in beside):
                later, new = found
                shown = later.text[new.start : new.end].strip()
                return (
                    f"A later message gives another value, {shown} (m{later.turn + 1}): “{later.text[:120]}”."
                )
    return None


def contradicted(line: NoteLine, others: Sequence[NoteLine], transcript: Transcript) -> str | None:
    """Reject a value under Result or Facts if another line of the note, resting on later messages, has another one."""
    if line.section not in (RESULT, FACTS):
        return None
    mine = _statements_of(line)
    told = [value for one in mine for value in one.quantities]
    last = max(transcript.places[id] for id in line.cites)
    for other in others:
        if other.section not in (RESULT, FACTS) or min(transcript.places[id] for id in other.cites) <= last:
            continue
        theirs = _statements_of(other)
        for piece in mine:
            for value in piece.quantities if len(told) == 1 and piece.sign > 0 else ():
                found = _replaced(piece, value, theirs, alone=False)
                if found is not None and value.dimension == found[1].dimension:
                    return f"Another line, of later messages, says something else: “{other.text[:120]}”."
    return None


def _statements_of(line: NoteLine) -> list[Clause]:
    """Read the line as if it were a message."""
    return pieces([seal(Draft("assistant", (TextPart(line.text),)), ())])


def _replaced(
    piece: Clause, value: Quantity, after: list[Clause], *, alone: bool
) -> tuple[Clause, Quantity] | None:
    """Return the last statement that gives the words of `piece` another value; None if the old one is repeated after
    it.

    `alone` says whether the line has no other value, so that an answer that only names a new one is about this one.
    """
    found: tuple[Clause, Quantity] | None = None
    for later in after:
        for other in later.quantities if later.standing == "stands" else ():
            if not value.comparable(other) or not one_scope(piece, later):
                continue
            if value.same(other):
                found = found if later.sign < 0 else None
            elif _of_the_same(piece, value, later, other) or (alone and _answers(piece, value, later, other)):
                found = later, other
    return found


def _of_the_same(piece: Clause, value: Quantity, later: Clause, other: Quantity) -> bool:
    """Whether two values that differ belong to the same subject."""
    if later.reason or _denied(later, other):
        return False
    both = (piece.own & later.own) - ATTRIBUTES
    if _numbers_one_of(piece.text, value, both) or _numbers_one_of(later.text, other, both):
        return False
    if value.dimension == other.dimension != "number":
        return bool(both)
    if value.noun and not other.noun and value.noun in later.own and _IS.search(later.text[: other.start]):
        return True
    if value.noun and (value.noun == other.noun or value.noun in word_keys(later.text[other.end :])[:2]):
        low, high = sorted((abs(value.bare), abs(other.bare)))
        return (len(both) > 1 or later.changes) and high <= _MOST_CHANGED * low
    return bool(both) and later.changes and len(later.own) <= len(both) + 1 and not (value.noun or other.noun)


def _denied(later: Clause, other: Quantity) -> bool:
    """Whether the clause around a value denies it."""
    start = max(later.text.rfind(sign, 0, other.start) for sign in ",;，；") + 1
    return denies(later.text[start : other.end])


def _numbers_one_of(text: str, value: Quantity, both: frozenset[str]) -> bool:
    """Whether a number is a label, as in “step 3”: another number is another thing."""
    before = text[: value.start].split()
    return bool(before) and not both.isdisjoint(word_keys(before[-1]))


def _answers(piece: Clause, value: Quantity, later: Clause, other: Quantity) -> bool:
    """Whether a statement only names a new value of the measure (“Then it is 15 minutes”), or denies the old one."""
    if value.dimension != other.dimension or value.dimension == "number":
        return False
    if later.sign < 0 and any(value.same(one) for one in later.quantities):
        return True
    lead = frozenset(word_keys(without_values(later.text[: other.start], ())))
    return THEN.match(later.passage.text) is not None and lead <= piece.own
