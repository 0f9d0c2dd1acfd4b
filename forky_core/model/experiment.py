"""Experiments as frozen values: rows of questions, columns of models, and what each answer is checked for.

An experiment lives in a view (view.py), so that undo, forks, exports and `verify` apply to it as to a branch:

- `experiments/<name>` → `Experiment.stored()`, which is everything but its rows
- `experiment-rows/<name>/<n>` → the n-th hundred of its rows, so that changing one writes few
- `experiment-marks/<name>/<row>/<column>/<sample>` → what a person thinks of an answer
- `experiment-scores/<name>/<row>/<column>/<sample>` → the verdicts of a program's own checks

Its answers are no part of it: each is a message on a branch `<name>/<row>/<column>`. What became of a cell is derived
from that branch, so that nothing has to be kept in step.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from forky_core.model.changed_fields import changed_fields
from forky_core.model.ids import MessageId
from forky_core.model.parts import Json, canonical_json
from forky_core.model.view import View

EXPERIMENTS = "experiments/"
ROWS = "experiment-rows/"
MARKS = "experiment-marks/"
SCORES = "experiment-scores/"
"""The prefixes of an experiment's keys in a view."""
ROWS_TOGETHER = 100
"""Rows in one entry."""
HIGHEST_NUMBER = 10**9
"""The highest number of a row."""
JUDGE = "judge"
BEST = "best"
"""The parts of branch names that lead to a judge's answers."""

Turns = tuple[tuple[str, str], ...]
"""Role and template of each message that a column sends."""
NOTHING: Mapping[str, Json] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RowCheck:
    """What an answer is checked for; docs/experiments.md lists the kinds."""

    kind: str
    """The name of a kind: "contains", "regex", "judge" …"""
    value: Json = ""
    """What the kind looks for: a text, several, a schema or a number. Texts may hold {{variables}} of the row."""
    negated: bool = False
    """Whether the answer passes where the check would fail."""
    threshold: float | None = None
    """The least similarity or score that passes, or the most characters, seconds or dollars; None: the kind's own."""
    weight: float = 1.0
    """How much it counts in the score of a cell; 0: it is shown and decides nothing."""
    model: str | None = None
    """The model that judges; None: the experiment's."""
    label: str = ""
    """Its name for people; "": made from kind and value."""

    @property
    def key(self) -> str:
        """The same for equal checks."""
        return canonical_json(self.stored())

    def stored(self) -> dict[str, Json]:
        return {"kind": self.kind} | changed_fields(
            self, "value", "negated", "threshold", "weight", "model", "label"
        )

    @classmethod
    def from_stored(cls, entry: Mapping[str, Json]) -> RowCheck:
        return cls(
            _text(entry["kind"]),
            entry.get("value", ""),
            _flag(entry.get("negated", False)),
            _number_or_none(entry.get("threshold")),
            _number(entry.get("weight", 1.0)),
            _text_or_none(entry.get("model")),
            _text(entry.get("label", "")),
        )


@dataclass(frozen=True, slots=True)
class ExperimentRow:
    """A question or a test case."""

    question: str = ""
    """What is asked; may hold {{variables}}. "": the columns' prompts say everything."""
    variables: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    reference: str = ""
    """An answer known to be good, for similarity and for judges."""
    checks: Sequence[RowCheck] = ()
    """Checks of this row alone; those of the experiment apply as well."""
    at: MessageId | None = None
    """The message below which it is asked, so that the model sees what was said before; None: a fresh start."""
    threshold: float | None = None
    """The least score of a cell that passes; None: every check has to pass."""
    label: str = ""
    """Its name for people; "": its question, or its variables."""
    id: int = 0
    """Its number, which is never given to another row; 0: the experiment numbers it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "checks", tuple(self.checks))

    @property
    def title(self) -> str:
        """One line that says which row it is."""
        said = self.label or self.question or ", ".join(f"{k}: {v}" for k, v in self.variables.items())
        return " ".join(said[:400].split()) or f"row {self.id}"

    @property
    def values(self) -> Mapping[str, Json]:
        """What templates may name."""
        return {"reference": self.reference, **self.variables}

    def stored(self) -> dict[str, Json]:
        return {"id": self.id} | changed_fields(
            self, "question", "variables", "reference", "checks", "at", "threshold", "label"
        )

    @classmethod
    def from_stored(cls, entry: Mapping[str, Json]) -> ExperimentRow:
        at = _text_or_none(entry.get("at"))
        return cls(
            _text(entry.get("question", "")),
            MappingProxyType(_object(entry.get("variables", {}))),
            _text(entry.get("reference", "")),
            tuple(RowCheck.from_stored(check) for check in _list(entry.get("checks", []))),
            MessageId(at) if at is not None else None,
            _number_or_none(entry.get("threshold")),
            _text(entry.get("label", "")),
            _whole(entry["id"]),
        )


@dataclass(frozen=True, slots=True)
class ExperimentColumn:
    """A model with the prompt, the system prompt and the parameters that it is asked with."""

    model: str | None = None
    """None: the default model of the workspace."""
    system: str = ""
    """The system prompt; may hold {{variables}}."""
    prompt: str | Turns = "{{question}}"
    """What is sent for a row: a template, or several messages as pairs of role and template, the last a question."""
    parameters: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    samples: int = 1
    """How often each row is asked."""
    label: str = ""
    """Its name for people; "": made from the model and the prompt."""
    id: str = ""
    """The part of branch names that stands for it; "": the experiment makes one."""

    @property
    def turns(self) -> Turns:
        return (("user", self.prompt),) if isinstance(self.prompt, str) else self.prompt

    def stored(self) -> dict[str, Json]:
        return {"id": self.id} | changed_fields(
            self, "model", "system", "prompt", "parameters", "samples", "label"
        )

    @classmethod
    def from_stored(cls, entry: Mapping[str, Json]) -> ExperimentColumn:
        prompt = entry.get("prompt", "{{question}}")
        if not isinstance(prompt, str):
            prompt = tuple((_text(role), _text(text)) for role, text in _list(prompt))
        return cls(
            _text_or_none(entry.get("model")),
            _text(entry.get("system", "")),
            prompt,
            MappingProxyType(_object(entry.get("parameters", {}))),
            _whole(entry.get("samples", 1)),
            _text(entry.get("label", "")),
            _text(entry["id"]),
        )


@dataclass(frozen=True, slots=True)
class CellAddress:
    """Names one answer of an experiment by its row, its column and its sample."""

    row: int
    column: str
    sample: int = 1

    def branch(self, experiment: str) -> str:
        """The name of its branch."""
        more = f"/{self.sample}" if self.sample > 1 else ""
        return f"{experiment}/{self.row}/{self.column}{more}"

    @property
    def key(self) -> str:
        """Its part of the keys of marks and scores."""
        return f"{self.row}/{self.column}/{self.sample}"


@dataclass(frozen=True, slots=True)
class Experiment:
    """A grid: each row is asked in each column, as often as the column says."""

    name: str
    rows: Sequence[ExperimentRow] = ()
    columns: Sequence[ExperimentColumn] = ()
    checks: Sequence[RowCheck] = ()
    """Checks of every row."""
    about: str = ""
    """What it is for, in a sentence."""
    judge: str | None = None
    """The model that judges where a check names none; None: the default model of the workspace."""
    parallel: int = 4
    """The most calls at once."""
    dollars: float | None = None
    """The most that all its calls together may cost; None: no limit."""
    reuse: bool = False
    """Whether a first sample takes the stored answer to an identical call of the conversation."""
    seed: int = 0
    """Of everything random: the order in which answers are shown to a judge, and the intervals."""
    notes: tuple[str, ...] = ()
    """What the file it was read from asks for and Forky does not do, a sentence each."""
    last_number: int = 0
    """The highest number that any of its rows has had, so that the number of a removed row is not given again."""

    def __post_init__(self) -> None:
        rows = _numbered(self.rows, self.last_number)
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "last_number", max([self.last_number, *(row.id for row in rows)]))
        object.__setattr__(self, "columns", _named(self.columns))
        object.__setattr__(self, "checks", tuple(self.checks))

    @property
    def cells(self) -> Iterator[CellAddress]:
        """Every cell, row by row."""
        for row in self.rows:
            for column in self.columns:
                for sample in range(1, column.samples + 1):
                    yield CellAddress(row.id, column.id, sample)

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.rows) * sum(column.samples for column in self.columns)

    def row(self, id: int) -> ExperimentRow | None:
        return next((row for row in self.rows if row.id == id), None)

    def column(self, id: str) -> ExperimentColumn | None:
        return next((column for column in self.columns if column.id == id), None)

    def checks_of(self, row: ExperimentRow) -> tuple[RowCheck, ...]:
        """The checks of every row, then those of this one."""
        return (*self.checks, *row.checks)

    def stored(self) -> dict[str, Json]:
        """Everything but the rows, without fields that have their default."""
        entry: dict[str, Json] = {
            "columns": [column.stored() for column in self.columns],
            "rows": len(self.rows),
        }
        entry |= changed_fields(
            self, "checks", "about", "judge", "parallel", "dollars", "reuse", "seed", "notes"
        )
        if self.last_number > max((row.id for row in self.rows), default=0):
            entry["last_number"] = self.last_number
        return entry

    def entries(self) -> dict[str, Json]:
        """The keys and values that hold it in a view."""
        pieces = range(0, len(self.rows), ROWS_TOGETHER)
        return {f"{EXPERIMENTS}{self.name}": self.stored()} | {
            f"{ROWS}{self.name}/{at // ROWS_TOGETHER}": [
                row.stored() for row in self.rows[at : at + ROWS_TOGETHER]
            ]
            for at in pieces
        }

    @classmethod
    def from_stored(
        cls, name: str, entry: Mapping[str, Json], rows: Iterable[Mapping[str, Json]]
    ) -> Experiment:
        """Read an experiment.

        Raises:
            KeyError, TypeError, ValueError: a field is missing or of the wrong type.
        """
        return cls(
            name,
            tuple(ExperimentRow.from_stored(row) for row in rows),
            tuple(ExperimentColumn.from_stored(column) for column in _list(entry.get("columns", []))),
            tuple(RowCheck.from_stored(check) for check in _list(entry.get("checks", []))),
            _text(entry.get("about", "")),
            _text_or_none(entry.get("judge")),
            _whole(entry.get("parallel", 4)),
            _number_or_none(entry.get("dollars")),
            _flag(entry.get("reuse", False)),
            _whole(entry.get("seed", 0)),
            tuple(_text(note) for note in _list(entry.get("notes", []))),
            _whole(entry.get("last_number", 0)),
        )


def experiments_in(view: View) -> tuple[str, ...]:
    """The names of the experiments in a view, sorted."""
    return tuple(sorted(key.removeprefix(EXPERIMENTS) for key in view.entries if key.startswith(EXPERIMENTS)))


def stored_in(view: View, name: str) -> tuple[Json, ...]:
    """The values that hold an experiment: itself, then its rows; () if there is none of that name."""
    entry: Any = view.entries.get(f"{EXPERIMENTS}{name}")
    if entry is None:
        return ()
    pieces = -(-int(entry.get("rows", 0)) // ROWS_TOGETHER)
    return (entry, *(view.entries.get(f"{ROWS}{name}/{at}", []) for at in range(pieces)))


def experiment_in(view: View, name: str) -> Experiment:
    """The experiment of that name. Raises KeyError if there is none."""
    stored = stored_in(view, name)
    if not stored:
        raise KeyError(name)
    return Experiment.from_stored(name, stored[0], (row for piece in stored[1:] for row in piece))


def is_cell(branch: str, experiments: Iterable[str]) -> bool:
    """Whether a branch of this name belongs to one of the experiments."""
    first, slash, _ = branch.partition("/")
    return bool(slash) and first in experiments


def _numbered(rows: Sequence[ExperimentRow], highest: int) -> tuple[ExperimentRow, ...]:
    """The rows with a number each; one that has none, or one that is taken already, gets one above `highest`."""
    highest = max([highest, *(row.id for row in rows)])
    taken: set[int] = set()
    made: list[ExperimentRow] = []
    for row in rows:
        kept = row
        if row.id < 1 or row.id in taken:
            highest += 1
            kept = replace(row, id=highest)
        taken.add(kept.id)
        made.append(kept)
    return tuple(made)


_NO_SLUG = re.compile(r"[^a-z0-9.]+")


def _named(columns: Sequence[ExperimentColumn]) -> tuple[ExperimentColumn, ...]:
    """The columns with an id each that can be part of a branch's name."""
    taken = {column.id for column in columns if column.id}
    seen: set[str] = set()
    made: list[ExperimentColumn] = []
    for column in columns:
        kept = column
        if not column.id or column.id in seen or _NO_SLUG.search(column.id.replace("-", "")):
            stem = _NO_SLUG.sub("-", (column.label or (column.model or "model").rpartition("/")[2]).lower())
            stem = stem.strip("-.")[:24].strip("-.") or "column"
            id, number = stem, 1
            while id in taken:
                number += 1
                id = f"{stem}-{number}"
            kept = replace(column, id=id)
        taken.add(kept.id)
        seen.add(kept.id)
        made.append(kept)
    return tuple(made)


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _text_or_none(value: Json) -> str | None:
    return None if value is None else _text(value)


def _flag(value: Json) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _whole(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError
    return value


def _number(value: Json) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or math.isnan(value):
        raise TypeError
    return float(value)


def _number_or_none(value: Json) -> float | None:
    return None if value is None else _number(value)


def _list(value: Json) -> list[Json]:
    if not isinstance(value, list | tuple):
        raise TypeError
    return list(value)


def _object(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict | Mapping):
        raise TypeError
    return dict(value)
