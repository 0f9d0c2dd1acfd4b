"""The table of an experiment, drawn by the browser: sticky heads, a plot of each column's passes, every cell a button.

It runs in the page itself, so texts are only ever set as text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from forky_core.model.experiment import CellAddress
from forky_core.views.experiments import ExperimentTable, TableCell, TableColumn
from pages.ui.components.markdown import showable
from pages.ui.components.palette import palette

KEY = "experiments.grid"
_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "forky_experiment",
    html='<div class="grid"></div>',
    css=(_HERE / "grid.css").read_text("utf-8"),
    js=(_HERE / "grid.js").read_text("utf-8"),
)
_BAD = {True: "#ef8a80", False: "#a8322a"}
"""The colour of a failure in the dark and in the light."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The cell, row or column that was clicked."""

    kind: Literal["cell", "row", "column"]
    row: int = 0
    column: str = ""
    sample: int = 1

    @property
    def address(self) -> CellAddress:
        return CellAddress(self.row, self.column, self.sample)


def draw_grid(table: ExperimentTable, name: str, on_open: Callable[[Opened], None]) -> None:
    """Draw the table; `on_open` is called before the next run of the page. Keys: `experiments.grid`."""
    colors = palette()
    data = {
        "of": f"{name}/{table.page}",
        "corner": f"{table.fitting:,} {'row' if table.fitting == 1 else 'rows'}",
        "columns": [_column(column) for column in table.columns],
        "rows": [
            {"id": row.id, "title": showable(row.title[:300]), "cells": [_cell(cell) for cell in row.cells]}
            for row in table.rows
        ],
        "height": "70vh",
        "colors": {
            "text": colors.text,
            "quiet": colors.quiet,
            "background": colors.background,
            "surface": colors.surface,
            "border": colors.border,
            "accent": colors.accent,
            "bad": _BAD[colors.dark],
        },
    }

    def handle() -> None:
        opened = _opened(st.session_state.get(KEY, {}).get("open"))
        if opened is not None:
            on_open(opened)

    _component(key=KEY, data=(data,), on_open_change=handle, height="content")


def _opened(request: Any) -> Opened | None:
    if not isinstance(request, dict) or request.get("kind") not in ("cell", "row", "column"):
        return None
    row, column, sample = request.get("row", 0), request.get("column", ""), request.get("sample", 1)
    if not (isinstance(row, int) and isinstance(column, str) and isinstance(sample, int)):
        return None
    return Opened(request["kind"], row, column, sample)


def _column(column: TableColumn) -> dict[str, object]:
    rate = column.rate
    return {
        "id": column.id,
        "label": showable(column.label),
        "samples": column.samples,
        "rate": [rate.value, rate.low, rate.high] if rate is not None else None,
        "passes": column.passes,
        "facts": column.facts,
        "failed": column.failed,
        "open": column.open,
    }


def _cell(cell: TableCell) -> dict[str, object]:
    return {
        "row": cell.address.row,
        "column": cell.address.column,
        "sample": cell.address.sample,
        "state": cell.state,
        "text": showable(cell.text),
        "hint": showable(cell.hint),
        "marked": cell.marked,
    }
