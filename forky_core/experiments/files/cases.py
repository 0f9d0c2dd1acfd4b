"""Reads cases from tables: CSV, JSON Lines, a list in a YAML file, or lines that somebody pasted.

A case has a question, perhaps a reference and checks, and variables for all its other fields. promptfoo's columns
(`__expected`, `__description` …) have the same meaning as in promptfoo.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from forky_core.experiments.files.check_words import check_in, check_in_words
from forky_core.experiments.files.loading import decoded, json_lines_in, table_in, yaml_in
from forky_core.model.errors import BadContent
from forky_core.model.experiment import ExperimentRow
from forky_core.model.parts import Json

_QUESTION = ("question", "input", "prompt", "query")
_REFERENCE = ("reference", "expected", "ideal", "answer", "expected_output", "output", "target")
_LABEL = ("label", "title", "description", "__description")
_EXPECTED = re.compile(r"^__expected\d*$")


def cases_in_bytes(content: bytes, name: str) -> tuple[ExperimentRow, ...]:
    """Read the cases of an uploaded file. Raises BadContent."""
    return cases_in_text(decoded(content, name), name)


def cases_in_text(text: str, name: str) -> tuple[ExperimentRow, ...]:
    """Read the cases of a text; the suffix of `name` says its format. Raises BadContent."""
    ending = name.lower().rpartition(".")[2]
    if ending in ("csv", "tsv"):
        return cases(table_in(text, name))
    if ending in ("jsonl", "ndjson"):
        return cases(json_lines_in(text, name))
    if ending in ("yaml", "yml", "json"):
        found = yaml_in(text, name)
        if not isinstance(found, list):
            raise BadContent(f"“{name[:100]}” is no list of cases.")
        return cases(found)
    return typed_cases(text)


def typed_cases(text: str) -> tuple[ExperimentRow, ...]:
    """Read one question from each line, or from each paragraph if blank lines separate paragraphs of several lines."""
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", text.replace("\r\n", "\n")) if part.strip()]
    if any("\n" in part for part in paragraphs) and len(paragraphs) > 1:
        return tuple(ExperimentRow(part) for part in paragraphs)
    return tuple(ExperimentRow(line.strip()) for line in text.splitlines() if line.strip())


def cases(entries: Iterable[Json]) -> tuple[ExperimentRow, ...]:
    """Read the cases of a list of texts and objects. Raises BadContent."""
    return tuple(case(entry, number) for number, entry in enumerate(entries, 1))


def case(entry: Json, number: int = 0) -> ExperimentRow:
    """Read a case: a text, or an object with its question, reference, checks and variables. Raises BadContent."""
    if isinstance(entry, str):
        return ExperimentRow(entry)
    if not isinstance(entry, Mapping):
        raise BadContent(f"Case {number} is neither a question nor an object with one.")
    left = dict(entry)
    question, reference, label = (_pop_text(left, names) for names in (_QUESTION, _REFERENCE, _LABEL))
    checks = [check_in(one) for one in _listed(left.pop("checks", []))]
    for key in [key for key in left if _EXPECTED.match(key)]:
        words = left.pop(key)
        if isinstance(words, str) and words.strip():
            checks.append(check_in_words(words))
    threshold = _number(left.pop("__threshold", left.pop("threshold", None)))
    variables = left.pop("variables", None)
    if isinstance(variables, Mapping):
        left.update(variables)
    elif variables is not None:
        left["variables"] = variables
    for key in [key for key in left if key.startswith("__")]:
        del left[key]  # promptfoo's own fields: metric, metadata, configuration.
    return ExperimentRow(
        question, MappingProxyType(left), reference, tuple(checks), threshold=threshold, label=label
    )


def _pop_text(left: dict[str, Json], names: tuple[str, ...]) -> str:
    """Remove the first of these fields that is a text or a number, and return it; "" if there is none."""
    for name in names:
        key = next((key for key in left if key.strip().lower() == name), None)
        if key is not None and isinstance(left[key], str | int | float) and not isinstance(left[key], bool):
            return str(left.pop(key))
    return ""


def _listed(value: Json) -> list[Json]:
    return list(value) if isinstance(value, list) else [value] if value else []


def _number(value: Json) -> float | None:
    try:
        return float(value) if value not in (None, "") else None
    except (TypeError, ValueError):
        return None
