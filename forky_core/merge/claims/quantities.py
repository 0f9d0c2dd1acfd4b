"""What can be compared in a sentence: amounts with their units, dates, times of day, versions, each in a normal form.

Two spellings of one value have the same normal form: 60 seconds and one minute, 1 April 2026 and 01/04/2026, 8g and
8 GiB. Two values are compared only where they measure the same: `same` and `comparable` say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from forky_core.merge.claims.numerals import Number, numbers, ordinal
from forky_core.merge.claims.vocabulary import word_key

_UNITS: Mapping[str, tuple[tuple[float, str], ...]] = {
    "time": (
        (0.001, "ms millisecond milliseconds millisekunden millisecondes milisegundos 毫秒"),
        (1, "s sec secs second seconds sek sekunde sekunden seconde secondes segundo segundos 秒 秒钟"),
        (60, "m min mins minute minutes minuten minuto minutos 分钟"),
        (3600, "h hr hrs hour hours stunde stunden std heure heures hora horas 小时 个小时 钟头"),
        (86_400, "d day days tag tage tagen jour jours día días dia dias 天 日"),
        (604_800, "w week weeks woche wochen semaine semaines semana semanas 周 星期 个星期 礼拜"),
        (2_592_000, "month months monat monate monaten mois mes meses 个月"),
        (31_536_000, "y year years jahr jahre jahren an ans année années año años 年"),
    ),
    "bytes": (
        (1, "b byte bytes octet octets"),
        (2**10, "k kb kib ki kilobyte kilobytes ko kio"),
        (2**20, "mb mib mi megabyte megabytes mo mio"),
        (2**30, "g gb gib gi gigabyte gigabytes go gio"),
        (2**40, "tb tib ti terabyte terabytes to tio"),
    ),
    "length": (
        (0.001, "mm millimeter millimetre millimetres millimeters millimètres milímetros 毫米"),
        (0.01, "cm centimeter centimetre centimetres centimeters zentimeter centimètres centímetros 厘米"),
        (1, "metre metres meter meters mètre mètres metro metros 米"),
        (1000, "km kilometer kilometers kilometre kilometres kilomètres kilómetros 公里 千米"),
        (0.0254, "inch inches zoll pouces pulgadas"),
        (0.3048, "ft foot feet fuß"),
        (1609.344, "mile miles meile meilen"),
    ),
    "mass": (
        (10**-6, "µg mcg microgram micrograms mikrogramm microgrammes microgramos 微克"),
        (0.001, "mg milligrams milligramm"),
        (1, "gram grams gramm gramme grammes gramo gramos 克"),
        (500, "pfund 斤"),
        (1000, "kg kilo kilos kilogram kilograms kilogramm 公斤 千克"),
        (10**6, "t tonne tonnes ton tons tonnen tonelada toneladas 吨"),
        (453.592, "lb lbs pound"),
        (28.3495, "oz ounce ounces"),
    ),
    "volume": (
        (0.001, "ml milliliter millilitre 毫升"),
        (0.01, "cl"),
        (1, "l liter liters litre litres litern litro litros 升"),
        (1000, "m³ m3 kubikmeter cubicmeter cubicmeters cubicmetre cubicmetres mètrecube mètrescubes metrocúbico metroscúbicos 立方米 立方"),
        (3.785, "gallon gallons"),
    ),
    "speed": ((1, "km/h kmh"), (1.609344, "mph"), (3.6, "m/s")),
    "temperature": ((1, "°c °f ° degrees degree grad degrés grados 度 摄氏度"),),
    "percent": ((1, "% percent prozent percentage 个百分点"),),
    "money": (
        (1, "€ eur euro euros $ usd dollar dollars £ gbp chf franken ¥ 元 块 块钱 人民币 pesos"),
        (0.01, "cent cents centimes céntimos"),
    ),
    "watt": ((1, "w watt watts"), (1000, "kw kilowatt kilowatts")),
    "screen": ((1, "px pixel pixels"),),
    "version": ((1, "版"),),
}  # fmt: skip
_UNIT_OF: Mapping[str, tuple[str, float]] = MappingProxyType(
    {
        name: (dimension, factor)
        for dimension, rows in _UNITS.items()
        for factor, names in rows
        for name in names.split()
    }
)
_HAN_UNITS = sorted((name for name in _UNIT_OF if "\u4e00" <= name[0] <= "\u9fff"), key=len, reverse=True)
_COUNTERS = "个名人条次本台份张件位颗根班门块"
_UNIT = re.compile(
    r"[\s\u00a0-]?\s?(cubic\s+met(?:er|re)s?|mètres?\s+cubes?|metros?\s+cúbicos?|km/h|m/s|m[³3]|°\s?[CF]?|%|[€$£¥]|[A-Za-zÀ-ɏ]+)(?![\w])"
)
_BEFORE = re.compile(r"(?:[$€£¥]|\b(?:EUR|USD|CHF|GBP)\s)\s?$")
_MONTHS = MappingProxyType(
    {
        name: month
        for names in (
            "january february march april may june july august september october november december",
            "jan feb mar apr may jun jul aug sep oct nov dec",
            "januar februar märz april mai juni juli august september oktober november dezember",
            "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
            "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        )
        for month, name in enumerate(names.split(), 1)
    }
)
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)?"
_YEAR = r"(?:,?\s+(?:(?:de|del)\s+)?(?P<year>(?:19|20)\d\d))?"
_DATES = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?<![\d.-])(?P<year>(?:19|20)\d\d)-(?P<number>\d{1,2})-(?P<day>\d{1,2})(?![\d-])",
        r"(?<![\d/.])(?P<day>\d{1,2})[/.](?P<number>\d{1,2})[/.](?P<year>(?:19|20)\d\d)(?![\d/])",
        rf"(?<!\w){_DAY}\s+(?:(?:of|de)\s+)?(?P<month>{_MONTH})\b\.?{_YEAR}",
        rf"\b(?P<month>{_MONTH})\.?\s+(?:the\s+)?{_DAY}(?![\w:/%])(?!\s*[AaPp][Mm]\b){_YEAR}",
        rf"\b(?P<ordinal>[^\W\d_]{{4,10}})\s+(?:(?:of|de)\s+)?(?P<month>{_MONTH})\b{_YEAR}",
        r"(?:(?P<year>\d{4})\s?年)?(?P<number>\d{1,2})\s?月\s?(?P<day>\d{1,2})\s?[日号號]?",
        r"\b(?:the|am|zum|bis\s+zum|vom|le|el)\s+(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?(?=\s*(?:[,.;!?)]|$|\s(?:and|und|et|y|at|um|à|instead|statt)\b))",
        r"\bthe\s+(?P<day>\d{1,2})(?:st|nd|rd|th)\b",
        r"(?<!\d)(?P<day>\d{1,2})[日号號](?!线|楼|机)",
    )
)
_WEEKDAYS = MappingProxyType(
    {
        name: day
        for names in (
            "monday tuesday wednesday thursday friday saturday sunday",
            "mondays tuesdays wednesdays thursdays fridays saturdays sundays",
            "montag dienstag mittwoch donnerstag freitag samstag sonntag",
            "montags dienstags mittwochs donnerstags freitags samstags sonntags",
            "lundi mardi mercredi jeudi vendredi samedi dimanche",
            "lunes martes miércoles jueves viernes sábado domingo",
        )
        for day, name in enumerate(names.split())
    }
)
_WEEKDAY = re.compile(rf"\b(?:{'|'.join(_WEEKDAYS)})\b", re.IGNORECASE)
_HAN_WEEKDAY = re.compile(r"(?:周|星期|礼拜)([一二三四五六日天])")
_CLOCKS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?<![\d:.])(?P<hour>[01]?\d|2[0-4])[:h](?P<minute>[0-5]\d)(?![\d:])(?:\s?(?P<half>[ap])\.?m\b)?",
        r"(?<![\d:.])(?P<hour>1?\d)\s?(?P<half>[ap])\.?m\b",
        r"(?<![\d:.,])(?P<hour>[01]?\d|2[0-4])(?:\.(?P<minute>[0-5]\d))?\s(?:Uhr|h|heures)\b",
        r"\b(?:at|um|à|a\s+las|ab|bis)\s+(?P<hour>[01]?\d|2[0-4])[.](?P<minute>[0-5]\d)(?![\d.])",
        r"(?P<hour>[01]?\d|2[0-4])\s?[点點](?:(?P<minute>[0-5]?\d)分?)?",
    )
)
_VERSION = re.compile(
    r"(?<![\w.])(?:[vV](?P<v>\d{1,4}(?:\.\d{1,6}){0,3})|(?P<dotted>\d{1,4}(?:\.\d{1,6}){2,3})|(?:[Vv]ersion(?:es|en)?|"
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
_TOLERANCE = 0.035
"""Twelve months of thirty days are a year."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value that stands in a text, in a form in which it can be compared."""

    dimension: str
    value: tuple[float, ...]
    """Of an amount, in the base unit; of a date (month, day); of a version its numbers."""
    start: int
    end: int
    bare: float = 0.0
    """Of an amount, its number without the unit."""
    digits: str = ""
    """As it is written, where that is in digits alone: 3.10 is a version after 3.9."""
    noun: str = ""
    """What is counted, by the key of the word."""
    per: float = 0.0
    """Of a rate, the seconds that it is for."""
    bound: str = ""
    """`≥` or `≤` where it limits a range."""

    def comparable(self, other: Quantity) -> bool:
        """Whether the two measure the same, so that they may differ."""
        mine, theirs = self.dimension, other.dimension
        if mine == theirs:
            return bool(self.per) == bool(other.per) or mine in ("money", "number")
        return "number" in (mine, theirs) and not {mine, theirs} & {"clock", "weekday", "frequency", "date"}

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
        if _within(self.value, self.bound, other.value, other.bound):
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
    """Whether one is a limit that the other keeps."""
    if bound == other:
        return False
    low, high = (two, one) if bound == "≤" or other == "≥" else (one, two)
    return low <= high


def _longer(one: tuple[float, ...], two: tuple[float, ...]) -> bool:
    short = min(len(one), len(two))
    return one[:short] == two[:short]


def _same_date(one: tuple[float, ...], two: tuple[float, ...]) -> bool:
    """(month, day, year), 0 for what is not said; a date in digits may have its month and day exchanged."""
    if one[2] and two[2] and one[2] != two[2]:
        return False
    if not (one[0] and two[0]):
        return one[1] == two[1]
    return one[:2] == two[:2] or (one[3:] != two[3:] and one[:2] == (two[1], two[0]))


@lru_cache(maxsize=16_384)
def quantities(text: str) -> tuple[Quantity, ...]:
    """The values of a text from left to right; what one form has taken, no other takes."""
    found: list[Quantity] = []
    taken = bytearray(len(text) + 1)
    if not _MAY_COUNT.search(text):
        return ()

    def take(quantity: Quantity) -> None:
        if not any(taken[quantity.start : quantity.end]):
            taken[quantity.start : quantity.end] = b"\1" * (quantity.end - quantity.start)
            found.append(quantity)

    for quantity in (
        *_dates(text),
        *_clocks(text),
        *_weekdays(text),
        *_frequencies(text),
        *_versions(text),
        *_amounts(text),
    ):
        take(quantity)
    return tuple(sorted(found, key=lambda quantity: quantity.start))


_MAY_COUNT = re.compile(r"\d|[一二两三四五六七八九十百千半]|[^\W\d_]{3}|\b(?:a|an|un|dos)\b")


def _dates(text: str) -> Iterator[Quantity]:
    for form in _DATES:
        for match in form.finditer(text):
            groups = match.groupdict()
            day = int(groups["day"]) if groups.get("day") else ordinal(groups.get("ordinal") or "")
            named = _MONTHS.get((groups.get("month") or "").casefold())
            month = named or int(groups.get("number") or 0)
            if day and 1 <= day <= 31 and (month <= 12 or day <= 12):
                slashes = 1.0 if groups.get("number") and "/" in match.group() else 0.0
                value = (float(month), float(day), float(groups.get("year") or 0), slashes)
                yield Quantity("date", value, *match.span())


def _weekdays(text: str) -> Iterator[Quantity]:
    for match in _WEEKDAY.finditer(text):
        yield Quantity("weekday", (float(_WEEKDAYS[match.group().casefold()]),), *match.span())
    for match in _HAN_WEEKDAY.finditer(text):
        yield Quantity("weekday", (float(min("一二三四五六日天".index(match[1]), 6)),), *match.span())


def _clocks(text: str) -> Iterator[Quantity]:
    for form in _CLOCKS:
        for match in form.finditer(text):
            groups = match.groupdict()
            hour = int(groups["hour"])
            if (groups.get("half") or "").casefold() == "p" and hour < 12:
                hour += 12
            yield Quantity("clock", (hour * 60.0 + int(groups.get("minute") or 0),), *match.span())


_OFTEN = MappingProxyType(
    {
        name: days
        for days, names in (
            (1.0, "daily täglich quotidien quotidienne diario diaria 每天 每日"),
            (7.0, "weekly wöchentlich hebdomadaire semanal 每周"),
            (14.0, "fortnightly biweekly vierzehntägig quinzomadaire quincenal 每两周"),
            (30.0, "monthly monatlich mensuel mensuelle mensual 每月"),
            (91.0, "quarterly vierteljährlich trimestriel trimestral 每季度"),
            (365.0, "yearly annually jährlich annuel annuelle anual 每年"),
        )
        for name in names.split()
    }
)
_OFTEN_WORD = re.compile(
    rf"\b(?:{'|'.join(name for name in _OFTEN if name.isalpha() and name < '一')})\b|{'|'.join(name for name in _OFTEN if name > '一')}",
    re.IGNORECASE,
)
_EVERY = re.compile(
    r"\b(?:(?:every|each|jeden|jede|jedes|chaque|cada)|(?:once|one|twice)\s+(?:a|per)|einmal\s+(?:am|pro|die|im)|une\s+fois\s+par|una\s+vez\s+(?:al|a\s+la|por))\s+"
    r"(?P<unit>[^\W\d_]+)\b|\b(?:tous|toutes)\s+les\s+(?P<tous>jours|semaines|mois|ans)\b|\btodos\s+los\s+(?P<todos>días|meses)\b",
    re.IGNORECASE,
)


def _frequencies(text: str) -> Iterator[Quantity]:
    for match in _OFTEN_WORD.finditer(text):
        yield Quantity("frequency", (_OFTEN[match.group().casefold()],), *match.span())
    for match in _EVERY.finditer(text):
        known = _UNIT_OF.get(next(group for group in match.groups() if group).casefold())
        if known and known[0] == "time" and known[1] >= 86_400:
            yield Quantity("frequency", (known[1] / 86_400,), *match.span())


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
    r"\s?(?:(k|K|tsd\.?|thousand|tausend|mille|mil)|(M|Mio\.?|million|millions|Millionen|millones|millón)|(万|萬)|(亿|億))(?!\w)(?![\w])|\s?(万|亿)"
)
_SCALE_VALUES = (10**3, 10**6, 10**4, 10**8)


def _amount(text: str, number: Number) -> Quantity | None:
    value, start, end = number.value, number.start, number.end
    if number.shape == "digits":
        glued = text[start - 1 : start] if start else ""
        if (
            glued
            and ((glued.isalpha() and glued.isascii()) or glued in "_#.-/\\")
            and glued not in ("x", "X")
        ):
            if not (glued == "-" and text[start - 2 : start - 1] in ("", " ")):
                return None
        after = text[end : end + 1]
        if scale := _SCALE_AFTER.match(text, end):
            signs = scale.groups()
            factor = 10**4 if signs[4] == "万" else 10**8 if signs[4] == "亿" else 0
            factor = factor or _SCALE_VALUES[next(at for at, sign in enumerate(signs) if sign)]
            kilo = scale.group().strip() in ("k", "K", "M")
            if not kilo or _BEFORE.search(text, max(0, start - 6), start):
                value, end = value * factor, scale.end()
        elif after and after in "_:/" and text[end + 1 : end + 2].isalnum():
            return None
    dimension, factor, stop = _unit(text, end, number.shape)
    if half := _HALF_AFTER.match(text, stop):
        if dimension:
            value, stop = value + 0.5, half.end()
    if not dimension and _BEFORE.search(text, max(0, start - 6), start):
        dimension, factor = "money", 1.0
    if number.shape in ("article", "han") and not dimension:
        counted = number.shape == "han" and text[end : end + 1] and text[end] in _COUNTERS
        if not counted and (number.shape == "article" or end - start < 2):
            return None
    if number.shape == "word" and value == 1:
        return None
    if dimension == "temperature" and "f" in text[end:stop].casefold().rstrip("°"):
        value, factor = (value - 32) * 5 / 9, 1.0
    if dimension == "money" and factor == 0.01 and number.shape == "word" and value == 100:
        return None
    normal = round(value * (factor or 1.0), 6)
    noun = "" if dimension else _counted(text, start, stop)
    digits = text[start:end] if number.shape == "digits" else ""
    if not dimension and _OPERATOR.search(text, max(0, start - 4), start) and "." in digits:
        value = tuple(float(piece) for piece in digits.split("."))
        return Quantity("version", value, start, stop, bound=_bound(text, start, stop))
    if (
        not dimension
        and len(digits) == 4
        and digits[:2] in ("19", "20")
        and _IN_YEAR.search(text, max(0, start - 12), start)
    ):
        return None
    if not dimension and (unknown := _STRANGE.match(text, stop)):
        return Quantity(unknown[1].casefold(), (normal,), start, unknown.end(), value)
    per, stop = _rate(text, stop) if dimension not in ("time", "percent") else (0.0, stop)
    return Quantity(
        dimension or "number",
        (normal,),
        start,
        stop,
        value,
        digits,
        "" if per else noun,
        per,
        _bound(text, start, stop),
    )


_RATE = re.compile(
    r"\s?(?:/|\b(?:an?|per|each|every|pro|die|je|par|à\s+l['’]|al|por|a\s+la)\s)\s?([^\W\d_]+)|每?(小时|天|月|年|分钟)",
    re.IGNORECASE,
)


def _rate(text: str, end: int) -> tuple[float, int]:
    """The seconds that an amount is for, and where that ends: 60 litres a minute."""
    match = _RATE.match(text, end)
    known = _UNIT_OF.get((match[1] or match[2] or "").casefold().replace("月", "个月")) if match else None
    return (known[1], match.end()) if match and known and known[0] == "time" else (0.0, end)


_STRANGE = re.compile(r"\s?([^\W\d_]{1,6}/[^\W\d_]{1,6})\b")
_OPERATOR = re.compile(r"[=<>~^]\s?[\"']?$")
_IN_YEAR = re.compile(
    r"\b(?:since|in|of|from|until|by|seit|bis|ab|im\s+Jahr|en|depuis|de|desde|hasta|dès)\s+$", re.IGNORECASE
)
_NOUN = re.compile(r"[\s\u00a0]+([^\W\d_][\w-]{2,})|(?:个|名|条|台|张|件)([\u4e00-\u9fff]{2})")
_LABEL = re.compile(r"([^\W\d_]\w{2,})[\s\u00a0]+#?$")


def _counted(text: str, start: int, end: int) -> str:
    """The key of the noun behind a number, or of its label before it: three residents, courtroom 4."""
    if match := _NOUN.match(text, end):
        if key := word_key(match[1]) if match[1] else match[2]:
            return key
    label = _LABEL.search(text, max(0, start - 24), start)
    return word_key(label[1]) if label else ""


def _unit(text: str, end: int, shape: str) -> tuple[str, float, int]:
    """(dimension, factor, end) of the unit behind a number; "" where there is none."""
    for name in _HAN_UNITS:
        if text.startswith(name, end) or (text.startswith(name, end + 1) and text[end : end + 1] == " "):
            return (*_UNIT_OF[name], text.index(name, end) + len(name))
    match = _UNIT.match(text, end)
    if match is None:
        return "", 0.0, end
    name = match[1].replace(" ", "")
    if name == "M" or (len(name) == 1 and name.isupper() and shape != "digits"):
        return "", 0.0, end
    known = _UNIT_OF.get(name.casefold())
    if known is None or (len(name) <= 2 and name.isalpha() and shape != "digits"):
        return "", 0.0, end
    if (
        name in ("an", "to", "go", "a", "s", "d", "y", "w", "mi", "ki", "ti", "k", "g", "t", "m", "b")
        and match.group()[:1].isspace()
    ):
        if name not in ("t", "g", "s", "m"):
            return "", 0.0, end
    return (*known, match.end())
