"""Dates, weekdays, times of day and frequencies in five languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType

from forky_core.merge.claims.numerals import ordinal
from forky_core.merge.claims.quantity import Quantity
from forky_core.merge.claims.units import UNIT_OF

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
        r"(?P<han>[一二三四五六七八九十]{1,2})月(?P<day>[一二三四五六七八九十]{1,3})[日号號]",
        r"\b(?:the|am|zum|bis\s+zum|vom|le|el)\s+(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?(?=\s*(?:[,.;!?)]|$|\s(?:and|und|et|y|at|um|à|instead|statt)\b))",
        r"\bthe\s+(?P<day>\d{1,2})(?:st|nd|rd|th)\b",
        r"(?<!\d)(?P<day>\d{1,2})[日号號](?!线|楼|机)",
    )
)
_MONTHS_ALONE = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\b(?:in|im|en|by|until|bis|ab|early|late|mid|end\s+of|Anfang|Mitte|Ende|fin|début|mi|finales\s+de|hasta)[\s-]+(?:de\s+)?(?P<month>{_MONTH})\b(?!\.?\s+(?:the\s+)?\d{{1,2}}(?!\d)){_YEAR}",
        r"(?<!\d)(?P<number>1[0-2]|[1-9])\s?月(?:份|底|初|中旬)?(?!\s?\d|球|亮)",
        r"(?P<han>[一二三四五六七八九十]{1,2})月(?:份|底|初|中旬)?(?![一二三四五六七八九十])",
    )
)
_QUARTER = re.compile(
    r"\b[QT](?P<digit>[1-4])\b|\b(?P<ordinal>\w{4,10})\s+(?:quarter|Quartal|trimestre)\b|(?<!\d)(?P<dot>[1-4])\.\s?(?:Quartal)|第?(?P<han>[一二三四1-4])季度"
)
_YEAR_ALONE = re.compile(
    r"\b(?:in|by|until|im\s+Jahr|bis|en|hasta|d'ici|jusqu'en)\s+(?P<year>20\d\d)\b(?!\s?[-/.:]\d)|(?P<han>20\d\d)年(?!\d)",
    re.IGNORECASE,
)
_HAN_DIGITS = MappingProxyType(
    {sign: value for value, sign in enumerate("〇一二三四五六七八九")} | {"两": 2, "十": 10}
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
        r"(?P<noon>下午|晚上|傍晚)?(?P<hour>[01]?\d|2[0-4])\s?[点點](?:(?P<minute>[0-5]?\d)分?)?",
        r"(?P<noon>下午|晚上|傍晚)?(?P<han>[一二两三四五六七八九十]{1,3})[点點](?![儿什建意要原理不])(?P<thirty>半)?",
    )
)


def dates(text: str) -> Iterator[Quantity]:
    for form in _DATES:
        for match in form.finditer(text):
            groups = match.groupdict()
            day = _number(groups["day"]) if groups.get("day") else ordinal(groups.get("ordinal") or "")
            named = _MONTHS.get((groups.get("month") or "").casefold())
            month = named or _number(groups.get("number") or groups.get("han") or "0")
            if day and 1 <= day <= 31 and (month <= 12 or day <= 12):
                slashes = 1.0 if groups.get("number") and "/" in match.group() else 0.0
                value = (float(month), float(day), float(groups.get("year") or 0), slashes)
                yield Quantity("date", value, *match.span())


def months(text: str) -> Iterator[Quantity]:
    """Yield months, quarters and years without a day."""
    for form in _MONTHS_ALONE:
        for match in form.finditer(text):
            groups = match.groupdict()
            named = _MONTHS.get((groups.get("month") or "").casefold())
            month = named or _number(groups.get("number") or groups.get("han") or "0")
            if 1 <= month <= 12:
                yield Quantity(
                    "date", (float(month), 0.0, float(groups.get("year") or 0), 0.0), *match.span()
                )
    for match in _QUARTER.finditer(text):
        sign = match["digit"] or match["dot"] or match["han"]
        word = match["ordinal"] or ""
        quarter = _number(sign) if sign else ordinal(word) or ordinal(word.rstrip("s") + "n")
        if quarter and quarter <= 4:
            yield Quantity("quarter", (float(quarter),), *match.span())
    for match in _YEAR_ALONE.finditer(text):
        yield Quantity("year", (float(match["year"] or match["han"]),), *match.span())


def _number(signs: str) -> int:
    """Parse a day or an hour in digits or in up to three Chinese characters."""
    if signs.isascii():
        return int(signs)
    tens, ten, ones = signs.rpartition("十")
    if not ten:
        return _HAN_DIGITS.get(signs, 0) if len(signs) == 1 else 0
    return 10 * (_HAN_DIGITS.get(tens, 1) if tens else 1) + (_HAN_DIGITS.get(ones, 0) if ones else 0)


def weekdays(text: str) -> Iterator[Quantity]:
    for match in _WEEKDAY.finditer(text):
        yield Quantity("weekday", (float(_WEEKDAYS[match.group().casefold()]),), *match.span())
    for match in _HAN_WEEKDAY.finditer(text):
        yield Quantity("weekday", (float(min("一二三四五六日天".index(match[1]), 6)),), *match.span())


def clocks(text: str) -> Iterator[Quantity]:
    for form in _CLOCKS:
        for match in form.finditer(text):
            groups = match.groupdict()
            hour = _number(groups.get("hour") or groups.get("han") or "0")
            if ((groups.get("half") or "").casefold() == "p" or groups.get("noon")) and hour < 12:
                hour += 12
            minute = 30 if groups.get("thirty") else int(groups.get("minute") or 0)
            yield Quantity("clock", (hour * 60.0 + minute,), *match.span())


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


def frequencies(text: str) -> Iterator[Quantity]:
    for match in _OFTEN_WORD.finditer(text):
        yield Quantity("frequency", (_OFTEN[match.group().casefold()],), *match.span())
    for match in _EVERY.finditer(text):
        known = UNIT_OF.get(next(group for group in match.groups() if group).casefold())
        if known and known[0] == "time" and known[1] >= 86_400:
            yield Quantity("frequency", (known[1] / 86_400,), *match.span())
