"""Money and answers as they are counted and written: whole billionths of a US dollar, and whole answers."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import Literal

from forky_core.model.errors import BadContent

Unit = Literal["dollars", "answers"]
NANO = 1_000_000_000
"""Billionths in a dollar."""
MOST: dict[Unit, int] = {"dollars": 1_000_000 * NANO, "answers": 1_000_000_000}


def nanodollars(dollars: float) -> int:
    """A price as billionths of a dollar, rounded up: many tiny calls must not cost nothing."""
    return int((Decimal(repr(float(dollars))) * NANO).to_integral_value(ROUND_CEILING))


def money(nano: int) -> str:
    """An amount of money as people read it: "$5.00", "$0.0012"."""
    sign, value = ("-" if nano < 0 else ""), Decimal(abs(nano)) / NANO
    for places in (2, 4, 6):
        exact = value == value.quantize(Decimal(1).scaleb(-places))
        if exact or value >= Decimal(1).scaleb(1 - places):
            return f"{sign}${value:,.{places}f}"
    return f"{sign}${value:,.9f}".rstrip("0")


def amount_text(unit: Unit, amount: int) -> str:
    """An amount of a unit with its name: "$5.00", "1 answer", "20 answers"."""
    if unit == "dollars":
        return money(amount)
    return "1 answer" if amount == 1 else f"{amount:,} answers"


def read_amount(unit: Unit, text: str) -> int:
    """The amount that somebody wrote, as "5", "$2.50" or "20". Raises BadContent for anything else."""
    plain = text.strip().removeprefix("$").replace(",", "").replace("_", "")
    try:
        value = Decimal(plain)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite():
        raise BadContent(f"“{text[:40]}” is no number.", "Write one such as 5 or 2.50.")
    amount = value * NANO if unit == "dollars" else value
    if not 0 <= amount <= MOST[unit]:
        raise BadContent(f"{amount_text(unit, 0)} to {amount_text(unit, MOST[unit])} can be written here.")
    if amount != amount.to_integral_value():
        raise BadContent(
            "Answers are a whole number." if unit == "answers" else "That is less than can be counted."
        )
    return int(amount)
