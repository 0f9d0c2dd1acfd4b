"""Checks proposals: one that nobody took up is no result."""

from __future__ import annotations

import re

from forky_core.merge.claims.cues import YES
from forky_core.merge.headings import FACTS, RESULT
from forky_core.merge.models.line_checks.evidence import Evidence
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.statements import CheckedSentence, SentenceClause, hedges, may_deny
from forky_core.merge.wording import speaker_of

_OFFERS = re.compile(
    r"\b(?:I|we|you)(?:['’]d|\s+(?:would|could|might))\b|\bI\s+(?:suggest|propose|recommend)\b|\blet['’]s\s+try\b|"
    r"\b(?:ich|wir|man)\s+(?:würde\w*|könnte\w*|schlage)|\b(?:würde|könnte)\w*\s+(?:ich|wir|man)\b|"
    r"\bje\s+(?:propose|suggère|ferais|mettrais|prendrais)\b|\bon\s+pourrait\b|\b\w{2,}(?:erait|irait)\b|"
    r"\b(?:yo|lo)\s+(?:pondría|haría|usaría|pediría)\b|\bpodríamos\b|\bsugiero\b|建议|可以考虑|不如",
    re.IGNORECASE,
)
"""Words by which a model proposes something; between people they have other meanings."""
_PROPOSES = re.compile(
    r"\b(?:suggests|proposes|recommends|schl(?:ägt|agen)\b.*\bvor|propose|proposent|propone|proponen)\b|提议",
    re.IGNORECASE,
)
"""Words that report somebody's proposal."""
_TAKEN_UP = re.compile(
    r"^\W*(?:yes|yeah|yep|ok(?:ay)?|sure|fine|good|great|agreed|perfect|do\s+(?:it|that)|go\s+(?:ahead|for)|let['’]s|please\s+do|will\s+do|ja|gut|mach|genau|passt|"
    r"einverstanden|oui|d['’]accord|parfait|vas-y|allez|bien|sí|si|vale|de\s+acuerdo|perfecto|adelante|hazlo|listo|好|可以|行|同意|就这样)",
    re.IGNORECASE,
)


def proposal_as_result(line: NoteLine, here: Evidence) -> str | None:
    """Reject a line that states as a result or a fact what somebody proposed and nobody agreed to."""
    if line.section not in (RESULT, FACTS):
        return None
    for part in here.parts:
        supporters = [] if hedges(part) else here.supporters(part, least=0.4)
        last = max(here.cited)
        if not supporters or not all(_proposes(part, one, here) for one in supporters) or may_deny(part):
            continue
        if not any(one in here.transcript.sentences[last] for one in supporters):
            continue
        if here.transcript.sentences[last] and not _taken_up(last, here):
            return f"It tells a proposal as a result: “{supporters[0].text[:120]}”."
    return None


def _proposes(part: str, one: CheckedSentence, here: Evidence) -> bool:
    """Whether a part's statement stands in a clause that proposes it."""
    clauses: list[SentenceClause] = here.best_clauses(part, [one])
    by_model = one.role == "assistant" and one.speaker == "assistant"
    return any(
        _PROPOSES.search(clause.text) or (by_model and _OFFERS.search(clause.text)) for clause in clauses
    )


def _taken_up(last: int, here: Evidence) -> bool:
    """Whether the next message of another speaker, if there is one, accepts the proposal in the last cited message."""
    messages, said = here.transcript.messages, here.transcript.sentences
    speaker = speaker_of(messages[last])
    after = next((at for at in range(last + 1, len(messages)) if speaker_of(messages[at]) != speaker), None)
    if after is None or not said[after]:
        return True  # Nobody had a chance to say no.
    first = said[after][0].text
    return messages[after].role == "tool" or bool(YES.search(first) or _TAKEN_UP.match(first))
