"""What several answers say of the same: where they disagree, where they agree, what one says alone.

A model that has examined the answers says so, in their own words. Until one has, rules name possible disagreements, as
a merge does, and nothing else: what rules find in common says little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forky_core.merge.conflicts.conflict import newest, of_answers
from forky_core.merge.conflicts.examination import Examination, PointKind
from forky_core.merge.conflicts.rules import possible_conflicts
from forky_core.model import Message


@dataclass(frozen=True, slots=True)
class AnswerPoint:
    """One point that answers make, with each answer's own words."""

    kind: PointKind
    about: str
    says: tuple[tuple[int, str], ...]
    """The index of an answer, and what it says."""


@dataclass(frozen=True, slots=True)
class AnswerAgreement:
    points: tuple[AnswerPoint, ...]
    """Conflicts first, then what several say, then what one says alone."""
    model: str = ""
    """The model that has examined the answers; "" if none has: then every conflict is only possible."""
    dropped: int = 0
    """Entries of the model whose words do not stand in the answers."""


def agreement(answers: Sequence[Message | None], examined: Examination | None) -> AnswerAgreement:
    """Return what was found in answers to a question; None is an answer that is not there.

    The sides of an examination are named by the ids of the answers.
    """
    there = [answer for answer in answers if answer is not None]

    def columns(id: str) -> list[int]:
        return [at for at, answer in enumerate(answers) if answer is not None and answer.id == id]

    if examined is not None:
        points = tuple(
            AnswerPoint(
                point.kind,
                point.about,
                tuple((at, one.text) for one in point.says for at in columns(examined.sides[one.side])),
            )
            for point in examined.points
        )
        return AnswerAgreement(points, examined.model, examined.dropped)
    named = [(answer.id, answer) for answer in dict.fromkeys(there)]
    possible = possible_conflicts(newest(of_answers((str(id), answer) for id, answer in named))[0])
    return AnswerAgreement(
        tuple(
            AnswerPoint(
                "conflict",
                one.about,
                tuple((at, said.text) for said in one.says for at in columns(said.side)),
            )
            for one in possible
        )
    )
