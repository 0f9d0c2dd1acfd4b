"""Numbers of passages in a text, with the address that each opens: in a payload, or in a line of the inspector.

A number has a meaning only together with the SOURCES line of its answer. A payload may have several answers below each
other, each with its own SOURCES line, and quoted messages without one: so a number is looked up in the next SOURCES
line below it within the same message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from forky_core.context.citing import SOURCES, sources_in
from forky_core.text.words import WIDE

Opens = Mapping[int, str]
"""The address that each number opens."""

NOTHING: Opens = MappingProxyType({})
NUMBERS = rf"(?<![\])\\!])(?<![^\W{WIDE}])\[([0-9]{{1,3}}(?:\s?[,;]\s?[0-9]{{1,3}}){{0,9}})\](?![(\[:])(?![^\W{WIDE}])"
"""The pattern of bracketed numbers that may cite passages; those of an index, such as `row[1]`, are none."""
_NUMBERS = re.compile(NUMBERS)
_NUMBER = re.compile(r"([0-9]+)")
_SPEAKER = re.compile(r"^(?:user|assistant|system|tool)\b.*:$")
"""The line above a message in a full payload and in a quoted one."""


def sources_of(line: str) -> Opens:
    """Return the sources that a SOURCES line names, quoted or not; none for any other line."""
    bare = line.removeprefix("> ")
    return {one.number: one.address for one in sources_in(bare)} if bare.startswith(SOURCES) else NOTHING


def opens_of(line: str, sources: Opens) -> Opens:
    """Return those of the sources that the line cites by number."""
    if not sources:
        return NOTHING
    named = [int(number) for group in _NUMBERS.findall(line) for number in _NUMBER.findall(group)]
    return {number: sources[number] for number in named if number in sources} or NOTHING


def opened_by_line(lines: Sequence[str]) -> list[Opens]:
    """Return, for each line of a text, what its numbers open."""
    found: list[Opens] = []
    below: Opens = NOTHING
    for line in reversed(lines):
        below = NOTHING if _SPEAKER.match(line) else sources_of(line) or below
        found.append(opens_of(line, below))
    return found[::-1]


def opened_in(text: str) -> Opens:
    """Return what the numbers of a short text open; the first meaning of a number that has two."""
    found: dict[int, str] = {}
    for opens in opened_by_line(text.split("\n")):
        found = {**opens, **found}
    return found or NOTHING


def linked(text: str, opens: Opens, words: Callable[[str], str], link: Callable[[str, str], str]) -> str:
    """Return the text with each number that opens something replaced by `link(number, address)`, and the rest by
    `words(text)`.
    """
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
