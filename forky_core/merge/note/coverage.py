"""Chooses the passages of a branch with the most relevance for their length: greedy coverage of its rare words.

The weight of a word is −log of its share of the branch's own words: a rare word tells more than a frequent one, in any
language, without a frequency list. The gain of a passage is the weight of its words that no chosen passage has yet,
divided by its tokens with its speaker and its citation. Words that the target knows weigh little, and words that the
reader asked for weigh more.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from forky_core.context.citing import own_sources
from forky_core.llm.tokens import estimate_tokens
from forky_core.merge.note.passages import NotePassage, Shape, named_atoms, plain
from forky_core.model import MessageId
from forky_core.retrieval.words import terms

BYTES_PER_TOKEN = 4
CITATION = len(" [3f2a91]\n")
SPEAKER = 0.7
"""The share of entries that have the speaker's name before them: it is not repeated."""
NAME = 4.0
"""The weight of a name, a path or a number with punctuation, in words, beside its own words."""
SHARES: Mapping[Shape, float] = MappingProxyType(
    {"prose": 1.0, "heading": 0.5, "code": 0.5, "call": 0.5, "output": 0.35, "removed": 0.0}
)
"""The weight of a word by shape, relative to one in prose: a reader of a note wants sentences."""
PROPER = 1.6
"""The factor for a word with a capital letter in the middle of a sentence."""
SAID = 0.05
"""The share of a word's weight that is left if the note has it already: an answer may repeat the words of its
question."""
PAUSE = 10.0
"""Tokens added to the length of each passage: a few long passages read better than many short ones."""
BESIDE = 1.3
"""The factor for a passage whose neighbour is chosen: neighbours read better together."""
KNOWN = 0.15
"""The share of a word's weight that is left if the target has it already."""
IN_FOCUS = 4.0
"""The factor for a word that the person asked for."""


_CAPITAL = re.compile(r"(?<=[^\W\d_A-Z] )[^\W\d_a-zß-ÿ][\w’'-]+")


def size(text: str) -> float:
    """Estimate tokens, without rounding up line by line."""
    return len(text) / BYTES_PER_TOKEN if text.isascii() else estimate_tokens(text)


@dataclass(slots=True)
class Relevance:
    """The relevance of each passage of a branch to its reader."""

    passages: Sequence[NotePassage]
    words: list[dict[str, float]]
    """For each passage, its words and names with their weights."""

    @classmethod
    def of(cls, passages: Sequence[NotePassage], target_texts: Iterable[str], focus: str = "") -> Relevance:
        """Weigh passages for a reader who knows `target_texts` and asks for `focus`."""
        spoken = [terms(passage.text) for passage in passages]
        count = Counter(term for mine in spoken for term in mine)
        whole = math.log(sum(count.values()) + 1)
        known = frozenset(term for text in target_texts for term in terms(text))
        asked = frozenset(terms(focus))
        proper = _proper_nouns(passages)
        worth = {
            term: (whole - math.log(many))
            * (KNOWN if term in known else 1.0)
            * (IN_FOCUS if term in asked else 1.0)
            * (PROPER if term in proper else 1.0)
            for term, many in count.items()
        }
        words: list[dict[str, float]] = []
        for passage, mine in zip(passages, spoken, strict=True):
            shape = SHARES[passage.shape]
            found = {term: worth[term] * shape for term in mine}
            for atom in named_atoms(passage.text):
                own = (worth.get(term, whole) for term in terms(atom))
                found[f"={atom}"] = NAME * max(own, default=whole)
            words.append(found)
        return cls(passages, words)

    def scale(self, at: int, share: float) -> None:
        """Scale the relevance of a passage."""
        self.words[at] = {word: worth * share for word, worth in self.words[at].items()}


@dataclass(slots=True)
class Picker:
    """Chooses passages within a budget; each choice makes the rest less relevant, and its neighbours cheaper."""

    relevance: Relevance
    budget: float
    """The tokens that are left."""
    ratio: float = 1.0
    """The model's tokens per estimated token."""
    speakers: Mapping[MessageId, str] = field(default_factory=dict)
    chosen: set[int] = field(default_factory=set)
    covered: set[str] = field(default_factory=set)
    opened: set[MessageId] = field(default_factory=set)

    def cost(self, at: int) -> float:
        """Return the tokens that quoting a passage adds."""
        passage = self.relevance.passages[at]
        speaker = self.speakers.get(passage.message, "")
        entry = 0 if passage.message in self.opened else CITATION + len(speaker) * SPEAKER
        return (size(passage.text) + (1 + entry) / BYTES_PER_TOKEN) * self.ratio

    def gain(self, at: int) -> float:
        """Return the relevance that a passage adds to the chosen ones, per token."""
        words = self.relevance.words[at].items()
        fresh = sum([worth * (SAID if word in self.covered else 1.0) for word, worth in words])
        beside = any(one in self.chosen for one in self._neighbours(at))
        return fresh * (BESIDE if beside else 1.0) / (self.cost(at) + PAUSE)

    def _neighbours(self, at: int) -> Iterator[int]:
        """Yield the passages right before and after one in its message."""
        passages = self.relevance.passages
        for one in (at - 1, at + 1):
            if 0 <= one < len(passages) and passages[one].turn == passages[at].turn:
                yield one

    def take(self, at: int) -> None:
        """Choose a passage, whatever it costs."""
        if at in self.chosen:
            return
        self.budget -= self.cost(at)
        self.chosen.add(at)
        self.covered.update(self.relevance.words[at])
        self.opened.add(self.relevance.passages[at].message)

    def fits(self, at: int, room: float | None = None) -> bool:
        """Whether there is room for a passage."""
        return self.cost(at) <= (self.budget if room is None else min(room, self.budget))

    def cover(
        self,
        among: Iterable[int],
        room: float,
        along: Callable[[int], Collection[int]],
    ) -> Iterator[tuple[int, ...]]:
        """Choose passages with the most relevance per token while they fit into `room`; yield each group that is
        chosen.

        `along` returns the passages that must be chosen together with one; all are chosen, or none.
        """
        limit = self.budget - room
        free = [at for at in among if at not in self.chosen]
        wanted = frozenset(free)
        beside: dict[MessageId, list[int]] = {}
        for at in free:
            beside.setdefault(self.relevance.passages[at].message, []).append(at)
        heap = [(-self.gain(at), at) for at in free]
        heapq.heapify(heap)
        while heap:
            _, at = heapq.heappop(heap)
            if at in self.chosen:
                continue
            more = [other for other in along(at) if other not in self.chosen]
            if self.budget - self.cost(at) - sum(map(self.cost, more)) < max(0.0, limit):
                continue
            gain = self.gain(at)
            if gain <= 0:
                continue
            if heap and -gain > heap[0][0]:
                heapq.heappush(heap, (-gain, at))
                continue
            new = self.relevance.passages[at].message not in self.opened
            for one in (at, *more):
                self.take(one)
            yield (at, *more)
            cheaper = beside[self.relevance.passages[at].message] if new else ()
            near = (other for one in (at, *more) for other in self._neighbours(one) if other in wanted)
            for other in dict.fromkeys((*cheaper, *near)):
                if other not in self.chosen:
                    heapq.heappush(heap, (-self.gain(other), other))


def _proper_nouns(passages: Iterable[NotePassage]) -> frozenset[str]:
    """Return the words with a capital letter in the middle of a sentence: names of people, places and things."""
    prose = (passage.text for passage in passages if passage.shape == "prose")
    return frozenset(term for text in prose for word in _CAPITAL.findall(text) for term in terms(word))


def names_sources(passage: NotePassage) -> bool:
    """Whether a passage is the SOURCES line of its message, without which its citations mean nothing."""
    return passage.role == "assistant" and bool(own_sources(passage.text))


def distinct(
    passages: Sequence[NotePassage], known: Collection[str], repeats: Collection[MessageId] = ()
) -> list[NotePassage]:
    """Return the passages without those that the target has, each once, in its last place.

    Messages in `repeats` may repeat what the target has.
    """
    last: dict[str, NotePassage] = {}
    for passage in passages:
        key = plain(passage.text)
        if names_sources(passage):
            key = f"{key} {passage.message}"
        if key and (key not in known or passage.message in repeats):
            last.pop(key, None)
            last[key] = passage
    return sorted(last.values(), key=lambda passage: passage.place)
