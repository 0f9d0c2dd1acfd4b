"""What was said last: a line about what holds may not rest on something that the branch took back later."""

from __future__ import annotations

import re
from collections.abc import Iterator

from forky_core.merge.headings import FACTS, RESULT, TRIED
from forky_core.merge.models.line_checks.evidence import Evidence, shared, weighed
from forky_core.merge.models.line_checks.values import values_of
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.statements import Sentence
from forky_core.merge.models.transcript import speaker_of
from forky_core.retrieval.words import terms

_TAKES_BACK = re.compile(
    r"\b(?:scrap|undo|undone|revert\w*|roll(?:ed)?\s+(?:it\s+|that\s+)?back|cancel\w*|(?<!n['’]t )forget\s+(?:that|it|about)\b(?!['’])|never\s*mind|drop\s+(?:that|it|the)|instead|"
    r"take\s+(?:that|it)\s+back|took\s+(?:that|it)\s+back|changed\s+(?:my|our)\s+mind|on\s+second\s+thoughts?|was\s+wrong|were\s+wrong|is\s+wrong|not\s+(?:any\s*more|true|right)|"
    r"no\s+longer|i\s+misspoke|correction|(?:would|['’]d)\s+rather|prefers?)\b"
    r"|\b(?:doch\s+nicht|stattdessen|rückgängig|zurückgenommen|verwerfen|verworfen|vergiss|lieber|korrektur)\b"
    r"|\b(?:finalement|annul\w+|plutôt|préfère\w*|laisse\s+tomber|à\s+la\s+place|en\s+fait)\b"
    r"|\b(?:mejor|prefier\w*|en\s+(?:vez|lugar)|cancel\w+|deshaz|olvida|al\s+final|en\s+realidad)\b"
    r"|撤销|撤回|取消|改成|改为|改用|算了|还是用|不对",
    re.IGNORECASE,
)
_OBJECTS = re.compile(
    r"^\W*(?:(?:hmm+|oh|ah|sorry)\W+)?(?:no|nope|wait|actually|nein|nö|nee|halt|moment|non|attends?|no|espera|不)\s*[,，.:—–-]+\s*\S+(?:\s+\S+){2}|^不[,，]",
    re.IGNORECASE,
)
"""The beginning of an answer that says no to what was said before; after a question it is only the answer."""
_SLOT = re.compile(
    r"\W*(?P<about>[^:：.!?\n]{2,60}?)(?:\s*[:：]\s+|\s+(?:is|are|stays?|will\s+be|ist|sind|bleibt|est|sont|reste|es|son|queda)\s+(?:at\s+|now\s+|jetzt\s+)?|[是为])(?P<said>.+)",
    re.IGNORECASE,
)
_ADMITS = re.compile(
    r"\b(?:i\s+(?:was|had)\s+(?:wrong|mis\w+)|was\s+(?:a\s+)?(?:wrong|mistake\w*|mis\w+)|mistaken|mixed\s+up|counted\s+twice|should\s+have\s+asked|falsch|irrtum|vertan|"
    r"j['’]aurais\s+dû|trompé\w*|equivoqu\w+|me\s+confund\w+)\b|看错|弄错|搞错|记错",
    re.IGNORECASE,
)
_NO_MORE = re.compile(
    r"\b(?:no\s+longer|not\s+any\s*more|any\s*more|nicht\s+mehr|ne\s+\w+\s+plus|ya\s+no)\b|不再",
    re.IGNORECASE,
)
_FAILED_AGAIN = re.compile(
    r"\b(?:unable\s+to|cannot\s+\w+|still\s+(?:fail\w*|broken|the\s+same|not|no|crash\w*|dies|flicker\w*|there)|does\s*n['’]t\s+(?:work|help)|did\s*n['’]t\s+"
    r"(?:work|help)|no\s+luck|error|failed|fails|immer\s+noch|(?:the\s+)?same\s+(?:message|error|thing|result|problem)|no\s+change|gleiche\w*\s+(?:meldung|fehler|problem)|mismo\s+error|même\s+(?:message|erreur|chose)|pareil|igual|tampoco|geht\s+nicht|hilft\s+nicht|toujours\s+pas|marche\s+pas|sigue\s+\w+|no\s+funciona)\b|^\W*[45]\d\d\W*$|还是|没用|没变|一样|失败|不行",
    re.IGNORECASE,
)
_LEAST_WORDS = 2
"""Words that a line shares with a statement that it tells."""
_CONCEDES = re.compile(
    r"^\W*(?:(?:ah|oh|ok(?:ay)?|thanks?(?:\s+you)?|danke|merci|gracias)\W+)?(?:you(?:['’]re|\s+are)\s+(?:\w+\s+)?right|you\s+have\s+been\s+there|i\s+stand\s+corrected|my\s+(?:mistake|bad|apologies)|"
    r"i\s+was\s+(?:wrong|mistaken)|good\s+catch|sorry|apologies|i\s+apologi[sz]e|"
    r"(?:da\s+)?(?:hast\s+du|du\s+hast|haben\s+sie|sie\s+haben)\s+recht|stimmt|mein\s+fehler|entschuldig\w+|"
    r"(?:vous\s+avez|tu\s+as)\s+raison|au\s+temps\s+pour\s+moi|pardon|désolée?|"
    r"(?:tienes|tiene|tenés)\s+razón|perdona?|perdón|lo\s+siento|mi\s+error|"
    r"(?:then|dann|alors|entonces)\s+(?:\w+\s+)?(?:not|no|nicht|kein\w*|pas|non)\b)|^\W*(?:你说得对|您说得对|抱歉|对不起|那就不|那不)",
    re.IGNORECASE,
)
"""The beginning of an answer that gives in to what the person has just said."""
_LOOKED_AT = 3
"""Sentences at the beginning of an answer in which it takes something back."""


def taken_back(line: NoteLine, here: Evidence) -> str | None:
    """A line under Result or Facts that rests on what a later message of the branch takes back or replaces."""
    if line.section not in (RESULT, FACTS):
        return None
    planned = _found_by_plan(here)
    if planned is not None:
        return planned
    found = _objected(here) or _conceded(here) or _corrected(here) or _relabelled(here)
    if found is None:
        return None
    at, sentence = found
    return f"Somebody takes that back in m{at + 1}: “{sentence.text[:120]}”. Say what holds now, or put it under “{TRIED}”."


def _found_by_plan(here: Evidence) -> str | None:
    """What the plan of the merge found to be taken back, where the line tells the earlier statement."""
    order, mine = here.transcript.places, here.words
    for one in here.transcript.superseded:
        earlier, later = order.get(one.earlier_message), order.get(one.later_message)
        if earlier is None or later is None or earlier not in here.cited or later in here.cited:
            continue
        old, new = frozenset(terms(one.earlier)), frozenset(terms(one.later))
        if len(new) > 1 and not shared(new, mine) and not _TAKES_BACK.search(one.later):
            continue  # It speaks of something else of what was said.
        both, fewer = shared(old, mine), min(len(old), len(mine))
        enough = (
            len(both) >= _LEAST_WORDS
            or any(word.isdigit() for word in both)
            or fewer == len(both) == len(mine)
        )
        if max(here.cited) < later and enough and len(both) >= 0.5 * fewer:
            return f"It was taken back later (m{later + 1}): “{one.later[:120]}”."
    return None


def _objected(here: Evidence) -> tuple[int, Sentence] | None:
    """What the next message of another speaker takes back, where the line cites nothing from there on."""
    messages, said = here.transcript.messages, here.transcript.sentences
    last = max(here.cited)
    speaker = speaker_of(messages[last])
    if any(_TAKES_BACK.search(one.text) for one in said[last]):
        return None
    asked = bool(said[last]) and said[last][-1].asks
    if _by_the_person(here, last):
        return None
    for at in range(last + 1, min(last + 3, len(messages))):
        if messages[at].role == "tool" or speaker_of(messages[at]) == speaker:
            continue
        for one in said[at][:_LOOKED_AT]:
            objects = _TAKES_BACK.search(one.text) or (not asked and _OBJECTS.search(one.text))
            if objects and not one.asks and _meant(at, here):
                return at, one
            if (
                _by_the_person(here, at)
                and _FAILED_AGAIN.search(one.text)
                and not one.asks
                and _meant(at, here)
            ):
                return at, one
        return None
    return None


def _conceded(here: Evidence) -> tuple[int, Sentence] | None:
    """What the person says next about the line's subject, where the model then gives in to it."""
    messages, said = here.transcript.messages, here.transcript.sentences
    last = max(here.cited)
    if messages[last].role != "assistant" or last + 2 >= len(messages):
        return None
    if not _by_the_person(here, last + 1) or messages[last + 2].role != "assistant":
        return None
    if not any(_CONCEDES.match(one.text) for one in said[last + 2][:1]) or not _meant(last + 1, here):
        return None
    return next(((last + 1, one) for one in said[last + 1] if not one.asks), None)


def _by_the_person(here: Evidence, at: int) -> bool:
    """Whether a message is of the one person who talks with a model."""
    message = here.transcript.messages[at]
    return message.role == "user" and not message.name


def _meant(at: int, here: Evidence) -> bool:
    """Whether what is taken back is what the line tells: the cited message has little else, or shares its words."""
    said = here.transcript.sentences
    words = frozenset(word for one in said[at] for word in one.words)
    return len(said[max(here.cited)]) <= 3 or bool(shared(here.words, words))


def _corrected(here: Evidence) -> tuple[int, Sentence] | None:
    """What a later sentence says of the line's own value in taking it back."""
    values = {one for one in values_of(here.line.text, here.transcript) if one.is_number or len(one.key) > 3}
    for at, one in _later_prose(here):
        if not (_ADMITS.search(one.text) or _NO_MORE.search(one.text)) or one.asks:
            continue
        telling = [c.text for c in one.clauses if _ADMITS.search(c.text) or _NO_MORE.search(c.text)]
        held = values_of("; ".join(telling), here.transcript) & values
        if held and len(shared(here.words, one.words)) + len(held) > 1:
            return at, one
    return None


def _relabelled(here: Evidence) -> tuple[int, Sentence] | None:
    """A later sentence that says something else of the very same thing: “Second half: carols”."""
    mine = _slot(here.line.text)
    if mine is None:
        return None
    said = weighed(here.line.text)
    for at, one in _later_prose(here):
        other = None if one.asks else _slot(one.text)
        if (
            other is not None
            and other[0] == mine[0]
            and not shared(mine[1], other[1])
            and not other[1] <= said
        ):
            return at, one
    return None


def _later_prose(here: Evidence) -> Iterator[tuple[int, Sentence]]:
    """The sentences of people and models after the last cited message."""
    for at in range(max(here.cited) + 1, len(here.transcript.messages)):
        yield from ((at, one) for one in here.transcript.sentences[at] if one.role != "tool" and not one.code)


def _slot(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """What a sentence is about, and what it says of it: “The port is 8080”, “Second half: carols”."""
    match = _SLOT.match(text)
    if match is None:
        return None
    about, said = frozenset(terms(match["about"])), weighed(match["said"])
    return (about, said) if 0 < len(about) <= 4 and said else None
