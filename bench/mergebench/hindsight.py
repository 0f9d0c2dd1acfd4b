"""Cuts a session into trunk, side and continuation, and says what of the side the continuation needed.

Needed is what was first seen in the side and was used again in the continuation: identifiers, and whole lines. So a
case needs neither an annotator nor a model, and a method, which gets trunk and side only, cannot know the answer.
docs/design/what-a-squash-keeps.md has the reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bench.merge_cases import (
    LEAST_NEEDED,
    LEAST_SIDE,
    LEAST_TURNS,
    LOG,
    WINDOWS,
    identifiers,
    sessions,
    whole_lines,
)
from bench.mergebench.case import Case, Split, Turn, content

SHORT_STARTS = (0.25, 0.5, 0.75)
"""Where short sides begin, as shares of a session's user turns."""
SHORT_SIDES = (1, 2)
"""User turns of a short side."""
MOST_SIDE = 20_000
"""Tokens of a side; a longer one is no branch that somebody would read a merge of."""


@dataclass(frozen=True, slots=True)
class Hindsight:
    """A case with what turned out to be needed of it."""

    case: Case
    identifiers: frozenset[str]
    lines: frozenset[str]


def kept(needed: Hindsight, payload: str) -> tuple[float, float]:
    """The shares of the needed identifiers and of the needed lines that stand in a payload."""
    standing = _rows(payload)
    lines = sum(line in standing or _stands(line, payload) for line in needed.lines)
    names = len(needed.identifiers & identifiers(payload))
    return names / len(needed.identifiers), lines / max(1, len(needed.lines))


def _rows(payload: str) -> frozenset[str]:
    return frozenset(row.strip() for row in payload.splitlines())


def _stands(line: str, payload: str) -> bool:
    """Whether a line stands in the payload with white space, marks or a bullet around it, and not as part of a word."""
    at = payload.find(line)
    while at >= 0:
        before, after = payload[at - 1 : at] if at else "", payload[at + len(line) : at + len(line) + 1]
        if not (_is_inner(before) and _is_inner(line[0])) and not (_is_inner(after) and _is_inner(line[-1])):
            return True
        at = payload.find(line, at + 1)
    return False


def _is_inner(sign: str) -> bool:
    """Whether words and names go on at this sign."""
    return sign.isalnum() or sign == "_"


def cut(
    name: str,
    turns: Sequence[Turn],
    split: Split,
    *,
    short: bool,
    most_side: int = MOST_SIDE,
    spoken: bool = False,
) -> Iterator[Hindsight]:
    """The cases of one session; `short` adds sides of one and two user turns.

    `spoken`: needed is only what people and models speak of later, and not what tools print again; then whole lines are
    seldom needed, and a case need not have any.
    """
    asked = [at for at, turn in enumerate(turns) if turn.role == "user"]
    if len(asked) < LEAST_TURNS:
        return
    ends = {(asked[int(len(asked) * start)], asked[int(len(asked) * end)]) for start, end in WINDOWS}
    if short:
        starts = sorted({max(1, int(len(asked) * share)) for share in SHORT_STARTS})
        ends |= {
            (asked[at], asked[at + length])
            for at in starts
            for length in SHORT_SIDES
            if at + length < len(asked)
        }
    for start, end in sorted(ends):
        case = Case(f"{name}-{start}-{end}", name, "en", split, tuple(turns[:start]), tuple(turns[start:end]))
        later = [turn for turn in turns[end:] if not (spoken and turn.role == "tool")]
        found = _needed(case, content(later))
        enough = len(found.identifiers) >= LEAST_NEEDED and (spoken or len(found.lines) >= LEAST_NEEDED)
        if enough and LEAST_SIDE <= case.tokens <= most_side:
            yield found


def _needed(case: Case, later: str) -> Hindsight:
    before, now = content(case.trunk), content(case.side)
    return Hindsight(
        case,
        (identifiers(now) - identifiers(before)) & identifiers(later),
        (whole_lines(now) - whole_lines(before)) & whole_lines(later),
    )


@lru_cache(maxsize=2)
def coding_log(split: Split) -> tuple[Hindsight, ...]:
    """The cases of the coding log, () where it is not beside the checkout; even sessions are the development half."""
    if not LOG.is_file():
        return ()
    every = enumerate(sessions(LOG.read_text("utf-8")))
    return tuple(
        case
        for number, turns in every
        if (number % 2 == 1) == (split == "test")
        for case in cut(
            f"log-{number}", [Turn(role, text) for role, text in turns], split, short=False, most_side=10**9
        )
    )
