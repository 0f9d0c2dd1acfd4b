"""Checks deeds: what a line reports as done must be reported as done somewhere, not only planned, proposed or
denied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from forky_core.merge.headings import FACTS, FILES, RESULT
from forky_core.merge.models.line_checks.evidence import Evidence, words_in_both
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.statements import CheckedSentence, SentenceClause, denies, hedges
from forky_core.retrieval.words import terms

_PAST = re.compile(
    r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bthe )(?<!\ban )(?<!\ba )(?<!\bits )(?<!\btheir )(?<!\bof )(?<!\bno )(?<!-)\b(?P<en>[a-z]{2,}(?:ed)|sent|bought|wrote|paid|built|sold)\b",
    re.IGNORECASE,
)
_PARTICIPLE = re.compile(
    r"\b(?:hat|haben|habe|ist|sind|wurden?|worden)\b.*?\b(?P<de>\w*ge\w{2,}(?:t|en)|(?:be|ver|er|ent|zer|über|unter)\w{3,}(?:t|en))\b"
    r"|\b(?:a|ont|ai|avons|est|sont|été)\s+(?:\w+\s+)?(?P<fr>\w{2,}ée?s?|pris|mis|fait|reçu|vendu|rendu|choisi|fini|écrit|ouvert)\b"
    r"|\b(?:ha|han|hemos|está|están|fue|fueron|queda|quedan)\s+(?P<es>\w{2,}(?:ad|id)[oa]s?)\b|\b(?P<preterite>\w{2,}(?:ó|aron|ieron))\b",
    re.IGNORECASE,
)
_BASES = {"sent": "send", "bought": "buy", "wrote": "write", "paid": "pay", "built": "build", "sold": "sell"}
"""Irregular verbs with one meaning; “made”, “took” and “got” stand for many deeds."""
_LEAST_STEM = 4
_GE = re.compile(r"^((?:ab|an|auf|aus|ein|mit|nach|vor|zu|zurück|um|weg|her|hin)?)ge(?=\w{4})")
_VERB = re.compile(
    r"(?<!\bthe )(?<!\ban )(?<!\ba )(?<!\bthis )(?<!\byour )(?<!\bour )(?<!\bder )(?<!\bdie )(?<!\bdas )(?<!\ble )(?<!\bla )(?<!\bel )"
    r"\b[^\W\d_]+",
    re.IGNORECASE,
)
"""A word without an article before it, which would make it a noun."""
_WORD = re.compile(r"[^\W\d_]+")
_PENDING = re.compile(
    r"\b(?:scheduled|still|pending|tonight|planned|due|left|noch|geplant|steht\s+aus|heute\s+abend|prévue?s?|encore|ce\s+soir|pendientes?|todavía|aún|esta\s+noche)\b|还|待|计划",
    re.IGNORECASE,
)
"""Words about what is yet to be done."""
_PROPOSES = re.compile(
    r"\b(?:would|should|could|can|may|might|must|let\s+me|let['’]s|shall|i['’]d|we['’]d|want\s+to|going\s+to|need(?:s)?\s+to|to\s+(?=[a-z]+\b)|please|"
    r"würde\w*|sollte\w*|soll|sollen|könnte\w*|kannst|kann|können|will|wollen|möchte\w*|muss|müssen|bitte|"
    r"pourrai\w*|devrai\w*|ferai\w*|il\s+faut|faudrait|peux|peut|pouvez|veux|veut|vais|va|allons|"
    r"podría\w*|debería\w*|habría|hay\s+que|puedes|puede|pueden|quiero|quiere|voy\s+a|va\s+a|vamos\s+a)\b|"
    r"应该|可以|建议|要不|打算|准备|将|会|请|吧",
    re.IGNORECASE,
)
"""Words that leave a verb undone: would, should, can, let me, to (do)."""


def deed_not_done(line: NoteLine, here: Evidence) -> str | None:
    """Reject a deed reported as done if the branch only proposes, plans, asks for or denies it from there on."""
    if line.section not in (RESULT, FACTS, FILES):
        return None
    for part in here.parts:
        if hedges(part) or denies(part):
            continue
        mine = frozenset(terms(part))
        for verb in _deeds(part):
            found = list(_clauses_with(verb, mine, here))
            if (
                found
                and all(_undone(sentence, clause, verb) for _, sentence, clause in found)
                and not _reported(found[-1][0], here)
            ):
                return f"It tells as done what was not: “{found[-1][1].text[:120]}”."
    return None


def other_object(line: NoteLine, here: Evidence) -> str | None:
    """Reject a deed on one identifier if the cited messages report it only on another one."""
    if line.section not in (RESULT, FACTS, FILES):
        return None
    for part in here.parts:
        for clause in () if denies(part) else CheckedSentence(part).clauses:
            mine = _names(clause.text)
            for verb in _deeds(f"{part}" if len(mine) == 1 else ""):
                holding = [
                    _names(said.text)
                    for one in here.sources
                    for said in one.clauses
                    if not one.code
                    and any(_same_verb(verb, word.casefold()) for word in _WORD.findall(said.text))
                ]
                named = [names for names in holding if names]
                told = [_names(one.text) for one in here.sources]
                beside = any(mine < names and named[0] <= names for names in told) if named else False
                own = any(
                    mine <= _names(one.text)
                    and any(_same_verb(verb, w.casefold()) for w in _WORD.findall(one.text))
                    for one in here.sources
                )
                if beside and not own and all(mine.isdisjoint(names) for names in named):
                    return f"It says of {next(iter(mine))} what is done to {next(iter(named[0]))}."
    return None


def _names(text: str) -> frozenset[str]:
    """Return the identifiers of a text that stand as code."""
    return frozenset(name.casefold() for name in re.findall(r"`([^`\s]+)`", text))


def _reported(place: int, here: Evidence) -> bool:
    """Whether the line cites a later message, which may report the deed in other words."""
    said = here.transcript.sentences
    return any(at > place and any(not (one.planned or one.asks) for one in said[at]) for at in here.cited)


def _deeds(part: str) -> Iterator[str]:
    """Yield the verbs that a part reports as done, in lower case."""
    for match in (*_PAST.finditer(part), *_PARTICIPLE.finditer(part)):
        verb = next(filter(None, match.groups()), match.group()).casefold()
        yield verb


def _clauses_with(
    verb: str, mine: frozenset[str], here: Evidence
) -> Iterator[tuple[int, CheckedSentence, SentenceClause]]:
    """Yield the clauses with the verb in any form, except questions.

    They stand in cited messages or, if they share another word with the line, in later ones.
    """
    for at in sorted({*here.cited, *range(max(here.cited), len(here.transcript.messages))}):
        for sentence in here.transcript.sentences[at]:
            for clause in () if sentence.asks else sentence.clauses:
                words = _WORD if _PENDING.search(clause.text) else _VERB
                forms = [word.casefold() for word in words.findall(clause.text)]
                if any(_same_verb(verb, form) for form in forms) and (
                    at in here.cited or len(words_in_both(mine, sentence.words)) > 1
                ):
                    yield at, sentence, clause


def _undone(sentence: CheckedSentence, clause: SentenceClause, verb: str) -> bool:
    """Whether a clause leaves the verb undone."""
    if clause.denies or sentence.planned or _PENDING.search(clause.text):
        return True
    if any(word.casefold() == verb for word in _WORD.findall(clause.text)) and _PAST.fullmatch(verb):
        return False
    return _PROPOSES.search(clause.text) is not None or sentence.conditional


def _same_verb(verb: str, word: str) -> bool:
    """Whether two words are forms of one verb: they begin alike, without the “ge” of a participle."""
    if word in (verb, _BASES.get(verb)):
        return True
    one, two = _GE.sub(r"\1", verb), _GE.sub(r"\1", word)
    if two in (one.removesuffix("ed"), one.removesuffix("d"), one):
        return True
    alike = next(
        (at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two))
    )
    return alike >= max(_LEAST_STEM, min(len(one), len(two)) - 2)
