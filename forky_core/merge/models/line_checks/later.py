"""Checks for what was said last: a line about what holds may not rest on something that the branch took back later."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from forky_core.merge.claims.cues import (
    ADMITS,
    CONCEDES,
    FAILED_AGAIN,
    NO_LONGER,
    OBJECTS,
    OVERRULES,
)
from forky_core.merge.headings import FACTS, RESULT, TRIED
from forky_core.merge.models.line_checks.evidence import Evidence, weighed, words_in_both
from forky_core.merge.models.line_checks.values import values_of
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.statements import POINTS, THEN, CheckedSentence, may_deny
from forky_core.merge.wording import speaker_of
from forky_core.retrieval.words import terms

_SLOT = re.compile(
    r"\W*(?P<about>[^:：.!?\n]{2,60}?)(?:\s*[:：]\s+|\s+(?:is|are|stays?|will\s+be|ist|sind|bleibt|est|sont|reste|es|son|queda)\s+(?:at\s+|now\s+|jetzt\s+)?|[是为])(?P<said>.+)",
    re.IGNORECASE,
)
_LEAST_WORDS = 2
"""The fewest words that a line shares with a statement it repeats."""
SOLVED = re.compile(
    r"\b(?:fix(?:ed|es)|solv(?:ed|es)|works|cured|helped|resolved|behoben|gelöst|geholfen|funktioniert|klappt|läuft|résolu\w*|règle|corrigé\w*|marche|fonctionne|"
    r"arregl\w+|solucion\w+|resuel\w+|resolv\w+|funciona)(?!\w)|修好|解决|正常",
    re.IGNORECASE,
)
"""Words about a problem that is solved."""
_MIND = frozenset(
    terms(
        "need necessary nötig bedarf besoin peine hace falta sans ohne sin without finally mind changed finalement avis changé doch jetzt ahora final"
    )
)
_NO_NEED = re.compile(
    r"\b(?:no\s+need|not\s+necessary|nicht\s+nötig|kein\s+bedarf|pas\s+besoin|pas\s+la\s+peine|no\s+hace\s+falta)\b|不用|不必|无需",
    re.IGNORECASE,
)
"""Words that say that something need not be done."""
_LEAST_LETTERS = 3
_AT_ONCE = 8
"""The first characters of a sentence, in which it can take something back directly."""
_LOOKED_AT = 3
"""The first sentences of an answer that are searched for taking something back."""


def taken_back(line: NoteLine, here: Evidence) -> str | None:
    """Reject a line under Result or Facts that rests on what a later message of the branch takes back or replaces."""
    if line.section not in (RESULT, FACTS):
        return None
    found = next((told for look in _WAYS if (told := look(here)) is not None), None)
    if found is None:
        return None
    at, sentence = found
    return f"Somebody takes that back in m{at + 1}: “{sentence.text[:120]}”. Say what holds now, or put it under “{TRIED}”."


def _objected(here: Evidence) -> tuple[int, CheckedSentence] | None:
    """Find the objection in the next message of another speaker, if the line cites nothing from there on."""
    messages, said = here.transcript.messages, here.transcript.sentences
    last = max(here.cited)
    speaker = speaker_of(messages[last])
    if any(OVERRULES.search(one.text) for one in said[last]):
        return None
    asked = bool(said[last]) and said[last][-1].asks
    if _by_the_person(here, last):
        return None
    for at in range(last + 1, min(last + 3, len(messages))):
        if messages[at].role == "tool" or speaker_of(messages[at]) == speaker:
            continue
        for one in said[at][:_LOOKED_AT]:
            objects = OVERRULES.search(one.text) or (not asked and OBJECTS.search(one.text))
            if objects and not one.asks and _meant(at, here) and _aims_back(one, objects.start(), here):
                return at, one
            if (
                _by_the_person(here, at)
                and FAILED_AGAIN.search(one.text)
                and not one.asks
                and _meant(at, here)
            ):
                return at, one
        return None
    return None


def _conceded(here: Evidence) -> tuple[int, CheckedSentence] | None:
    """Find what the person says next about the line's subject, if the model then concedes it."""
    messages, said = here.transcript.messages, here.transcript.sentences
    last = max(here.cited)
    if messages[last].role != "assistant" or last + 2 >= len(messages):
        return None
    if not _by_the_person(here, last + 1) or messages[last + 2].role != "assistant":
        return None
    if not any(CONCEDES.match(one.text) for one in said[last + 2][:1]) or not _meant(last + 1, here):
        return None
    return next(((last + 1, one) for one in said[last + 1] if not one.asks), None)


def _aims_back(one: CheckedSentence, start: int, here: Evidence) -> bool:
    """Whether a sentence that takes something back is about the line, and not about a subject of its own."""
    cited = frozenset(word for said in here.transcript.sentences[max(here.cited)] for word in said.words)
    return (
        start < _AT_ONCE
        or POINTS.search(one.text) is not None
        or bool(words_in_both(here.words | cited, one.words))
    )


def _renounced(here: Evidence) -> tuple[int, CheckedSentence] | None:
    """Find a later sentence that changes its mind and denies a word of the line: “no granite after all”."""
    for at, one in _later_prose(here):
        if one.asks or one.conditional or not (OVERRULES.search(one.text) or _NO_NEED.search(one.text)):
            continue
        for clause in one.clauses:
            denied = frozenset(word for word in clause.words if len(word) > _LEAST_LETTERS) - _MIND
            told = words_in_both(denied, here.words) | frozenset(
                w for w in denied if words_in_both(here.words, frozenset({w}))
            )
            if clause.denies and denied and denied == told:
                return at, one
    return None


def _changed_course(here: Evidence) -> tuple[int, CheckedSentence] | None:
    """Find the person's objection to the cited answer, if the model then changes course: “Then by month.”"""
    messages, said = here.transcript.messages, here.transcript.sentences
    last = max(here.cited)
    if messages[last].role != "assistant" or last + 2 >= len(messages) or not _by_the_person(here, last + 1):
        return None
    reply = said[last + 2]
    if messages[last + 2].role != "assistant" or not reply or not THEN.match(reply[0].text):
        return None
    against = next(
        (one for one in said[last + 1] if not one.asks and any(c.denies for c in one.clauses)), None
    )
    if against is None or words_in_both(here.words, reply[0].words):
        return None
    return (last + 1, against) if _meant(last + 1, here) else None


def _still_failing(here: Evidence) -> tuple[int, CheckedSentence] | None:
    """Find, in the last cited message, the person's report that a problem persists which the line calls solved."""
    last = max(here.cited)
    if not _by_the_person(here, last) or not SOLVED.search(here.line.text) or may_deny(here.line.text):
        return None
    return next(
        ((last, one) for one in here.transcript.sentences[last] if FAILED_AGAIN.search(one.text)), None
    )


def _by_the_person(here: Evidence, at: int) -> bool:
    """Whether a message is from the one person who talks with a model."""
    message = here.transcript.messages[at]
    return message.role == "user" and not message.name


def _meant(at: int, here: Evidence) -> bool:
    """Whether what is taken back is the line's statement: the cited message has little else, or shares its words."""
    said = here.transcript.sentences
    words = frozenset(word for one in said[at] for word in one.words)
    return len(said[max(here.cited)]) <= 3 or bool(words_in_both(here.words, words))


def _corrected(here: Evidence) -> tuple[int, CheckedSentence] | None:
    """Find a later sentence that takes back the line's own value."""
    values = {one for one in values_of(here.line.text, here.transcript) if one.is_number or len(one.key) > 3}
    for at, one in _later_prose(here):
        if not (ADMITS.search(one.text) or NO_LONGER.search(one.text)) or one.asks:
            continue
        telling = [c.text for c in one.clauses if ADMITS.search(c.text) or NO_LONGER.search(c.text)]
        held = values_of("; ".join(telling), here.transcript) & values
        if held and len(words_in_both(here.words, one.words)) + len(held) > 1:
            return at, one
    return None


def _relabelled(here: Evidence) -> tuple[int, CheckedSentence] | None:
    """Find a later sentence that says something else about the very same subject: “Second half: carols”."""
    mine = _slot(here.line.text)
    if mine is None:
        return None
    said = weighed(here.line.text)
    for at, one in _later_prose(here):
        other = None if one.asks else _slot(one.text)
        if (
            other is not None
            and other[0] == mine[0]
            and not words_in_both(mine[1], other[1])
            and not other[1] <= said
        ):
            return at, one
    return None


def _later_prose(here: Evidence) -> Iterator[tuple[int, CheckedSentence]]:
    """Yield the sentences of people and models after the last cited message."""
    for at in range(max(here.cited) + 1, len(here.transcript.messages)):
        yield from ((at, one) for one in here.transcript.sentences[at] if one.role != "tool" and not one.code)


def _slot(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Split a sentence into its subject and what it says about it: “The port is 8080”, “Second half: carols”."""
    match = _SLOT.match(text)
    if match is None:
        return None
    about, said = frozenset(terms(match["about"])), weighed(match["said"])
    return (about, said) if 0 < len(about) <= 4 and said else None


_WAYS: tuple[Callable[[Evidence], tuple[int, CheckedSentence] | None], ...] = (
    _objected,
    _conceded,
    _changed_course,
    _renounced,
    _still_failing,
    _corrected,
    _relabelled,
)
"""The ways in which a later message takes something back, each a function that finds the message and the sentence."""
