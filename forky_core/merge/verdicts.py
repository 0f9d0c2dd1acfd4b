"""Finds what an answer recommends: its verdict, by rules in five languages and without a model.

Two answers that recommend different things must never stand side by side in one text as if both held. A verdict is
announced (“Verdict: PostgreSQL”), recommended (“I would take SQLite”), ordered in the first words of an answer (“Use
SQLite for the cache.”), or the subject of a judgement (“SQLite is the better choice”). An order further down is a step
of an instruction and no verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from forky_core.merge.conflicts.conflict import Conflict, Quotation
from forky_core.merge.wording import message_as_text
from forky_core.model import Message
from forky_core.retrieval.sentences import units
from forky_core.retrieval.words import terms

VERDICT = "verdict"
"""What a conflict between recommendations is about."""
LONGEST_NAME = 6
"""The most words of what is recommended."""
_LABEL = re.compile(
    r"^\W*(?:(?:my|our|the|final|mein|meine|unser|mon|ma|notre|mi|nuestra?)\s+)*"
    r"(?:verdict|recommendation|conclusion|bottom\s+line|winner|pick|tl;?\s?dr|urteil|fazit|empfehlung|recommandation|veredicto|"
    r"recomendaci[oó]n|conclusi[oó]n|结论|建议|推荐)\W{0,4}[:：]\W*(?P<what>.+)",
    re.IGNORECASE | re.DOTALL,
)
_RECOMMENDED = re.compile(
    r"\b(?:(?:I|we)(?:['’]d|\s+would|\s+strongly)?\s+(?:recommend|suggest|choose|pick|take|prefer|go\s+(?:with|for))(?:\s+using)?|"
    r"(?:ich|wir)\s+(?:empfehle[n]?|würden?\s+nehmen|nehmen?|wählen?)|(?:je|nous)\s+(?:recommand\w+|conseill\w+|choisi\w+|prend\w+)|"
    r"(?:te\s+|le\s+)?(?:recomiendo|recomendamos|elegiría|aconsejo))\s+(?P<what>.+)|我(?:们)?(?:建议|推荐|会选)(?:使用|用|选|选择)?(?P<han>.+)",
    re.IGNORECASE | re.DOTALL,
)
_ORDERED = re.compile(
    r"^\W*(?:(?:yes|no|so|then|short\s+answer|ja|nein|also|oui|non|sí|si)\b\W+)*"
    r"(?:(?:use|choose|pick|take|prefer|adopt|go\s+(?:with|for)|stick\s+(?:with|to)|nimm|nehmt|nehmen\s+Sie|verwende[nt]?(?:\s+Sie)?|"
    r"wähl\w*(?:\s+Sie)?|utilise[zr]?|choisi\w+|prene?z|prends|usa|usen?|elige|elija|escoge)\s+(?P<what>.+)|(?:使用|采用|选择|用|选)(?P<han>.+))",
    re.IGNORECASE | re.DOTALL,
)
_JUDGED = re.compile(
    r"^\W*(?P<what>[^,.;:!?]{1,60}?)\s+(?:is|ist|est|es)\s+(?:(?:clearly|still|the|a|die|das|der|eindeutig|le|la|el|clairement)\s+){0,3}"
    r"(?:better|best|right|clear|bessere|beste|richtige|meilleure?|bonne?|mejor)\s+"
    r"(?:choice|option|fit|pick|one|answer|winner|Wahl|Lösung|choix|opción|elección|solution|solución)",
    re.IGNORECASE,
)
_AHEAD = re.compile(
    r"[,.;:!?()\n—–。，；：！]|\s[-]\s|\s(?:for|because|since|as|with|when|if|unless|over|instead|rather|to|in|on|at|here|"
    r"für|weil|da|denn|mit|wenn|statt|pour|car|parce|puisque|avec|si|plutôt|para|porque|con|ya|en)\b",
    re.IGNORECASE,
)
_MARKS = " *_`\"“”'«»"
_PROPER = re.compile(r"[A-ZÀ-Þ0-9]")
_ARTICLE = re.compile(
    r"^(?:(?:the|a|an|der|die|das|den|ein|eine|einen|le|la|les|un|une|el|los|las|una)\s+|l['’])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What an answer recommends."""

    quote: str
    """The sentence, as it stands in the answer."""
    name: str
    """What is recommended, in the answer's words."""
    keys: frozenset[str]
    """The words of the name as they are compared."""
    proper: frozenset[str]
    """Those of its proper names: written with a capital or a digit."""

    def differs(self, other: Recommendation) -> bool:
        """Whether the two recommend different things: no proper name in common or, where one has none, other words."""
        if self.proper and other.proper:
            return self.proper.isdisjoint(other.proper)
        return not (self.keys <= other.keys or other.keys <= self.keys)


@lru_cache(maxsize=256)
def verdict_of(answer: Message) -> Recommendation | None:
    """Return what an answer recommends; None if it recommends nothing that the rules know.

    An announced verdict comes before a recommendation, that before a judgement, and that before an order.
    """
    said = list(_sentences(answer))
    for form in (_LABEL, _RECOMMENDED, _JUDGED, _ORDERED):
        for at, sentence in enumerate(said):
            if form is _ORDERED and at:
                break
            found = form.search(sentence)
            if found is None or sentence.rstrip().endswith(("?", "？")):
                continue
            name = _name(found.groupdict().get("han") or found["what"] or "")
            keys = frozenset(terms(name))
            if keys:
                proper = {key for word in name.split() if _PROPER.search(word) for key in terms(word)}
                return Recommendation(sentence, name, keys, frozenset(proper))
    return None


def verdict_conflict(answers: Sequence[tuple[str, Message]]) -> Conflict | None:
    """Return the possible conflict between what named answers to one question recommend; None if they recommend the
    same, or the rules know of no recommendation.
    """
    found = [
        (label, answer.id, said) for label, answer in answers if (said := verdict_of(answer)) is not None
    ]
    if not any(said.differs(other) for _, _, said in found for _, _, other in found):
        return None
    return Conflict(VERDICT, tuple(Quotation(label, id, said.quote) for label, id, said in found))


def _sentences(answer: Message) -> Iterator[str]:
    for unit in units(message_as_text(answer)):
        if unit.kind in ("sentence", "item", "heading"):
            yield " ".join(unit.text.split())


def _name(words: str) -> str:
    """Return the name at the beginning of some words."""
    text = words.strip(_MARKS)
    if ordered := _ORDERED.match(text):
        text = (ordered["han"] or ordered["what"]).strip(_MARKS)
    while article := _ARTICLE.match(text):
        text = text[article.end() :]
    end = _AHEAD.search(text)
    text = text[: end.start()] if end else text
    return " ".join(text.strip(_MARKS).split()[:LONGEST_NAME])
