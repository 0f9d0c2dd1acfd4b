"""Checks of an answer's words: contains, equals, begins with, regular expressions, length."""

from __future__ import annotations

import json
import re

import regex

from forky_core.experiments.checks.verdict import AnswerFacts, Verdict
from forky_core.model.errors import BadContent
from forky_core.model.experiment import RowCheck
from forky_core.model.parts import Json

LONGEST_SEARCH = 1.0
"""The most seconds that a regular expression may take on one answer."""
_UNITS = ("characters", "words", "lines")


def contains(answer: AnswerFacts, check: RowCheck, value: Json) -> Verdict:
    """The answer contains all texts (`-all`), one of them (`-any`) or the only one; kinds with `i` ignore case."""
    wanted = texts_of(value)
    if not wanted:
        raise BadContent("There is nothing to look for.", "Give the check a text.")
    ignores_case = check.kind.startswith("i")
    text = answer.text.casefold() if ignores_case else answer.text
    found = [one for one in wanted if (one.casefold() if ignores_case else one) in text]
    absent = [one for one in wanted if one not in found]
    if check.kind.endswith("-any"):
        return Verdict(bool(found), f"has {quoted(found[0])}" if found else f"has none of {_listed(wanted)}")
    if absent:
        return Verdict(False, f"has no {_listed(absent)}", 1 - len(absent) / len(wanted))
    return Verdict(True, f"has {_listed(found)}")


def starts_with(answer: AnswerFacts, _check: RowCheck, value: Json) -> Verdict:
    wanted = text_of(value)
    if not wanted:
        raise BadContent("There is nothing to look for.", "Give the check a text.")
    passed = answer.text.lstrip().startswith(wanted)
    return Verdict(passed, f"begins {'' if passed else 'not '}with {quoted(wanted)}")


def equals(answer: AnswerFacts, check: RowCheck, value: Json) -> Verdict:
    """The texts are equal except for space around them; a value that is not a text is compared as JSON."""
    if not isinstance(value, str):
        try:
            same = json.loads(answer.text) == value
        except (ValueError, RecursionError):
            return Verdict(False, "is no JSON")
        return Verdict(same, "is the same JSON" if same else "is other JSON")
    wanted = value or answer.reference
    same = answer.text.strip() == wanted.strip()
    if not same and check.kind == "iequals":
        same = answer.text.strip().casefold() == wanted.strip().casefold()
    return Verdict(same, f"is {'' if same else 'not '}{quoted(wanted)}")


def matches(answer: AnswerFacts, _check: RowCheck, value: Json) -> Verdict:
    """The regular expression is found somewhere in the answer."""
    pattern = text_of(value)
    if not pattern:
        raise BadContent("There is nothing to look for.", "Give the check an expression.")
    try:
        found = regex.compile(pattern).search(answer.text, timeout=LONGEST_SEARCH, concurrent=True)
    except regex.error as error:
        raise BadContent(f"{quoted(pattern)} is no regular expression: {error}.") from error
    except TimeoutError as error:
        raise BadContent(
            f"{quoted(pattern)} takes too long on an answer of {len(answer.text):,} characters.",
            "Write it without repetitions inside repetitions.",
        ) from error
    if found is None:
        return Verdict(False, f"{quoted(pattern)} is not found")
    return Verdict(True, f"{quoted(pattern)} is found: {quoted(found.group(0))}")


def length(answer: AnswerFacts, check: RowCheck, value: Json) -> Verdict:
    """The number of words, characters or lines is between two bounds: {"min": 1, "max": 50, "unit": "words"}.

    A number alone, or `threshold`, is the upper bound.
    """
    unit = "words" if check.kind == "word-count" else "characters"
    least, most = _bounds(value, check)
    if isinstance(value, dict):
        unit = str(value.get("unit", unit))
    if unit not in _UNITS:
        raise BadContent(f"A length is counted in {', '.join(_UNITS)}; not in {quoted(unit)}.")
    if least is None and most is None:
        raise BadContent("A length needs a bound.", 'Give it a number, or {"min": …, "max": …}.')
    counted = {
        "characters": lambda: len(answer.text),
        "words": lambda: len(re.findall(r"\S+", answer.text)),
        "lines": lambda: len(answer.text.strip().splitlines()),
    }[unit]()
    passed = (least is None or counted >= least) and (most is None or counted <= most)
    allowed = " and ".join(
        part
        for part in (
            f"at least {least:,g}" if least is not None else "",
            f"at most {most:,g}" if most is not None else "",
        )
        if part
    )
    return Verdict(passed, f"{counted:,} {unit}; allowed: {allowed}")


def _bounds(value: Json, check: RowCheck) -> tuple[float | None, float | None]:
    if isinstance(value, dict):
        return number_of(value.get("min")), number_of(value.get("max"))
    most = number_of(value)
    if check.kind == "word-count" and most is not None:
        return most, most  # As in promptfoo: a number alone is the exact count.
    return None, most if most is not None else check.threshold


def text_of(value: Json) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def texts_of(value: Json) -> tuple[str, ...]:
    listed = value if isinstance(value, list | tuple) else [value]
    return tuple(text for one in listed if (text := text_of(one)))


def number_of(value: Json) -> float | None:
    """Return a number, which may be written as text; None for other values."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def quoted(text: str, longest: int = 60) -> str:
    """Put a text on one line and into quotation marks, and cut it to `longest` characters."""
    line = " ".join(text[: longest * 4].split())
    return f"“{line if len(line) <= longest else line[: longest - 1] + '…'}”"


def _listed(texts: list[str] | tuple[str, ...]) -> str:
    shown = ", ".join(quoted(text) for text in texts[:4])
    return shown if len(texts) <= 4 else f"{shown} and {len(texts) - 4} more"
