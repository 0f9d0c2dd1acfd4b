"""Two short sentences that differ in only one place, and what each has in that place.

“Tokens are stored in Redis” and “Tokens are stored in PostgreSQL” give (Redis, PostgreSQL). The verb need not be known:
the rest is equal, so the two answer one question, provided that the fillers are of one sort (two names, two words after
the same preposition) or that the sentence's subject can have only one value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from forky_core.merge.claims.cues import CHANGE, DECIDES, KEEPS, OWNS
from forky_core.merge.claims.word_keys import ATTRIBUTES, SINGLE, STOP, word_key, word_keys

LONGEST = 140
"""The longest sentence that is compared, in bytes."""
_LEAST_SUBJECT = 2
"""The fewest words, or Chinese characters, before the place: a subject and a verb."""
_MOST_ALIKE = 24
_MOST_FILLER = 4
"""The most words of a filler."""
_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+(?:[._/'’-][^\W_\u3400-\u9fff]+)*|`[^`]+`")
_NAME = re.compile(r"`|[A-ZÀ-Þ]|\w*[._/]\w|\w+-\d")
_PREPOSITIONS = frozenset(
    word
    for words in (
        "in on at to with by from for into onto under over as via through called named using near",
        "mit bei aus nach von zu als über unter auf für am im zum zur beim namens",
        "à de chez avec par pour vers dans sur comme sous depuis en au aux",
        "con desde hacia para sobre como bajo al",
        "在 用 为 叫 到 向 归 由 往 给 于",
    )
    for word in words.split()
)
_LIGHT = frozenset(
    ("place", "held", "located", "based", "hosted", "situated", "situé", "située", "situado", "situada")
)
_ARTICLES = frozenset(
    (
        "the",
        "a",
        "an",
        "our",
        "its",
        "der",
        "die",
        "das",
        "den",
        "dem",
        "le",
        "la",
        "les",
        "l",
        "un",
        "une",
        "el",
        "los",
        "las",
    )
)
_HAN = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Difference:
    """The fillers of the one place in which two sentences differ."""

    mine: str
    theirs: str
    first: bool
    """Whether the place is at the beginning of both: the fillers say who does it, not what is done."""


@lru_cache(maxsize=8_192)
def _tokens(text: str) -> tuple[tuple[str, int, int], ...]:
    """Return the words of a sentence with their places, without words of change such as “now” and “still”."""
    found = [(match.group().casefold(), *match.span()) for match in _TOKEN.finditer(text)]
    return tuple(
        one for one in found if len(one[0]) == 1 or not (CHANGE.fullmatch(one[0]) or KEEPS.fullmatch(one[0]))
    )


def difference(mine: str, theirs: str) -> Difference | None:
    """Return the one place in which two sentences differ; None if there are more, or if the fillers are of different
    sorts.
    """
    if max(len(mine.encode()), len(theirs.encode())) > LONGEST:
        return None
    a, b = _tokens(mine), _tokens(theirs)
    start = 0
    while start < min(len(a), len(b)) and a[start][0] == b[start][0]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end][0] == b[-1 - end][0]:
        end += 1
    shared = [token for token, *_ in (*a[:start], *a[len(a) - end :])]
    if not _tells(shared):
        return None
    one, other = _filler(mine, a, start, len(a) - end), _filler(theirs, b, start, len(b) - end)
    if one is None or other is None:
        return None
    if {token for token, *_ in a[slice(*one)]} & {token for token, *_ in b[slice(*other)]}:
        return None  # There is a second place.
    my, their = mine[a[one[0]][1] : a[one[1] - 1][2]], theirs[b[other[0]][1] : b[other[1] - 1][2]]
    subject = start >= _LEAST_SUBJECT or (start > 0 and DECIDES.fullmatch(shared[0]) is not None)
    if not subject or not _tells(shared[:start]):
        named = (_NAME.match(my) and _NAME.match(their)) or _HAN.search(my + their)
        led = OWNS.search(mine) and OWNS.search(theirs)
        return Difference(my, their, True) if named and led and one[0] <= start + 2 else None
    before = {_before(a, one[0]), _before(b, other[0])}
    same_role = len(before) == 1 and before <= _PREPOSITIONS
    article = a[one[0] - 1][0] in _ARTICLES
    both_names = not article and bool(_NAME.match(my)) and bool(_NAME.match(their))
    single = any(word_key(token) in SINGLE for token in shared[:start])
    if _HAN.search(mine):
        joined = "".join(shared[:start])
        single = any(key in SINGLE for key in word_keys(joined))
    return Difference(my, their, False) if same_role or both_names or single else None


def _before(tokens: tuple[tuple[str, int, int], ...], at: int) -> str:
    """Return the word before a place, skipping articles."""
    while at and tokens[at - 1][0] in _ARTICLES:
        at -= 1
    return tokens[at - 1][0] if at else ""


def parallel(mine: str, theirs: str) -> bool:
    """Whether two sentences have the same form but different subjects: the free plan has …, the team plan has …"""
    a, b = [token for token, *_ in _tokens(mine)], [token for token, *_ in _tokens(theirs)]
    if len(a) != len(b) or len(a) > _MOST_ALIKE:
        return False
    differing = [at for at in range(len(a)) if a[at] != b[at]]
    if not differing or 2 * len(differing) > len(a) or any(map(word_key, a[: differing[0]])):
        return False
    one, other = word_key(a[differing[0]]), word_key(b[differing[0]])
    return bool(one and other) and one != other and not {one, other} & ATTRIBUTES


def _tells(tokens: list[str]) -> bool:
    """Whether the words can name a subject."""
    return any(word_keys("".join(tokens))) if any(map(_HAN.match, tokens)) else any(map(word_key, tokens))


def _filler(
    text: str, tokens: tuple[tuple[str, int, int], ...], start: int, end: int
) -> tuple[int, int] | None:
    """Return the span of a filler without light words at its beginning: of “takes place in Porto” only the last
    word.
    """
    han = any(_HAN.match(token) for token, *_ in tokens[start:end])
    while start < end - 1 and not han and text[tokens[start][1]].islower():
        if tokens[start][0] not in STOP and tokens[start][0] not in _LIGHT:
            break
        start += 1
    most = _MOST_FILLER * (2 if han else 1)
    return (start, end) if 0 < end - start <= most else None
