"""The numbers of a text with their units, in digits or spelled out, and whether two of them are equal.

The words are English, German, French, Spanish and Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_NUMBER_WORDS: dict[str, int] = {}
_COUNTED = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty
null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig
zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf vingt
cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte
"""
for _words in _COUNTED.strip().splitlines():
    _NUMBER_WORDS.update({word: at for at, word in enumerate(_words.split())})
_TENS = {
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}
_NUMBER_WORDS.update(_TENS)
_NUMBER_WORDS.update(
    {"dreißig": 30, "vierzig": 40, "fünfzig": 50, "sechzig": 60, "siebzig": 70, "achtzig": 80, "neunzig": 90}
)
_NUMBER_WORDS.update(
    {"trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60, "treinta": 30, "cuarenta": 40}
)
_NUMBER_WORDS.update(
    {"cincuenta": 50, "sesenta": 60, "setenta": 70, "ochenta": 80, "noventa": 90, "hundred": 100}
)
_NUMBER_WORDS.update(
    {"thousand": 1000, "dozen": 12, "hundert": 100, "tausend": 1000, "cent": 100, "mil": 1000}
)
for _word in ("un", "once", "six", "dix", "uno", "sur"):
    _NUMBER_WORDS.pop(_word, None)  # Words of another language, or articles.
_NUMBER_WORDS["six"] = 6
_WIDE_DIGITS = {sign: at for at, sign in enumerate("零一二三四五六七八九")} | {"两": 2, "兩": 2}

_UNITS: dict[str, tuple[str, float]] = {}
for _dimension, _factor, _names in (
    (
        "time",
        0.001,
        "ms millisecond milliseconds msec millisekunde millisekunden milliseconde millisecondes 毫秒",
    ),
    ("time", 1, "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos 秒 秒钟"),
    ("time", 60, "min mins minute minutes minuten minuto minutos 分钟 分鐘"),
    ("time", 3600, "h hr hrs hour hours stunde stunden heure heures hora horas 小时 小時"),
    ("time", 86_400, "d day days tag tage tagen jour jours día días 天 日"),
    ("time", 604_800, "week weeks woche wochen semaine semaines semana semanas 周 星期"),
    ("months", 1, "month months monat monate monaten mois mes meses 个月"),
    ("months", 12, "year years jahr jahre jahren an ans année années año años 年"),
    ("dollars", 1, "$ dollar dollars usd"),
    ("euros", 1, "€ euro euros eur 欧元"),
    ("pounds", 1, "£ pounds gbp"),
    ("yuan", 1, "¥ yuan rmb 元 块"),
    ("share", 1, "% percent prozent pourcent 百分"),
    ("bytes", 1e3, "kb kib"),
    ("bytes", 1e6, "mb mib"),
    ("bytes", 1e9, "gb gib"),
    ("bytes", 1e12, "tb tib"),
    ("mass", 1, "g gram grams gramm gramme grammes gramo gramos 克"),
    ("mass", 1000, "kg kilo kilos kilogram kilograms kilogramm kilogrammes 公斤"),
    ("length", 0.01, "cm centimetre centimetres centimeter centimeters 厘米"),
    ("length", 0.001, "mm millimetre millimetres millimeter millimeters 毫米"),
    ("length", 1, "metre metres meter meters mètre mètres metro metros 米"),
    ("length", 1000, "km kilometre kilometres kilometer kilometers kilomètres kilómetros 公里"),
    ("miles", 1, "mile miles meilen"),
    ("pressure", 1, "bar bars"),
    ("pressure", 0.0689476, "psi"),
    ("pressure", 10, "mpa 兆帕"),
    ("energy", 1, "kwh"),
    ("energy", 1000, "mwh"),
    ("power", 1, "w watt watts"),
    ("power", 1000, "kw"),
    ("volume", 1, "l litre litres liter liters litro litros 升"),
    ("volume", 0.001, "ml 毫升"),
    ("degrees", 1, "° degrees grad degrés grados 度"),
):
    _UNITS.update(dict.fromkeys(_names.split(), (_dimension, _factor)))

_DIGITS = re.compile(
    r"(?P<before>[$€£¥])?\s?(?<![^\W\d_])(?<![\w_])(?P<number>\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![\d.,:/]\d)(?!\d)|\d+(?:[.,:/]\d+)*)(?P<tail>k\b|[ \u00a0-]?(?P<unit>[$€£¥%°]"
    r"|[^\W\d_]{1,14}))?"
)
_ITEM_NUMBER = re.compile(r"^\W*\d{1,2}[.)]\s")
_WORD_NUMBER = re.compile(
    r"(?<![\w-])(?P<word>"
    + "|".join(sorted(map(re.escape, _NUMBER_WORDS), key=len, reverse=True))
    + r")(?:[ -](?P<more>one|two|three|four|five|six|seven|eight|nine))?(?:[ -](?P<unit>[^\W\d_]{1,14}))?(?![\w-])",
    re.IGNORECASE,
)
_WIDE_NUMBER = re.compile("(?P<word>[零一二三四五六七八九十百两兩]+)(?P<unit>[\u3400-\u9fff]{1,2})?")


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it stands in a text."""

    shown: str
    forms: frozenset[str]
    """Every way to read the number: “1.400” is 1.4 or 1400."""
    unit: str = ""
    """The unit as it is written; "" if the word after the number is no known unit."""
    spelled: bool = False

    @property
    def dimension(self) -> str:
        return _UNITS[self.unit][0] if self.unit else ""

    def same_value(self, other: Number) -> bool:
        return not self.forms.isdisjoint(other.forms)

    def same_measure(self, other: Number) -> bool:
        """Whether both are equal, in one unit or in two that can be converted."""
        if not self.unit or not other.unit:
            return self.same_value(other)
        (mine, factor), (theirs, other_factor) = _UNITS[self.unit], _UNITS[other.unit]
        if mine != theirs:
            return False
        values = [float(form) * factor for form in self.forms if _is_float(form)]
        others = [float(form) * other_factor for form in other.forms if _is_float(form)]
        return any(abs(one - two) <= 1e-6 * max(1.0, abs(one)) for one in values for two in others)

    def near(self, other: Number) -> bool:
        """Whether one is the other, rounded."""
        values = [float(form) for form in self.forms if _is_float(form)]
        others = [float(form) for form in other.forms if _is_float(form)]
        return any(abs(one - two) <= 0.06 * max(abs(one), abs(two)) for one in values for two in others)


def _is_float(form: str) -> bool:
    return re.fullmatch(r"\d+(?:\.\d+)?", form) is not None


@lru_cache(maxsize=4096)
def numbers(text: str) -> tuple[Number, ...]:
    """Return the numbers of a text, in digits or spelled out, but not those inside names."""
    text = _ITEM_NUMBER.sub("", text)
    found = [number for match in _DIGITS.finditer(text) for number in _of_digits(match)]
    for match in _WORD_NUMBER.finditer(text):
        value = _NUMBER_WORDS[match["word"].lower()]
        if match["more"] and value in _TENS.values():
            value += _NUMBER_WORDS[match["more"].lower()]
        unit = (match["unit"] or "").casefold()
        found.append(
            Number(match["word"], frozenset({str(value)}), unit if unit in _UNITS else "", spelled=True)
        )
    for match in _WIDE_NUMBER.finditer(text):
        wide = _wide(match["word"])
        if wide is not None and (len(match["word"]) > 1 or wide > 1):
            unit = next((u for u in ((match["unit"] or ""), (match["unit"] or "")[:1]) if u in _UNITS), "")
            found.append(Number(match["word"], frozenset({str(wide)}), unit, spelled=True))
    return tuple(found)


def _of_digits(match: re.Match[str]) -> Iterator[Number]:
    digits = match["number"]
    unit = (match["before"] or match["unit"] or "").casefold()
    unit = (
        unit
        if unit in _UNITS
        else next((u for u in (unit[:2], unit[:1]) if u in _UNITS and not u.isascii()), "")
    )
    tail = match["tail"] or ""
    if (
        tail
        and not tail[0].isspace()
        and tail[0] not in "-\u00a0"
        and not unit
        and tail.isascii()
        and tail not in ("k", "th", "st", "nd", "rd", "x", "am", "pm")
    ):
        return  # The beginning of a name such as 3f2a91.
    digits = re.sub(r"[ \u00a0\u202f]", "", digits)
    forms = {_plain(digits)}
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        forms.add(_plain(digits.replace(",", "")))
    elif re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?", digits):
        forms.add(_plain(digits.replace(".", "").replace(",", ".")))
    elif re.fullmatch(r"\d+,\d+", digits):
        forms.add(_plain(digits.replace(",", ".")))
    if tail == "k":
        forms |= {_plain(str(float(form) * 1000)) for form in forms if _is_float(form)}
    yield Number(digits, frozenset(forms), unit)


def _plain(digits: str) -> str:
    if re.fullmatch(r"\d+\.0+", digits):
        digits = digits.split(".", maxsplit=1)[0]
    return (digits.lstrip("0") or "0") if digits.isdecimal() else digits


def _wide(word: str) -> int | None:
    total, digit = 0, 0
    for sign in word:
        if sign in ("十", "百"):
            total += max(1, digit) * (10 if sign == "十" else 100)
            digit = 0
        elif sign in _WIDE_DIGITS:
            digit = _WIDE_DIGITS[sign]
        else:
            return None
    return total + digit


def components(number: Number) -> frozenset[str]:
    """Return the pieces of a date, a time or a range, each of which a note may use by itself."""
    return frozenset(_plain(piece) for form in number.forms for piece in re.split(r"[-/:.,]", form) if piece)
