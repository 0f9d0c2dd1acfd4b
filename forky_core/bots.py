"""Small bots for programs: a few lines over the same conversations, models and documents that the app has.

Nothing here is a second way of doing anything. A bot asks on a Forky branch, so its context is built, sent, recorded
and undone like everything else; what it remembers is a branch, what it knows is a `DocumentStore`, and both answer to
one interface, `Recall`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

from forky_core.conversation.conversation import Conversation
from forky_core.documents.shelf import DocumentStore
from forky_core.forky import Forky
from forky_core.llm.contract import Passage
from forky_core.llm.tokens import estimate_tokens
from forky_core.model import Message, Role
from forky_core.model.document import Document
from forky_core.model.errors import BadContent
from forky_core.model.parts import Json
from forky_core.retrieval.rank import rank


class Recalled(Protocol):
    """Something that was found again."""

    @property
    def passage(self) -> Passage: ...


class Recall(Protocol):
    """What a program can put texts into and ask: a `History`, a `DocumentStore`."""

    def append(self, text: str) -> object: ...

    def extend(self, texts: Iterable[str]) -> object: ...

    def retrieve(self, query: str, n: int = 5, *, budget: int | None = None) -> Sequence[Recalled]:
        """What bears on a query, best first: at most `n`, and of `budget` tokens together."""
        ...

    def reset(self) -> None:
        """Begin with nothing. What was there can be taken back."""
        ...


@dataclass(frozen=True, slots=True)
class ScoredMessage:
    """A message that bears on a query."""

    message: Message
    score: float
    """Comparable within one search only."""

    @property
    def passage(self) -> Passage:
        return Passage(self.message.text, f"{self.message.role} {self.message.id[3:11]}", "conversation")


class History:
    """The messages of a branch, oldest first: `history[-1]` is the newest."""

    def __init__(self, chat: Conversation) -> None:
        self.chat = chat

    def __len__(self) -> int:
        return len(self.chat.path())

    def __getitem__(self, at: int) -> Message:
        return self.chat.path()[at]

    def append(self, text: str, role: Role | None = None) -> Message:
        """Add a message without asking anybody; without a role the one whose turn it is."""
        head = self.chat.head
        turn: Role = "assistant" if head is not None and head.role == "user" else "user"
        return self.chat.say(text, role=role or turn)

    def extend(self, texts: Iterable[str]) -> tuple[Message, ...]:
        return tuple(self.append(text) for text in texts)

    def retrieve(self, query: str, n: int = 5, *, budget: int | None = None) -> tuple[ScoredMessage, ...]:
        path = self.chat.path()
        found: list[ScoredMessage] = []
        spent = 0
        for match in rank(query, [message.text for message in path], n):
            spent += estimate_tokens(path[match.index].text)
            if budget is not None and spent > budget:
                break
            found.append(ScoredMessage(path[match.index], match.score))
        return tuple(found)

    def reset(self) -> None:
        """Go on with an empty branch; the one there was stays as it is."""
        self.chat = self.chat.begin()


class SimpleBot:
    """Text in, reply out: nothing is remembered from one call to the next."""

    def __init__(
        self,
        system_prompt: str = "",
        model: str | None = None,
        temperature: float = 0,
        stream: bool | Callable[[str], None] = True,  # noqa: FBT001, FBT002 - as programs that use it already pass it
        json_mode: bool = False,  # noqa: FBT001, FBT002
        *,
        forky: Forky | None = None,
    ) -> None:
        """`stream`: print each piece as it arrives, or hand it to a function. `json_mode`: ask for JSON, and check it.

        Without a `forky` it works in memory, and nothing is kept.
        """
        self.forky = forky or Forky.open(":memory:")
        self._system, self._model = system_prompt, model
        self._parameters: dict[str, Json] = {"temperature": temperature}
        if json_mode:
            self._parameters["response_format"] = {"type": "json_object"}
        self._json_mode = json_mode
        self._on_text = _printed if stream is True else stream or None

    def __call__(self, text: str) -> str:
        """Raises:
        ModelError: there is no whole reply.
        BadContent: in JSON mode, it is no JSON.
        """
        chat = self._conversation()
        try:
            return self._ask(chat, text)
        finally:
            chat.trash()
            self.forky.purge(chat.id)

    def _conversation(self) -> Conversation:
        return self.forky.create(system=self._system or None, model=self._model)

    def _ask(self, chat: Conversation, text: str) -> str:
        reply = chat.ask(text, on_text=self._on_text, **self._parameters).text
        if self._on_text is _printed:
            _printed("\n")
        if self._json_mode and not _is_json(reply):
            raise BadContent("The reply is no JSON.", "Say in the system prompt what it should look like.")
        return reply


class ChatBot(SimpleBot):
    """A bot that remembers: its `history` is a branch, which the app can show, fork and merge."""

    @cached_property
    def history(self) -> History:
        """Begins with the first question."""
        return History(self._conversation())

    def __call__(self, text: str) -> str:
        return self._ask(self.history.chat, text)


class QueryBot(ChatBot):
    """A bot that answers from `documents`: passages go along with the question, and the reply names its sources."""

    def __init__(
        self,
        system_prompt: str = "",
        model: str | None = None,
        temperature: float = 0,
        stream: bool | Callable[[str], None] = True,  # noqa: FBT001, FBT002
        json_mode: bool = False,  # noqa: FBT001, FBT002
        *,
        documents: Iterable[str | Path] = (),
        forky: Forky | None = None,
    ) -> None:
        """`documents` are paths of files; `add` takes more of them.

        Raises:
            BadContent: one of them cannot be read.
        """
        super().__init__(system_prompt, model, temperature, stream=stream, json_mode=json_mode, forky=forky)
        self.history.chat.use_documents()
        self.add(documents)

    @property
    def documents(self) -> DocumentStore:
        """Those of the bot's branch."""
        return self.history.chat.documents

    def add(self, paths: Iterable[str | Path]) -> tuple[Document, ...]:
        added = self.documents.add_documents(paths)
        if added.refused:
            raise BadContent(added.refused[0].why)
        return (*added.documents, *added.already)


def _printed(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
