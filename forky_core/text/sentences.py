"""Splits a message into units that can be quoted alone: sentences, list items and whole code blocks.

Markdown structure takes precedence (a code block or a table cut in the middle misleads), then sentence boundaries, by
sentencex, which knows some 300 languages' abbreviations and needs no download.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Literal

from forky_core.text.fences import CodeBlocks
from forky_core.text.words import word_set

_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+")
_TABLE = re.compile(r"^\s*\|.*\|\s*$")
_SURROGATE = re.compile("[\ud800-\udfff]")
_STRESSED = re.compile(r"(?<![\w*])(\*{1,3})(?=\S)[^*]{1,400}(?<=\S)\1(?![\w*])")
_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
)


@dataclass(frozen=True, slots=True)
class Unit:
    text: str
    kind: Literal["sentence", "item", "code", "heading", "table"]
    paragraph: int
    """The number of its block: units with the same number belong together."""


_FREQUENT = {
    "en": word_set("the and of to is was that it for with not this are be on you"),
    "de": word_set("der die das und ist nicht ein eine den dem mit auf für sich auch wir ich zu von bei"),
    "fr": word_set("le la les des et est une dans pour pas que qui sur avec ce il nous vous du au"),
    "es": word_set("el los las y es una en por para no que con del se lo su más como pero al"),
}
"""The most frequent words of languages with the same letters."""
_WORD = re.compile(r"[^\W\d_]+")


def language_of(text: str) -> str:
    """Guess the language of a text by its script and its most frequent words: a code such as "de", "en" in doubt."""
    sample = text[:2000]
    for code, script in _SCRIPTS:
        if script.search(sample):
            return code
    words = _WORD.findall(sample.casefold())
    counts = {code: sum(word in frequent for word in words) for code, frequent in _FREQUENT.items()}
    return max(counts, key=lambda code: (counts[code], code == "en"))


def sentence_ends(text: str, language: str) -> tuple[int, ...]:
    """Return where the sentences of a text end, white space behind them included."""
    # Imported at the first question, because every start of Forky would pay for it otherwise.
    from sentencex import segment  # noqa: PLC0415

    # Half of a surrogate pair, as JSON may carry it, is no text for it.
    return tuple(accumulate(map(len, segment(language, _SURROGATE.sub("\ufffd", text)))))


def sentences(text: str) -> tuple[str, ...]:
    """Split plain prose into sentences."""
    flat = " ".join(text.split())
    pieces = (
        flat[start:end].strip() for start, end in pairwise((0, *sentence_ends(flat, language_of(flat))))
    )
    return tuple(piece for piece in pieces if piece)


def _quotable(prose: str) -> tuple[str, ...]:
    """Split prose into sentences, none cut within `**stressed words.**`: half of the marks would show, and stress what
    follows.
    """
    flat = " ".join(prose.split())
    stressed = [found.span() for found in _STRESSED.finditer(flat)]
    if not stressed:
        return sentences(flat)
    cuts, at = {len(flat)}, 0
    for sentence in sentences(flat):
        start = flat.find(sentence, at)
        if start < 0:
            return sentences(flat)
        at = start + len(sentence)
        over = next(((first, end) for first, end in stressed if first < start < end), None)
        if over is None:
            cuts.add(start)
        elif set(flat[start : over[1]]) == {"*"}:
            cuts.add(over[1])
    edges = sorted(cuts | {0})
    pieces = (flat[start:end].strip() for start, end in pairwise(edges))
    return tuple(piece for piece in pieces if piece)


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of each Markdown block; an unclosed fence runs to the end."""
    lines: list[str] = []
    kind = "prose"
    fences = CodeBlocks()

    def flush() -> Iterator[tuple[str, str]]:
        nonlocal lines, kind
        if any(line.strip() for line in lines):
            yield kind, "\n".join(lines)
        lines, kind = [], "prose"

    for line in text.splitlines():
        part = fences.take(line)
        if part == "opens" or (part == "prose" and (kind == "code" or not line.strip())):
            yield from flush()
        if part != "prose":
            kind = "code"
            lines.append(line)
            if part == "closes":
                yield from flush()
        elif _HEADING.match(line):
            yield from flush()
            yield "heading", _HEADING.sub("", line)
        elif _ITEM.match(line):
            yield from flush()
            kind, lines = "item", [line]
        elif _TABLE.match(line):
            if kind != "table":
                yield from flush()
            kind = "table"
            lines.append(line)
        else:
            lines.append(line)
    yield from flush()


@lru_cache(maxsize=1024)
def units(text: str) -> tuple[Unit, ...]:
    """Return the quotable units of a Markdown text, in order."""
    found: list[Unit] = []
    for number, (kind, block) in enumerate(_blocks(text)):
        match kind:
            case "code":
                found.append(Unit(block, "code", number))
            case "heading":
                found.append(Unit(block.strip(), "heading", number))
            case "table":
                found.append(Unit(block, "table", number))
            case "item":
                found += [Unit(s, "item", number) for s in _quotable(_ITEM.sub("", block))]
            case _:
                found += [Unit(s, "sentence", number) for s in _quotable(block)]
    return tuple(found)
