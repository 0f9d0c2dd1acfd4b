"""The report of a comparison: branches or answers side by side, from the message where they part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from forky_core.formats.reports.report import (
    Block,
    DataTable,
    Leaf,
    Report,
    ReportColumn,
    ReportSection,
    Sentences,
    SideBySide,
    Value,
)
from forky_core.formats.reports.things.material import Material
from forky_core.model.errors import NotFound, NothingToDo, there_are
from forky_core.model.model_names import together
from forky_core.views.captions import SOMEBODY, dollars, ended, merged, seconds, tokens
from forky_core.views.compare import Column, ColumnEntry, Comparison, Turn, compare
from forky_core.views.shelf import count, title_or_placeholder
from forky_core.views.sides import first_sides, read_sides


class ComparisonThing:
    """Reports the columns in `which`, written as in the address of the Compare page: branches, or `@` and digits of an
    id.
    """

    name: ClassVar[str] = "comparison"
    label: ClassVar[str] = "Comparison"
    takes: ClassVar[str] = (
        "branches, or @ and the beginning of a message's id; without any, the branch and its nearest"
    )

    def report(self, material: Material, which: Sequence[str]) -> Report:
        """Raises NotFound for an unknown column, and NothingToDo if there is nothing to compare with."""
        chat = material.chat
        visible, view = chat.visible, chat.view
        sides, unknown = read_sides(which, view, visible)
        if unknown:
            raise NotFound(f"There is no branch or answer “{unknown[0][:80]}”.", there_are(view.branches))
        if not which:
            sides = first_sides(view, visible, chat.branch_name, chat.calls.origins_on)
        if len(sides) < 2:
            raise NothingToDo("A comparison has at least two columns.", "Fork, or name two branches.")
        found = compare(sides, visible, chat.calls.generations, chat.path, chat.branches.origin)
        names = ", ".join(f"“{side.label}”" for side in sides)
        shared = f"They have {count(len(found.shared), 'message')} in common." if found.shared else ""
        return Report(
            self.name,
            f"{title_or_placeholder(chat.title)}: {len(sides)} side by side",
            tuple(filter(None, (f"{names}.", shared, *found.notes))),
            (_numbers(material, found), *_rows(material, found)),
        )


def _numbers(material: Material, found: Comparison) -> ReportSection:
    costs = material.included.costs
    head = ("Column", "Model", "Answers", *(("Tokens", "Cost", "Time") if costs else ()))
    rows = tuple(
        (
            column.side.label,
            ", ".join(map(material.label, column.models)) or "–",
            column.total.answers,
            *(_costs(column) if costs else ()),
        )
        for column in found.columns
    )
    blocks: list[Block] = [DataTable(head, rows)]
    last = found.shared[-1] if found.shared else None
    if last is not None and last.role == "user":
        blocks += (Sentences(("All of them were asked:",)), *material.blocks(last))
    return ReportSection("In numbers", tuple(blocks))


def _costs(column: Column) -> tuple[Value, ...]:
    return (
        tokens(column.total.tokens),
        dollars(column.total.cost) if column.total.cost is not None else "?",
        seconds(column.total.seconds) if column.total.seconds is not None else "–",
    )


def _rows(material: Material, found: Comparison) -> Iterator[ReportSection]:
    for number, row in enumerate(found.rows, 1):
        asked = row.asked
        title = material.line(asked)[:120] if asked is not None else _place_of(number, found)
        blocks: list[Block] = list(material.blocks(asked)) if asked is not None else []
        columns = tuple(
            _column(material, column, turn, together=asked is not None)
            for column, turn in zip(found.columns, row.turns, strict=True)
        )
        yield ReportSection(title, (*blocks, SideBySide(columns)))


def _place_of(number: int, found: Comparison) -> str:
    return "The answers" if len(found.rows) == 1 else f"Turn {number} of {len(found.rows)}"


def _column(material: Material, column: Column, turn: Turn | None, *, together: bool) -> ReportColumn:
    if turn is None:
        return ReportColumn(column.side.label, "", (Sentences(("Nothing more was said here.",)),))
    entries = [*turn.brought, *turn.answers]
    if turn.question is not None and not together:
        entries.insert(len(turn.brought), turn.question)
    blocks: list[Leaf] = []
    for entry in entries:
        if entry is turn.question:
            blocks.append(Sentences(("Asked:",)))
        if entry.same_as is not None:
            blocks.append(Sentences((f"The same message as in “{entry.same_as}”.",)))
            continue
        if material.shown(entry.message) is None:
            continue
        if what := merged(entry.message):
            blocks.append(Sentences((what,)))
        blocks += material.blocks(entry.message)
        if why := ended(entry.generation, SOMEBODY):
            blocks.append(Sentences((why,)))
    facts = _facts(material, turn.answers[-1]) if turn.answers else ""
    return ReportColumn(column.side.label, facts, tuple(blocks))


def _facts(material: Material, entry: ColumnEntry) -> str:
    call = entry.generation
    facts = [_models(material, entry)] if entry.origin.models else []
    if not material.included.costs:
        return "".join(facts)
    facts.append(f"{tokens(entry.tokens)} tokens")
    if call is not None and call.usage.cost:
        facts.append(dollars(call.usage.cost))
    if entry.seconds is not None:
        facts.append(seconds(entry.seconds))
    return " · ".join(facts)


def _models(material: Material, entry: ColumnEntry) -> str:
    return together(map(material.label, entry.origin.models)) if entry.origin.models else ""
