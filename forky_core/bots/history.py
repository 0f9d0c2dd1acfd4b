"""The memory of a bot: a branch, to add to and to search."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, overload

from forky_core.bots.messages import AIMessage, BotMessage, HumanMessage, SystemMessage
from forky_core.conversation.conversation import Conversation
from forky_core.documents.retrieval.rank import rank
from forky_core.forky import Forky
from forky_core.llm.contract import Passage
from forky_core.llm.tokens import estimate_tokens
from forky_core.model import Message, Role


class Recalled(Protocol):
    """A search result that has a passage."""

    @property
    def passage(self) -> Passage: ...


class Recall(Protocol):
    """Something a program can add texts to and search: a `History`, the documents of a branch."""

    def append(self, text: str) -> object: ...

    def extend(self, texts: Iterable[str]) -> object: ...

    def retrieve(self, query: str, n: int = 5, *, budget: int | None = None) -> Sequence[Recalled]:
        """Return the passages that are relevant to a query, best first: at most `n`, and at most `budget` tokens
        together.
        """
        ...

    def reset(self) -> None:
        """Start over empty. The old content can be restored."""
        ...


@dataclass(frozen=True, slots=True)
class ScoredMessage:
    """A message that is relevant to a query."""

    message: Message
    score: float
    """Comparable within one search only."""

    @property
    def passage(self) -> Passage:
        return Passage(self.message.text, f"{self.message.role} {self.message.id[3:11]}", "conversation")


class History:
    """The messages of a branch, oldest first: `history[-1]` is the newest."""

    def __init__(
        self, chat: Conversation | str | None = None, begin: Callable[[], Conversation] | None = None
    ) -> None:
        """Wrap a conversation; without one, the first message calls `begin` to create it, and reading creates nothing.

        A name instead of a conversation begins a history of that name in memory.
        """
        if chat is None or isinstance(chat, str):
            name = chat or ""
            begin = begin or (lambda: Forky.open(":memory:").create(name))
            chat = None
        self._chat, self._begin = chat, begin

    @property
    def chat(self) -> Conversation:
        """The conversation, on the branch that the bot asks on; created on first use."""
        if self._chat is None:
            assert self._begin is not None
            self._chat = self._begin()
        return self._chat

    @chat.setter
    def chat(self, chat: Conversation) -> None:
        self._chat = chat

    @property
    def messages(self) -> tuple[Message, ...]:
        return self._chat.path() if self._chat is not None else ()

    def __len__(self) -> int:
        return len(self.messages)

    def __getitem__(self, at: int) -> Message:
        return self.messages[at]

    def append(self, text: str, role: Role | None = None) -> Message:
        """Add a message without asking a model; without a role, the role whose turn it is."""
        if isinstance(text, BotMessage):
            role = role or text.role
        head = self.chat.head
        turn: Role = "assistant" if head is not None and head.role == "user" else "user"
        return self.chat.say(str(text), role=role or turn)

    def extend(self, texts: Iterable[str]) -> tuple[Message, ...]:
        return tuple(self.append(text) for text in ([texts] if isinstance(texts, str) else texts))

    @overload
    def retrieve(
        self, query: str, n: int = 5, *, budget: int | None = None, character_budget: None = None
    ) -> tuple[ScoredMessage, ...]: ...

    @overload
    def retrieve(
        self, query: str, n: int = 5, *, budget: int | None = None, character_budget: int
    ) -> tuple[BotMessage, ...]: ...

    def retrieve(
        self, query: str, n: int = 5, *, budget: int | None = None, character_budget: int | None = None
    ) -> tuple[ScoredMessage, ...] | tuple[BotMessage, ...]:
        """Return the messages that are relevant to a query, best first, then those that only share a word such as
        “about”.

        With a `character_budget`, the newest messages are returned instead, oldest first, whatever the query: so many
        as fit in that number of characters. Of the oldest, the end is returned if not all of it fits.
        """
        if character_budget is not None:
            return self._newest(character_budget)
        path = self.messages
        texts = [message.text for message in path]
        scores = {match.index: match.score for match in rank(query, texts)}
        words = _words(query)
        scores |= {at: 0.0 for at, text in enumerate(texts) if at not in scores and words & _words(text)}
        found: list[ScoredMessage] = []
        spent = 0
        for at, score in list(scores.items())[:n]:
            spent += estimate_tokens(texts[at])
            if budget is not None and spent > budget:
                break
            found.append(ScoredMessage(path[at], score))
        return tuple(found)

    def _newest(self, characters: int) -> tuple[BotMessage, ...]:
        found: list[BotMessage] = []
        for message in reversed(self.messages):
            if characters <= 0:
                break
            found.append(as_said(message.role, message.text[-characters:]))
            characters -= len(message.text)
        return tuple(reversed(found))

    def reset(self) -> None:
        """Continue on an empty branch; the old one stays unchanged."""
        if self._chat is not None:
            self._chat = self._chat.branches.begin()


def as_said(role: Role, text: str) -> BotMessage:
    """Return a text as what somebody of this role says."""
    kind = HumanMessage if role == "user" else SystemMessage if role == "system" else AIMessage
    return kind(text)


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold()))
