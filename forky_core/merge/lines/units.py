"""Cuts messages into the lines a squash may quote, and lines into the atoms that make them worth quoting.

An atom is what a later turn would have to know to go on: a name, a path, a number, a quoted phrase; in writing without
spaces, a pair of characters. Every unit is an exact piece of its message, so that a quotation can be checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from forky_core.model import Message, MessageId
from forky_core.parts import MergePart, TextPart, ToolCallPart, ToolResultPart

Shape = Literal["prose", "code", "tool", "names"]
"""A list of names is no line to quote: it says what its message names beside."""

Names = Mapping[MessageId, Sequence[str]]
NO_NAMES: Names = MappingProxyType({})
LONG_LINE = 240
"""Characters above which a line of prose is cut into sentences."""
LONG_IN_PROSE = 80
"""The same where people and models do nothing but talk: a fact is a sentence there, and a turn one line of several."""
NOTHING_BUT_PROSE = 0.95
"""Of the characters, the share from which a branch counts as that."""
LONG_UNSPACED = 30
"""The same for writing without spaces, where a sign is about a word."""
_KEPT_TEXT = 2_000
"""Characters up to which the atoms of a text are remembered."""
READ = 200_000
"""Characters of one part that are looked at; the middle of a longer one is not quoted, so that a preview is quick."""
LONGEST = 600
"""Characters above which a piece is cut anyway, at a space."""

_ATOM = re.compile(
    r"""
      https?://[^\s<>"')\]]+
    | (?:~|\.{1,2}|(?<![\w.@+/-])[\w@][\w.@+-]*+)?(?:/[\w.@+-]*[\w@+-])++/?+   # a path
    | [A-Za-z_][\w-]*(?:(?:\.|::|->)[A-Za-z_]\w*)+   # a dotted name
    | --?[A-Za-z][\w-]+                          # an option
    | \d\w*(?:[.,:/-]\d\w*)*%?                   # a number, a date, a version, a hash
    | [^\W\d_][\w]*(?:[-'’][\w]+)*               # a word or an identifier
    | _\w+
    """,
    re.VERBOSE,
)
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff\uf900-\ufaff]+")
_SENTENCE_END = re.compile(
    r"""(?<!^\d[.])(?<!^\d\d[.])(?<=[.!?…])["')\]”»]*\s+(?=["'(\[“«]*[^\sa-z])|(?<=[。！？｡])"""
)
_ENCODED = re.compile(r"(?<![\w+/=-])[\w+/=-]{120,}+", re.ASCII)
_WORD = re.compile(r"[^\W\d_]{3}|[\u3040-\u9fff\uac00-\ud7af]")
_FENCE = re.compile(r"^\s*(```|~~~)\s*(diff|patch)?")
_EDIT_MARK = re.compile(r"(<{5,}|={5,}$|>{5,})")
_CODE = re.compile(
    r"""[{};]\s*$|^\s*(def|class|import|from|return|if|for|while|const|let|var|fn|func|public|private|
    [#]include|async|await|try|except|catch|else|elif|with|raise|throw)\b.*[:({;=]|\w\([^)]*\)\s*[:{;]?\s*$|^\s*[\w.\[\]"']+\s*[+*/-]?=\s*\S
    |^\s*[$>]\s+\w|^[+-]\s*\S.*[({;:=]""",
    re.VERBOSE,
)
_SPELLED_OUT = re.compile(
    r"[A-Z]?[^\W\dA-Z_]*(?:[-’'][^\W\d_]+)*|[^\W\d_]+/[^\W\d_]+|--?\w{1,2}|(?:[A-Za-z]\.)+[A-Za-z]?"
)
_NAME_LIKE = re.compile(r"[\d_./:@()-]|[a-z][A-Z]|^[A-Z]{2,}$")


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a message that can be quoted by itself."""

    message: MessageId
    role: str
    text: str
    """Exactly as it stands in the message, white space at its ends apart."""
    shape: Shape
    place: int
    """Number of the unit in the whole branch: units are shown in this order."""
    turn: int
    """Number of its message."""


def units(messages: Sequence[Message], names: Names = NO_NAMES) -> list[Unit]:
    """Every piece of the messages, in order; below those of each, what it only names."""
    found = _units(messages, names, LONG_LINE)
    whole = sum(len(unit.text) for unit in found if unit.shape != "names")
    words = sum(len(unit.text) for unit in found if unit.shape == "prose" and unit.role != "tool")
    return _units(messages, names, LONG_IN_PROSE) if words >= whole * NOTHING_BUT_PROSE else found


def _units(messages: Sequence[Message], names: Names, long: int) -> list[Unit]:
    found: list[Unit] = []
    for turn, message in enumerate(messages):
        for text, shape in _pieces(message, long):
            found.append(Unit(message.id, message.role, text, shape, len(found), turn))
        if named := names.get(message.id):
            found.append(Unit(message.id, message.role, ", ".join(named), "names", len(found), turn))
    return found


def _pieces(message: Message, long: int) -> Iterator[tuple[str, Shape]]:
    for part in message.parts:
        if isinstance(part, TextPart):
            yield from _lines(_read(part.text), long)
        elif isinstance(part, MergePart):
            for text, shape in _lines(_read(part.text), long):
                yield text, "prose" if shape == "code" else shape
        elif isinstance(part, ToolCallPart):
            yield from ((line, "tool") for line in _cut(_read(f"{part.name} {part.arguments}")))
        elif isinstance(part, ToolResultPart):
            lines = (line.strip() for line in _read(part.output).splitlines())
            yield from ((piece, "tool") for line in lines if _WORD.search(line) for piece in _cut(line))


def _read(text: str) -> str:
    """The text without encoded bytes; of a very long one its beginning and its end, in whole lines if it has any."""
    if len(text) > READ:
        start, end = text[: READ // 2], text[-READ // 2 :]
        text = (start.rpartition("\n")[0] or start) + "\n" + (end.partition("\n")[2] or end)
    return _ENCODED.sub("\n", text)


def _lines(text: str, long: int) -> Iterator[tuple[str, Shape]]:
    """Without fences and the marks of an edit; a patch's lines without their signs."""
    fenced = edited = patch = False
    for raw in text.splitlines():
        line = raw.strip()
        fence = _FENCE.match(line)
        if fence:
            fenced, edited = not fenced, False
            patch = fenced and fence.group(2) is not None
        elif _EDIT_MARK.match(line) and (edited or line[0] == "<"):
            edited = line[0] != ">"
        elif not line or not any(character.isalnum() for character in line):
            continue
        elif patch and line[0] in "+-":
            yield from ((piece, "code") for piece in _cut(line[1:].strip()))
        elif fenced or edited or (len(raw) <= LONGEST and _CODE.search(raw)):
            yield from ((piece, "code") for piece in _cut(line))
        elif len(line) <= (LONG_UNSPACED if _UNSPACED.search(line) else long):
            yield line, "prose"
        else:
            yield from ((piece, "prose") for s in sentences(line) for piece in _cut(s))


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph, each a piece of it."""
    return [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def _cut(text: str) -> Iterator[str]:
    """Pieces of at most LONGEST characters, cut at a space where there is one."""
    while len(text) > LONGEST:
        at = text.rfind(" ", LONGEST // 2, LONGEST)
        at = at if at > 0 else LONGEST
        yield text[:at].strip()
        text = text[at:].strip()
    if text:
        yield text


def atoms(text: str) -> tuple[str, ...]:
    """The atoms of a text, each once, as they are spelled."""
    return _kept_atoms(text) if len(text) <= _KEPT_TEXT else _atoms(text)


@lru_cache(maxsize=16_384)
def _kept_atoms(text: str) -> tuple[str, ...]:
    """Messages never change, and each preview of a merge reads the whole target anew."""
    return _atoms(text)


def _atoms(text: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for match in _ATOM.finditer(text):
        atom = match.group()
        if _UNSPACED.search(atom):
            continue
        if len(atom) > 1 or atom.isdigit():
            found[atom] = None
    for run in _UNSPACED.findall(text):
        found.update(dict.fromkeys(run[at : at + 2] for at in range(max(1, len(run) - 1))))
    return tuple(found)


def is_name(atom: str) -> bool:
    """Whether it looks like something a program or a person named: an identifier, a path, a number, an acronym."""
    return _NAME_LIKE.search(atom) is not None


def is_named(atom: str) -> bool:
    """Whether it is worth a place of its own: no list numeral, no “and/or”, no hyphenated word."""
    return len(atom) > 2 and is_name(atom) and _SPELLED_OUT.fullmatch(atom) is None


def plain(line: str) -> str:
    """What makes two lines the same: their words, without indentation and list signs."""
    return " ".join(line.split()).strip("-*+#> `").casefold()


def plain_lines(texts: Iterable[str]) -> set[str]:
    """Every line of the texts in that form."""
    return {plain(line) for text in texts for line in text.splitlines() if line.strip()}
