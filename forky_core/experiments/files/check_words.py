"""Reads checks as people write them in files: `contains: Paris`, an object with a kind, or promptfoo's assertions."""

from __future__ import annotations

import re
from collections.abc import Mapping

from forky_core.experiments.checks.registry import KINDS
from forky_core.experiments.checks.text_checks import number_of, text_of
from forky_core.model.errors import BadContent
from forky_core.model.experiment import BEST, JUDGE, RowCheck
from forky_core.model.parts import Json

_OF_PROMPTFOO: Mapping[str, tuple[str, str]] = {
    "llm-rubric": (JUDGE, "{}"),
    "model-graded-closedqa": (JUDGE, "The answer meets this criterion: {}"),
    "closed-qa": (JUDGE, "The answer meets this criterion: {}"),
    "g-eval": (JUDGE, "The answer meets each of these criteria: {}"),
    "factuality": (JUDGE, "The answer states the same facts as this text and contradicts none: {}"),
    "model-graded-factuality": (
        JUDGE,
        "The answer states the same facts as this text and contradicts none: {}",
    ),
    "answer-relevance": (JUDGE, "The answer deals with the question and with nothing else. {}"),
    "select-best": (BEST, "{}"),
    "similar:cosine": ("similar", ""),
}
"""Assertions of promptfoo, each with Forky's kind of check that does the same, and a rubric for a judge."""
_SHORT = re.compile(r"^(not-)?([a-z][a-z:-]*)(?:\(([\d.]+)\))?\s*:\s*(.*)$", re.DOTALL)
_LISTS = ("contains-any", "contains-all", "icontains-any", "icontains-all")
_GRADES = {"grade": "llm-rubric", "llm": "llm-rubric"}
CODE = ("javascript", "python", "ruby", "webhook", "fn", "eval")
"""Assertions that are programs. Forky never runs a program from a file."""


def check_in(entry: Json) -> RowCheck:
    """Read a check: an object with a kind, one pair of kind and value, or words. Raises BadContent."""
    if isinstance(entry, str):
        return check_in_words(entry)
    if not isinstance(entry, Mapping):
        raise BadContent("A check is a text or an object.", "For example: contains: Paris")
    if "type" in entry:
        return assertion(entry)
    if "kind" in entry:
        try:
            return _supported(RowCheck.from_stored(entry))
        except (KeyError, TypeError, ValueError) as error:
            raise BadContent(f"The check {str(dict(entry))[:100]} has a field of the wrong type.") from error
    left = {key: entry[key] for key in ("threshold", "weight", "model", "label") if key in entry}
    kinds = [key for key in entry if key not in left]
    if len(kinds) != 1:
        raise BadContent(f"The check {str(dict(entry))[:100]} has no kind.", "For example: contains: Paris")
    return check_in(
        {
            "kind": kinds[0].removeprefix("not-"),
            "value": entry[kinds[0]],
            "negated": kinds[0].startswith("not-"),
        }
        | left
    )


def check_in_words(words: str) -> RowCheck:
    """Read a check as in promptfoo's tables: `contains: Paris`, `similar(0.8): …`; any other text must be equalled."""
    match = _SHORT.match(words.strip())
    name = match.group(2) if match is not None else ""
    name = _GRADES.get(name, name)
    if match is None or not (name in KINDS or name in _OF_PROMPTFOO or name in CODE):
        bare = words.strip().removeprefix("not-")
        if bare in ("is-json", "contains-json"):
            return RowCheck(bare, negated=bare != words.strip())
        return RowCheck("equals", words.strip())
    value: Json = match.group(4).strip()
    if name in _LISTS:
        value = [part.strip() for part in match.group(4).split(",") if part.strip()]
    entry: dict[str, Json] = {"type": f"{match.group(1) or ''}{name}", "value": value}
    if match.group(3):
        entry["threshold"] = number_of(match.group(3))
    return assertion(entry)


def assertion(entry: Mapping[str, Json]) -> RowCheck:
    """Read an assertion of promptfoo. One that Forky does not support gets a weight of 0, so that it is shown but
    decides nothing.
    """
    name = text_of(entry.get("type"))
    negated = name.startswith("not-")
    name = name.removeprefix("not-")
    value: Json = entry.get("value", "")
    kind, rubric = _OF_PROMPTFOO.get(name, (name, ""))
    if rubric:
        text = "; ".join(text_of(one) for one in value) if isinstance(value, list) else text_of(value)
        value = rubric.format(text).strip() if text or rubric != "{}" else ""
    weight = number_of(entry.get("weight"))
    threshold = number_of(entry.get("threshold"))
    if kind == "rouge-n" and isinstance(value, Mapping):
        value = text_of(value.get("value", ""))
    is_supported = kind in KINDS and kind != "code"
    return RowCheck(
        kind[:60] or "unknown",
        value,
        negated,
        threshold,
        0.0 if not is_supported else 1.0 if weight is None or weight < 0 else weight,
        None,
        text_of(entry.get("metric", ""))[:100],
    )


def _supported(check: RowCheck) -> RowCheck:
    if check.kind in KINDS:
        return check
    if check.kind in _OF_PROMPTFOO:
        return assertion({"type": check.kind, **{k: v for k, v in check.stored().items() if k != "kind"}})
    raise BadContent(f"There is no check of the kind “{check.kind[:40]}”.", f"There are: {', '.join(KINDS)}.")
