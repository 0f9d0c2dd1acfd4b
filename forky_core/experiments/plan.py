"""Computes the question of each cell of an experiment from its rows and columns alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from forky_core.experiments.templates import commands_in, missing, names_in, rendered
from forky_core.model import Message, MessageId, Role, Rules, seal
from forky_core.model.experiment import CellAddress, Experiment, ExperimentColumn, ExperimentRow
from forky_core.model.hashing import mend_text
from forky_core.model.parts import Draft, Json, TextPart


@dataclass(frozen=True)
class CellQuestion:
    """The messages of a cell before the answer, and the rules of its branch."""

    messages: tuple[Message, ...]
    rules: Rules

    @cached_property
    def stored_rules(self) -> dict[str, Json]:
        """The rules in the form that a view stores."""
        return self.rules.stored()

    @property
    def id(self) -> MessageId:
        """The message that is answered."""
        return self.messages[-1].id

    @property
    def text(self) -> str:
        return self.messages[-1].text


class ExperimentPlan:
    """Returns every cell's question. Columns with the same prompt share their messages, and so their path."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.rows = {row.id: row for row in experiment.rows}
        self.columns = {column.id: column for column in experiment.columns}
        self._questions: dict[tuple[int, str], CellQuestion] = {}
        self._shared: dict[tuple[int, object], tuple[Message, ...]] = {}

    def question(self, address: CellAddress) -> CellQuestion:
        """Return the question of a cell. Raises KeyError if the experiment has no such row or column."""
        place = (address.row, address.column)
        if place not in self._questions:
            row, column = self.rows[address.row], self.columns[address.column]
            self._questions[place] = CellQuestion(self._messages(row, column), _rules(row, column))
        return self._questions[place]

    def _messages(self, row: ExperimentRow, column: ExperimentColumn) -> tuple[Message, ...]:
        shared = (row.id, column.prompt)
        if shared not in self._shared:
            self._shared[shared] = _sealed(row, column)
        return self._shared[shared]

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """A sentence for each problem of the templates, before anything is asked."""
        found: dict[str, list[str]] = {}
        commands: dict[str, None] = {}
        for column in self.columns.values():
            templates = (column.system, *(text for _, text in column.turns))
            commands.update(dict.fromkeys(one for text in templates for one in commands_in(text)))
            if not any(names_in(text) for text in templates) and not any(
                row.question for row in self.rows.values()
            ):
                continue
            for row in self.rows.values():
                for name in missing((*templates, row.question), values_of(row)):
                    found.setdefault(name, [])
                    if row.title not in found[name]:
                        found[name].append(row.title)
        sentences = [
            f"“{{{{{name}}}}}” has no value in {_some(rows)}; it is sent as it is written."
            for name, rows in found.items()
        ]
        sentences += [
            f"“{one}” is sent as it is written: only {{{{variables}}}} are replaced." for one in commands
        ]
        return tuple(sentences)


def title_of(row: ExperimentRow) -> str:
    """Return one line that identifies a row, with the variables of its question replaced."""
    if row.label or "{{" not in row.question:
        return row.title
    return " ".join(rendered(row.question, row.values)[:400].split()) or row.title


def values_of(row: ExperimentRow) -> dict[str, Json]:
    """Return the variables for the templates of a row's checks and columns."""
    values = dict(row.values)
    if row.question or "question" not in values:
        values["question"] = rendered(row.question, row.values)
    return values


def _sealed(row: ExperimentRow, column: ExperimentColumn) -> tuple[Message, ...]:
    values = values_of(row)
    above: tuple[MessageId, ...] = (row.at,) if row.at is not None else ()
    made: list[Message] = []
    for role, template in column.turns:
        text = mend_text(rendered(template, values))
        kind: Role = "assistant" if role == "assistant" else "user"
        message = seal(Draft(kind, (TextPart(text),)), above)
        made.append(message)
        above = (message.id,)
    return tuple(made)


def _rules(row: ExperimentRow, column: ExperimentColumn) -> Rules:
    system = mend_text(rendered(column.system, values_of(row))).strip()
    return Rules(system or None, column.model, MappingProxyType(dict(column.parameters)))


def _some(rows: list[str]) -> str:
    if len(rows) == 1:
        return f"the row “{rows[0][:60]}”"
    return f"{len(rows):,} rows, “{rows[0][:60]}” among them"
