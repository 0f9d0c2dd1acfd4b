"""What each column of a comparison took: five numbers, each as a share of the greatest, with the best one named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forky_core.views.captions import dollars, seconds, tokens
from forky_core.views.compare import Column, Total


@dataclass(frozen=True, slots=True)
class ColumnNumber:
    """One number of one column."""

    name: str
    shown: str
    share: float
    """Of the greatest of all columns: 0 to 1."""
    best: bool
    """Whether no other column has a better one, and one has a worse one."""


@dataclass(frozen=True, slots=True)
class _Measure:
    name: str
    of: Callable[[Total], float | None]
    shown: Callable[[float], str]
    most_is_best: bool = False


def _span(value: float) -> str:
    return seconds(value) if value >= 1 else f"{value * 1000:,.0f} ms"


_MEASURES = (
    _Measure("Tokens", lambda total: total.tokens or None, lambda value: tokens(round(value))),
    _Measure("Cost", lambda total: total.cost, lambda value: dollars(value) if value else "free"),
    _Measure("First token", lambda total: total.first_token, _span),
    _Measure("Total time", lambda total: total.seconds, _span),
    _Measure(
        "Tokens per second", lambda total: total.rate, lambda value: f"{value:,.0f}/s", most_is_best=True
    ),
)


def column_numbers(columns: Sequence[Column]) -> tuple[tuple[ColumnNumber, ...], ...]:
    """Return the numbers of each column; one that is not known there is left out."""
    found: list[list[ColumnNumber]] = [[] for _ in columns]
    for measure in _MEASURES:
        values = [measure.of(column.total) if column.total.answers else None for column in columns]
        known = [value for value in values if value is not None]
        most, least = max(known, default=0.0), min(known, default=0.0)
        best = most if measure.most_is_best else least
        for numbers, value in zip(found, values, strict=True):
            if value is not None:
                share = value / most if most else 0.0
                wins = value == best and least < most
                numbers.append(ColumnNumber(measure.name, measure.shown(value), share, wins))
    return tuple(map(tuple, found))
