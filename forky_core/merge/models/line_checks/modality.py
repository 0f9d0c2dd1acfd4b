"""Checks that questions, suppositions, plans and conditions stay so, and that nothing becomes more certain than
it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from forky_core.merge.headings import ASKED, OPEN, TRIED
from forky_core.merge.models.line_checks.evidence import LEAST_LEANED, Evidence
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.statements import (
    CheckedSentence,
    certain,
    conditional,
    denies,
    hedges,
    leaves_open,
    says_done,
)
from forky_core.retrieval.words import stem

LEAST_ASKED = 0.25
"""The share of words for a question that a line may answer in other words; lower than LEAST_LEANED."""
_TAG = re.compile(
    r",\s*(?:right|no|isn['’]t\s+it|doesn['’]t\s+it|oder|nicht\s+wahr|non|n['’]est-ce\s+pas|hein|¿no|¿verdad|¿no\s+es\s+así)\s*\?\W*$|(?:对吧|是吧)[?？]?$",
    re.IGNORECASE,
)
"""A tag that turns a statement into a question."""
_WORD = re.compile(r"[^\W\d_]+")


def made_certain(line: NoteLine, here: Evidence) -> str | None:
    """Reject a word such as “certainly” or “proven” that the cited messages do not have."""
    if denies(line.text):
        return None
    said = {stem(one) for one in _WORD.findall(here.text.casefold())}
    for word in certain(line.text):
        if stem(word.casefold()) not in said and not any(certain(one.text) for one in here.sources):
            return f"Nothing that it cites is said to be “{word}”."
    return None


def question_as_answer(line: NoteLine, here: Evidence) -> str | None:
    """Reject a line that states as a fact what only a question says."""
    if line.section == ASKED:
        return None
    for part, supporters in _leaning(line, here, LEAST_ASKED):
        if all(_asked(part, one, here) for one in supporters) and not hedges(part):
            return f"It tells a question as an answer: “{supporters[0].text[:120]}”."
    return None


def condition_dropped(line: NoteLine, here: Evidence) -> str | None:
    """Reject a line without the “if” of all its supporting sentences."""
    for part, supporters in _leaning(line, here):
        if all(one.conditional for one in supporters) and not (
            hedges(part) or conditional(part) or denies(part)
        ):
            return f"It leaves out a condition: “{supporters[0].text[:120]}”."
    return None


def supposition_as_fact(line: NoteLine, here: Evidence) -> str | None:
    """Reject a line that states as a fact what somebody only supposed."""
    for part, supporters in _leaning(line, here):
        best = here.best_clauses(part, supporters)
        if best and all(clause.supposes for clause in best) and not leaves_open(part):
            return f"It tells a supposition as a fact: “{supporters[0].text[:120]}”."
    return None


def plan_as_done(line: NoteLine, here: Evidence) -> str | None:
    """Reject a line that reports a plan as done, unless a later cited message does."""
    for part, supporters in _leaning(line, here):
        if says_done(part) and all(one.planned for one in supporters) and not _carried_out(supporters, here):
            return f"It tells a plan as done: “{supporters[0].text[:120]}”."
    return None


def _leaning(
    line: NoteLine, here: Evidence, least: float = LEAST_LEANED
) -> Iterator[tuple[str, list[CheckedSentence]]]:
    """Yield the parts of a line about what holds, each with its supporting sentences."""
    if line.section in (OPEN, TRIED):
        return
    for part in here.parts:
        supporters = here.supporters(part, least=least)
        if supporters:
            yield part, supporters


def _asked(part: str, one: CheckedSentence, here: Evidence) -> bool:
    """Whether the line's statement stands in a question, and not before one in the same sentence."""
    if not one.asks:
        return False
    if _TAG.search(one.text):
        return True
    best = here.best_clauses(part, [one])
    return one.begins_as_question or not best or any(clause is one.clauses[-1] for clause in best)


def _carried_out(supporters: Sequence[CheckedSentence], here: Evidence) -> bool:
    """Whether the line cites something later that reports a plan as done, such as a tool's result."""
    said = here.transcript.sentences
    first = min(at for at in here.cited if any(one in supporters for one in said[at]))
    return any(
        here.transcript.messages[at].role == "tool" or any(not one.planned for one in said[at])
        for at in here.cited
        if at > first
    )
