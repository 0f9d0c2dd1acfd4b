"""Reads a payload back as a person would, scores it, and puts an interval around a mean."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.merge_cases import Case, identifiers, whole_lines
from forky_core.llm.tokens import estimate_tokens
from forky_core.merge.block import FURTHER_NAMES
from forky_core.merge.headings import NAMES, SECTIONS
from forky_core.merge.models.checks import invented
from forky_core.model import Message

SAMPLES = 2_000
_ENTRY_END = re.compile(r"^(.*?)((?: \[[0-9a-f]{6,32}\])+)$")
_MARK = re.compile(r"[0-9a-f]{6,32}")


@dataclass(frozen=True, slots=True)
class Quoted:
    """A line of a payload and the ids its entry ends in."""

    text: str
    marks: tuple[str, ...]
    section: str


@dataclass(frozen=True, slots=True)
class Score:
    """Of one payload on one case."""

    identifiers: float
    """Share of those needed that it holds."""
    lines: float
    size: float
    """Tokens over those of the side; of ours with header, headings and citations."""
    pollution: float
    """Share of its tokens that are neither in a needed line nor in one with a needed identifier."""
    valid: float | None = None
    """Share of its lines that stand in the one message they cite, with every number and name in them."""


def read_back(payload: str) -> list[Quoted]:
    """The lines under the headings, each with the ids at the end of its entry.

    A heading stands only where no entry is open, so that no line can be taken for one.
    """
    found: list[Quoted] = []
    section, open_lines = "", list[str]()
    for row in payload.splitlines()[1:]:
        if not open_lines and row.removesuffix(":") in SECTIONS:
            section = row.removesuffix(":")
            continue
        ends = _ENTRY_END.match(row)
        open_lines.append(ends.group(1) if ends else row)
        if ends:
            marks = tuple(_MARK.findall(ends.group(2)))
            found += [Quoted(text, marks, section) for text in open_lines]
            open_lines = []
    found += [Quoted(text, (), section) for text in open_lines]
    return found


def is_valid(line: Quoted, side: Sequence[Message]) -> bool:
    """Whether one message is cited, and says exactly this, or every name of a list of names."""
    cited = [m for m in side if line.marks and m.id.removeprefix("b2:").startswith(line.marks[0])]
    if len(cited) != 1 or len(line.marks) != 1:
        return False
    source = cited[0].text
    listed = line.section == NAMES or line.text.startswith(FURTHER_NAMES)
    names = line.text.removeprefix(FURTHER_NAMES).split(", ") if listed else []
    said = line.text in source or (bool(names) and all(name in source for name in names))
    return said and not invented(line.text, source)


def score(case: Case, lines: Sequence[str], tokens: int, valid: float | None = None) -> Score:
    text = "\n".join(lines)
    useful = [line for line in lines if line in case.lines or identifiers(line) & case.identifiers]
    return Score(
        identifiers=len(case.identifiers & identifiers(text)) / len(case.identifiers),
        lines=len(case.lines & whole_lines(text)) / len(case.lines),
        size=tokens / case.tokens,
        pollution=max(0.0, 1 - estimate_tokens("\n".join(useful)) / max(1, tokens)),
        valid=valid,
    )


def interval(by_session: Mapping[int, Sequence[float]], seed: int = 1) -> tuple[float, float, float]:
    """The mean, and the 95 % interval of a bootstrap that draws whole sessions: their cases are no independent ones."""
    draw = random.Random(seed)
    clusters = list(by_session.values())
    means = sorted(mean(draw.choices(clusters, k=len(clusters))) for _ in range(SAMPLES))
    return mean(clusters), means[int(0.025 * SAMPLES)], means[int(0.975 * SAMPLES) - 1]


def mean(clusters: Iterable[Sequence[float]]) -> float:
    flat = [value for cluster in clusters for value in cluster]
    return sum(flat) / len(flat)
