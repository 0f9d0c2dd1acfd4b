"""Finds bank accounts (IBAN) and payment cards in a text, each confirmed by its check digits.

The length of an IBAN in each country is that of the registry of ISO 13616, as python-stdnum 2.2 has it; numbers of
cards begin as ISO/IEC 7812 assigns them. Of random numbers that look right, one IBAN in 97 passes its check, and one
card in ten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_IBAN_LENGTHS = {
    country: length
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FI FK FO GL NL SD",
        19: "MK SI",
        20: "AT BA EE KZ LT LU MN XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ OM SO TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST",
        26: "IS TR",
        27: "BI DJ FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU YE",
        31: "MT SC",
        32: "LC",
        33: "RU",
    }.items()
    for country in countries.split()
}
_IBAN = re.compile(
    rf"(?<![A-Za-z0-9])(?=[A-Za-z]{{2}}[0-9]{{2}})(?i:{'|'.join(_IBAN_LENGTHS)})[0-9]{{2}}(?=[ \u00a0\u202f-]?[A-Z0-9])"
)
_SEPARATORS = " \u00a0\u202f-"
_CARD = re.compile(
    r"""
    (?<![\w./+-])(?<!\d[ ])
    (?: [2-6]\d{15,18} | [2-6]\d{3}(?P<sep>[ .-])\d{4}(?P=sep)\d{4}(?P=sep)\d{4}(?:(?P=sep)\d{1,3})?
      | 3[47]\d{2}(?P<five>[ -]?)\d{6}(?P=five)\d{5}
      | 3[0689]\d{2}(?P<four>[ -]?)\d{6}(?P=four)\d{4} )
    (?![\w/]|[.:,-]\d|[ ]\d)
    """,
    re.VERBOSE | re.ASCII,
)
_ISSUERS = re.compile(
    r"""
      4\d{15} | 4\d{18}                                                                   # Visa
    | (?:5[1-5]\d{2}|222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}                  # Mastercard
    | 3[47]\d{13}                                                                         # American Express
    | (?:6011|64[4-9]\d|65\d{2})\d{12,15} | 62\d{14,17} | 35(?:2[89]|[3-8]\d)\d{12}       # Discover, UnionPay, JCB
    | (?:30[0-5]|3[689]\d)\d{11}                                                          # Diners Club
    """,
    re.VERBOSE | re.ASCII,
)


def ibans(text: str) -> Iterator[tuple[str, int]]:
    """Yield each IBAN, together or in groups of four, and where it begins."""
    for match in _IBAN.finditer(text):
        start = match.start()
        value = _grouped(text, start, _IBAN_LENGTHS[text[start : start + 2].upper()])
        digits = "".join(str(int(c, 36)) for c in value if c not in _SEPARATORS)
        # Country and check digits, six digits as written here, go to the end.
        # In small letters only what has no others but the country's, as ids in hex are written so, too.
        written = value.isupper() or value[2:].replace(" ", "").isdigit()
        if value and written and int(digits[6:] + digits[:6]) % 97 == 1:
            yield value, start


def _grouped(text: str, start: int, length: int) -> str:
    """The next `length` letters and digits, with a separator allowed after each fourth; "" if something else comes."""
    at = start
    for number in range(length):
        if number and number % 4 == 0 and text[at : at + 1] and text[at] in _SEPARATORS:
            at += 1
        char = text[at : at + 1]
        if not (char.isascii() and char.isalnum()):
            return ""
        at += 1
    return "" if text[at : at + 1].isalnum() else text[start:at]


def cards(text: str) -> Iterator[tuple[str, int]]:
    """Yield the number of each payment card, together or in its groups, and where it begins."""
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match.group())
        if _ISSUERS.fullmatch(digits) and _luhn(digits):
            yield match.group(), match.start()


def _luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of ISO/IEC 7812-1."""
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[::-2])) + sum(doubled)) % 10 == 0
