"""The kinds of checks by name, each with its label, the value that it needs, and the function that judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from forky_core.experiments.checks import json_checks, likeness, text_checks
from forky_core.experiments.checks.verdict import AnswerFacts, CheckFunction, Verdict
from forky_core.experiments.templates import rendered_value
from forky_core.model.errors import BadContent, ForkyError
from forky_core.model.experiment import RowCheck
from forky_core.model.parts import Json

Needs = Literal[
    "text", "texts", "pattern", "schema", "length", "number", "rubric", "criterion", "function", "none"
]
"""The sort of value that a kind needs, so that a form can ask for it."""


@dataclass(frozen=True, slots=True)
class CheckKind:
    """A kind of check."""

    name: str
    label: str
    """The words that follow “the answer” in a list of checks."""
    needs: Needs
    judge: CheckFunction | None
    """None if a model, or a program's own code, judges."""


def _seconds(answer: AnswerFacts, check: RowCheck, value: Json) -> Verdict:
    """The whole call took at most so many milliseconds (`threshold`, as in promptfoo)."""
    most = _most(check, value)
    took = answer.call.seconds if answer.call is not None else None
    if took is None:
        return Verdict(None, "how long the call took is not known")
    return Verdict(took * 1000 <= most, f"took {took * 1000:,.0f} ms; at most {most:,g} ms pass")


def _cost(answer: AnswerFacts, check: RowCheck, value: Json) -> Verdict:
    """The call cost at most so many dollars."""
    most = _most(check, value)
    paid = answer.call.usage.cost if answer.call is not None else None
    if paid is None:
        return Verdict(None, "the price of this model is not known")
    return Verdict(paid <= most, f"cost ${paid:.6f}; at most ${most:g} passes")


def _most(check: RowCheck, value: Json) -> float:
    most = check.threshold if check.threshold is not None else text_checks.number_of(value)
    if most is None:
        raise BadContent("There is no bound.", "Give the check a threshold.")
    return most


KINDS: Mapping[str, CheckKind] = {
    kind.name: kind
    for kind in (
        CheckKind("contains", "contains", "text", text_checks.contains),
        CheckKind("icontains", "contains, in any case", "text", text_checks.contains),
        CheckKind("contains-all", "contains all of", "texts", text_checks.contains),
        CheckKind("contains-any", "contains one of", "texts", text_checks.contains),
        CheckKind("icontains-all", "contains all of, in any case", "texts", text_checks.contains),
        CheckKind("icontains-any", "contains one of, in any case", "texts", text_checks.contains),
        CheckKind("equals", "equals", "text", text_checks.equals),
        CheckKind("iequals", "equals, in any case", "text", text_checks.equals),
        CheckKind("starts-with", "begins with", "text", text_checks.starts_with),
        CheckKind("regex", "matches the expression", "pattern", text_checks.matches),
        CheckKind("is-json", "is JSON", "schema", json_checks.is_json),
        CheckKind("contains-json", "contains JSON", "schema", json_checks.contains_json),
        CheckKind("similar", "is like the reference", "text", likeness.similar),
        CheckKind("rouge-n", "has the reference's words", "text", likeness.rouge),
        CheckKind("levenshtein", "is few edits from the reference", "text", likeness.edits),
        CheckKind("length", "has the length", "length", text_checks.length),
        CheckKind("word-count", "has so many words", "length", text_checks.length),
        CheckKind("latency", "took at most (ms)", "number", _seconds),
        CheckKind("cost", "cost at most ($)", "number", _cost),
        CheckKind("judge", "satisfies a judge", "rubric", None),
        CheckKind("best", "is the best of its row", "criterion", None),
        CheckKind("code", "passes your code", "function", None),
    )
}


def judged(check: RowCheck, answer: AnswerFacts) -> Verdict:
    """Judge an answer by a check that needs no model. A mistake in the check itself gives a verdict without a
    result.
    """
    kind = KINDS.get(check.kind)
    if kind is None or kind.judge is None:
        return Verdict(None, f"“{check.kind[:40]}” is not checked here")
    try:
        verdict = kind.judge(answer, check, rendered_value(check.value, answer.values))
    except ForkyError as error:
        return Verdict(None, str(error))
    return turned(verdict) if check.negated else verdict


def turned(verdict: Verdict) -> Verdict:
    """Return the verdict of the opposite check."""
    if verdict.passed is None:
        return verdict
    score = None if verdict.score is None else 1 - verdict.score
    return replace(verdict, passed=not verdict.passed, score=score)


def title(check: RowCheck) -> str:
    """Describe a check in a few words, for lists and reports."""
    if check.label:
        return check.label
    kind = KINDS.get(check.kind)
    words = kind.label if kind is not None else check.kind
    value = check.value
    if kind is not None and kind.needs in ("schema", "none"):
        value = "by a schema" if value not in ("", None) else ""
        return f"{'not: ' if check.negated else ''}{words} {value}".strip()
    if check.kind in ("length", "word-count") and isinstance(value, dict):
        bounds = (
            f"{word} {value[key]}" for key, word in (("min", "at least"), ("max", "at most")) if key in value
        )
        return (
            f"{'not: ' if check.negated else ''}has {' and '.join(bounds)} {value.get('unit', 'characters')}"
        )
    text = ", ".join(text_checks.texts_of(value)) if isinstance(value, list) else text_checks.text_of(value)
    if not text and check.threshold is not None:
        text = f"{check.threshold:g}"
    return f"{'not: ' if check.negated else ''}{words} {text_checks.quoted(text, 50) if text else ''}".strip()
