"""Checks limits and dates: “less than” stays less, and each weekday, date or time stands in the cited messages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from forky_core.merge.claims.quantities import quantities
from forky_core.merge.models.line_checks.evidence import Evidence
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.numbers import Number, numbers

_BELOW = (
    r"less\s+than|fewer\s+than|below|under|at\s+most|no\s+more\s+than|up\s+to|maximum|weniger\s+als|unter|höchstens|maximal|bis\s+zu|moins\s+de|"
    r"au\s+plus|jusqu['’]à|menos\s+de|como\s+máximo|hasta"
)
_ABOVE = r"more\s+than|above|over|at\s+least|no\s+less\s+than|minimum|mehr\s+als|über|mindestens|plus\s+de|au\s+moins|más\s+de|al\s+menos|como\s+mínimo"
_LIMIT = re.compile(
    rf"(?:(?P<below>(?<!\w)(?:{_BELOW})|低于|少于|不到|不超过|最多)|(?P<above>(?<!\w)(?:{_ABOVE})|不低于|不少于|高于|多于|超过|至少))"
    r"\s*(?P<number>[$€£¥]?\d[\d.,]*|[零一二三四五六七八九十百两]+)|"
    r"(?P<wide>\d[\d.,]*|[零一二三四五六七八九十百两]+)[\u4e00-\u9fff]{0,2}(?:(?P<within>以内|以下)|(?P<beyond>以上))",
    re.IGNORECASE,
)
_MONTHS = (
    "january januar janvier enero 一月", "february februar février febrero 二月", "march märz mars marzo 三月", "april avril abril 四月",
    "may mai mayo 五月", "june juni juin junio 六月", "july juli juillet julio 七月", "august août agosto 八月",
    "september septembre septiembre 九月", "october oktober octobre octubre 十月", "november novembre noviembre 十一月",
    "december dezember décembre diciembre 十二月",
)  # fmt: skip
_MONTH = re.compile(
    r"(?<!\w)(?P<name>"
    + "|".join(word for month in _MONTHS for word in month.split() if word.isascii() or word.isalpha())
    + r")(?!\w)",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"(?<!\w)(?:(?P<until>until|till|before|avant|vor|antes\s+de(?:l)?|through|bis|jusqu['’](?:à|au|en)|hasta)|(?P<since>after|après|nach|después\s+de(?:l)?|from|since|starting|as\s+of|ab|seit|von|dès|depuis|à\s+partir\s+d[eu]|desde|a\s+partir\s+de))\s+"
    r"(?:the\s+|las?\s+|den\s+|dem\s+|le\s+|el\s+|early\s+|late\s+|Anfang\s+|Ende\s+)?(?P<point>[^\W\d_]{3,}|\d+)",
    re.IGNORECASE,
)
"""A point in time until which, or from which on, something holds."""
_DATES = frozenset({"date", "weekday", "clock"})


def other_limit(line: NoteLine, here: Evidence) -> str | None:
    """Reject a number under “more than” that stands under “less than” in the cited messages, or the other way round."""
    said = [(limit, number, one) for one in here.sources for limit, number in _limits(one.text)]
    for limit, number in _limits(line.text):
        alike = [(other, one) for other, value, one in said if value.same_value(number)]
        if alike and all(other != limit for other, _ in alike):
            return f"It turns a limit round: “{alike[0][1].text[:120]}”."
    return None


def other_span(line: NoteLine, here: Evidence) -> str | None:
    """Reject a point in time from which on something holds, if it holds until then, or the other way round."""
    said = {span: one for one in here.sources for span in _spans(one.text)}
    for side, point in _spans(line.text):
        other = ("since" if side == "until" else "until", point)
        if other in said and (side, point) not in said:
            return f"It turns a span of time round: “{said[other].text[:120]}”."
    return None


def _spans(text: str) -> Iterator[tuple[str, str]]:
    for match in _SPAN.finditer(text):
        yield ("until" if match["until"] else "since"), match["point"].casefold()


def other_date(line: NoteLine, here: Evidence) -> str | None:
    """Reject a date, a weekday or a time of day that no cited message gives."""
    there = {month for one in (*here.sources, *here.before()) for month, _ in _months(one.text)}
    for month, shown in _months(line.text):
        if there and month not in there:
            return f"“{shown}” is not in what it cites."
    said = [value for one in (*here.sources, *here.before()) for value in quantities(one.text)]
    for value in quantities(line.text):
        shown = line.text[value.start : value.end].strip()
        if value.dimension not in _DATES or shown.casefold() in here.text.casefold():
            continue
        if not any(value.dimension == other.dimension for other in said):
            continue
        if not any(value.comparable(other) and value.same(other) for other in said):
            return f"“{shown}” is not in what it cites."
    return None


def _limits(text: str) -> Iterator[tuple[str, Number]]:
    """Yield the numbers of a text that are limits, each with the side on which the values lie."""
    for match in _LIMIT.finditer(text):
        found = numbers(match["number"] or match["wide"])
        if found:
            yield ("below" if match["below"] or match["within"] else "above"), found[0]


def _months(text: str) -> Iterator[tuple[int, str]]:
    """Yield the months of a text by number; “may” and “mars” count only with a capital."""
    for match in _MONTH.finditer(text):
        name = match["name"]
        if name[0].isupper() or name.casefold() not in ("may", "march", "mars", "mai"):
            yield next(at for at, names in enumerate(_MONTHS) if name.casefold() in names.split()), name
