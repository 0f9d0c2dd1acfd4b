"""Readers for fields of other programs' files that do not trust their types: a value of the wrong type
becomes empty.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from forky_core.formats.contract import NOTHING
from forky_core.formats.files.json_nested import MOST_LOOSE
from forky_core.model.parts import Json, canonical_json

TEXTS = ("text", "value", "content")
"""Names of the field in which an object wraps a text."""
_LONGEST_DATE = 80
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)})[a-z]*\b", re.ASCII | re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\d:])(\d{4}|\d{1,2})(?:st|nd|rd|th)?(?![\d:])", re.ASCII)
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d+)?)?(?:\s*([ap])\.?m\.?)?", re.ASCII | re.IGNORECASE)
_ZONE = re.compile(r"(?:GMT|UTC|\s)([+-])(\d\d):?(\d\d)?\b", re.ASCII)
_STAMP = re.compile(r"(\d+)-(\d+)-(\d+) ?@ ?(\d+)h ?(\d+)m ?(\d+)s(?: ?(\d+)ms)?", re.ASCII)
"""SillyTavern's way of writing a time: `2024-6-19 @14h 20m 30s 123ms`."""
_LATEST = 32_503_680_000
"""Seconds: the year 3000. Larger numbers count milliseconds, microseconds or nanoseconds."""


def obj(value: Json) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else NOTHING


def seq(value: Json) -> list[Any]:
    return value if isinstance(value, list) else []


def wrapped(value: Json) -> Mapping[str, Any]:
    """An object; a text as the block of text that programs also write it as, any other value as a field `value`."""
    if isinstance(value, dict):
        return value
    return {"type": "text", "text": value} if isinstance(value, str) else {"value": value}


def objs(value: Json) -> list[Mapping[str, Any]]:
    """The elements of a list as objects, none of them dropped but empty ones."""
    return [wrapped(item) for item in seq(value) if item or isinstance(item, dict)]


def word(value: Json) -> str:
    """A text, or a number as a text, since some programs number their ids."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def ref(value: Json) -> str | None:
    """An id that may be absent."""
    return word(value) or None


def count(value: Json) -> int | None:
    """A count; None if the value is no count, or too large to store."""
    return value if type(value) is int and 0 <= value < 1 << 53 else None


def words(value: Json) -> str:
    """The text of a field that may hold a text, an object that wraps one, or a list of either."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return _inner(value)
    pieces = []
    for item in seq(value):
        piece = item if isinstance(item, str) else _inner(obj(item))
        if piece:
            pieces.append(piece)
    return joined(pieces)


def joined(pieces: Iterable[str]) -> str:
    """The texts as paragraphs; where a program cut a text inside a character, the two halves are joined."""
    text = ""
    for piece in pieces:
        text += piece if not text or are_halves(text, piece) else f"\n\n{piece}"
    return text


def are_halves(before: str, after: str) -> bool:
    """Whether the one ends with the first half of a surrogate pair and the other begins with the second."""
    return "\ud800" <= before[-1:] <= "\udbff" and "\udc00" <= after[:1] <= "\udfff"


def _inner(entry: Mapping[str, Any]) -> str:
    """The text in an object that wraps one: `{"text": …}`, `{"value": …}`, `{"text": {"value": …}}`."""
    for name in TEXTS:
        found = entry.get(name)
        if isinstance(found, dict):
            found = next((inner for key in TEXTS if (inner := word(found.get(key)))), "")
        if text := word(found):
            return text
    return ""


def plain(text: str) -> str:
    """Text with HTML entities decoded: some exports escape text that was never HTML."""
    return html.unescape(text)


def micros(value: Json) -> int:
    """Parse a time in any of the usual formats to microseconds since the epoch; 0 if it is invalid.

    Numbers are seconds, or milli-, micro- or nanoseconds if they would lie beyond the year 3000; texts are numbers or
    ISO 8601 or a date with the English name of its month, in UTC if without a zone; `{"$date": …}` is MongoDB's.
    """
    if isinstance(value, dict):
        inner = value.get("$date", value.get("$numberLong", 0))
        return micros(inner) if not isinstance(inner, dict) or "$date" not in inner else 0
    if isinstance(value, bool) or value is None:
        return 0
    if isinstance(value, str):
        return _written(value.strip())
    if not isinstance(value, int | float) or not 0 < value < 1e20:
        return 0
    seconds = float(value)
    while seconds > _LATEST:
        seconds /= 1000
    return round(seconds * 1_000_000)


def _written(text: str) -> int:
    try:
        return micros(float(text))
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text[:40])
    except ValueError:
        found = _spelt_out(text[:_LONGEST_DATE])
        if found is None:
            return 0
        moment = found
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return max(0, round(moment.timestamp() * 1_000_000))
    except (OverflowError, ValueError):
        return 0


def _spelt_out(text: str) -> datetime | None:
    """A date with the English name of its month, or in SillyTavern's way, with letters after the numbers."""
    stamp = _STAMP.match(text)
    if stamp is not None:
        numbers = [int(group or 0) for group in stamp.groups()]
        return _moment(numbers[:3], [*numbers[3:6], min(numbers[6], 999)])
    clock, zone = _CLOCK.search(text), _ZONE.search(text)
    month = _MONTH.search(text)
    dated = _NUMBER.findall(_CLOCK.sub(" ", text.split("+", maxsplit=1)[0]))
    days = [int(number) for number in dated if len(number) <= 2]
    years = [int(number) for number in dated if len(number) == 4]
    if month is None or not days or not years:
        return None
    hour, minute, second = (int(group or 0) for group in clock.group(1, 2, 3)) if clock else (0, 0, 0)
    if clock is not None and clock.group(4):
        hour = hour % 12 + (12 if clock.group(4).lower() == "p" else 0)
    number = _MONTHS.index(month.group(1).lower()) + 1
    moment = _moment((years[0], number, days[0]), (hour, minute, second, 0))
    if moment is None or zone is None:
        return moment
    shift = timedelta(hours=int(zone.group(2)), minutes=int(zone.group(3) or 0))
    return moment - shift if zone.group(1) == "+" else moment + shift


def _moment(date: Sequence[int], clock: Sequence[int]) -> datetime | None:
    """The time in UTC of year, month and day; hour, minute, second and milliseconds. None for no such time."""
    (year, month, day), (hour, minute, second, milli) = date, clock
    try:
        return datetime(year, month, day, hour, minute, second, milli * 1000, UTC)
    except (ValueError, OverflowError):
        return None


def picked(value: Mapping[str, Json], *keys: str) -> dict[str, Json]:
    """The fields of these names that are present and not empty."""
    found = {}
    for key in keys:
        said = value.get(key)
        if said or isinstance(said, int | float):
            found[key] = shallow(said) if isinstance(said, list | dict) else said
    return found


def kept_json(value: Json) -> str:
    """Canonical JSON of a value that is stored as in the source, `shallow`."""
    return canonical_json(shallow(value))


def shallow(value: Json) -> Json:
    """`value` itself, with everything nested below MOST_LOOSE levels removed: no honest file nests deeper, and code
    that stores or shows the value is recursive.
    """
    level = [value]
    for _ in range(MOST_LOOSE):
        level = [inner for outer in level for inner in _containers(outer)]
        if not level:
            return value
    for deepest in level:
        deepest.clear()
    return value


def _containers(value: Json) -> list[Any]:
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [inner for inner in held if isinstance(inner, dict | list)]
