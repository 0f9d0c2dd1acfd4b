"""What a clause puts in a place that an alternative could take: names, quotations, the items of a list.

A name is recognised by its form: quoted, in code, with an @, or capitalised other than at the start of a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from forky_core.merge.claims.cues import DECIDES, NO, YES
from forky_core.merge.claims.word_keys import STOP, word_keys

_QUOTED = re.compile(
    r"`([^`\n]{1,60})`|[“\"]([^”\"\n]{1,60})[”\"]|«\s?([^»\n]{1,60}?)\s?»|„([^“”\n]{1,60})[“”]|「([^」\n]{1,30})」|“([^”\n]{1,30})”"
)
_IDENTIFIER = re.compile(r"(?<![\w@/.-])(?=[\w-]*[A-Za-z])\w+(?:[-_]\w+)*[-_]\w*\d\w*(?![\w/-])")
_HANDLE = re.compile(r"(?<!\w)@[\w./-]{2,40}")
_CAPITAL = re.compile(
    r"(?<![\w@`/.])(?:(?:[A-ZÀ-Þ]\.\s?)?[A-ZÀ-Þ][\wÀ-ÿ'’-]*[\w]|[A-Z]{2,}\w*)(?:\s(?:(?:de|del|la|von|van|der|Le)\s)?[A-ZÀ-Þ][\wÀ-ÿ'’-]*\w)*"
)
_LATIN = re.compile(r"(?<![\w@`/.-])[A-Za-z][A-Za-z0-9]*(?:[._-][A-Za-z0-9]+)*", re.ASCII)
"""A word in Latin letters in a Chinese sentence."""
_HAN_CHOICE = re.compile(
    r"(?:改成|换成|改用|改为|选用|采用|选择|定为|用|选|找|叫|归|由|去|走|是|：|:)(?P<what>[A-Za-z][\w .+-]{0,20}|[\u4e00-\u9fff]{2,10})"
)
_HAN_FIRST = re.compile(r"^(?P<what>[A-Za-z][\w.+-]{0,20}|[\u4e00-\u9fff]{2,8})(?=[。，,！]|$)")
_LIST = re.compile(
    r"(?P<items>[^,.;:!?\n、，。；：]{1,40}(?:(?:,|、|，)\s?[^,.;:!?\n、，。；：]{1,40}){0,20}(?:,?\s+(?:and|or|und|oder|et|ou|y|o)\s+|[、和与及])"
    r"[^,.;:!?\n、，。；：]{1,40})",
    re.IGNORECASE,
)
_BREAK = re.compile(r",|、|，|\s(?:and|or|und|oder|et|ou|y|o)\s|和|与|及", re.IGNORECASE)
_PARTIAL = re.compile(
    r"\b(?:among\s+others|so\s+far|for\s+example|e\.g|such\s+as|besides|including|etc|at\s+least|unter\s+anderem|zum\s+Beispiel|z\.\s?B|bisher|"
    r"außerdem|entre\s+autres|par\s+exemple|notamment|entre\s+otros|por\s+ejemplo|además)\b|…|\.\.\.|例如|比如|等等?|包括",
    re.IGNORECASE,
)
_TITLE = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Prof|Frau|Herrn?|Mme|Sra?|Dña|Don|Doña)\.?\s")
_CALL = 2
"""The most words of an address such as “No problem, Ann”, before the name."""
_COMMON = frozenset(
    [
        "yes",
        "no",
        "ok",
        "oh",
        "i",
        "the",
        "a",
        "an",
        "it",
        "he",
        "she",
        "we",
        "they",
        "you",
        "done",
        "noted",
        "pulled",
        "applied",
        "good",
        "great",
        "fine",
        "sure",
        "then",
        "so",
        "both",
        "all",
        "and",
        "but",
        "for",
    ]
)


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a clause."""

    text: str
    keys: frozenset[str]


@lru_cache(maxsize=16_384)
def names(text: str, *, answers: bool = False) -> tuple[Name, ...]:
    """Return the names of a clause, in order, each once."""
    found: dict[str, Name] = {}

    def add(name: str) -> None:
        keys = frozenset() if _IDENTIFIER.fullmatch(name) else frozenset(word_keys(_TITLE.sub("", name)))
        keys = keys or frozenset((name.strip().casefold(),))
        if name.strip() and len(keys) < 8:
            found.setdefault(name.strip(), Name(name.strip(), keys))

    bare = text
    for match in _QUOTED.finditer(text):
        add(next(group for group in match.groups() if group))
        bare = bare.replace(match.group(), " " * len(match.group()))
    for match in _HANDLE.finditer(bare):
        add(match.group())
    for match in _IDENTIFIER.finditer(bare):
        add(match.group())
    for name in _capitalised(bare, answers or DECIDES.search(text) is not None):
        add(name)
    if re.search("[\u4e00-\u9fff]", bare):
        for match in _LATIN.finditer(bare):
            add(match.group())
        for match in _HAN_CHOICE.finditer(bare):
            add(match["what"])
        if answers and (first := _HAN_FIRST.match(bare)):
            add(first["what"])
    return tuple(found.values())


def _capitalised(text: str, decides: bool) -> Iterator[str]:  # noqa: FBT001
    """Yield names recognised by their capital; a single first word of a sentence only if the sentence decides
    something.
    """
    for match in _CAPITAL.finditer(text):
        name, before = match.group(), text[: match.start()].rstrip()
        first, _, rest = name.partition(" ")
        if rest and not re.search(r"\w", before) and (DECIDES.fullmatch(first) or first.casefold() in STOP):
            name = rest  # The sentence begins with another word: “Use MySQL”.
        initial = not re.search(r"\w", before) or before.endswith((":", "."))
        low = name.casefold()
        if low in _COMMON or low in STOP or _is_called(before, text[match.end() :]):
            continue
        if not initial or decides or " " in name or name.isupper():
            yield name


def _is_called(before: str, after: str) -> bool:
    """Whether a name only addresses somebody: “Wow, Ann!”, “No problem, Ann.”"""
    answers = len(before.split()) == 1 and (NO.search(before) or YES.search(before))
    short = before.endswith(",") and len(before.split()) <= _CALL
    return short and not answers and after[:1] in ("!", ".", ",", "?", "")


@lru_cache(maxsize=16_384)
def listed(text: str) -> frozenset[str]:
    """Return the items of the longest list in a clause, by the key of each; none if the clause says that there are
    more.
    """
    if len(text) > 600 or _PARTIAL.search(text):
        return frozenset()
    best: frozenset[str] = frozenset()
    for match in _LIST.finditer(text):
        items = []
        for item in _BREAK.split(match["items"]):
            keys = word_keys(item)
            if keys:
                items.append(keys[-1])
        if len(items) >= 2 and len(items) > len(best):
            best = frozenset(items)
    return best
