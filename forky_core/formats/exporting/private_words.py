"""Finds private data in a text: keys and tokens, bank accounts, payment cards, e-mail addresses, phone numbers.

It uses patterns of our own and no library (docs/design/where-our-own-code-stays.md). False positives matter too
(versions, hashes, dates, addresses of machines, hex dumps), or nobody reads the list; the tests cover both sides. Every
pattern is bounded, so that no text takes more than linear time. Signs that nobody sees do not hide a value, nor does
the end of a line within it, nor base64: what is written in base64 and holds something private is private as a whole.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from forky_core.formats.exporting.account_numbers import cards, ibans
from forky_core.formats.exporting.secret_shapes import secrets

Kind = Literal["key", "IBAN", "card", "e-mail", "phone"]

_EMAIL = re.compile(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}([A-Za-z]{2,24})(?![A-Za-z0-9-])"
)
_NO_DOMAIN = frozenset(
    [
        "png",
        "jpg",
        "jpeg",
        "gif",
        "svg",
        "webp",
        "ico",
        "css",
        "js",
        "ts",
        "py",
        "rb",
        "rs",
        "go",
        "md",
        "txt",
        "json",
        "html",
        "xml",
        "yml",
        "yaml",
        "sh",
        "exe",
        "zip",
        "pdf",
    ]
)
_PHONE = re.compile(
    r"""
      (?<![\w+/=.-])\+[1-9](?:[ ]?\(0\))?(?:[ ./-]?\(?\d\)?){7,14}(?!\w)            # with a country
    | (?<![\w./+-])(?:\([2-9]\d{2}\)[ ]?[2-9]\d{2}[-. ]\d{4}
                     | [2-9]\d{2}(?P<sep>[-.])[2-9]\d{2}(?P=sep)\d{4})(?![\w/-]|\.\d)   # North America
    | (?<![\w./:+-])(?<![0-9a-f]{2}[ ])\(?0[1-9]\d{0,3}\)?[ /-]\d{2,8}(?:[ -]\d{2,5}){0,4}
      (?![\w/:]|[.-]\d|[ ][0-9a-f]{2}\b)                                                    # with a trunk 0
    | (?<![\w./:+-])00[ ]?[1-9]\d{0,3}(?:[ /-]\(?\d{1,6}\)?){2,6}(?![\w/:]|[.-]\d)              # with a country
    | (?<![\w./:+-])0[1-9](?:\.\d\d){4}(?![\w/:]|[.-]\d)                                         # France, with dots
    | (?<![\w./:+-])0(?:1[567]\d{8,9}|7[1-9]\d{8})(?![\w/:]|[.-]\d)           # German and British mobiles in one
    """,
    re.VERBOSE,
)
_CALLED_PHONE = re.compile(
    r"""
      (?i:\b(?:phone|telephone|tele?fon|tel|mobile|mobil|handy|cell|whatsapp|signal|fax|call[ ](?:me|us)|nummer)\b)
      [^\w\n(+]{0,4}(?i:(?:number|no|nr|is|me|us|at|on|under|unter|ist)\b[^\w\n(+]{0,3}){0,3}
      (?P<called>\(?\d(?:[ ./-]?\(?\d\)?){6,14})(?![\w/:]|[.-]\d)
    """,
    re.VERBOSE,
)
"""Digits of any country after a word that labels them, without a plus or a trunk 0."""
_FEWEST_CALLED = 7
_FEWEST, _MOST = 9, 15
"""Digits of a phone number, including its country code or trunk 0 (E.164 allows 15)."""


@dataclass(frozen=True, slots=True)
class PrivateText:
    """One private value in a text."""

    kind: Kind
    value: str
    start: int


_MAY_BE_PHONE = re.compile(r"\d[\d ()./-]{4,}\d")
"""A quick test before the search for phone numbers; most texts fail it."""


_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff]"
)
"""Signs that draw nothing: they join, separate or turn the signs beside them."""
_ENCODED = re.compile(r"(?<![\w+/=-])[\w+/-]{16,}+(?:\r?\n[ \t]{0,40}[\w+/-]{4,}+){0,2000}+={0,2}", re.ASCII)
_MOST_ENCODED = 200_000
"""Characters of a text in base64 that is looked into."""
_DEEPEST = 3
"""How often something may be written in base64 of base64."""


def private_words(text: str) -> Iterator[PrivateText]:
    """Find private data in the order of the text, without nested matches."""
    yield from _private(text, _DEEPEST)


def _private(text: str, deep: int) -> Iterator[PrivateText]:
    hidden = [match.start() for match in _UNSEEN.finditer(text)] if not text.isascii() else []
    if hidden:
        # The n-th sign that is seen stands behind as many that are not as there are up to it.
        seen = [place for place, sign in enumerate(text) if not _UNSEEN.match(sign)]
        for one in _private(_UNSEEN.sub("", text), deep):
            start, end = seen[one.start], seen[one.start + len(one.value) - 1] + 1
            yield PrivateText(one.kind, text[start:end], start)
        return
    on_one_line = text.replace("\n", " ") if "\n" in text else text
    found = [
        *(PrivateText("key", *one) for one in secrets(text)),
        *(PrivateText("IBAN", text[at : at + len(value)], at) for value, at in ibans(on_one_line)),
        *(PrivateText("card", text[at : at + len(value)], at) for value, at in cards(on_one_line)),
        *(_emails(text) if "@" in text else ()),
        *(_phones(text) if _MAY_BE_PHONE.search(text) else ()),
        *(_encoded(text, deep - 1) if deep else ()),
    ]
    if not found:
        return
    taken = bytearray(len(text))
    kept = []
    for one in sorted(found, key=lambda one: (_RANK[one.kind], one.start, -len(one.value))):
        end = one.start + len(one.value)
        if not any(taken[one.start : end]):
            taken[one.start : end] = b"\1" * len(one.value)
            kept.append(one)
    yield from sorted(kept, key=lambda one: one.start)


def _encoded(text: str, deep: int) -> Iterator[PrivateText]:
    """What is written in base64 and holds something private, as a whole."""
    for match in _ENCODED.finditer(text):
        written = "".join(match.group().split()).rstrip("=").translate(_URL_SAFE)
        if len(written) > _MOST_ENCODED or len(written) % 4 == 1:
            continue
        try:
            said = b64decode(written + "=" * (-len(written) % 4)).decode()
        except ValueError:
            continue
        inside = next(_private(said, deep), None) if said.isprintable() or not _CONTROL.search(said) else None
        if inside is not None:
            yield PrivateText(inside.kind, match.group(), match.start())


_URL_SAFE = str.maketrans("-_", "+/")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")

_RANK: dict[Kind, int] = {kind: rank for rank, kind in enumerate(get_args(Kind))}
"""What overlaps is the first of these."""


def _emails(text: str) -> Iterator[PrivateText]:
    for match in _EMAIL.finditer(text):
        remote = match.group().startswith("git@") and text[match.end() : match.end() + 1] == ":"
        if match[1].lower() not in _NO_DOMAIN and not remote:
            value = match.group()
            lead = len(value) - len(value.lstrip(".%+-"))
            yield PrivateText("e-mail", value[lead:], match.start() + lead)


_ISO_DATE = re.compile(r"\d{4}([-./])\d{1,2}\1\d{1,2}")
_DATE = re.compile(r"^\(?\d{1,2}\)?([ /-])\d{1,2}\1\d{2,4}")


def _phones(text: str) -> Iterator[PrivateText]:
    for match in _PHONE.finditer(text):
        value = match.group()
        digits = sum(c.isdigit() for c in value)
        if _FEWEST <= digits <= _MOST and not (_DATE.match(value) and digits > 10):
            yield PrivateText("phone", value, match.start())
    for match in _CALLED_PHONE.finditer(text):
        value = match["called"]
        digits = sum(c.isdigit() for c in value)
        if _FEWEST_CALLED <= digits <= _MOST and not _DATE.match(value) and not _ISO_DATE.match(value):
            yield PrivateText("phone", value, match.start("called"))
