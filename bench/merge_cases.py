"""Cuts a real log into cases that tell, afterwards, what a merge should have kept.

A session becomes trunk | side | continuation. Needed is what was first seen in the side and was used again in the
continuation: identifiers, and whole lines. So a case needs neither a model nor an annotator, and the extractor, which
is given trunk and side only, cannot know the answer. Sessions with even numbers are the development split, odd ones
the test split; nothing is drawn at random.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from forky_core.llm.tokens import estimate_tokens
from forky_core.model import Message, seal
from forky_core.model.parts import Draft, TextPart

Role = Literal["user", "assistant", "tool"]
Split = Literal["development", "test"]

LOG = Path(__file__).resolve().parents[1].parent / "shared" / "mergebench" / "chat-history.md"
WINDOWS = ((0.2, 0.5), (0.2, 0.7), (0.35, 0.65), (0.35, 0.85), (0.5, 0.8))
"""Where sides begin and end, as shares of a session's user turns."""
LEAST_TURNS = 3
"""User turns of a session that is cut at all."""
LEAST_SIDE = 1_000
"""Tokens of a side; below that a merge would bring the messages themselves."""
LEAST_NEEDED = 3
"""Lines, and identifiers, that a continuation must use for its case to count."""
LEAST_LINE = 8
"""Characters of a line that can be needed; `else:` and `try:` are no knowledge."""

_SESSION = re.compile(r"^# aider chat started at.*$", re.MULTILINE)
_SIGNS: Mapping[Role, str] = MappingProxyType({"user": "####", "tool": ">"})
_MARKUP = re.compile(r"```|~~~|<{5,}|={5,}|>{5,}|-{5,}$")
"""Fences and the marks of an edit: they recur in every answer and say nothing."""
_NAME = re.compile(r"[A-Za-z_]\w*(?:[./][A-Za-z_]\w*)*", re.ASCII)
_LIKE_CODE = re.compile(r"[_./\d]|[a-z][A-Z]")


@dataclass(frozen=True, slots=True)
class Case:
    """One place of a session at which a branch might have been merged."""

    session: int
    trunk: tuple[Message, ...]
    side: tuple[Message, ...]
    identifiers: frozenset[str]
    """Needed: first seen in the side, used in the continuation."""
    lines: frozenset[str]
    tokens: int
    """Of the side."""
    continuation: str

    @property
    def split(self) -> Split:
        return "test" if self.session % 2 else "development"


def identifiers(text: str) -> frozenset[str]:
    """Names that a program or a file system knows: four characters or more, with a sign that no plain word has."""
    return frozenset(name for name in _NAME.findall(text) if len(name) > 3 and _LIKE_CODE.search(name))


def whole_lines(text: str) -> frozenset[str]:
    """Lines worth knowing word for word, without the white space around them."""
    stripped = (line.strip() for line in text.splitlines())
    return frozenset(
        line
        for line in stripped
        if len(line) >= LEAST_LINE and re.search("[A-Za-z]", line) and not _MARKUP.match(line)
    )


def said(messages: Sequence[Message]) -> str:
    return "\n".join(message.text for message in messages)


def sessions(log: str) -> list[list[tuple[Role, str]]]:
    """The turns of each session: runs of lines of one speaker."""
    return [_turns(chunk) for chunk in _SESSION.split(log)[1:]]


def _turns(chunk: str) -> list[tuple[Role, str]]:
    found: list[tuple[Role, list[str]]] = []
    for raw in chunk.splitlines():
        role, text = _spoken(raw)
        if found and found[-1][0] == role:
            found[-1][1].append(text)
        elif text:
            found.append((role, [text]))
    return [(role, "\n".join(lines).strip("\n")) for role, lines in found]


def _spoken(raw: str) -> tuple[Role, str]:
    for role, sign in _SIGNS.items():
        if raw.rstrip() == sign or raw.startswith(f"{sign} "):
            return role, raw[len(sign) + 1 :].rstrip()
    return "assistant", raw.rstrip()


@lru_cache(maxsize=1)
def cases() -> tuple[Case, ...]:
    """All cases of the log."""
    every = sessions(LOG.read_text("utf-8"))
    return tuple(case for number, turns in enumerate(every) for case in cut(number, turns))


def cut(
    number: int,
    turns: Sequence[tuple[Role, str]],
    windows: Sequence[tuple[float, float]] = WINDOWS,
    *,
    least_side: int = LEAST_SIDE,
    least_needed: int = LEAST_NEEDED,
) -> Iterator[Case]:
    """The cases of one session."""
    asked = [at for at, (role, _) in enumerate(turns) if role == "user"]
    if len(asked) < LEAST_TURNS:
        return
    path = chain(turns)
    ends = {(asked[int(len(asked) * start)], asked[int(len(asked) * end)]) for start, end in windows}
    for start, end in sorted(ends):
        case = _case(number, path[:start], path[start:end], said(path[end:]))
        if min(len(case.identifiers), len(case.lines)) >= least_needed and case.tokens >= least_side:
            yield case


def _case(number: int, trunk: Sequence[Message], side: Sequence[Message], later: str) -> Case:
    before, now = said(trunk), said(side)
    return Case(
        session=number,
        trunk=tuple(trunk),
        side=tuple(side),
        identifiers=(identifiers(now) - identifiers(before)) & identifiers(later),
        lines=(whole_lines(now) - whole_lines(before)) & whole_lines(later),
        tokens=sum(estimate_tokens(message.text) for message in side),
        continuation=later,
    )


def chain(turns: Sequence[tuple[Role, str]]) -> tuple[Message, ...]:
    """Turns as messages, each below the one before."""
    path: list[Message] = []
    for role, text in turns:
        parent = path[-1].id if path else None
        path.append(seal(Draft(role, (TextPart(text),)), (parent,) if parent else ()))
    return tuple(path)
