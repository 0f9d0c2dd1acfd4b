"""The frozen values of MergeBench: a turn, a case, and the signature of a method."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, cast

import sentencex

from forky_core.llm.tokens import estimate_tokens

Role = Literal["user", "assistant", "tool"]
Split = Literal["development", "test"]
Language = Literal["en", "de", "fr", "es", "zh"]

LANGUAGES: tuple[Language, ...] = ("en", "de", "fr", "es", "zh")
LONG_LINE = 80
"""Characters above which a line is cut into its sentences: in talk, a turn is one line of several statements."""
_LONG_LINES: Mapping[Language, int] = MappingProxyType({"zh": 30})
"""The same for languages in which a sign is about a word."""
_NUMBER = re.compile(r"(?:[-*] )?\d+[.)]")


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation."""

    role: Role
    text: str
    """What was said; of a tool, its output."""
    name: str = ""
    """The name of the speaker where there are several, or of the tool."""
    call: str = ""
    """Of a tool, the JSON object of the arguments with which the model called it."""

    @property
    def content(self) -> str:
        """All that a reader of the turn sees: of a tool, its name and arguments, too."""
        return "\n".join(filter(None, (f"{self.name} {self.call}" if self.call else "", self.text)))


Method = Callable[[Sequence[Turn], Sequence[Turn], int], str]
"""A merge: (trunk, side, budget in tokens) → the text that stands for the side."""


@dataclass(frozen=True, slots=True)
class Case:
    """One place at which a branch might be merged."""

    id: str
    source: str
    """The session, conversation or story it is cut from; intervals draw whole sources."""
    language: Language
    split: Split
    trunk: tuple[Turn, ...]
    side: tuple[Turn, ...]

    @property
    def tokens(self) -> int:
        """Of the side."""
        return sum(estimate_tokens(turn.content) for turn in self.side)

    def budget(self, share: float, least: int = 0) -> int:
        """So much of the side's tokens, and never fewer than `least`."""
        return max(least, int(self.tokens * share))


def turns_of(rows: Iterable[Sequence[str]]) -> tuple[Turn, ...]:
    """Turns from the rows of a data file: `[role, text]`, with a name and a call where there are any.

    Raises:
        ValueError: a row has another form.
    """
    found = []
    for row in rows:
        if not 2 <= len(row) <= 4 or row[0] not in ("user", "assistant", "tool"):
            raise ValueError(f"No turn: {str(row)[:80]}")
        found.append(Turn(cast("Role", row[0]), *row[1:]))
    return tuple(found)


def content(turns: Iterable[Turn]) -> str:
    """All that the turns say, one after the other."""
    return "\n".join(turn.content for turn in turns)


def lines_of(turns: Iterable[Turn], language: Language = "en") -> list[str]:
    """The distinct lines of the turns in order, long ones cut into sentences; lines without a letter or digit left out.

    These are the pieces that the simple methods choose from.
    """
    return list(dict.fromkeys(piece for turn in turns for piece in pieces(turn.content, language)))


def pieces(text: str, language: Language = "en") -> list[str]:
    """The lines of a text, long ones cut into sentences, without those that hold no letter or digit."""
    longest = _LONG_LINES.get(language, LONG_LINE)
    found: list[str] = []
    for raw in text.splitlines():
        line = raw.strip()
        cut = [one.strip() for one in sentencex.segment(language, line)] if len(line) > longest else [line]
        if len(cut) > 1 and _NUMBER.fullmatch(cut[0]):
            cut[:2] = [f"{cut[0]} {cut[1]}"]  # The number of a list's item is no sentence.
        found += [piece for piece in cut if any(map(str.isalnum, piece))]
    return found


_MARKUP = re.compile(r"[*`]|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|^\s*(?:#{1,6}|[-+>])\s+", re.MULTILINE)
_CITATION = re.compile(r"(?: \[[0-9a-f]{6,32}\])+$", re.MULTILINE)
_SPACE = re.compile(r"[^\S\n]+")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "\u00a0": " "})


def folded(text: str) -> str:
    """A text as statements are compared: case folded, white space folded, without emphasis, bullets and citations.

    Line ends stay. Typographic quotation marks become plain ones.
    """
    plain = _MARKUP.sub("", _CITATION.sub("", text.translate(_QUOTES)))
    return _SPACE.sub(" ", plain).casefold()
