"""The numbers of a text that count something, so that an earlier one can be told from the one that took its place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_NEAR = 0.1
"""Share by which two large numbers may differ and still be the same thing, counted again."""
_LARGE = 1000
PRICE = "0.00"
"""The unit of any number with two decimals, which people write without one."""
_PRICE = re.compile(r"\d+[.,]\d\d")
_COUNT = re.compile(
    r"(?P<before>[$€£¥])?\s?(?P<number>\d+(?:[.,  ’']\d+)*)\s*(?P<after>[$€£¥%°²³℃℉]?[^\W\d_]{0,12}[²³]?)"
)


@dataclass(frozen=True, slots=True)
class Count:
    """A number with its unit."""

    unit: str
    """As it is written, in lower case; "" where none stands beside the number."""
    digits: str

    @property
    def size(self) -> int:
        return int(self.digits[:18] or 0)


def counts(text: str) -> list[Count]:
    """The numbers of a text, each with the word or the sign beside it."""
    found: list[Count] = []
    for match in _COUNT.finditer(unicodedata.normalize("NFKC", text)):
        unit = (match["before"] or match["after"] or "").casefold()
        if "\u3400" <= unit[:1] <= "\u9fff":
            unit = unit[0]
        digits = "".join(filter(str.isdigit, match["number"]))
        found.append(Count(unit, digits))
        if _PRICE.fullmatch(match["number"]):
            found.append(Count(PRICE, digits))
    return found


def differs(earlier: Sequence[Count], later: Iterable[Count]) -> bool:
    """Whether a text gives a number that a later text gives otherwise.

    With the same unit, any other number; large numbers also where they are near each other, whatever their units.
    """
    known = tuple(later)
    units: dict[str, set[str]] = {}
    for one in known:
        units.setdefault(one.unit, set()).add(one.digits)
    if any(one.unit and one.unit in units and one.digits not in units[one.unit] for one in earlier):
        return True
    return any(
        one.digits != other.digits
        and min(one.size, other.size) >= _LARGE
        and abs(one.size - other.size) <= _NEAR * one.size
        for one in earlier
        for other in known
    )
