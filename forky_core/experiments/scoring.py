"""Judges an answer by a program's own code or by an embedding model, and stores the verdict.

It is stored because a program that opens the conversation later could not compute it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from forky_core.conversation.people.spending import paid_embedder
from forky_core.conversation.session import Session
from forky_core.experiments import judge
from forky_core.experiments.cells import CellResult, facts_of, is_scored
from forky_core.experiments.checks.likeness import BY_MEANING, references
from forky_core.experiments.checks.text_checks import text_of
from forky_core.experiments.checks.verdict import Verdict
from forky_core.experiments.templates import rendered_value
from forky_core.model.errors import ForkyError, Outdated
from forky_core.model.experiment import SCORES, ExperimentRow, RowCheck
from forky_core.model.hashing import mend_text
from forky_core.model.parts import Json

Judged = bool | float | tuple[bool | float, str]
"""The verdict of code: whether the answer passes, or a score from 0 to 1 that passes from 0.5 on; maybe with a reason.
"""
CodeChecks = Mapping[str, Callable[[str, ExperimentRow], Judged]]
_TRIES = 20


def score_cell(
    session: Session,
    experiment: str,
    cell: CellResult,
    row: ExperimentRow,
    code: CodeChecks,
    may_compare: Callable[[str], bool],
    *,
    group: int | None,
) -> None:
    """Judge a cell by the checks without a verdict, and store the verdicts as one operation of `group`. If a check
    cannot be judged, the reason is stored, unless its code is missing, which a later run may have.

    `may_compare` says whether the limit of cost allows calling an embedding model.
    """
    answer = cell.answer
    if answer is None:
        return
    made: dict[str, Json] = {}
    for one in cell.verdicts:
        check = one.check
        if not is_scored(check) or one.verdict.passed is not None:
            continue
        if check.kind == "code" and text_of(check.value) not in code:
            continue
        if check.kind == "code":
            verdict = _coded(cell, row, check, code)
        elif may_compare(check.model or ""):
            verdict = _compared(session, cell, row, check)
        else:
            verdict = Verdict(
                None, "the limit of $0 lets no embedding model be asked that may cost something"
            )
        made[judge.mark_of(check)] = _stored(verdict)
    if made:
        key = f"{SCORES}{experiment}/{cell.address.key}"
        _put(session, key, answer.id, made, f"Judged an answer of row {row.id}", group)


def _coded(cell: CellResult, row: ExperimentRow, check: RowCheck, code: CodeChecks) -> Verdict:
    name = text_of(check.value)
    try:
        judged: Any = code[name](cell.text, row)
    except Exception as error:  # noqa: BLE001 - the code is the caller's; an exception gives a verdict without a result
        return Verdict(None, f"“{name[:40]}” raised {type(error).__name__}: {str(error)[:200]}")
    reason = ""
    if isinstance(judged, tuple) and len(judged) == 2:
        judged, reason = judged
    if isinstance(judged, bool):
        return Verdict(judged, mend_text(str(reason))[:600])
    if not isinstance(judged, int | float) or not 0 <= judged <= 1:
        return Verdict(
            None, f"“{name[:40]}” returned {str(judged)[:60]!r}, which is no bool and no score from 0 to 1"
        )
    least = check.threshold if check.threshold is not None else 0.5
    return Verdict(judged >= least, mend_text(str(reason))[:600], float(judged))


def _compared(session: Session, cell: CellResult, row: ExperimentRow, check: RowCheck) -> Verdict:
    """Judge the likeness of meaning by the cosine of the embeddings."""
    least = check.threshold if check.threshold is not None else BY_MEANING
    try:
        facts = facts_of(row, cell.reply)
        texts = references(facts, rendered_value(check.value, facts.values))
        vectors: Any = paid_embedder(session, check.model or "").embed([cell.text, *texts])
    except ForkyError as error:
        return Verdict(None, str(error))
    best = max(float(vectors[0] @ other) for other in vectors[1:])
    score = max(0.0, min(1.0, best))
    return Verdict(score >= least, f"{score:.0%} alike in meaning; at least {least:.0%} pass", score)


def _stored(verdict: Verdict) -> dict[str, Json]:
    entry: dict[str, Json] = {"passed": verdict.passed, "reason": verdict.reason}
    if verdict.score is not None:
        entry["score"] = verdict.score
    return entry


def _put(
    session: Session, key: str, answer: str, made: Mapping[str, Json], summary: str, group: int | None
) -> None:
    for _ in range(_TRIES):
        tx = session.require_not_trashed()
        entry: Any = tx.view.entries.get(key)
        before = entry.get("verdicts", {}) if entry and entry.get("answer") == answer else {}
        tx.set(key, {"answer": answer, "verdicts": {**before, **made}})
        if not tx.changes:
            return
        try:
            tx.publish("experiment", summary, group=group)
        except Outdated:
            continue
        return
