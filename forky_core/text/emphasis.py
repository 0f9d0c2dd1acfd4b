"""Whether signs of Markdown begin or end emphasis, also between words of languages that are written without spaces.

CommonMark decides it by the spaces and the punctuation around the signs, and so leaves `**「太字」**が` and
`**텍스트(text)**는` with their asterisks. The rule here is that of the “CJK-friendly emphasis” amendment
(https://github.com/tats-u/markdown-cjk-friendly/blob/main/specification.md): a Chinese, Japanese or Korean character
counts as a boundary, and its punctuation as no obstacle. Elsewhere both rules say the same.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple
from unicodedata import category, east_asian_width

CJK = (
    "\u1100-\u11ff\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uffee"
)
"""The characters of those languages below U+10000, for a regular expression."""


class Delimiter(NamedTuple):
    """What a run of signs can do, by the characters on both sides of it."""

    opens: bool
    """It is left-flanking: something begins here."""
    closes: bool
    """It is right-flanking: something ends here."""


@lru_cache(maxsize=4_096)
def flanking(before: str, after: str, *, cjk: bool = True) -> Delimiter:
    """What signs between these two characters can do; " " stands for the beginning and the end of a line.

    Without `cjk` it is CommonMark's own rule.
    """
    left, right = _kind(before, cjk=cjk), _kind(after, cjk=cjk)
    return Delimiter(
        right != "space" and (right != "punctuation" or left != "letter"),
        left != "space" and (left != "punctuation" or right != "letter"),
    )


def _kind(character: str, *, cjk: bool) -> str:
    if not character or character.isspace():
        return "space"
    if cjk and is_cjk(character):
        return "cjk"
    return "punctuation" if category(character)[0] in "PS" else "letter"


def is_cjk(character: str) -> bool:
    """Whether it is a character of these languages, punctuation included; emoji are none."""
    code = ord(character)
    return (
        code >= 0x1100
        and not (0x2000 <= code < 0x2E80 or 0x1F000 <= code < 0x1FB00)
        and (east_asian_width(character) in "WFH")
    )
