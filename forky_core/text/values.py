"""Reads numbers and amounts as people write them, so that 60 seconds and one minute are one value.

Digits have either thousands separator; number words and units are of five languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

_DIGITS = re.compile(
    r"\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+(?!\d)(?:[.,]\d{1,2}(?!\d))?|\d{1,15}(?:[.,]\d{1,9}(?![.,]?\d))?"
)
_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)([01]\d)([0-3]\d)(?!\d)")
"""A date without signs between its pieces: 20260430."""
_ENGLISH = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_GERMAN = (
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn"
    " achtzehn neunzehn"
)
_FRENCH = (
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit"
    " dix-neuf"
)
_SPANISH = (
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete"
    " dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho"
    " veintinueve"
)
_TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "fr": "vingt trente quarante cinquante soixante soixante-dix quatre-vingt quatre-vingt-dix",
    "es": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
}
_SCALES = MappingProxyType(
    {
        "hundred": 100, "hundert": 100, "cent": 100, "ciento": 100,
        "thousand": 1000, "tausend": 1000, "mille": 1000, "mil": 1000,
        "million": 10**6, "millions": 10**6, "millionen": 10**6, "millón": 10**6, "millones": 10**6,
        "billion": 10**9, "milliarde": 10**9, "milliarden": 10**9, "milliard": 10**9, "milliards": 10**9,
        "dozen": 12, "dutzend": 12, "douzaine": 12, "docena": 12,
    }
)  # fmt: skip
_ARTICLES = frozenset(("a", "an", "one", "ein", "eine", "einen", "einem", "einer", "un", "une", "una", "uno"))
"""These count only before a unit."""
_WORD = re.compile(r"(?:\w+[aei]nta y )?[^\W\d_]+(?:-[^\W\d_]+)*", re.IGNORECASE)
_HAN = re.compile("[〇零一二两三四五六七八九十百千万亿]+")
_HAN_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_SCALES = MappingProxyType({"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8})


def _table() -> dict[str, float]:
    words: dict[str, float] = {}
    for names in (_ENGLISH, _GERMAN, _FRENCH, _SPANISH):
        words.update({name: value for value, name in enumerate(names.split())})
    for language, names in _TENS.items():
        for ten, name in zip(range(20, 100, 10), names.split(), strict=True):
            words[name] = ten
            for unit in range(1, 10):
                if language == "en":
                    words[f"{name}-{_ENGLISH.split()[unit]}"] = ten + unit
                elif language == "de":
                    one = "ein" if unit == 1 else _GERMAN.split()[unit]
                    words[f"{one}und{name}"] = ten + unit
                elif language == "es":
                    words[f"{name} y {_SPANISH.split()[unit]}"] = ten + unit
            if language == "fr":
                for unit in range(1, 20 if ten in (60, 80) else 10):
                    words.setdefault(f"{name}-{_FRENCH.split()[unit]}", ten + unit)
    words["quatre-vingts"] = 80
    words |= {f"{name}hundert": 100 * at for at, name in enumerate(_GERMAN.split()[:10]) if at > 1}
    for name in ("un", "eins", "uno", "one"):
        words.pop(name, None)
    return words


_WORDS = MappingProxyType(_table())
_ORDINALS = MappingProxyType(
    {
        name: at
        for names in (
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
            "ersten zweiten dritten vierten fünften sechsten siebten achten neunten zehnten elften zwölften",
            "premier deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième",
            "primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo",
        )
        for at, name in enumerate(names.split(), 1)
    }
)


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number and its place in a text."""

    value: float
    start: int
    end: int
    shape: str
    """`digits`, `word`, `article` (it counts only before a unit), `ordinal` or `han`."""


def runs_of_digits(text: str) -> frozenset[str]:
    """Return all runs of digits of a text, without zeros in front; a number, an ordinal or a grouped number counts as
    one, too, and so does each piece of a date without signs.
    """
    spelled = (f"{one.value:g}" for one in numbers(text))
    joined = (re.sub(r"\D", "", found) for found in re.findall(r"\d{1,3}(?:[,.'’ ]\d{3})+", text))
    ordinals = (str(found) for word in set(re.findall(r"[^\W_]+", text)) if (found := ordinal(word)))
    dates = (piece.lstrip("0") for date in _DATE.findall(text) for piece in date)
    return frozenset((*digits_apart(text), *joined, *spelled, *ordinals, *dates))


def digits_apart(text: str) -> list[str]:
    """Return the runs of digits of a text in their order, without zeros in front."""
    return [run.lstrip("0") or "0" for run in re.findall(r"\d+", text)]


def ordinal(word: str) -> int | None:
    """Return the number of an ordinal in words: third → 3."""
    return _ORDINALS.get(word.casefold())


def in_digits(text: str) -> float:
    """Parse a number in digits; a separator before exactly three digits groups thousands."""
    bare = re.sub(r"['’\u00a0\u202f ]", "", text)
    last = max(bare.rfind("."), bare.rfind(","))
    if last < 0:
        return float(bare)
    whole, rest = re.sub(r"[.,]", "", bare[:last]), bare[last + 1 :]
    grouped = (
        len(rest) == 3 and whole not in ("", "0") and len(bare[:last].replace(",", ".").split(".")[0]) <= 3
    )
    return float(whole + rest) if grouped else float(f"{whole or 0}.{rest}")


def numbers(text: str) -> Iterator[Numeral]:
    """Yield the numbers of a text from left to right, a number in several words as one."""
    found = [Numeral(in_digits(match.group()), *match.span(), "digits") for match in _DIGITS.finditer(text)]
    found += _in_words(text)
    found += _in_han(text)
    yield from sorted(found, key=lambda number: number.start)


def _in_words(text: str) -> Iterator[Numeral]:
    """Yield single number words, each with the scales behind it: two hundred thousand."""
    words = list(_WORD.finditer(text))
    for at, match in enumerate(words):
        name, end = match.group().casefold(), match.end()
        value = _WORDS.get(name, 1.0 if name in _ARTICLES else None)
        if value is None:
            continue
        scaled = value
        for behind in words[at + 1 :]:
            scale = _SCALES.get(behind.group().casefold())
            if scale is None or text[end : behind.start()].strip("- "):
                break
            scaled, end = scaled * scale, behind.end()
        article = name in _ARTICLES and scaled == 1
        yield Numeral(scaled, match.start(), end, "article" if article else "word")


def _in_han(text: str) -> Iterator[Numeral]:
    for match in _HAN.finditer(text):
        total = section = digit = 0
        for sign in match.group()[:20]:
            scale = _HAN_SCALES.get(sign)
            if scale is None:
                digit = _HAN_DIGITS[sign]
            elif scale < 10**4:
                section, digit = section + (digit or 1) * scale, 0
            else:
                total, section, digit = total + (section + digit or 1) * scale, 0, 0
        yield Numeral(total + section + digit, *match.span(), "han")


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
        (2**30, "gb gib gi gigabyte gigabytes go gio"),
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
        (1, "g gram grams gramm gramme grammes gramo gramos 克"),
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
_UNIT = re.compile(
    r"[\s\u00a0-]?\s?(cubic\s+met(?:er|re)s?|mètres?\s+cubes?|metros?\s+cúbicos?|km/h|m/s|m[³3]|°\s?[CF]?|%|[€$£¥]|[A-Za-zÀ-ɏ]+)(?![\w])"
)
_BEFORE = re.compile(r"(?:[$€£¥]|\b(?:EUR|USD|CHF|GBP)\s)\s?$")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its unit, and its place in a text."""

    dimension: str
    """What it measures, such as `time`; "number" without a unit."""
    value: float
    """In the base unit of its dimension."""
    number: float
    """As it is written, without the unit."""
    start: int
    end: int
    every: float = 0.0
    """Of a rate, the seconds in which it is counted: 60 for “300 requests a minute”; else 0."""
    rate: tuple[int, int] = (0, 0)
    """Where these seconds stand: “ a minute”."""

    def same(self, other: Amount) -> bool:
        """Whether both are one value."""
        least = 1e-9 * max(abs(self.value), abs(other.value), 1.0)
        return self.dimension == other.dimension and abs(self.value - other.value) <= least


_GLUED = frozenset(("an", "to", "go", "a", "d", "y", "w", "mi", "ki", "ti", "k", "b"))
"""Units that are other words if a space stands before them."""
_SECOND_THING = re.compile(
    r"\s+(?!(?:later|ago|after|before|per|each|apart|or|and|is|of|más|después|antes|por|o|y|es)\b)[^\W\d_]",
    re.IGNORECASE,
)
"""A word after “a second”, which makes it an ordinal and no time."""
_SCALE_AFTER = re.compile(
    r"\s?(?:k|K|M|[Tt]sd\.?|thousand|tausend|mille|mil|Mio\.?|millions?|Millionen|millones|millón|Mrd\.?|billion)(?!\w)|\s?[万萬亿億]"
)
_MONEY_AFTER = re.compile(r"\s?(?:[€$£¥]|(?:EUR|USD|GBP|CHF|euros?|dollars?)\b)", re.IGNORECASE)
_LETTERS = ("k", "K", "M")
"""These count only beside a sign of money: 5 k may be a size."""
_SCALE_OF = (
    dict.fromkeys(("k", "tsd", "thousand", "tausend", "mille", "mil"), 10**3)
    | dict.fromkeys(("万", "萬"), 10**4)
    | dict.fromkeys(("m", "mio", "million", "millions", "millionen", "millones", "millón"), 10**6)
    | dict.fromkeys(("亿", "億"), 10**8)
    | dict.fromkeys(("mrd", "billion"), 10**9)
)
_HOUR = re.compile(r"\d:$")
_MINUTES = re.compile(r":([0-5]\d)(?![\d:])")
_NUMBERED = re.compile(
    r"(?:\b(?:chunk|step|option|lines?|issue|item|point|no\.|figure|table|section|chapter|pages?|question|observation|task|phase|"
    r"part|round|ticket|PR|commit|bug|Schritt|Zeile|Punkt|Nr\.|Abschnitt|Kapitel|Seite|Frage|Aufgabe|Teil|étape|ligne|page|"
    r"chapitre|paso|línea|página|capítulo|tarea|artículo)\s+#?|\.\w{1,4}:|第)$",
    re.IGNORECASE,
)
"""What stands before a number that only names something: step 3, line 28, test.py:772."""


_SECONDS = {name: seconds for seconds, names in _UNITS["time"] if seconds >= 1 for name in names.split()}
_RATE = re.compile(
    r"[^\s\d.,;:!?()/]{0,12}(?:[ \u00a0][^\s\d.,;:!?()/]{1,30}){0,3}?("
    r"\s+(?:per|(?:in\s+)?an?|each|every|pro|je|jede[nrs]?|die|in\s+der|[ai]m|par|(?:à\s+)?la|le|chaque|por|al|cada)\s+"
    r"|\s+(?:à\s+)?l['’]|\s?/\s?)([^\W\d_]+)(?!\w)"
    r"(?!\s+(?:later|ago|after|before|apart|long|time|später|danach|nach|vor|après|avant|después|antes)\b)",
    re.IGNORECASE,
)
"""Up to three words after a number, and then a unit of time in which it is counted: 300 requests a minute, 60/min."""


@lru_cache(maxsize=16_384)
def amounts(text: str) -> tuple[Amount, ...]:
    """Return the numbers of a text that count or measure something, with their units, from left to right.

    The minute of “300 requests a minute” is no amount of its own.
    """
    found: list[Amount] = []
    for number in numbers(text):
        if (not found or number.start >= found[-1].rate[1]) and (one := _amount(text, number)) is not None:
            every, place = _rate(text, number)
            found.append(replace(one, every=every, rate=place) if place[0] >= one.end else one)
    return tuple(found)


def _rate(text: str, number: Numeral) -> tuple[float, tuple[int, int]]:
    """Return the seconds in which a number is counted, and where they stand; zeros if it is no rate."""
    match = _RATE.match(text, number.end)
    name = match[2].casefold() if match is not None else ""
    if (
        match is None
        or name not in _SECONDS
        or (len(name) == 1 and (name not in "shd" or "/" not in match[1]))
    ):
        return 0.0, (0, 0)
    return _SECONDS[name], (match.start(1), match.end())


def _amount(text: str, number: Numeral) -> Amount | None:
    """Return a number with its unit; None if it is part of a name, or an article."""
    start, end, value = number.start, number.end, number.value
    before = text[max(0, start - 20) : start]
    if number.shape == "digits":
        if before[-1:] and (before[-1] in "_#.-/\\" or (before[-1].isascii() and before[-1].isalpha())):
            return None
        if _HOUR.search(before):
            return None
        if clock := _MINUTES.match(text, end):
            return Amount("clock", value * 60 + int(clock[1]), value, start, clock.end())
        if scale := _SCALE_AFTER.match(text, end):
            name = scale.group().strip()
            if name not in _LETTERS or _BEFORE.search(before) or _MONEY_AFTER.match(text, scale.end()):
                value, end = value * _SCALE_OF[name.casefold().rstrip(".")], scale.end()
        elif (
            text[end : end + 1] in ("_", ":", "/")
            and text[end + 1 : end + 2].isalnum()
            and not _rate(text, number)[0]
        ):
            return None
    dimension, factor, stop = _unit(text, end, number.shape)
    if dimension == "temperature" and "f" in text[end:stop].casefold():
        return Amount(dimension, round((value - 32) * 5 / 9, 9), value, start, stop)
    if not dimension and (sign := _BEFORE.search(before)):
        return Amount("money", value, value, start - len(sign.group()), end)
    counts = number.shape == "digits" or (number.shape == "word" and value != 1)
    if not dimension and (not (counts or number.end - start > 1) or _NUMBERED.search(before)):
        return None
    if not dimension and number.shape == "article":
        return None
    return Amount(dimension or "number", round(value * factor, 9), value, start, stop)


def _unit(text: str, end: int, shape: str) -> tuple[str, float, int]:
    """Return (dimension, factor, end) of the unit after a number; ("", 1, end) if there is none."""
    none = ("", 1.0, end)
    for name in _HAN_UNITS:
        if text.startswith(name, end) or (text.startswith(name, end + 1) and text[end : end + 1] == " "):
            return (*_UNIT_OF[name], text.index(name, end) + len(name))
    match = _UNIT.match(text, end)
    if match is None:
        return none
    name = match[1].replace(" ", "")
    known = _UNIT_OF.get(name.casefold())
    is_ordinal = shape == "article" and name.casefold() in ("second", "segundo")
    if (
        known is None
        or name == "M"
        or (len(name) <= 2 and name.isalpha() and shape != "digits")
        or (name in _GLUED and match.group()[:1].isspace())
        or (is_ordinal and _SECOND_THING.match(text, match.end()))
    ):
        return none
    if name == "m" and match.group()[:1].isspace():
        return "length", 1.0, match.end()
    return (*known, match.end())
