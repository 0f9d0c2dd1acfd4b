"""Quotes the branch where a line that a model wrote cannot be confirmed, or is not the last word on its subject.

Code sees words, numbers and order, and no meaning. So a line that fails a check is not lost: the most similar sentence
of the cited messages is quoted in its place. And if the person spoke of the same subject after everything that a line
cites, their sentence is quoted below it. Both are true whatever the model meant (law 9).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from forky_core.merge.headings import FACTS, RESULT
from forky_core.merge.models.checks import CheckName
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.transcript import Transcript
from forky_core.merge.note.branch import BranchDigest
from forky_core.merge.note.passages import NotePassage
from forky_core.retrieval.words import terms

NOT_QUOTED: frozenset[CheckName] = frozenset({"instruction", "repeat", "citation", "length"})
"""Checks after which nothing is quoted: orders to the reader, repetitions, lines without valid citations, lines that
are too long."""
LEAST_ALIKE = 0.15
"""The share of the weight of a line's words that a sentence must have to be quoted in its place."""
LEAST_LATER = 0.2
"""The share that a sentence of the person must have to be quoted below a line that rests on earlier messages."""


@dataclass(frozen=True)
class Quotations:
    """Finds sentences of a branch to quote."""

    transcript: Transcript

    @cached_property
    def _branch(self) -> BranchDigest:
        return BranchDigest.of(self.transcript.messages, ())

    @cached_property
    def _worth(self) -> Mapping[str, float]:
        found: dict[str, float] = {}
        for words in self._branch.relevance.words:
            for word, worth in words.items():
                found[word] = max(worth, found.get(word, 0.0))
        return found

    def instead(self, line: NoteLine) -> NoteLine | None:
        """Return the most similar sentence of the messages that a line cites; None if none is similar."""
        best, most = None, LEAST_ALIKE
        for one, share in self._alike(line.text, frozenset(line.cites)):
            if share > most:
                best, most = one, share
        return None if best is None else _quoting(best, line, "instead")

    def later(self, line: NoteLine) -> NoteLine | None:
        """Return the person's last sentence about a line's subject, if it comes after everything that the line
        cites.
        """
        last = max(self.transcript.places[id] for id in line.cites)
        after = {message.id for message in self.transcript.messages[last + 1 :] if message.role == "user"}
        found = None
        for one, share in self._alike(line.text, after):
            if share >= LEAST_LATER:
                found = one
        return None if found is None else _quoting(found, line, "later")

    def _alike(self, text: str, among: Collection[str]) -> Iterator[tuple[NotePassage, float]]:
        """Yield the sentences of these messages in order, each with the share of the text's words that it has."""
        mine = {term: self._worth[term] for term in set(terms(text)) if term in self._worth}
        whole = sum(mine.values())
        if not whole:
            return
        for one, words in zip(self._branch.passages, self._branch.relevance.words, strict=True):
            if one.message in among and one.shape not in ("heading", "removed"):
                yield one, sum(worth for term, worth in mine.items() if term in words) / whole


def _quoting(one: NotePassage, line: NoteLine, why: Literal["instead", "later"]) -> NoteLine:
    return NoteLine(line.number, line.section, one.text, (one.message,), quoted=why)


def with_quotations(
    lines: Sequence[NoteLine], failed: Sequence[tuple[NoteLine, CheckName]], transcript: Transcript
) -> tuple[NoteLine, ...]:
    """Return the lines that stand, each with the person's last sentence about it, then the quotations in place of the
    others.

    Each sentence is quoted once.
    """
    quotations = Quotations(transcript)
    known: set[str] = set()
    found: list[NoteLine] = []

    def add(line: NoteLine | None) -> None:
        if line is not None and line.text not in known:
            known.add(line.text)
            found.append(line)

    cited = {id for line in lines for id in line.cites}
    for line in lines:
        add(line)
        below = quotations.later(line) if line.section in (RESULT, FACTS) else None
        if below is not None and below.cites[0] not in cited:
            add(below)
    for line, check in failed:
        if check not in NOT_QUOTED and line.cites:
            add(quotations.instead(line))
            if check == "superseded":
                add(quotations.later(line))
    return tuple(found)
