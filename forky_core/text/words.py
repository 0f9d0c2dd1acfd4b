"""Converts text to the terms that ranking compares: lower-case stems for scripts with spaces, bigrams for those
without.

The same rule applies to questions, conversations, documents and the guide. It is deliberately small: a light suffix
stripper that maps “merge”, “merging” and “merged” to one stem is all that quoting needs, and it needs no language
model.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import chain
from types import MappingProxyType

WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""The characters of scripts without spaces, for a regular expression."""
_RUNS = re.compile(rf"[{WIDE}]+|[^\W{WIDE}]+(?:['’\-._][^\W{WIDE}]+)*")
_ASCII_RUNS = re.compile(r"[a-z0-9_]+(?:['\-._][a-z0-9_]+)*")
_PIECES = re.compile(r"['’\-._]")
_IS_WIDE = re.compile(rf"[{WIDE}]")


def clipped(text: str, longest: int) -> str:
    """Return a text cut to so many characters, at a space if its second half has one, with “…” behind it."""
    if len(text) <= longest:
        return text
    cut = text.rfind(" ", 0, longest)
    return text[: cut if cut > longest // 2 else longest].rstrip() + " …"


def word_set(words: str) -> frozenset[str]:
    """Return the words of a list that is written as a text with spaces."""
    return frozenset(words.split())


STOPWORDS = word_set(
    """
    a about above actually after again all already also am an and any anybody anyone anything are aren't as at be
    because been before being below between both but by can can't cannot could couldn't did didn't do does doesn't
    doing don't done each either else ever every few for from further get gets getting give given go goes going got had
    has hasn't have haven't having he hello help her here hers hey hi him his how however i i'd i'll i'm i've if in into
    is isn't it it's its itself just kind know let let's like lot make makes many may maybe me mean might more most much
    must my need needs no nor not now of off ok okay on once one only onto or other our ours out over own perhaps please
    possible put question quite rather really s said same say see shall she should shouldn't so some someone something
    still such sure t tell than thank thanks that that's the their them then there there's these they thing things think
    this those though through to too try under until up upon us use used using very want wants was wasn't way we we'd
    we'll we're we've well were weren't what what's whatever when where whether which while who whole whom whose why
    will with within without won't work works would wouldn't yes yet you you'd you'll you're you've your yours
    der die das den dem des ein eine einen einem einer und oder aber ist sind war wie was wer wo wann warum ich du er sie
    es wir ihr nicht kein keine mit von zu zum zur im in auf für an bei aus nach kann muss soll wird haben hat hatte
    le la les un une des du de et ou mais est sont était comment quoi qui où quand pourquoi je tu il elle nous vous ils
    elles ne pas avec pour dans sur par au aux ce cette ces que peut faire
    el los las una unos unas y o pero es son fue cómo qué quién dónde cuándo por yo tú él ella nosotros no con para en
    sobre al lo que puede hacer
    """
)

FUNCTION_CHARACTERS = frozenset(
    "的了吗呢吧啊呀是在我你他她它们们这那有和与就也都不没什么怎样多少哪谁为请把给被很会能要个嗎們這那為麼樣請給個會說说"
)
_HIRAGANA = re.compile(r"[\u3040-\u309f]")

_IRREGULAR = MappingProxyType(
    {
        "undone": "undo",
        "chose": "choos",
        "chosen": "choos",
        "went": "go",
        "lost": "lose",
        "kept": "keep",
        "found": "find",
        "brought": "bring",
        "sent": "send",
        "cost": "cost",
        "data": "data",
        "threw": "throw",
        "built": "build",
    }
)

_SUFFIXES = (
    ("ision", "id"),
    ("isions", "id"),
    ("ization", "iz"),
    ("ations", "at"),
    ("ation", "at"),
    ("nesses", "ness"),
    ("ements", "e"),
    ("ement", "e"),
    ("ings", ""),
    ("ing", ""),
    ("ies", "i"),
    ("ied", "i"),
    ("ers", ""),
    ("er", ""),
    ("ed", ""),
    ("es", ""),
    ("ly", ""),
    ("s", ""),
    ("e", ""),
    ("y", "i"),
)
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")

_KIN = (
    ("decid", "agre", "choos", "settl", "pick", "chosen", "select", "conclud", "final"),
    ("nam", "call", "titl", "renam"),
    ("error", "bug", "fail", "issu", "problem", "exception", "crash", "broken", "wrong"),
    ("fix", "solv", "repair", "workaround", "resolv"),
    ("cost", "pric", "expens", "money", "dollar", "pai"),
    ("delet", "remov", "trash", "eras", "discard", "throw"),
    ("undo", "revert", "rollback", "redo", "restor"),
    ("merg", "combin", "unit", "join"),
    ("compar", "diff", "differenc", "versu"),
    ("find", "search", "look", "locat"),
    ("sav", "stor", "keep", "persist", "location", "locat", "folder", "file"),
    ("backup", "export", "sav"),
    ("quick", "fast", "speed", "performanc", "slow"),
    ("edit", "chang", "modif", "rewrit"),
    ("import", "load", "migrat"),
    ("picture", "imag", "photo", "screenshot"),
    ("attach", "upload", "file"),
    ("key", "credential", "secret", "token"),
    ("offlin", "network", "internet"),
    ("branch", "fork"),
)


def _kin_table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for family in _KIN:
        for word in family:
            table.setdefault(word, set()).update(other for other in family if other != word)
    return {word: frozenset(others) for word, others in table.items()}


KIN = MappingProxyType(_kin_table())
"""Related stems that a person may use for each other; a match on one counts less than the word itself."""


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the stem of one lower-case word, at least three letters long; words that are not letters only stay
    unchanged.
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.isalpha() or word.endswith("ss"):
        return word
    for suffix, ending in _SUFFIXES:
        least = 4 if suffix == "ly" else 3  # “reply” and “apply” are no adverbs
        if word.endswith(suffix) and len(word) - len(suffix) + len(ending) >= least:
            bare = word[: -len(suffix)] + ending
            return _DOUBLED.sub(r"\1", bare) if suffix in ("ing", "ings", "ed", "er", "ers") else bare
    return word


def _wide_terms(run: str) -> tuple[str, ...]:
    """Return bigrams, without those that have a particle: they are as common as “the” and as empty."""
    pairs = (run,) if len(run) == 1 else tuple(run[i : i + 2] for i in range(len(run) - 1))
    return tuple(
        pair for pair in pairs if FUNCTION_CHARACTERS.isdisjoint(pair) and not _HIRAGANA.fullmatch(pair[-1])
    )


@lru_cache(maxsize=65536)
def _word_terms(run: str) -> tuple[str, ...]:
    """Return the terms of a word; a compound such as `duckdb-sqlalchemy` or `app.py` counts whole and in pieces."""
    if run in STOPWORDS:
        return ()
    pieces = [piece for piece in _PIECES.split(run) if piece]
    if len(pieces) < 2:
        return (stem(run),)
    return (run, *(stem(piece) for piece in pieces if piece not in STOPWORDS and len(piece) > 1))


@lru_cache(maxsize=8192)
def terms(text: str) -> tuple[str, ...]:
    """Return the terms of a text in order, without stop words."""
    if text.isascii():
        return tuple(chain.from_iterable(map(_word_terms, _ASCII_RUNS.findall(text.lower()))))
    found: list[str] = []
    for run in _RUNS.findall(unicodedata.normalize("NFKC", text).lower().replace("’", "'")):
        found += _wide_terms(run) if _IS_WIDE.match(run) else _word_terms(run)
    return tuple(found)
