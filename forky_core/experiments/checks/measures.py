"""Checks of how long an answer took and what it cost."""

from __future__ import annotations

from forky_core.experiments.checks.text_checks import number_of
from forky_core.experiments.checks.verdict import AnswerFacts, Verdict
from forky_core.model.errors import BadContent
from forky_core.model.experiment import RowCheck
from forky_core.model.parts import Json


def seconds(answer: AnswerFacts, check: RowCheck, value: Json) -> Verdict:
    """The whole call took at most so many milliseconds (`threshold`, as in promptfoo)."""
    most = _most(check, value)
    took = answer.call.seconds if answer.call is not None else None
    if took is None:
        return Verdict(None, "how long the call took is not known")
    return Verdict(took * 1000 <= most, f"took {took * 1000:,.0f} ms; at most {most:,g} ms pass")


def cost(answer: AnswerFacts, check: RowCheck, value: Json) -> Verdict:
    """The call cost at most so many dollars."""
    most = _most(check, value)
    paid = answer.call.usage.cost if answer.call is not None else None
    if paid is None:
        return Verdict(None, "the price of this model is not known")
    return Verdict(paid <= most, f"cost ${paid:.6f}; at most ${most:g} passes")


def _most(check: RowCheck, value: Json) -> float:
    most = check.threshold if check.threshold is not None else number_of(value)
    if most is None:
        raise BadContent("There is no bound.", "Give the check a threshold.")
    return most
