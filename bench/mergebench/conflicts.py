"""Column "conflicts": whether a contradiction between the trunk and the branch is seen, and a harmless pair left alone.

Each line of data/conflicts-<language>.jsonl is what the trunk said after the fork and what the branch said, and whether
a careful colleague would say that somebody has to decide. A detector is a function of the two that returns whether it
would warn; `--detector package.module:function` adds one.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from bench.mergebench import ours
from bench.mergebench.case import LANGUAGES, Language, Split, Turn, turns_of
from bench.mergebench.run import NOT_MADE, Run, some
from bench.mergebench.sources import DATA
from bench.mergebench.table import SAMPLES, Figure, Table
from bench.mergebench.true import BadItem

Detector = Callable[[Sequence[Turn], Sequence[Turn]], bool]
"""(what the trunk said after the fork, what the branch said) → whether to warn."""
HEADS = ("precision", "recall", "F1", "contradicting", "harmless")
QUICK_PAIRS = 40


def _always(_main: Sequence[Turn], _side: Sequence[Turn]) -> bool:
    return True


DETECTORS: Mapping[str, Detector] = {
    "always warns": _always,
    "ours, no model": ours.contradicts,
    "a merge": ours.merge_warns,
}
"""“ours” compares sentences; “a merge” is what a person meets before landing, where nobody has asked a model."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What two branches said."""

    id: str
    kind: str
    language: Language
    split: Split
    contradicts: bool
    main: tuple[Turn, ...]
    side: tuple[Turn, ...]


Outcome = tuple[bool, bool]
"""(it contradicts, a warning was given)."""


def load(language: Language, split: Split, data: Path = DATA) -> list[Pair]:
    """The pairs of a language and a half; [] where there is no such file.

    Raises:
        BadItem: a line has another form.
    """
    file = data / f"conflicts-{language}.jsonl"
    rows = file.read_text("utf-8").splitlines() if file.is_file() else []
    pairs = [
        _pair(json.loads(row), language, f"{file.name}, line {at}") for at, row in enumerate(rows, 1) if row
    ]
    return [pair for pair in pairs if pair.split == split]


def _pair(row: Mapping[str, Any], language: Language, where: str) -> Pair:
    try:
        if row["split"] not in ("development", "test") or not isinstance(row["contradicts"], bool):
            raise BadItem(f"{where}: the split or the verdict is none.")
        return Pair(
            row["id"],
            row["kind"],
            language,
            cast("Split", row["split"]),
            row["contradicts"],
            turns_of(row["main"]),
            turns_of(row["side"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BadItem(f"{where}: {error}") from error


def precision_recall(outcomes: Sequence[Outcome]) -> tuple[float, float, float]:
    """Precision, recall and F1; what cannot be computed counts as 0."""
    hits = sum(true and warned for true, warned in outcomes)
    warned = sum(warned for _, warned in outcomes)
    true = sum(true for true, _ in outcomes)
    precision, recall = hits / warned if warned else 0.0, hits / true if true else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0


def _cells(outcomes: Sequence[Outcome]) -> list[Figure | str]:
    draw = random.Random(1)
    found = precision_recall(outcomes)
    drawn = [precision_recall(draw.choices(outcomes, k=len(outcomes))) for _ in range(SAMPLES // 4)]
    figures: list[Figure | str] = []
    for at, mean in enumerate(found):
        values = sorted(one[at] for one in drawn)
        figures.append(Figure(mean, values[len(values) // 40], values[-len(values) // 40 - 1], len(outcomes)))
    true = sum(true for true, _ in outcomes)
    return [*figures, str(true), str(len(outcomes) - true)]


def tables(run: Run, detectors: Mapping[str, Detector] = DETECTORS, data: Path = DATA) -> list[Table]:
    """Precision, recall and F1 of every detector, over all pairs, by language and by kind."""
    pairs = [
        pair for language in LANGUAGES for pair in some(run, load(language, run.split, data), QUICK_PAIRS)
    ]
    if not pairs:
        return [Table("Conflicts", (), {}, NOT_MADE)]
    found = {
        name: [(pair.contradicts, detect(pair.main, pair.side)) for pair in pairs]
        for name, detect in detectors.items()
    }

    def rows(of: Callable[[Pair], str]) -> dict[str, list[Figure | str]]:
        groups = sorted({of(pair) for pair in pairs})
        return {
            f"{name}, {group}": _cells([
                outcome for pair, outcome in zip(pairs, outcomes, strict=True) if of(pair) == group
            ])
            for name, outcomes in found.items()
            if name != "always warns"
            for group in groups
        }  # fmt: skip

    note = f"{len(pairs)} pairs; mean [95 % interval, drawing pairs]."
    return [
        Table("Conflicts", HEADS, {name: _cells(outcomes) for name, outcomes in found.items()}, note),
        Table("Conflicts, by language", HEADS, rows(lambda pair: pair.language), note),
        Table("Conflicts, by kind", HEADS, rows(lambda pair: pair.kind), note),
    ]
