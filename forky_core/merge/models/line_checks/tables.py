"""Checks rows of a table: what a line says of one row may not stand in another one of the same column."""

from __future__ import annotations

from forky_core.merge.models.line_checks.evidence import Evidence, weighed
from forky_core.merge.models.note_answer import NoteLine

Row = tuple[frozenset[str], ...]
"""The words of each cell."""


def other_row(_line: NoteLine, here: Evidence) -> str | None:
    """Reject a line that names one row of a table and gives it the cell of another row."""
    for part in here.parts:
        mine = weighed(part)
        for table in _tables(here):
            named = [(row, text) for row, text in table if row[0] and row[0] <= mine]
            if len(named) != 1:
                continue
            (own, text) = named[0]
            for at in range(1, len(own)):
                others = [row[at] for row, _ in table if row is not own and at < len(row)]
                if _tells(own[at], mine):
                    continue
                if any(cell and cell != own[at] and cell <= mine and not cell <= own[0] for cell in others):
                    return f"It gives to one row what stands in another: “{text[:120]}”."
    return None


def _tells(cell: frozenset[str], mine: frozenset[str]) -> bool:
    """Whether the part has all words of a cell."""
    return cell <= mine


def _tables(here: Evidence) -> list[list[tuple[Row, str]]]:
    """The tables of the cited messages."""
    found: list[list[tuple[Row, str]]] = []
    for at in here.cited:
        rows: list[tuple[Row, str]] = []
        for one in here.transcript.sentences[at]:
            if one.text.startswith("|") and one.text.count("|") > 1:
                cells = tuple(weighed(cell) for cell in one.text.strip().strip("|").split("|"))
                rows.append((cells, one.text))
        if len(rows) > 1:
            found.append(rows)
    return found
