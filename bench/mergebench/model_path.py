"""Column "model path": which lines the checks of a merge with a model let pass, and which they refuse.

A summary is a note about a branch, as a model would answer: lines under the sections of a note, each with the turns it
rests on. Hostile ones hold lines that must not land: made up, turned round, swapped, out of date. Sound ones must land
whole. They are written by hand in data/model-path.jsonl (docs/mergebench.md has the format); further sound ones are
made of the other sets: notes that quote whole sentences word for word, which nobody could call wrong.

A line counts as passed where code alone lets it land: the verifier, which judges what a sentence means, is taken to say
yes to everything. So this column tells how many sound lines the checks by code cost, and what they leave to the
verifier.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from bench.mergebench.case import LANGUAGES, Case, Language, Split, pieces, turns_of
from bench.mergebench.hindsight import coding_log
from bench.mergebench.ours import planned_squash
from bench.mergebench.run import NOT_MADE, Run, some
from bench.mergebench.sources import DATA
from bench.mergebench.table import Table, Tally
from bench.mergebench.talk import locomo, qmsum
from bench.mergebench.true import BadItem
from bench.mergebench.true import load as load_true
from forky_core.merge.headings import FACTS, NOTE
from forky_core.merge.written.hard_checks import fault
from forky_core.merge.written.plan import material_of, target_view
from forky_core.merge.written.sentences import spans

LINES = 15
"""Lines of a summary that quotes word for word."""
MOST_QUOTED = 25
"""Words of a quotation, as the request to the model says."""
QUOTED_SUMMARIES = 40
"""Of each set."""

Expected = Literal["hostile", "sound"]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a note, before it is written out as a model would answer."""

    section: str
    text: str
    cites: tuple[int, ...]
    """Numbers of turns, from 1."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A model's answer about a branch, and what of it must not land."""

    case: Case
    kind: str
    lines: tuple[Line, ...]
    wrong: frozenset[int] = frozenset()
    """Numbers, from 1, of the lines that must not land; none of a sound summary."""

    @property
    def expected(self) -> Expected:
        return "hostile" if self.wrong else "sound"


def load(split: Split, data: Path = DATA) -> list[Summary]:
    """The summaries of a half; [] where there is no file.

    Raises:
        BadItem: a line has another form than docs/mergebench.md describes.
    """
    file = data / "model-path.jsonl"
    rows = file.read_text("utf-8").splitlines() if file.is_file() else []
    found = [_summary(json.loads(row), f"{file.name}, line {at}") for at, row in enumerate(rows, 1) if row]
    return [summary for summary in found if summary.case.split == split]


def _summary(row: Mapping[str, Any], where: str) -> Summary:
    try:
        side = turns_of(row["side"])
        lines = tuple(Line(section, text, tuple(cites)) for section, text, cites in row["lines"])
        wrong = frozenset(row["wrong"])
        if not all(1 <= at <= len(side) for line in lines for at in line.cites):
            raise BadItem(f"{where}: a line cites a turn that the side does not have.")
        if any(line.section not in NOTE for line in lines):
            raise BadItem(f"{where}: a section of that name is in no note.")
        if not wrong <= set(range(1, len(lines) + 1)) or row["language"] not in LANGUAGES:
            raise BadItem(f"{where}: a wrong line, or the language, is not there.")
        case = Case(
            row["id"],
            row.get("scenario") or row["id"],
            cast("Language", row["language"]),
            cast("Split", row["split"]),
            turns_of(row.get("trunk", ())),
            side,
        )
        return Summary(case, row["kind"], lines, wrong)
    except (KeyError, TypeError, ValueError) as error:
        raise BadItem(f"{where}: {error}") from error


def judge(summary: Summary) -> frozenset[int]:
    """The numbers of the lines that code alone lets land."""
    plan, known = planned_squash(summary.case.trunk, summary.case.side, summary.case.tokens)
    lookup = known.__getitem__
    material = material_of(plan, lookup, target_view(plan, lookup))
    return frozenset(
        at
        for at, line in enumerate(summary.lines, 1)
        if not any(fault(said, material, material.sources(said)) for said in _sentences(line.text))
    )


def _sentences(text: str) -> list[str]:
    return [span.of(text) for span in spans(text)]


def quoting(case: Case, lines: int = LINES) -> Summary | None:
    """A summary of whole sentences, word for word, drawn from the side; None where there are too few."""
    sentences: list[tuple[int, str]] = []
    for at, turn in enumerate(case.side, 1):
        if turn.role != "tool":
            sentences += [
                (at, piece)
                for piece in pieces(turn.text, case.language)
                if 5 <= len(piece.split()) <= MOST_QUOTED or (case.language == "zh" and len(piece) >= 8)
            ]
    if len(sentences) < lines:
        return None
    drawn = sorted(random.Random(case.id).sample(sentences, lines))
    rows = tuple(Line(FACTS, sentence, (at,)) for at, sentence in drawn)
    return Summary(case, "word for word", rows)


def _quoted(cases: Iterable[Case], count: int, lines: int) -> Iterator[Summary]:
    """At most `count` summaries, of different sides that are spread evenly."""
    distinct = list({case.id: case for case in cases}.values())
    found = [summary for case in distinct if (summary := quoting(case, lines)) is not None]
    yield from found[:: max(1, len(found) // count)][:count]


def tables(run: Run, data: Path = DATA) -> list[Table]:
    """Hostile summaries that pass, by kind; sound ones, and their lines, that are refused, by set."""
    count = QUOTED_SUMMARIES // 4 if run.quick else QUOTED_SUMMARIES
    written = some(run, load(run.split, data), QUOTED_SUMMARIES)
    made_up = [item.case for language in LANGUAGES for item in load_true(language, run.split, data)]
    sets: dict[str, list[Summary]] = {
        "written by hand": [one for one in written if one.expected == "sound"],
        "quoted, coding log": list(_quoted((one.case for one in coding_log(run.split)), count, LINES)),
        "quoted, LoCoMo": list(_quoted((one.case for one in locomo(run.split)), count, LINES)),
        "quoted, QMSum": list(_quoted((one.case for one in qmsum(run.split, quick=True)), count, LINES)),
        "quoted, made-up branches": list(_quoted(made_up, count, 4)),
    }
    sound = Tally()
    for name, summaries in sets.items():
        for summary in summaries:
            passed = judge(summary)
            whole, lost = not passed, len(passed) < len(summary.lines)
            for row in ("all", name):
                sound.add(row, "refused whole", summary.case.source, float(whole))
                sound.add(row, "lost a line", summary.case.source, float(lost))
                for at in range(1, len(summary.lines) + 1):
                    sound.add(row, "lines refused", summary.case.source, float(at not in passed))
    heads = ("refused whole", "lost a line", "lines refused")
    tables = [sound.table("Model path: sound summaries refused", _note(sets), heads)]
    hostile = [one for one in written if one.expected == "hostile"]
    if not hostile:
        return [*tables, Table("Model path: hostile summaries passed", (), {}, NOT_MADE)]
    let_through = Tally()
    for summary in hostile:
        wrong = float(bool(judge(summary) & summary.wrong))
        for head in ("all", summary.kind):
            let_through.add(head, "passed", summary.case.source, wrong)
    return [*tables, let_through.table("Model path: hostile summaries passed", f"{len(hostile)} summaries.")]


def _note(sets: Mapping[str, Sequence[Summary]]) -> str:
    counts = ", ".join(f"{len(summaries)} {name}" for name, summaries in sets.items())
    return f"Summaries: {counts}. Mean [95 % interval]."
