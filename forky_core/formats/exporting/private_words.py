"""Finds private data in a text: keys and tokens, bank accounts, payment cards, e-mail addresses, phone numbers.

It uses patterns of our own and no library (docs/design/where-our-own-code-stays.md). False positives matter too
(versions, hashes, dates, addresses of machines, hex dumps), or nobody reads the list; the tests cover both sides. Every
pattern is bounded, so that no text takes more than linear time. Signs that nobody sees do not hide a value, nor do
look-alikes, escapes or the end of a line within it. What is written in base64, base32 or hex and holds something
private is private as a whole.
"""

from __future__ import annotations

import re
from base64 import b32decode, b64decode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from forky_core.formats.exporting.account_numbers import cards, ibans
from forky_core.formats.exporting.secret_shapes import secrets
from forky_core.text.disguises import undisguised

Kind = Literal["key", "IBAN", "card", "e-mail", "phone"]

LETTERS = "A-Za-zÀ-ÖØ-öø-ɏͰ-ԯ"
"""Latin, Greek and Cyrillic letters, which are written in words with spaces between them."""
_EMAIL = re.compile(
    rf"(?<![{LETTERS}0-9._%+-])(?!(?:if|while|for)[ ])[{LETTERS}0-9._%+-]{{1,64}}(?:@|[ ]?[(\[]at[)\]][ ]?)"
    rf"(?:[{LETTERS}0-9-]{{1,63}}(?:\.|[ ]?[(\[]dot[)\]][ ]?)){{1,8}}([{LETTERS}]{{2,24}})(?![{LETTERS}0-9-])"
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
    (?=[+(0-9])
    (?: (?<![\w+/=.-])\+[1-9](?:[ ]?\(0\))?(?:[ ./-]?\(?\d\)?){7,14}(?!\w)            # with a country
    | (?<![\w./+-])(?:\([2-9]\d{2}\)[ ]?[2-9]\d{2}[-. ]\d{4}
                     | [2-9]\d{2}(?P<sep>[-.])[2-9]\d{2}(?P=sep)\d{4})(?![\w/-]|\.\d)   # North America
    | (?<![\w./:+-])(?<![0-9a-f]{2}[ ])\(?0[1-9]\d{0,3}\)?[ /-]\d{2,8}(?:[ -]\d{2,5}){0,4}
      (?![\w/:]|[.-]\d|[ ][0-9a-f]{2}\b)                                                    # with a trunk 0
    | (?<![\w./:+-])00[ ]?[1-9]\d{0,3}(?:[ /-]\(?\d{1,6}\)?){2,6}(?![\w/:]|[.-]\d)              # with a country
    | (?<![\w./:+-])0[1-9](?:\.\d\d){4}(?![\w/:]|[.-]\d)                                         # France, with dots
    | (?<![\w./:+-])0(?:1[567]\d{8,9}|7[1-9]\d{8})(?![\w/:]|[.-]\d) )         # German and British mobiles in one
    """,
    re.VERBOSE,
)
_CALLED_PHONE = re.compile(
    r"""
      (?=[PpTtMmHhCcWwSsFfNn手电電携т])
      (?i:\b(?:phone|telephone|tele?fon|tel|mobile|mobil|handy|cell|whatsapp|signal|fax|call[ ](?:me|us)|nummer
        |tél(?:éphone)?|tel[eé]fon[eo]|телефон)\b | 手机号?码? | 电话 | 電話番?号? | 携帯)
      [^\w\n(+]{0,4}(?i:(?:是 | (?:number|no|nr|is|me|us|at|on|under|unter|ist|est|es)\b)[^\w\n(+]{0,3}){0,3}
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


_ENCODED = re.compile(
    r"(?<![\w+/=-])(?:[\w+/-]{16,}+(?:\r?\n[ \t]{0,40}[\w+/-]{4,}+){0,2000}+={0,6}"
    r"|[0-9A-Fa-f]{2}(?:[ :][0-9A-Fa-f]{2}){12,20000}+\b)",
    re.ASCII,
)
_MOST_ENCODED = 200_000
"""Characters of an encoded text that is looked into."""
_DEEPEST = 3
"""How often something may be encoded or disguised again."""


def private_words(text: str) -> Iterator[PrivateText]:
    """Find private data in the order of the text, without nested matches."""
    yield from _private(text, _DEEPEST)


def _private(text: str, deep: int) -> Iterator[PrivateText]:
    on_one_line = text.replace("\n", " ") if "\n" in text else text
    found = [
        *(PrivateText("key", *one) for one in secrets(text)),
        *(PrivateText("IBAN", text[at : at + len(value)], at) for value, at in ibans(on_one_line)),
        *(PrivateText("card", text[at : at + len(value)], at) for value, at in cards(on_one_line)),
        *(_emails(text) if "@" in text or "at)" in text or "at]" in text else ()),
        *(_phones(text) if _MAY_BE_PHONE.search(text) else ()),
        *(_disguised(text, deep - 1) if deep else ()),
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


def _disguised(text: str, deep: int) -> Iterator[PrivateText]:
    """What is private in the text as it is read, where that is not as it is written."""
    plain = undisguised(text)
    for one in _private(plain.text, deep) if plain.changed else ():
        start, end = plain.source(one.start, len(one.value))
        yield PrivateText(one.kind, text[start:end], start)


def _encoded(text: str, deep: int) -> Iterator[PrivateText]:
    """What is written in hex, base64 or base32 and holds something private, as a whole."""
    for match in _ENCODED.finditer(text):
        # A path or a name may stand before it, so that its parts are tried, too.
        for part in (match, *_PART.finditer(match.group())) if _PART.search(match.group()) else (match,):
            inside = next((one for said in _decoded(part.group()) for one in _private(said, deep)), None)
            if inside is not None:
                start = match.start() + (part.start() if part is not match else 0)
                yield PrivateText(inside.kind, part.group(), start)
                break


def _decoded(written: str) -> Iterator[str]:
    """Yield the texts that something may be written for; bytes that are mostly no text stand for none."""
    signs = "".join(written.replace(":", " ").split()).rstrip("=")
    if len(signs) > _MOST_ENCODED:
        return
    for alphabet, decode, size in _ENCODINGS:
        if alphabet.fullmatch(signs):
            try:
                content = decode(signs.translate(_URL_SAFE) + "=" * (-len(signs) % size))
            except ValueError:
                continue
            # Of UTF-16, every other byte of what is written in ASCII is 0.
            said = content.replace(b"\0", b"").decode(errors="replace")
            if len(_NO_TEXT.findall(said)) * 8 <= len(said):
                yield said


_PART = re.compile(r"(?<=[/_-])[A-Za-z0-9+]{16,}")
_ENCODINGS: tuple[tuple[re.Pattern[str], Callable[[str], bytes], int], ...] = (
    (re.compile(r"(?:0x)?(?:[0-9A-Fa-f]{2})+"), lambda signs: bytes.fromhex(signs.removeprefix("0x")), 1),
    (re.compile("[A-Z2-7]+"), b32decode, 8),
    (re.compile(r"[\w+/-]+", re.ASCII), b64decode, 4),
)
_URL_SAFE = str.maketrans("-_", "+/")
_NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]")

_RANK: dict[Kind, int] = {kind: rank for rank, kind in enumerate(get_args(Kind))}
"""What overlaps is the first of these."""


def _emails(text: str) -> Iterator[PrivateText]:
    for match in _EMAIL.finditer(text):
        remote = match.group().startswith("git@") and text[match.end() : match.end() + 1] == ":"
        value = match.group()
        lead = len(value) - len(value.lstrip(".%+-"))
        if match[1].lower() not in _NO_DOMAIN and not remote and value[lead] not in "@[( ":
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
