"""Units of measure in five languages, each with its dimension and its size in the base unit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

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
    "version": ((1, "版"),),
}  # fmt: skip
UNIT_OF: Mapping[str, tuple[str, float]] = MappingProxyType(
    {
        name: (dimension, factor)
        for dimension, rows in _UNITS.items()
        for factor, names in rows
        for name in names.split()
    }
)
_HAN_UNITS = sorted((name for name in UNIT_OF if "\u4e00" <= name[0] <= "\u9fff"), key=len, reverse=True)
COUNTERS = "个名人条次本台份张件位颗根班门块间把辆家只层页支部场轮套座扇项"
_UNIT = re.compile(
    r"[\s\u00a0-]?\s?(cubic\s+met(?:er|re)s?|mètres?\s+cubes?|metros?\s+cúbicos?|km/h|m/s|m[³3]|°\s?[CF]?|%|[€$£¥]|[A-Za-zÀ-ɏ]+)(?![\w])"
)
BEFORE = re.compile(r"(?:[$€£¥]|\b(?:EUR|USD|CHF|GBP)\s)\s?$")
_RATE = re.compile(
    r"\s?(?:/|\b(?:an?|per|each|every|pro|die|je|par|à\s+l['’]|al|por|a\s+la)\s)\s?([^\W\d_]+)|每?(小时|天|月|年|分钟)",
    re.IGNORECASE,
)


_GLUED = frozenset(("an", "to", "go", "a", "d", "y", "w", "mi", "ki", "ti", "k", "b"))
"""Units that are other words if a space stands before them."""


def rate(text: str, end: int) -> tuple[float, int]:
    """Return the period of a rate in seconds, and where it ends: 60 litres a minute."""
    match = _RATE.match(text, end)
    known = UNIT_OF.get((match[1] or match[2] or "").casefold().replace("月", "个月")) if match else None
    return (known[1], match.end()) if match and known and known[0] == "time" else (0.0, end)


_ALSO_ORDINALS = frozenset(("second", "segundo"))
_THING_BEHIND = re.compile(
    r"\s+(?!(?:later|ago|after|before|per|each|apart|or|and|is|of|más|después|antes|por|o|y|es)\b)[^\W\d_]",
    re.IGNORECASE,
)
"""A word after “a second”, which makes it an ordinal and no time."""


def unit(text: str, end: int, shape: str) -> tuple[str, float, int]:
    """Return (dimension, factor, end) of the unit after a number; dimension "" if there is none."""
    for name in _HAN_UNITS:
        if text.startswith(name, end) or (text.startswith(name, end + 1) and text[end : end + 1] == " "):
            return (*UNIT_OF[name], text.index(name, end) + len(name))
    match = _UNIT.match(text, end)
    if match is None:
        return "", 0.0, end
    name = match[1].replace(" ", "")
    if name == "M" or (len(name) == 1 and name.isupper() and shape != "digits"):
        return "", 0.0, end
    known = UNIT_OF.get(name.casefold())
    if shape == "article" and name.casefold() in _ALSO_ORDINALS and _THING_BEHIND.match(text, match.end()):
        return "", 0.0, end
    if known is None or (len(name) <= 2 and name.isalpha() and shape != "digits"):
        return "", 0.0, end
    if name in _GLUED and match.group()[:1].isspace():
        return "", 0.0, end
    if name == "m" and match.group()[:1].isspace():
        return "length", 1.0, match.end()
    return (*known, match.end())
