"""Numbers as people write them: in digits with either thousands separator, and in words of some languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType

_DIGITS = re.compile(
    r"\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+(?!\d)(?:[.,]\d{1,2}(?!\d))?|\d{1,15}(?:[.,]\d{1,9}(?![.,]?\d))?"
)
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
_SPANISH_HUNDREDS = (
    "cien doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos"
)
_SCALES = MappingProxyType(
    {
        "hundred": 100, "hundert": 100, "cent": 100, "cents": 100, "ciento": 100,
        "thousand": 1000, "tausend": 1000, "mille": 1000, "mil": 1000,
        "million": 10**6, "millions": 10**6, "millionen": 10**6, "millón": 10**6, "millones": 10**6,
        "billion": 10**9, "milliarde": 10**9, "milliarden": 10**9, "milliard": 10**9, "milliards": 10**9,
        "dozen": 12, "dutzend": 12, "douzaine": 12, "docena": 12,
    }
)  # fmt: skip
_ONES = MappingProxyType(
    {
        "a": 1, "an": 1, "one": 1, "ein": 1, "eine": 1, "einen": 1, "einem": 1, "einer": 1,
        "un": 1, "une": 1, "una": 1, "uno": 1,
    }
)  # fmt: skip
"""These include articles, which count only before a unit."""
_HALVES = MappingProxyType(
    {
        "half": 0.5, "halbe": 0.5, "halber": 0.5, "halben": 0.5, "halbes": 0.5, "demi": 0.5, "demie": 0.5,
        "media": 0.5, "medio": 0.5, "quarter": 0.25, "viertel": 0.25, "quart": 0.25, "cuarto": 0.25,
        "anderthalb": 1.5, "eineinhalb": 1.5, "zweieinhalb": 2.5, "dreieinhalb": 3.5,
    }
)  # fmt: skip
_AND = frozenset(("and", "und", "et", "y"))
_OF = frozenset(("a", "of", "de", "d"))
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_HAN = re.compile("[〇零一二两兩三四五六七八九十百千万萬亿億半]+")
_HAN_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_HAN_SCALES = MappingProxyType({"十": 10, "百": 100, "千": 1000})
_HAN_MYRIADS = MappingProxyType({"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8})
_HAN_ABOVE = MappingProxyType({"百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8})
_LONGEST_WORD = 40


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
            if language == "fr":
                for unit in range(1, 20 if ten in (60, 80) else 10):
                    words.setdefault(f"{name}-{_FRENCH.split()[unit]}", ten + unit)
    words["quatre-vingts"] = 80
    words.update({name: 100 * (at + 1) for at, name in enumerate(_SPANISH_HUNDREDS.split())})
    for name, value in list(words.items()):
        if value in range(2, 10) and name in _GERMAN:
            words[f"{name}hundert"] = value * 100
            words[f"{name}tausend"] = value * 1000
    words.update(einhundert=100, eintausend=1000, zehntausend=10_000, fünfhundert=500)
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
    run: list[re.Match[str]] = []
    for match in _WORD.finditer(text):
        word = match.group().casefold()
        counts = len(word) <= _LONGEST_WORD and (
            word in _WORDS
            or word in _SCALES
            or word in _ONES
            or word in _HALVES
            or word in _AND
            or word in _OF
        )
        if word == "cents" and not (run and run[-1].group().casefold() in _FRENCH.split()):
            counts = False
        if run and (not counts or text[run[-1].end() : match.start()].strip("- '’")):
            yield from _number(run)
            run = []
        if counts:
            run.append(match)
    if run:
        yield from _number(run)


def _number(run: list[re.Match[str]]) -> Iterator[Numeral]:
    """Parse a run of number words; joining words at its ends do not belong to it."""
    words = [match.group().casefold() for match in run]
    while words and (words[-1] in _AND or (words[-1] in _OF and words[-1] not in _ONES)):
        words.pop()
    first = 0
    while first < len(words) and words[first] in _AND | (_OF - _ONES.keys()):
        first += 1
    words, run = words[first:], run[first : len(words)]
    if not words:
        return
    if all(word in _ONES for word in words):
        yield Numeral(1, run[-1].start(), run[-1].end(), "article")
        return
    if words[-1] in _ONES and words[-1] not in ("one", "uno"):
        words, run = words[:-1], run[:-1]
    yield Numeral(_value(words), run[0].start(), run[-1].end(), "word")


def _value(words: list[str]) -> float:
    """Compute the value of a number in several words."""
    total = current = 0.0
    last_scale = 1.0
    for at, word in enumerate(words):
        if word in _HALVES and at and words[at - 1] in _AND and last_scale > 1:
            total += _HALVES[word] * last_scale  # A million and a half.
        elif word in _SCALES:
            scale = _SCALES[word]
            current, last_scale = (current or 1) * scale, float(scale)
            if scale >= 1000:
                total, current = total + current, 0.0
        elif word in ("one", "uno"):
            current += 1
        else:
            current += _WORDS.get(word, _HALVES.get(word, 0.0))
    return total + current


def _in_han(text: str) -> Iterator[Numeral]:
    for match in _HAN.finditer(text):
        signs = match.group()[:20]
        total = section = current = 0.0
        for sign in signs:
            if sign in _HAN_DIGITS:
                current = _HAN_DIGITS[sign]
            elif sign in _HAN_SCALES:
                section += (current or 1) * _HAN_SCALES[sign]
                current = 0
            elif sign in _HAN_MYRIADS:
                total += (section + current or 1) * _HAN_MYRIADS[sign]
                section = current = 0
            else:
                current += 0.5
        if len(signs) > 1 and signs[-1] in _HAN_DIGITS and (scale := _HAN_ABOVE.get(signs[-2])):
            current *= scale / 10  # The unit is left out: 九千五 is 9500.
        yield Numeral(total + section + current, *match.span(), "han")
