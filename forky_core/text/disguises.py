"""Reads a text as whoever copies a value out of it would: without signs that draw nothing, and with escapes as the
signs that they stand for. Each passage of the reading can be found again in the text as it was written.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from urllib.parse import unquote

_UNSEEN = (
    "\x00-\x08\x0e-\x1f\x7f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef"
)
"""Signs that draw nothing: they join, separate or turn the signs beside them."""
_OTHER_FORMS = (
    "\u00a0\u2000-\u200a\u202f\u205f\u3000\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u2460-\u24ff\uff01-\uff5e"
    "\U0001d400-\U0001d7ff"
)
"""Spaces, digits and letters that are others in another form, such as wide or bold ones."""
_LIKE_LATIN = "асеіјорѕухһԁԛԝАВЕКМНОРСТУХο"
_LATIN = str.maketrans(_LIKE_LATIN, "aceijopsyxhdqwABEKMHOPCTYXo") | dict.fromkeys(range(0x300, 0x370), "")
_IN_WORD = re.compile(f"[\u0300-\u036f{_LIKE_LATIN}]")
_PLAIN_LETTER = re.compile("[A-Za-z0-9_]")
_OTHER_FORM = re.compile(f"[{_OTHER_FORMS}]")
_DASH = re.compile("[\u2010-\u2015\u2212]")
_DISGUISE = re.compile(
    rf"""
    [%\\&\u0300-\u036f\u2010-\u2015\u2212{_UNSEEN}{_OTHER_FORMS}{_LIKE_LATIN}]
    (?: (?<=%) (?: [2-7][0-9A-Fa-f] | [89A-Fa-f][0-9A-Fa-f](?:%[89A-Fa-f][0-9A-Fa-f])* )
      | (?<=\\) (?: u(?P<unicode>[0-9A-Fa-f]{{4}}) | x(?P<byte>[0-9A-Fa-f]{{2}}) | (?=[_/@]) )
      | (?<=&) (?: \#[0-9]{{1,7}} | \#[xX][0-9A-Fa-f]{{1,6}} | commat|period|sol|colon|lowbar|equals|amp|quot );
      | (?<![%\\&]) )
    """,
    re.VERBOSE,
)


class Respelled:
    """A text with other words for what a pattern matches, and where each passage of it stands in the original."""

    def __init__(self, text: str, pattern: re.Pattern[str], instead: Callable[[re.Match[str]], str]) -> None:
        pieces: list[str] = []
        self._from: list[int] = []
        self._to: list[int] = []
        self._source: list[tuple[int, int]] = []
        at = length = 0
        for match in pattern.finditer(text):
            word = instead(match)
            if word == match.group():
                continue
            pieces += (text[at : match.start()], word)
            length += match.start() - at
            self._from.append(length)
            length += len(word)
            self._to.append(length)
            self._source.append(match.span())
            at = match.end()
        self.changed = bool(pieces)
        self.text = "".join((*pieces, text[at:]))

    def source(self, start: int, length: int) -> tuple[int, int]:
        """Return where the passage at `start` begins and ends in the original."""
        return self._place(start)[0], self._place(start + length - 1)[1]

    def _place(self, at: int) -> tuple[int, int]:
        before = bisect_right(self._from, at) - 1
        if before < 0:
            return at, at + 1
        if at < self._to[before]:
            return self._source[before]
        place = self._source[before][1] + at - self._to[before]
        return place, place + 1


def undisguised(text: str) -> Respelled:
    """Return the text with plain signs for escapes, wide letters and look-alikes, and without unseen ones."""
    return Respelled(text, _DISGUISE, _plain)


def _plain(match: re.Match[str]) -> str:
    found = match.group()
    if code := match["unicode"] or match["byte"]:
        return chr(int(code, 16))
    if found[0] in "%&":
        return unquote(found, errors="ignore") if found[0] == "%" else html.unescape(found)
    if _IN_WORD.match(found):
        # Words of another script, and accents on the letters of one, stay as they are.
        around = match.string[max(0, match.start() - 1) : match.end() + 1]
        return found.translate(_LATIN) if _PLAIN_LETTER.search(around) else found
    if _OTHER_FORM.match(found):
        digit = unicodedata.decimal(found, None)
        return unicodedata.normalize("NFKC", found) if digit is None else str(digit)
    return "-" if _DASH.match(found) else ""
