"""Checks every line of a note against the messages it cites, by one list of checks.

A line that fails is dropped with a sentence that says why; the others stand. A line that passes can still be wrong:
code sees words, numbers, names, denials and order, and no meaning. A second model may see more (review.py), and the ids
at the end of each line let a person look.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from forky_core.merge.models.checks import CheckName, FailedCheck
from forky_core.merge.models.line_checks.amounts import other_date, other_limit, other_span
from forky_core.merge.models.line_checks.deeds import deed_not_done, other_object
from forky_core.merge.models.line_checks.denials import denial_added, denial_dropped, turned_round
from forky_core.merge.models.line_checks.evidence import Evidence
from forky_core.merge.models.line_checks.exchanged import exchanged_words
from forky_core.merge.models.line_checks.later import taken_back
from forky_core.merge.models.line_checks.later_values import contradicted, replaced_value
from forky_core.merge.models.line_checks.limits import limit_dropped, made_general
from forky_core.merge.models.line_checks.modality import (
    condition_dropped,
    made_certain,
    plan_as_done,
    question_as_answer,
    supposition_as_fact,
)
from forky_core.merge.models.line_checks.names import made_up_name, with_spellings
from forky_core.merge.models.line_checks.orders import passes_on_order
from forky_core.merge.models.line_checks.proposals import proposal_as_result
from forky_core.merge.models.line_checks.speakers import other_doer, other_speaker
from forky_core.merge.models.line_checks.subjects import other_scope, other_subject, parted_numbers
from forky_core.merge.models.line_checks.support import (
    false_quotation,
    other_number,
    other_words,
    rests_on_courtesy,
    too_long,
    unknown_citation,
)
from forky_core.merge.models.line_checks.tables import other_row
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.numbers import numbers
from forky_core.merge.models.statements import denies
from forky_core.merge.models.transcript import Transcript
from forky_core.retrieval.words import terms

Check = Callable[[NoteLine, Evidence], str | None]
"""Returns a sentence about what is wrong with a line, or None if the line passes."""

CHECKS: tuple[tuple[CheckName, Check], ...] = (
    ("citation", unknown_citation),
    ("length", too_long),
    ("unsupported", rests_on_courtesy),
    ("quote", false_quotation),
    ("invented", made_up_name),
    ("unsupported", other_words),
    ("number", other_number),
    ("number", other_limit),
    ("number", other_date),
    ("number", other_span),
    ("instruction", passes_on_order),
    ("speaker", other_speaker),
    ("speaker", other_doer),
    ("negation", turned_round),
    ("negation", denial_added),
    ("negation", denial_dropped),
    ("certain", made_certain),
    ("certain", made_general),
    ("modality", limit_dropped),
    ("modality", question_as_answer),
    ("modality", condition_dropped),
    ("modality", supposition_as_fact),
    ("modality", plan_as_done),
    ("modality", deed_not_done),
    ("subject", other_scope),
    ("subject", other_subject),
    ("subject", parted_numbers),
    ("subject", exchanged_words),
    ("subject", other_row),
    ("subject", other_object),
    ("superseded", taken_back),
    ("superseded", replaced_value),
    ("modality", proposal_as_result),
)
"""All checks of a line in order; the first that fails drops the line."""
_SAME = 0.9
"""The share of common words from which on one line repeats another."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The lines of a note that pass, and the failures of the others."""

    lines: tuple[NoteLine, ...]
    failed: tuple[FailedCheck, ...]


def judge(lines: Sequence[NoteLine], transcript: Transcript) -> Judgement:
    """Check each line against the messages it cites. A line that repeats another is merged into it."""
    kept: list[NoteLine] = []
    failed: list[FailedCheck] = []
    for written in lines:
        line = with_spellings(written, transcript) if written.cites else written
        wrong = first_failure(line, transcript)
        if wrong is not None:
            failed.append(wrong)
            continue
        twin = next((at for at, other in enumerate(kept) if _same(line, other)), None)
        if twin is None:
            kept.append(line)
            continue
        cites = sorted({*kept[twin].cites, *line.cites}, key=transcript.places.__getitem__)
        kept[twin] = replace(kept[twin], cites=tuple(cites))
        failed.append(_failed(line, "repeat", f"It repeats “{kept[twin].text[:80]}”."))
    for line in kept:
        reason = contradicted(line, [other for other in kept if other is not line], transcript)
        if reason is not None:
            failed.append(_failed(line, "superseded", reason))
    dropped = {one.entry for one in failed}
    return Judgement(tuple(line for line in kept if line.number not in dropped), tuple(failed))


def first_failure(line: NoteLine, transcript: Transcript) -> FailedCheck | None:
    """Return the first check that a line fails, with its reason; None if it passes all."""
    here = Evidence(line, transcript)
    for name, check in CHECKS:
        reason = check(line, here)
        if reason is not None:
            return _failed(line, name, reason)
    return None


def _failed(line: NoteLine, check: CheckName, sentence: str) -> FailedCheck:
    return FailedCheck(check, sentence, line.number, line.text)


def _same(line: NoteLine, other: NoteLine) -> bool:
    if line.text.casefold().strip(".") == other.text.casefold().strip("."):
        return True
    mine, theirs = frozenset(terms(line.text)), frozenset(terms(other.text))
    if not mine or {n.forms for n in numbers(line.text)} != {n.forms for n in numbers(other.text)}:
        return False
    return len(mine & theirs) >= _SAME * len(mine | theirs) and denies(line.text) == denies(other.text)
