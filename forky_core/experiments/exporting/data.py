"""Writes experiments for programs: a table of cells, everything as JSON, or the experiment alone as YAML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from forky_core.experiments.cells import CellResult
from forky_core.experiments.checks.registry import title
from forky_core.experiments.intervals import Interval
from forky_core.experiments.results import ColumnSummary, ExperimentResult
from forky_core.model.experiment import Experiment, ExperimentRow
from forky_core.model.parts import Json
from forky_core.process.extras import needed_for

CELL_HEAD = (
    "row",
    "question",
    "reference",
    "column",
    "model",
    "sample",
    "status",
    "passed",
    "score",
    "answer",
    "checks",
    "marked",
    "cost",
    "prompt_tokens",
    "completion_tokens",
    "seconds",
    "failure",
    "branch",
)


def cell_rows(result: ExperimentResult) -> Iterator[tuple[str | int | float, ...]]:
    """Yield the values of each cell, in the order of `CELL_HEAD`; "" for an unknown value."""
    labels = {column.column.id: column.label for column in result.columns}
    rows = {row.id: row for row in result.experiment.rows}
    for cell in result.cells.values():
        call = cell.call
        usage = call.usage if call is not None else None
        yield (
            cell.address.row,
            cell.question.text,
            rows[cell.address.row].reference,
            labels[cell.address.column],
            call.model if call is not None else cell.question.rules.model or "",
            cell.address.sample,
            cell.status,
            _word(cell.passed),
            "" if cell.score is None else round(cell.score, 4),
            cell.text,
            "\n".join(
                f"{title(one.check)}: {_word(one.verdict.passed) or '?'}, {one.verdict.reason}"
                for one in cell.verdicts
            ),
            _word(cell.mark.passed) if cell.mark is not None else "",
            "" if usage is None or usage.cost is None else usage.cost,
            "" if usage is None or usage.prompt_tokens is None else usage.prompt_tokens,
            "" if usage is None or usage.completion_tokens is None else usage.completion_tokens,
            "" if call is None or call.seconds is None else round(call.seconds, 3),
            cell.reply.why,
            cell.branch,
        )


def write_json(result: ExperimentResult) -> Iterator[bytes]:
    """Write all results of an experiment as one JSON object."""
    yield json.dumps(as_json(result), ensure_ascii=False, indent=1).encode()


def as_json(result: ExperimentResult, *, cells: bool = True) -> dict[str, Json]:
    entry: dict[str, Json] = {
        "experiment": own_form(result.experiment),
        "columns": [_column(column) for column in result.columns],
        "comparisons": [
            {
                "column": one.one.column.id,
                "with": one.other.column.id,
                "difference": _interval(one.difference),
                "rows": one.rows,
                "clear": one.is_clear,
            }
            for one in result.comparisons
        ],
        "verdict": result.verdict,
        "agreement": None
        if result.agreement is None
        else {
            "answers": result.agreement.answers,
            "share": _interval(result.agreement.share),
            "kappa": result.agreement.kappa,
        },
        "cost": result.cost,
        "calls": result.calls,
        "warnings": list(result.warnings),
    }
    if cells:
        entry["cells"] = [_cell(cell) for cell in result.cells.values()]
    return entry


def write_yaml(result: ExperimentResult) -> Iterator[bytes]:
    """Write the experiment alone, in the form that `read_experiment` reads."""
    with needed_for("Writing a YAML file", "experiments"):
        import yaml  # noqa: PLC0415 - only this form needs it
    yield yaml.safe_dump(own_form(result.experiment), allow_unicode=True, sort_keys=False, width=100).encode()


def own_form(experiment: Experiment) -> dict[str, Json]:
    """Return an experiment as the object for its file, without the places of rows in a conversation."""
    entry = {"name": experiment.name, **experiment.stored()}
    entry["columns"] = [column.stored() for column in experiment.columns]
    entry["rows"] = [_plain_row(row) for row in experiment.rows]
    if experiment.checks:
        entry["checks"] = [check.stored() for check in experiment.checks]
    for left_out in ("notes", "last_number"):
        entry.pop(left_out, None)
    return entry


def _plain_row(row: ExperimentRow) -> dict[str, Json]:
    entry = {key: value for key, value in row.stored().items() if key not in ("id", "at", "checks")}
    if row.checks:
        entry["checks"] = [check.stored() for check in row.checks]
    return entry


def _column(column: ColumnSummary) -> dict[str, Json]:
    return {
        "id": column.column.id,
        "label": column.label,
        "model": column.column.model,
        "cells": column.cells,
        "answered": column.answered,
        "failed": column.failed,
        "verdicts": column.verdicts,
        "passes": column.passes,
        "rate": _interval(column.rate),
        "score": column.score,
        "cost": column.cost,
        "prompt_tokens": column.prompt_tokens,
        "completion_tokens": column.completion_tokens,
        "seconds": column.seconds,
        "reused": column.reused,
    }


def _cell(cell: CellResult) -> dict[str, Json]:
    usage: Any = cell.call.usage if cell.call is not None else None
    return {
        "row": cell.address.row,
        "column": cell.address.column,
        "sample": cell.address.sample,
        "branch": cell.branch,
        "status": cell.status,
        "question": cell.question.text,
        "answer": cell.text,
        "message": cell.answer.id if cell.answer is not None else None,
        "passed": cell.passed,
        "score": cell.score,
        "checks": [
            {
                "check": one.check.stored(),
                "passed": one.verdict.passed,
                "score": one.verdict.points,
                "reason": one.verdict.reason,
            }
            for one in cell.verdicts
        ],
        "marked": cell.mark.passed if cell.mark is not None else None,
        "cost": usage.cost if usage is not None else None,
        "prompt_tokens": usage.prompt_tokens if usage is not None else None,
        "completion_tokens": usage.completion_tokens if usage is not None else None,
        "seconds": cell.call.seconds if cell.call is not None else None,
        "failure": cell.reply.why,
    }


def _interval(interval: Interval | None) -> Mapping[str, float] | None:
    if interval is None:
        return None
    return {"value": interval.value, "low": interval.low, "high": interval.high}


def _word(passed: bool | None) -> str:  # noqa: FBT001 - the one thing it names
    return {True: "pass", False: "fail", None: ""}[passed]
