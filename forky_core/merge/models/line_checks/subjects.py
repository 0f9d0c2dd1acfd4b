"""Checks what belongs to what: a number or a name stays with its subject, and no two of them change places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from forky_core.merge.claims.cues import SETS_AGAINST, scopes
from forky_core.merge.headings import TRIED
from forky_core.merge.models.line_checks.evidence import Evidence, words_in_both
from forky_core.merge.models.line_checks.values import StatedValue, values_of
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.numbers import Number, numbers
from forky_core.merge.models.statements import POINTS, CheckedSentence, SentenceClause
from forky_core.retrieval.words import stem, terms

_WORD = re.compile(r"[^\W\d_]+")

_CHANGE = re.compile(
    r"\b(?:from|von|vom|de|du|desde)\s+(?P<first>[^,;.]{0,12}?\d[^\s]*(?:\s\w{1,8})?)\s+(?:to|auf|bis|zu|à|a|hasta|en)\s+(?P<last>[^,;]{0,12}?\d\S*(?:\s\w{1,8})?)",
    re.IGNORECASE,
)
"""A change of a number from one value to another."""
_NOW_AND_BEFORE = re.compile(
    r"(?P<now>\d[\d.,]*)[^.;\d]{0,25}?(?:\b(?:was|were|instead\s+of|up\s+from|down\s+from|war|waren|statt|vorher|au\s+lieu\s+de|contre|avant|"
    r"en\s+(?:vez|lugar)\s+de|antes)\b|而不是|原来是?)[^.;\d]{0,15}(?P<before>\d[\d.,]*)",
    re.IGNORECASE,
)
"""A change of a number, with the new value first."""
_PHRASE = 3
"""The most words of a clause that says nothing by itself."""

Source = Sequence[tuple[SentenceClause, frozenset[StatedValue], CheckedSentence]]
"""The clauses of the cited messages, each with its values and its sentence."""


def other_subject(line: NoteLine, here: Evidence) -> str | None:
    """Reject a value that the cited messages give to another subject.

    They give it in one clause, or in one without another value of its kind.
    """
    if line.section == TRIED:
        return None
    source: Source = [
        (clause, values_of(clause.text, here.transcript, line.text), one)
        for one in here.sources
        for clause in one.clauses
    ]
    speakers = frozenset(word for name in here.speakers for word in re.split(r"[\s_-]+", name))
    for part in here.parts:
        clauses = CheckedSentence(part).clauses
        mine = [(clause, values_of(clause.text, here.transcript)) for clause in clauses]
        whole = frozenset(value for _, held in mine for value in held)
        for clause, held in mine:
            if SETS_AGAINST.search(clause.text) or clause.denies:
                continue
            mixed = _mixed(held, whole, source)
            if mixed:
                return f"It joins what is said of different things: “{mixed[:120]}”."
            owner = _other_owner(part, clause, held, here)
            if owner:
                return f"It gives to one what is said of another: “{owner[:120]}”."
            owner = _other_noun(clause, here) if clause is clauses[0] else ""
            if owner:
                return f"It gives to one what is said of another: “{owner[:120]}”."
            words = _bare(clause, held)
            for value in held if words else ():
                rival = "" if value.key in speakers else _rival(value, words, held, whole, source)
                if rival:
                    return f"“{value.shown}” is said of something else: “{rival[:120]}”."
        turned = _turned(part, here)
        if turned:
            return f"It turns a change round: “{turned[:120]}”."
        crossed = _crossed(mine, source)
        if crossed:
            return f"It swaps what is said of one and of another: “{crossed[:120]}”."
    return None


def other_scope(_line: NoteLine, here: Evidence) -> str | None:
    """Reject a line that says of one environment, say production, what the branch says of another."""
    for part in here.parts:
        mine = scopes(part)
        supporters = [one for one in here.supporters(part, least=0.3) if scopes(one.text)] if mine else []
        if supporters and all(mine.isdisjoint(scopes(one.text)) for one in supporters):
            return f"It says of one environment what is said of another: “{supporters[0].text[:120]}”."
    return None


def _bare(clause: SentenceClause, held: frozenset[StatedValue]) -> frozenset[str]:
    """Return the words of a clause without its values."""
    names = {stem(value.key) for value in held} | {value.key for value in held}
    names |= {stem(number.unit) for number in clause.numbers if number.unit}
    return frozenset(word for word in clause.words if word not in names and not word.isdigit())


def _beside(clause: SentenceClause, one: CheckedSentence) -> frozenset[str]:
    """Return the words of the sentence around a clause that is only a phrase, such as “During the holidays”."""
    return one.words if len(clause.text.split()) <= _PHRASE else frozenset()


def _rival(
    value: StatedValue,
    words: frozenset[str],
    held: frozenset[StatedValue],
    whole: frozenset[StatedValue],
    source: Source,
) -> str:
    """Return a clause that has these words with another value of the same kind, if no clause with `value` has any of
    them; else "".
    """
    here = [(clause, values, one) for clause, values, one in source if value in values]
    if not here:
        return ""
    if any(
        not (bare := _bare(clause, values))
        or words_in_both(words, bare | _beside(clause, one))
        or len(held & values) > 1
        for clause, values, one in here
    ):
        return ""
    if any(one.speaker.casefold() in {other.key for other in held} for _, _, one in here):
        return ""
    least = max(1, round(0.4 * len(words)))
    for clause, values, one in source:
        if one.code:
            continue
        other = [each for each in values if each.kind == value.kind and each not in whole]
        if other and value not in values and len(words_in_both(words, _bare(clause, values))) >= least:
            return clause.text
    return ""


def _other_owner(part: str, clause: SentenceClause, held: frozenset[StatedValue], here: Evidence) -> str:
    """Return a sentence that gives a number of the line to another name than the line does, or "".

    The line's name is the one in the number's clause, else the one with which the part begins. It has a number of its
    own in the cited messages, and not this one.
    """
    names = [value for value in held if value.kind == "name"]
    told = names or [value for value in values_of(part, here.transcript) if value.kind == "name"]
    if not told:
        return ""
    text = clause.text if names else part
    owner = min(told, key=lambda value: text.casefold().find(value.key))
    mine = {owner.key} if names else {value.key for value in told}
    said = [(one, values_of(one.text, here.transcript, part)) for one in here.sources if not one.code]
    if not any(owner in values and any(value.is_number for value in values) for _, values in said):
        return ""
    for number in (value for value in held if value.is_number):
        holding = [(one, values) for one, values in said if number in values]
        if holding and all(
            owner not in values
            and not POINTS.search(one.text)
            and any(value.kind == "name" and value.key not in mine for value in values)
            for one, values in holding
        ):
            return holding[0][0].text
    return ""


def _other_noun(clause: SentenceClause, here: Evidence) -> str:
    """Return a sentence that gives a number of the clause to another subject than the clause's first words, or "".

    These words have a number of that measure in another cited sentence, and no cited sentence has them and this one.
    """
    for number in clause.numbers:
        at = clause.text.find(number.shown)
        subject = frozenset(list(terms(clause.text[: max(at, 0)]))[:2])
        if not subject or not number.unit:
            continue
        holding = [one for one in here.sources if any(number.same_measure(two) for two in numbers(one.text))]
        words = frozenset(word for word in clause.words if not word.isdigit()) - {stem(number.unit)}
        if not holding or any(words_in_both(words, one.words) or POINTS.search(one.text) for one in holding):
            continue
        for one in here.sources:
            others = [two for two in numbers(one.text) if two.dimension in ("", number.dimension)]
            if not one.code and len(words_in_both(subject, one.words)) == len(subject) and others:
                return holding[0].text
    return ""


def _mixed(held: frozenset[StatedValue], whole: frozenset[StatedValue], source: Source) -> str:
    """Return a clause that pairs one of two values with another than the line does, if the second is paired differently
    too, or "".
    """
    for one in held:
        for two in held:
            if one.kind >= two.kind or any(one in values and two in values for _, values, _ in source):
                continue
            first = _paired(one, two, whole, source)
            if first and _paired(two, one, whole, source):
                return first
    return ""


def _paired(value: StatedValue, other: StatedValue, whole: frozenset[StatedValue], source: Source) -> str:
    """Return a clause of this value with one like the other, if all clauses with the value have such a one, or ""."""
    holding = [(clause, values) for clause, values, _ in source if value in values]
    if holding and all(
        any(each.kind == other.kind and each not in whole for each in values) for _, values in holding
    ):
        return holding[0][0].text
    return ""


def parted_numbers(line: NoteLine, here: Evidence) -> str | None:
    """Reject two numbers in one clause, if the branch has another in the place of the second."""
    told = numbers(line.text)
    clauses = [(said, one) for one in here.sources if not one.code for said in one.clauses]
    for clause in (each for part in here.parts for each in CheckedSentence(part).clauses):
        if len(clause.numbers) != 2 or clause.denies or line.section == TRIED:
            continue
        if any(all(_has(said, number) for number in clause.numbers) for said, _ in clauses):
            continue
        for one, two in (clause.numbers, clause.numbers[::-1]):
            for said, sentence in clauses:
                rest = [number for number in said.numbers if not number.same_value(one)]
                strange = len(rest) == 1 and not any(rest[0].same_value(number) for number in told)
                if strange and _has(said, one) and any(_has(other, two) for other in sentence.clauses):
                    return f"It joins what is said of different things: “{said.text[:120]}”."
    return None


def _has(clause: SentenceClause, number: Number) -> bool:
    return any(number.same_value(other) for other in clause.numbers)


def _turned(part: str, here: Evidence) -> str:
    """Return a sentence with a change of a number (“from 1.2 s to 9 s”) that the line reverses, or ""."""
    said = [(change, one.text) for one in here.sources for change in _changes(one.text)]
    for first, last in _changes(part):
        if any(first.same_value(one) and last.same_value(two) for (one, two), _ in said):
            continue
        for (one, two), text in said:
            if first.same_value(two) and last.same_value(one):
                return text
    return ""


def _changes(text: str) -> Iterator[tuple[Number, Number]]:
    """Yield the numbers of each change in a text, before and after it."""
    for match in _CHANGE.finditer(text):
        first, last = (numbers(match[name]) for name in ("first", "last"))
        if first and last:
            yield first[-1], last[0]
    for match in _NOW_AND_BEFORE.finditer(text):
        first, last = (numbers(match[name]) for name in ("before", "now"))
        if first and last:
            yield first[0], last[-1]


def _crossed(mine: Sequence[tuple[SentenceClause, frozenset[StatedValue]]], source: Source) -> str:
    """Return a clause of two words whose numbers the line has exchanged, or ""."""
    numbered = [(clause.text, values) for clause, values in mine if any(one.is_number for one in values)]
    if len(numbered) < 2:
        return ""
    told = _numbers_by_word(numbered)
    said = _numbers_by_word([(clause.text, values) for clause, values, _ in source])
    words = [word for word in told if word in said and said[word] and told[word].isdisjoint(said[word])]
    for word in words:
        for other in words:
            crossing = told[word] <= said[other] and told[other] <= said[word]
            if word != other and crossing and told[word] != told[other]:
                return next(clause.text for clause, _, _ in source if word in clause.text.casefold())
    return ""


def _numbers_by_word(clauses: Sequence[tuple[str, frozenset[StatedValue]]]) -> dict[str, set[StatedValue]]:
    """Map each word to the numbers of the clauses it stands in."""
    found: dict[str, set[StatedValue]] = {}
    for text, values in clauses:
        for word in {word.casefold() for word in _WORD.findall(text)}:
            found.setdefault(word, set()).update(one for one in values if one.is_number)
    return found
