"""Column "model path": which summaries the checks of a merge with a model let pass, and which they refuse.

A summary is a list of claims about a branch, as a model would answer. Hostile ones hold claims that must not land: made
up, turned round, swapped, out of date. Sound ones must land whole. They are written by hand in data/model-path.jsonl
(docs/mergebench.md has the format); further sound ones are made of the other sets: summaries that quote whole sentences
word for word, which nobody could call wrong.

A claim counts as passed where forky_core believes it after one answer and the same answer again in the repair round: a
model that insists.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from bench.mergebench.case import LANGUAGES, Case, Language, Split, Turn, pieces, turns_of
from bench.mergebench.hindsight import coding_log
from bench.mergebench.ours import messages
from bench.mergebench.run import NOT_MADE, Run, some
from bench.mergebench.sources import DATA
from bench.mergebench.table import Table, Tally
from bench.mergebench.talk import locomo, qmsum
from bench.mergebench.true import BadItem
from bench.mergebench.true import load as load_true
from forky_core.merge.models.asking import ReadingFailed, read_with

CLAIMS = 15
"""Claims of a summary that quotes word for word."""
MOST_QUOTED = 25
"""Words of a quotation, as the request to the model says."""
QUOTED_SUMMARIES = 40
"""Of each set."""

Expected = Literal["hostile", "sound"]


@dataclass(frozen=True, slots=True)
class Summary:
    """A model's answer about a branch, and what of it must not land."""

    case: Case
    kind: str
    claims: tuple[Mapping[str, Any], ...]
    """As the request asks for them, but for `cites`, which are numbers of turns from 1."""
    verbatim: tuple[Mapping[str, Any], ...] = ()
    wrong: frozenset[int] = frozenset()
    """Numbers, from 1, of the claims that must not land; none of a sound summary."""

    @property
    def expected(self) -> Expected:
        return "hostile" if self.wrong else "sound"


@dataclass(frozen=True, slots=True)
class Judged:
    """What the checks let pass of a summary."""

    passed: frozenset[int]
    """Numbers of the claims that were believed."""
    checks: tuple[str, ...]
    """Names of the checks that failed in the first answer."""


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
        numbers = [cite for claim in row["claims"] for cite in claim["cites"]]
        numbers += [one["cite"] for one in row.get("verbatim", ())]
        wrong = frozenset(row["wrong"])
        if not all(isinstance(at, int) and 1 <= at <= len(side) for at in numbers):
            raise BadItem(f"{where}: a claim cites a turn that the side does not have.")
        if not wrong <= set(range(1, len(row["claims"]) + 1)) or row["language"] not in LANGUAGES:
            raise BadItem(f"{where}: a wrong claim, or the language, is not there.")
        case = Case(
            row["id"],
            row.get("scenario") or row["id"],
            cast("Language", row["language"]),
            cast("Split", row["split"]),
            turns_of(row.get("trunk", ())),
            side,
        )
        return Summary(case, row["kind"], tuple(row["claims"]), tuple(row.get("verbatim", ())), wrong)
    except (KeyError, TypeError, ValueError) as error:
        raise BadItem(f"{where}: {error}") from error


def judge(summary: Summary) -> Judged:
    """Which claims forky_core believes of this answer, where the model gives it again when it is asked to mend it."""
    side = messages(summary.case.side, None)
    ids = _ids_by_turn(summary.case.side, [message.id.removeprefix("b2:")[:12] for message in side])
    answer = json.dumps({
        "claims": [{**claim, "cites": [ids[at - 1] for at in claim["cites"]]} for claim in summary.claims],
        "verbatim": [{**one, "cite": ids[one["cite"] - 1]} for one in summary.verbatim],
        "dropped": [],
        "conflicts_with_target": [],
    }, ensure_ascii=False)  # fmt: skip
    try:
        reading = read_with(lambda _messages: answer, side, budget=summary.case.tokens)
    except ReadingFailed as error:
        return Judged(frozenset(), tuple(sorted({failed.check for failed in error.failed})))
    believed = {(" ".join(claim.text.split()), claim.key) for claim in reading.claims}
    numbers = {
        at
        for at, claim in enumerate(summary.claims, 1)
        if (" ".join(claim["text"].split()), " ".join(claim.get("key", "").split())[:80]) in believed
    }
    return Judged(frozenset(numbers), ())


def _ids_by_turn(turns: Sequence[Turn], ids: Sequence[str]) -> list[str]:
    """The id that a citation of each turn means: of a tool's turn, the message with the result."""
    found, at = [], 0
    for turn in turns:
        at += 2 if turn.role == "tool" and turn.call else 1
        found.append(ids[at - 1])
    return found


def quoting(case: Case, claims: int = CLAIMS) -> Summary | None:
    """A summary of whole sentences, word for word, drawn from the side; None where there are too few."""
    sentences: list[tuple[int, str]] = []
    for at, turn in enumerate(case.side, 1):
        if turn.role != "tool":
            sentences += [
                (at, piece)
                for piece in pieces(turn.text, case.language)
                if 5 <= len(piece.split()) <= MOST_QUOTED or (case.language == "zh" and len(piece) >= 8)
            ]
    if len(sentences) < claims:
        return None
    drawn = sorted(random.Random(case.id).sample(sentences, claims))
    rows = tuple(
        {
            "type": "fact",
            "key": "",
            "value": "",
            "text": sentence,
            "polarity": "affirmed",
            "status": "settled",
            "cites": [at],
            "quote": sentence,
            "supersedes": [],
        }
        for at, sentence in drawn
    )
    return Summary(case, "word for word", rows)


def _quoted(cases: Iterable[Case], count: int, claims: int) -> Iterator[Summary]:
    """At most `count` summaries, of different sides that are spread evenly."""
    distinct = list({case.id: case for case in cases}.values())
    found = [summary for case in distinct if (summary := quoting(case, claims)) is not None]
    yield from found[:: max(1, len(found) // count)][:count]


def tables(run: Run, data: Path = DATA) -> list[Table]:
    """Hostile summaries that pass, by kind; sound ones, and their claims, that are refused, by set."""
    count = QUOTED_SUMMARIES // 4 if run.quick else QUOTED_SUMMARIES
    written = some(run, load(run.split, data), QUOTED_SUMMARIES)
    made_up = [item.case for language in LANGUAGES for item in load_true(language, run.split, data)]
    sets: dict[str, list[Summary]] = {
        "written by hand": [one for one in written if one.expected == "sound"],
        "quoted, coding log": list(_quoted((one.case for one in coding_log(run.split)), count, CLAIMS)),
        "quoted, LoCoMo": list(_quoted((one.case for one in locomo(run.split)), count, CLAIMS)),
        "quoted, QMSum": list(_quoted((one.case for one in qmsum(run.split, quick=True)), count, CLAIMS)),
        "quoted, made-up branches": list(_quoted(made_up, count, 4)),
    }
    sound = Tally()
    for name, summaries in sets.items():
        for summary in summaries:
            judged = judge(summary)
            whole, lost = not judged.passed, len(judged.passed) < len(summary.claims)
            for row in ("all", name):
                sound.add(row, "refused whole", summary.case.source, float(whole))
                sound.add(row, "lost a claim", summary.case.source, float(lost))
                for at in range(1, len(summary.claims) + 1):
                    sound.add(row, "claims refused", summary.case.source, float(at not in judged.passed))
    heads = ("refused whole", "lost a claim", "claims refused")
    tables = [sound.table("Model path: sound summaries refused", _note(sets), heads)]
    hostile = [one for one in written if one.expected == "hostile"]
    if not hostile:
        return [*tables, Table("Model path: hostile summaries passed", (), {}, NOT_MADE)]
    passed = Tally()
    for summary in hostile:
        wrong = float(bool(judge(summary).passed & summary.wrong))
        for head in ("all", summary.kind):
            passed.add(head, "passed", summary.case.source, wrong)
    return [*tables, passed.table("Model path: hostile summaries passed", f"{len(hostile)} summaries.")]


def _note(sets: Mapping[str, Sequence[Summary]]) -> str:
    counts = ", ".join(f"{len(summaries)} {name}" for name, summaries in sets.items())
    return f"Summaries: {counts}. Mean [95 % interval]."
