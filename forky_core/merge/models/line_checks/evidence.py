"""The evidence for a check: a line of a note, the messages it cites, and the sentences most similar to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from unicodedata import combining, normalize

from forky_core.merge.models.checks import invented
from forky_core.merge.models.line_checks.courtesies import is_courtesy
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.numbers import numbers
from forky_core.merge.models.statements import CheckedSentence, SentenceClause
from forky_core.merge.models.transcript import Transcript
from forky_core.merge.wording import speaker_of
from forky_core.model import MessageId
from forky_core.retrieval.words import terms

LEAST_LEANED = 0.4
"""The share of a part's words that a sentence must have for the part to keep its “if” or question mark."""
_HEAD = 5
"""The letters at the beginning by which two forms of a word are matched."""
_PART_END = re.compile(r"(?<=[.!?])(?<!\b\d\.)(?<!\b\d\d\.)\s+(?=[A-ZÄÖÜ“\"'`(¿¡])|[;；。！？]\s*")


@dataclass(frozen=True)
class Evidence:
    """One line with what it cites. All places are indices of messages in the branch, from 0."""

    line: NoteLine
    transcript: Transcript

    @cached_property
    def cited(self) -> tuple[int, ...]:
        order = self.transcript.places
        return tuple(order[id] for id in self.line.cites)

    @cached_property
    def sources(self) -> tuple[CheckedSentence, ...]:
        """The sentences of the cited messages, without courtesies."""
        said = (one for at in self.cited for one in self.transcript.sentences[at])
        return tuple(one for one in said if not is_courtesy(one.text))

    @cached_property
    def text(self) -> str:
        """The whole text of the cited messages."""
        return "\n".join(self.transcript.texts[id] for id in self.line.cites)

    @cached_property
    def speakers(self) -> frozenset[str]:
        """The speakers of the cited messages, in lower case."""
        return frozenset(speaker_of(self.transcript.messages[at]).casefold() for at in self.cited)

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The sentences of the line."""
        return tuple(part for part in _PART_END.split(self.line.text) if part and part.strip())

    @cached_property
    def words(self) -> frozenset[str]:
        """The content words of the line."""
        return frozenset(terms(self.line.text))

    def id(self, place: int) -> MessageId:
        return self.transcript.messages[place].id

    def before(self) -> tuple[CheckedSentence, ...]:
        """Return the sentences of the message before the first cited one, to which an “it” may refer."""
        first = min(self.cited)
        return self.transcript.sentences[first - 1] if first else ()

    def supporters(self, part: str, least: float = 0.2) -> list[CheckedSentence]:
        """Return the cited sentences that share most with a part of the line, and at least the share `least` of its
        words.
        """
        mine = weighed(part)
        scored = [(len(words_in_both(mine, weighed(one.text))), one) for one in self.sources]
        best = max((score for score, _ in scored), default=0)
        if not best or best < least * len(mine):
            return []
        return [one for score, one in scored if score >= max(1, 0.8 * best)]

    def best_clauses(self, part: str, supporters: Sequence[CheckedSentence]) -> list[SentenceClause]:
        """Return the clauses of these sentences that share most with a part of the line; a shared identifier counts
        twice.
        """
        mine, names = frozenset(terms(part)), _identifiers(part)
        scored = [
            (
                len(words_in_both(mine, clause.words))
                + 2 * sum(name in clause.text.casefold() for name in names),
                clause,
            )
            for one in supporters
            if not one.code
            for clause in one.clauses
        ]
        best = max((score for score, _ in scored), default=0)
        return [clause for score, clause in scored if score >= max(1, 0.7 * best)]

    def around(self, supporters: Sequence[CheckedSentence]) -> list[CheckedSentence]:
        """Return these sentences with the ones before and after each."""
        found: list[CheckedSentence] = []
        for at in self.cited:
            said = self.transcript.sentences[at]
            for place, one in enumerate(said):
                if any(one is other for other in supporters):
                    found += said[max(0, place - 1) : place + 2]
            if at + 1 < len(self.transcript.messages) and at + 1 in self.cited:
                found += self.transcript.sentences[at + 1][:1]
        return found or list(supporters)


def weighed(text: str) -> frozenset[str]:
    """Return the words and numbers by which a text is compared."""
    words = (word for word in terms(text) if not word.isdigit() and (len(word) > 1 or not word.isalpha()))
    return frozenset(words) | frozenset(form for number in numbers(text) for form in number.forms)


def words_in_both(mine: frozenset[str], said: frozenset[str]) -> frozenset[str]:
    """Return the words of a line that a source has in any form: “scraping”, “scrapes”."""
    found = mine & said
    rest = [word for word in mine - found if len(word) >= _HEAD - 1 and word.isalpha()]
    if not rest:
        return found
    heads = {_unaccented(other[:_HEAD]) for other in said if len(other) >= _HEAD}
    short = {head[:-1] for head in heads}
    return found | {
        word
        for word in rest
        if _unaccented(word[:_HEAD]) in heads or (len(word) == _HEAD - 1 and _unaccented(word) in short)
    }


@lru_cache(maxsize=16_384)
def _unaccented(text: str) -> str:
    """Return the letters without their accents: “lancés” and “lancer” begin alike."""
    return text if text.isascii() else "".join(c for c in normalize("NFKD", text) if not combining(c))


def _identifiers(text: str) -> frozenset[str]:
    """Return the identifiers of a text, in lower case."""
    tokens = (token.strip("/.:()").casefold() for token in re.findall(r"[\w./@:#-]*\w", text))
    return frozenset(
        token
        for token in tokens
        if len(token) > 2 and not token[0].isdigit() and (token.startswith("-") or invented(token, ""))
    )
