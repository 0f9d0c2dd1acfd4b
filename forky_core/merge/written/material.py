"""What a note is written from: the messages of a branch, and what its reader knows already."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from forky_core.context.convert import message_as_text
from forky_core.merge.note.passages import call_text
from forky_core.merge.wording import speaker_of
from forky_core.model import Message, MessageId
from forky_core.model.parts import ToolCallPart
from forky_core.text.values import Amount, amounts, runs_of_digits
from forky_core.text.words import stem, terms

MOST_SOURCES = 4
"""The most messages that a sentence is said to rest on."""
_LEAST = 0.12
"""The share of a sentence's words, by weight, that a message must add to be one of its sources."""
_BEGINNING = 5
"""The letters by which two forms of a name are told to be the same: PostgreSQL and Postgres."""
_WORD = re.compile(r"[^\W_]+")
_QUOTES = str.maketrans("’‘“”„«»‹›\u00a0", '\'\'"""""\'\' ')


@dataclass(frozen=True)
class NoteMaterial:
    """A branch, and the texts that its reader knows from the branch that is merged into."""

    messages: tuple[Message, ...]
    known: tuple[str, ...] = ()

    @cached_property
    def texts(self) -> Mapping[MessageId, str]:
        """Everything that each message says; the arguments of its tool calls are decoded."""
        return {message.id: _words(message) for message in self.messages}

    @cached_property
    def ids(self) -> Mapping[str, MessageId]:
        """The messages by the short ids of a request, “m1”, “m2” …"""
        return {f"m{at}": message.id for at, message in enumerate(self.messages, 1)}

    @cached_property
    def plain(self) -> str:
        """All that was said anywhere, in lower case and as `plain` compares it."""
        speakers = {speaker_of(message) for message in self.messages}
        return plain("\n".join((*self.texts.values(), *self.known, *sorted(speakers))))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The words of all that was said, without their endings."""
        return frozenset(stem(word) for word in _WORD.findall(self.plain))

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """The first letters of all words that are longer."""
        return frozenset(word[:_BEGINNING] for word in _WORD.findall(self.plain) if len(word) >= _BEGINNING)

    @cached_property
    def digits(self) -> frozenset[str]:
        """All runs of digits that were said."""
        return runs_of_digits(self.plain)

    @cached_property
    def amounts(self) -> tuple[Amount, ...]:
        """All amounts that were said, with their units."""
        return tuple(one for text in (*self.texts.values(), *self.known) for one in amounts(text))

    def has_word(self, word: str) -> bool:
        """Whether a word, or another form of it, was said."""
        bare = plain(word)
        return stem(bare) in self.stems or (len(bare) >= _BEGINNING and bare[:_BEGINNING] in self.beginnings)

    def sources(self, sentence: str) -> tuple[MessageId, ...]:
        """Return the messages on which a sentence of a note rests, as far as its words show it; in their order.

        The message with the most of its rare words comes first, then whichever has most of the others; of two that
        have as much the later one, since it says what holds.
        """
        left = set(terms(sentence)) & self._weights.keys()
        whole = sum(self._weights[word] for word in left)
        found: list[int] = []
        while left and len(found) < MOST_SOURCES:
            weighed = [(sum(self._weights[w] for w in left & said), at) for at, said in enumerate(self._said)]
            best, at = max(weighed, default=(0.0, -1))
            if best < max(_LEAST * whole, 1e-9):
                break
            found.append(at)
            left -= self._said[at]
        return tuple(self.messages[at].id for at in sorted(found))

    def near(self, sentences: Sequence[str], most: int) -> frozenset[int] | None:
        """Return the places of the messages that have most of the words of some sentences, with `most` characters
        together; None where the whole branch has no more.
        """
        sizes = [len(text) for text in self.texts.values()]
        if sum(sizes) <= most:
            return None
        words = frozenset(word for one in sentences for word in terms(one)) & self._weights.keys()
        shared = [sum(self._weights[word] for word in words & said) for said in self._said]
        found: set[int] = set()
        # Of two that have as much, the later one: it may have changed what the other says.
        for at in sorted(range(len(sizes)), key=lambda at: (shared[at], at), reverse=True):
            # The nearest one is shown however long it is, since nothing can be verified without it.
            if sizes[at] <= most or not found:
                found.add(at)
                most -= sizes[at]
        return frozenset(found)

    @cached_property
    def _said(self) -> Sequence[frozenset[str]]:
        return [frozenset(terms(text)) for text in self.texts.values()]

    @cached_property
    def _weights(self) -> Mapping[str, float]:
        """How much each word tells: the more, the fewer messages have it."""
        times = Counter(word for said in self._said for word in said)
        return {word: math.log(1 + len(self.messages) / often) for word, often in times.items()}


def plain(text: str) -> str:
    """Return a text as quotations are compared: in lower case, without emphasis, with plain quotation marks, and white
    space folded.
    """
    bare = re.sub(r"[*`]|(?<!\w)_+|_+(?!\w)", "", text.translate(_QUOTES))
    return re.sub(r" (?=[.,;:!?')\"])|(?<=[(\"]) ", "", " ".join(bare.split()).casefold())


def _words(message: Message) -> str:
    calls = [call_text(part) for part in message.parts if isinstance(part, ToolCallPart)]
    if not calls:
        return message_as_text(message)
    return "\n".join((message.text, *calls) if message.text else calls)
