"""Comparable values in a sentence: amounts with their units, dates, times of day, versions, all normalised.

Two spellings of one value have the same normal form: 60 seconds and one minute, 1 April 2026 and 01/04/2026, 8g and 8
GiB. Two values are compared only if they measure the same: see `same` and `comparable`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from forky_core.merge.claims.moments import clocks, dates, frequencies, months, weekdays
from forky_core.merge.claims.numerals import Numeral, numbers
from forky_core.merge.claims.quantity import Quantity
from forky_core.merge.claims.units import BEFORE, COUNTERS, rate, unit
from forky_core.merge.claims.word_keys import word_key

__all__ = ["Quantity", "quantities"]

_VERSION = re.compile(
    r"(?<![\w.])(?:[vV](?P<v>\d{1,4}(?:\.\d{1,6}){0,3})|(?P<dotted>(?!\d{1,3}(?:\.\d{3})+(?![.\d]))\d{1,4}(?:\.\d{1,6}){2,3})|(?:[Vv]ersion(?:es|en)?|"
    r"release|Fassung|版本)\s+(?P<named>\d{1,4}(?:\.\d{1,6}){0,3}))(?![\w]|\.\d)"
)
_LEAST = re.compile(
    r"(?:>=?|≥|\b(?:at\s+least|minimum(?:\s+of)?|mindestens|ab|au\s+moins|à\s+partir\s+de|al\s+menos|mínimo|from)\b|至少|不少于)"
    r"\s*(?:\w+\s+){0,2}$",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"(?:<=?|≤|\b(?:at\s+most|up\s+to|no\s+more\s+than|maximal|höchstens|bis\s+zu|au\s+plus|como\s+máximo|hasta)\b|jusqu['’]à|最多"
    r"|不超过)\s*(?:\w+\s+){0,1}$",
    re.IGNORECASE,
)
_LEAST_AFTER = re.compile(
    r"\s*(?:\+|and\s+(?:up|above|later|newer)|or\s+(?:later|newer|higher|more)|以上|oder\s+neuer)",
    re.IGNORECASE,
)


@lru_cache(maxsize=16_384)
def quantities(text: str) -> tuple[Quantity, ...]:
    """Return the values of a text from left to right, without overlaps."""
    found: list[Quantity] = []
    taken = bytearray(len(text) + 1)
    if not _MAY_COUNT.search(text):
        return ()

    def take(quantity: Quantity) -> None:
        if not any(taken[quantity.start : quantity.end]):
            taken[quantity.start : quantity.end] = b"\1" * (quantity.end - quantity.start)
            found.append(quantity)

    for quantity in (
        *dates(text),
        *clocks(text),
        *weekdays(text),
        *frequencies(text),
        *months(text),
        *_versions(text),
        *_amounts(text),
    ):
        take(quantity)
    return tuple(sorted(found, key=lambda quantity: quantity.start))


_MAY_COUNT = re.compile(r"\d|[一二两三四五六七八九十百千半]|[^\W\d_]{3}|\b(?:a|an|un|dos)\b")


def _versions(text: str) -> Iterator[Quantity]:
    for match in _VERSION.finditer(text):
        digits = match["v"] or match["dotted"] or match["named"]
        value = tuple(float(piece) for piece in digits.split("."))
        yield Quantity("version", value, *match.span(), bound=_bound(text, *match.span()))


def _bound(text: str, start: int, end: int) -> str:
    before = text[max(0, start - 24) : start]
    if _LEAST.search(before) or _LEAST_AFTER.match(text, end):
        return "≥"
    return "≤" if _MOST.search(before) else ""


def _amounts(text: str) -> Iterator[Quantity]:
    pending: Quantity | None = None
    for number in numbers(text):
        amount = _amount(text, number)
        if amount is None:
            continue
        if pending is not None:
            between = text[pending.end : amount.start].strip().casefold()
            joined = between in ("", "and", "und", "et", "y", "零")
            if (
                joined
                and pending.dimension == amount.dimension in ("time", "money", "length", "mass")
                and pending.value > amount.value
                and text[pending.start : pending.end].rsplit(maxsplit=1)[-1]
                != text[amount.start : amount.end].rsplit(maxsplit=1)[-1]
            ):
                pending = Quantity(
                    amount.dimension,
                    (pending.value[0] + amount.value[0],),
                    pending.start,
                    amount.end,
                    pending.bare,
                    bound=pending.bound,
                )
                continue
            yield pending
        pending = amount
    if pending is not None:
        yield pending


_HALF_AFTER = re.compile(r"\s+(?:and\s+a\s+half|et\s+demie?|y\s+medi[ao])\b|半", re.IGNORECASE)
_SCALE_AFTER = re.compile(
    r"\s?(?:k|K|M|[Tt]sd\.?|thousand|tausend|mille|mil|Mio\.?|millions?|Millionen|millones|millón|Mrd\.?|billion)(?!\w)|\s?[万萬亿億]"
)
_MONEY_AFTER = re.compile(r"\s?(?:[€$£¥]|(?:EUR|USD|GBP|CHF|euros?|dollars?)\b)", re.IGNORECASE)
_LETTERS = ("k", "K", "M")
"""These count only beside a sign of money: 5 k may be a size."""
_SCALES = (
    dict.fromkeys(("k", "tsd", "thousand", "tausend", "mille", "mil"), 10**3)
    | dict.fromkeys(("万", "萬"), 10**4)
    | dict.fromkeys(("m", "mio", "million", "millions", "millionen", "millones", "millón"), 10**6)
    | dict.fromkeys(("亿", "億"), 10**8)
    | dict.fromkeys(("mrd", "billion"), 10**9)
)


_HEAP = {"k": 2**10, "m": 2**20, "g": 2**30}
"""Letters after a number that is glued to an option: -Xmx8g."""


_DOTTED = re.compile(r"\d+(?:\.\d+)+")


def _amount(text: str, number: Numeral) -> Quantity | None:
    """Return a number with its unit; None if it is part of a name, an article, or a year."""
    start, before = number.start, max(0, number.start - 12)
    scaled = _in_full(text, number) if number.shape == "digits" else (number.value, number.end)
    if scaled is None:
        return None
    value, end = scaled
    dimension, factor, stop = unit(text, end, number.shape)
    if text[max(0, start - 1) : start].isalpha() and (size := _HEAP.get(text[end:stop].casefold())):
        dimension, factor = "bytes", float(size)
    if dimension and (half := _HALF_AFTER.match(text, stop)):
        value, stop = value + 0.5, half.end()
    if dimension == "temperature" and "f" in text[end:stop].casefold():
        value = (value - 32) * 5 / 9
    if dimension:
        per, stop = rate(text, stop) if dimension not in ("time", "percent") else (0.0, stop)
        return _made(text, dimension, value * factor, (start, stop), value, per=per)
    if BEFORE.search(text, before, start):
        per, stop = rate(text, stop)
        return _made(text, "money", value, (start, stop), value, per=per)
    digits = text[start:end] if number.shape == "digits" else ""
    if not digits and not _counts(text, number):
        return None
    if _DOTTED.fullmatch(digits) and _OPERATOR.search(text, before, start):
        version = tuple(float(piece) for piece in digits.split("."))
        return Quantity("version", version, start, stop, bound=_bound(text, start, stop))
    if digits and _NUMBERED.search(text, max(0, start - 20), start):
        return None
    if len(digits) == 4 and digits[:2] in ("19", "20") and _IN_YEAR.search(text, before, start):
        return None
    if unknown := _STRANGE.match(text, stop):
        return Quantity(unknown[1].casefold(), (value,), start, unknown.end(), value)
    per, stop = rate(text, stop)
    noun = "" if per else _counted(text, start, stop)
    return _made(text, "number", value, (start, stop), value, digits=digits, noun=noun, per=per)


def _made(
    text: str,
    dimension: str,
    value: float,
    place: tuple[int, int],
    bare: float,
    *,
    digits: str = "",
    noun: str = "",
    per: float = 0.0,
) -> Quantity:
    return Quantity(dimension, (round(value, 9),), *place, bare, digits, noun, per, _bound(text, *place))


def _in_full(text: str, number: Numeral) -> tuple[float, int] | None:
    """Return the value of digits with a word such as million after them, and where it ends; None for digits inside a
    name.
    """
    start, end = number.start, number.end
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    minus = before == "-" and text[max(0, start - 2) : start - 1] in ("", " ")
    if (
        before
        and not minus
        and before not in "xX"
        and ((before.isascii() and before.isalpha()) or before in "_#.-/\\")
    ):
        return None
    if scale := _SCALE_AFTER.match(text, end):
        name = scale.group().strip()
        money = BEFORE.search(text, max(0, start - 6), start) or _MONEY_AFTER.match(text, scale.end())
        if name not in _LETTERS or money:
            return number.value * _SCALES[name.casefold().rstrip(".")], scale.end()
    elif after and after in "_:/" and text[end + 1 : end + 2].isalnum():
        return None
    return number.value, end


def _counts(text: str, number: Numeral) -> bool:
    """Whether a number in words counts without a unit: articles do not, nor do single Chinese characters."""
    if number.shape == "han":
        return number.end - number.start >= 2 or (number.end < len(text) and text[number.end] in COUNTERS)
    return number.shape == "word" and number.value != 1


_STRANGE = re.compile(r"\s?([^\W\d_]{1,6}/[^\W\d_]{1,6})\b")
_OPERATOR = re.compile(r"[=<>~^]\s?[\"']?$")
_NUMBERED = re.compile(
    r"(?:\b(?:chunk|step|option|lines?|issue|item|point|no\.|figure|table|section|chapter|pages?|question|observation|task|phase|"
    r"part|round|ticket|PR|commit|bug|Schritt|Zeile|Punkt|Nr\.|Abschnitt|Kapitel|Seite|Frage|Aufgabe|Teil|étape|ligne|page|"
    r"chapitre|paso|línea|página|capítulo|tarea|artículo)\s+#?|\.\w{1,4}:|第)$",
    re.IGNORECASE,
)
"""What stands before a number that only names something: step 3, line 28, test.py:772."""
_IN_YEAR = re.compile(
    r"\b(?:since|in|of|from|until|by|seit|bis|ab|im\s+Jahr|en|depuis|de|desde|hasta|dès)\s+$", re.IGNORECASE
)
_NOUN = re.compile(r"[\s\u00a0]+([^\W\d_][\w-]{2,})|(?:个|名|条|台|张|件)([\u4e00-\u9fff]{2})")
_LABEL = re.compile(r"([^\W\d_]\w{2,})[\s\u00a0]+#?$")


def _counted(text: str, start: int, end: int) -> str:
    """Return the key of the noun after a number, or of its label before it: three residents, courtroom 4."""
    match = _NOUN.match(text, end)
    if match and (key := word_key(match[1]) if match[1] else match[2]):
        return key
    label = _LABEL.search(text, max(0, start - 24), start)
    return word_key(label[1]) if label else ""
