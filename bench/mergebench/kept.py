"""Column "kept": how much of what was asked or needed afterwards stands in the text.

Talk (LoCoMo, QMSum): the share of the words of the gold answers. Code (the coding log, agents' logs): the shares of
the identifiers and of the whole lines that the continuation used again. Agents read whole files again and again, so for
their logs there is a second table, of the identifiers that somebody speaks of later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.mergebench import hindsight, talk
from bench.mergebench.agent_logs import agent_logs
from bench.mergebench.case import Case
from bench.mergebench.hindsight import Hindsight, coding_log
from bench.mergebench.run import ABSENT, SHARES, Run, some
from bench.mergebench.table import Table, Tally
from bench.mergebench.talk import Question, locomo, qmsum
from forky_core.llm.tokens import estimate_tokens

QUICK_QUESTIONS = 150
QUICK_CASES = 12
SIZE, OVER = "size", "over"
"""Of the texts at the first share: their part of the side's tokens; how many take more than their budget."""


def tables(run: Run) -> Iterator[Table]:
    """A table for each set."""
    yield _talk(run, "LoCoMo: words of the answers", some(run, locomo(run.split), QUICK_QUESTIONS))
    meetings = qmsum(run.split, quick=run.quick)
    yield _talk(run, "QMSum: words of the answers", some(run, meetings, QUICK_QUESTIONS))
    yield _code(run, "Agents' logs", some(run, agent_logs(run.split, quick=run.quick), QUICK_CASES))
    spoken = agent_logs(run.split, quick=run.quick, spoken=True)
    yield _code(
        run,
        "Agents' logs, what people and models speak of later",
        some(run, spoken, QUICK_CASES),
        lines=False,
    )
    yield _code(run, "Coding log", some(run, coding_log(run.split), QUICK_CASES))


def _talk(run: Run, title: str, questions: Sequence[Question]) -> Table:
    tally = Tally()
    for method in run.methods:
        for question in questions:
            for share in SHARES:
                text = run.write(method, question.case, question.case.budget(share))
                kept = talk.kept(question, talk.stems(text))
                tally.add(method, f"{share:.0%}", question.case.source, kept)
                _size(tally, method, question.case, text, share)
    return _finished(tally, title, [question.case for question in questions], f"{len(questions)} questions")


def _code(run: Run, title: str, cases: Sequence[Hindsight], *, lines: bool = True) -> Table:
    tally = Tally()
    for method in run.methods:
        for needed in cases:
            for share in SHARES:
                text = run.write(method, needed.case, needed.case.budget(share))
                names, whole = hindsight.kept(needed, text)
                tally.add(method, f"identifiers {share:.0%}", needed.case.source, names)
                if lines:
                    tally.add(method, f"lines {share:.0%}", needed.case.source, whole)
                _size(tally, method, needed.case, text, share)
    return _finished(tally, title, [needed.case for needed in cases], f"{len(cases)} cases")


def _size(tally: Tally, method: str, case: Case, text: str, share: float) -> None:
    if share == SHARES[0]:
        tokens = estimate_tokens(text)
        tally.add(method, SIZE, case.source, tokens / max(1, case.tokens))
        tally.add(method, OVER, case.source, float(tokens > case.budget(share)))


def _finished(tally: Tally, title: str, cases: Sequence[Case], count: str) -> Table:
    if not cases:
        return Table(title, (), {}, ABSENT)
    sources = len({case.source for case in cases})
    sides = len({case.id for case in cases})
    heads = dict.fromkeys(head for row in tally.values.values() for head in row if head not in (SIZE, OVER))
    note = f"{count} of {sides} sides, {sources} sources; mean [95 % interval]."
    return tally.table(f"Kept. {title}", note, (*heads, SIZE, OVER))
