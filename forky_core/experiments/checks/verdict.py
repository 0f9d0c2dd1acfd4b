"""The verdict of a check on an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from forky_core.model import Generation
from forky_core.model.experiment import RowCheck
from forky_core.model.parts import Json


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an answer passes, and why."""

    passed: bool | None
    """None if it cannot be decided, now or ever; `reason` says why."""
    reason: str = ""
    score: float | None = None
    """From 0 to 1; None stands for 1 if it passes and 0 if it fails."""

    @property
    def points(self) -> float | None:
        """The score, or 1 or 0 if there is none; None without a verdict."""
        if self.passed is None:
            return None
        return self.score if self.score is not None else float(self.passed)


@dataclass(frozen=True, slots=True)
class CheckVerdict:
    """A check and its verdict on one answer."""

    check: RowCheck
    verdict: Verdict
    branch: str = ""
    """The branch with the judge's answer; "" if no model judged."""


@dataclass(frozen=True, slots=True)
class AnswerFacts:
    """An answer in the form that checks take."""

    text: str
    reference: str = ""
    values: Mapping[str, Json] = field(default_factory=dict)
    """The variables of its row."""
    call: Generation | None = None


CheckFunction = Callable[[AnswerFacts, RowCheck, Json], Verdict]
"""Judges an answer; the last argument is the check's value with its variables replaced. May raise BadContent."""
