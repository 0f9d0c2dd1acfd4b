"""Numbers of passages inside a text, with what each opens: of a payload, of a line in the inspector.

A number means something only together with the SOURCES line of the answer it stands in. In a payload several answers
stand below each other, each with a line of its own, and what was quoted with them has none: so a number is looked for
in the next SOURCES line below it, as far as the same message goes on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from forky_core.context.citing import SOURCES, sources_in

Opens = Mapping[int, str]
"""The address that each number opens."""

NOTHING: Opens = MappingProxyType({})
_NUMBERS = re.compile(r"(?<![\w\])\\])\[([0-9]{1,3}(?:\s?[,;]\s?[0-9]{1,3}){0,9})\](?![(\[:\w])")
_NUMBER = re.compile(r"([0-9]+)")
_SPEAKER = re.compile(r"^(?:user|assistant|system|tool)\b.*:$")
"""The line above a message in a full payload and in a quoted one."""


def sources_of(line: str) -> Opens:
    """What a SOURCES line names, also where it is quoted; nothing for any other."""
    bare = line.removeprefix("> ")
    return {one.number: one.address for one in sources_in(bare)} if bare.startswith(SOURCES) else NOTHING


def opens_of(line: str, sources: Opens) -> Opens:
    """Of some sources, those that the line names by number."""
    if not sources:
        return NOTHING
    named = [int(number) for group in _NUMBERS.findall(line) for number in _NUMBER.findall(group)]
    return {number: sources[number] for number in named if number in sources} or NOTHING


def opened_by_line(lines: Sequence[str]) -> list[Opens]:
    """Of each line of a text, what its numbers open."""
    found: list[Opens] = []
    below: Opens = NOTHING
    for line in reversed(lines):
        below = NOTHING if _SPEAKER.match(line) else sources_of(line) or below
        found.append(opens_of(line, below))
    return found[::-1]


def opened_in(text: str) -> Opens:
    """What the numbers of a short text open; one that means two things, the first of them."""
    found: dict[int, str] = {}
    for opens in opened_by_line(text.split("\n")):
        found = {**opens, **found}
    return found or NOTHING


def linked(text: str, opens: Opens, words: Callable[[str], str], link: Callable[[str, str], str]) -> str:
    """The text with `link(number, address)` in the place of each number that opens something, the rest by `words`."""
    if not opens:
        return words(text)
    pieces: list[str] = []
    done = 0
    for group in _NUMBERS.finditer(text):
        pieces.append(words(text[done : group.start(1)]))
        for piece in _NUMBER.split(group[1]):
            address = opens.get(int(piece)) if piece.isdecimal() else None
            pieces.append(link(piece, address) if address is not None else words(piece))
        done = group.end(1)
    return "".join((*pieces, words(text[done:])))
