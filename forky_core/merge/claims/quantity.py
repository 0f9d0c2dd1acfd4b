"""A value in a text, in a form in which it can be compared with another one."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOLERANCE = 0.035
"""The relative difference that rates and long durations may have and still be equal: twelve months of thirty days are a
year."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value in a text, in a form in which it can be compared."""

    dimension: str
    value: tuple[float, ...]
    """For an amount, the value in the base unit; for a date (month, day, …); for a version its numbers."""
    start: int
    end: int
    bare: float = 0.0
    """For an amount, its number without the unit."""
    digits: str = ""
    """The digits as written, if the number is in digits alone: 3.10 is a version after 3.9."""
    noun: str = ""
    """The key of the counted noun."""
    per: float = 0.0
    """For a rate, its period in seconds."""
    bound: str = ""
    """`≥` or `≤` if it limits a range."""

    def comparable(self, other: Quantity) -> bool:
        """Whether the two measure the same, so that they can differ."""
        mine, theirs = self.dimension, other.dimension
        if mine == theirs:
            return bool(self.per) == bool(other.per) or mine in ("money", "number")
        return "number" in (mine, theirs) and not {mine, theirs} & {
            "clock",
            "weekday",
            "frequency",
            "date",
            "quarter",
            "year",
        }

    def unit_of(self, other: Quantity) -> bool:
        """Whether both are in units of one sort."""
        return self.dimension == other.dimension and self.dimension != "version"

    def same(self, other: Quantity) -> bool:
        """Whether both values can hold at once."""
        if {self.dimension, other.dimension} == {
            "version",
            "number",
        } or self.dimension == other.dimension == "version":
            mine, theirs = self._numbers(), other._numbers()
            return _within(mine, self.bound, theirs, other.bound) or (
                self.bound == other.bound and _longer(mine, theirs)
            )
        if self.dimension == other.dimension == "date":
            return _same_date(self.value, other.value)
        if _within(self._numbers(), self.bound, other._numbers(), other.bound):
            return True
        if len(self.value) == len(other.value) == 1:
            one, two = self.value[0], other.value[0]
            if self.dimension != other.dimension and self.bare and other.bare:
                one, two = self.bare, other.bare
            if self.per and other.per:
                one, two = one / self.per, two / other.per
                return abs(one - two) <= _TOLERANCE * max(abs(one), abs(two))
            if self.dimension == other.dimension == "time":
                return (
                    abs(one - two) <= _TOLERANCE * max(abs(one), abs(two)) and max(one, two) > 10**6
                ) or one == two
            return abs(one - two) <= 1e-9 * max(abs(one), abs(two), 1.0)
        return self.value == other.value

    def _numbers(self) -> tuple[float, ...]:
        if self.dimension == "version" or not _DOTTED.fullmatch(self.digits):
            return self.value
        return tuple(float(piece) for piece in self.digits.split("."))


_DOTTED = re.compile(r"\d+(?:\.\d+)+")


def _within(one: tuple[float, ...], bound: str, two: tuple[float, ...], other: str) -> bool:
    """Whether the values are compatible: one is a limit that the other satisfies."""
    if bound == other:
        return False
    low, high = (two, one) if bound == "≤" or other == "≥" else (one, two)
    return low <= high


def _longer(one: tuple[float, ...], two: tuple[float, ...]) -> bool:
    short = min(len(one), len(two))
    return one[:short] == two[:short]


def _same_date(one: tuple[float, ...], two: tuple[float, ...]) -> bool:
    """Compare (month, day, year), where 0 is unknown; a date in digits may have its month and day exchanged."""
    if one[2] and two[2] and one[2] != two[2]:
        return False
    if not (one[0] and two[0]):
        return one[1] == two[1]
    if not (one[1] and two[1]):
        return one[0] == two[0]
    return one[:2] == two[:2] or (one[3:] != two[3:] and one[:2] == (two[1], two[0]))
