"""Reads an experiment in Forky's own form: an object with rows, columns and checks (docs/experiments.md)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from forky_core.experiments.checks.text_checks import text_of
from forky_core.experiments.files.cases import cases, cases_in_text
from forky_core.experiments.files.check_words import check_in
from forky_core.experiments.files.loading import Folder, text_in
from forky_core.experiments.validation import require_few_columns
from forky_core.model.errors import BadContent
from forky_core.model.experiment import Experiment, ExperimentColumn, ExperimentRow
from forky_core.model.parts import Json

FIELDS = frozenset(
    {"name", "about", "rows", "columns", "checks", "judge", "parallel", "dollars", "reuse", "seed"}
)
_OF_COLUMN = frozenset({"model", "system", "prompt", "parameters", "samples", "label", "id"})


def experiment_in(entry: Mapping[str, Json], name: str, folder: Folder) -> Experiment:
    """Read the experiment that an object describes; `name` is its name if the object has none. Raises BadContent."""
    unknown = sorted(set(entry) - FIELDS - {"notes"})
    columns = entry.get("columns", [])
    if not isinstance(columns, list):
        raise BadContent("The columns are a list of models, or of objects with a model.")
    require_few_columns(len(columns))
    checks = entry.get("checks", [])
    try:
        return Experiment(
            text_of(entry.get("name", "")) or name,
            _rows(entry.get("rows", []), folder),
            tuple(_column(column) for column in columns),
            tuple(check_in(one) for one in (checks if isinstance(checks, list) else [checks])),
            text_of(entry.get("about", "")),
            text_of(entry["judge"]) if entry.get("judge") else None,
            int(entry.get("parallel", 4)),
            float(entry["dollars"]) if entry.get("dollars") is not None else None,
            bool(entry.get("reuse", False)),
            int(entry.get("seed", 0)),
            tuple(f"The file says “{key[:60]}”, which is no part of an experiment." for key in unknown),
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise BadContent(f"A field of the experiment is of the wrong kind: {str(error)[:160]}.") from error


def _rows(value: Json, folder: Folder) -> tuple[ExperimentRow, ...]:
    if isinstance(value, str):
        return tuple(row for file in folder.find(value) for row in cases_in_text(text_in(file), file.name))
    if not isinstance(value, list):
        raise BadContent("The rows are a list of cases, or the name of a file with them.")
    return cases(value)


def _column(entry: Json) -> ExperimentColumn:
    if isinstance(entry, str):
        return ExperimentColumn(entry)
    if not isinstance(entry, Mapping):
        raise BadContent("A column is the name of a model, or an object with one.")
    if unknown := sorted(set(entry) - _OF_COLUMN):
        raise BadContent(f"A column has no “{unknown[0][:60]}”.", f"It has {', '.join(sorted(_OF_COLUMN))}.")
    parameters = entry.get("parameters") or {}
    if not isinstance(parameters, Mapping):
        raise BadContent("The parameters of a column are an object: temperature: 0")
    prompt: Any = entry.get("prompt", "{{question}}")
    system = text_of(entry.get("system", ""))
    if isinstance(prompt, list):
        turns = chat_turns(prompt)
        system = system or "\n\n".join(text for role, text in turns if role == "system")
        prompt = tuple((role, text) for role, text in turns if role != "system")
    return ExperimentColumn(
        text_of(entry.get("model", "")) or None,
        system,
        prompt if isinstance(prompt, tuple) else text_of(prompt),
        MappingProxyType(dict(parameters)),
        int(entry.get("samples", 1)),
        text_of(entry.get("label", "")),
        text_of(entry.get("id", "")),
    )


def chat_turns(value: Json) -> tuple[tuple[str, str], ...]:
    """Return roles and texts of a list of messages, which may be pairs or OpenAI's objects. Raises BadContent."""
    made: list[tuple[str, str]] = []
    for one in value if isinstance(value, list) else []:
        if isinstance(one, Mapping) and "role" in one:
            role, content = text_of(one["role"]), one.get("content", "")
        elif isinstance(one, list) and len(one) == 2:
            role, content = text_of(one[0]), one[1]
        else:
            raise BadContent("A prompt of several messages has a role and a content in each.")
        if isinstance(content, list):
            content = "\n".join(
                text_of(part.get("text", "")) for part in content if isinstance(part, Mapping)
            )
        made.append(("system" if role == "developer" else role, text_of(content)))
    return tuple(made)
