"""Formats the numbers of an experiment for people, in reports and on the terminal."""

from __future__ import annotations

from forky_core.experiments.results import ColumnSummary


def dollars(amount: float | None) -> str:
    """Format an amount of US dollars; "?" for an unknown price."""
    if amount is None:
        return "?"
    if amount == 0:
        return "$0"
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}" if amount >= 0.0001 else "< $0.0001"


def seconds(time: float | None) -> str:
    if time is None:
        return "–"
    return f"{time * 1000:.0f} ms" if time < 1 else f"{time:.1f} s"


def share(column: ColumnSummary) -> str:
    """Format the share of passes with its interval; "–" without a verdict."""
    return column.rate.text if column.rate is not None else "–"


def state(column: ColumnSummary) -> str:
    """Say what is still missing in a column; "" if nothing is."""
    parts = (
        (column.failed, "failed"),
        (column.running, "running"),
        (column.waiting, "not asked"),
        (column.answered - column.verdicts if column.verdicts else 0, "without verdict"),
    )
    return ", ".join(f"{number:,} {word}" for number, word in parts if number)
