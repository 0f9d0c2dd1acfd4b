"""Small bots for programs: a few lines over the same conversations, models and documents that the app has.

A bot uses the same code as the app. It asks on a Forky branch, so its context is built, sent, recorded and undone like
everything else; its memory is a branch, its knowledge a `DocumentStore`, and both have one interface, `Recall`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol, cast

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.identity import title_line
from forky_core.documents.retrieval.rank import rank
from forky_core.documents.shelf import DocumentStore
from forky_core.forky import Forky
from forky_core.llm.contract import Passage
from forky_core.llm.tokens import estimate_tokens
from forky_core.model import Message, Role
from forky_core.model.document import Document
from forky_core.model.errors import BadContent
from forky_core.model.parts import Json


class Recalled(Protocol):
    """A search result that has a passage."""

    @property
    def passage(self) -> Passage: ...


class Recall(Protocol):
    """Something a program can add texts to and search: a `History`, a `DocumentStore`."""

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

    def __init__(self, chat: Conversation | None, begin: Callable[[], Conversation] | None = None) -> None:
        """Wrap a conversation; without one, the first message calls `begin` to create it, and reading creates
        nothing.
        """
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
        head = self.chat.head
        turn: Role = "assistant" if head is not None and head.role == "user" else "user"
        return self.chat.say(text, role=role or turn)

    def extend(self, texts: Iterable[str]) -> tuple[Message, ...]:
        return tuple(self.append(text) for text in texts)

    def retrieve(self, query: str, n: int = 5, *, budget: int | None = None) -> tuple[ScoredMessage, ...]:
        """Return the messages that are relevant to a query, best first, then those that only share a word such as
        “about”.
        """
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

    def reset(self) -> None:
        """Continue on an empty branch; the old one stays unchanged."""
        if self._chat is not None:
            self._chat = self._chat.branches.begin()


class SimpleBot:
    """A bot that takes a text and returns the reply, without memory of earlier calls."""

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
        """Create a bot.

        Args:
            stream: print each piece of a reply as it arrives, or pass it to a function.
            json_mode: ask the model for JSON, and check the reply.
            forky: without one, the bot works in memory, and nothing is saved. With one, each call of the bot is saved
                as a branch of one conversation.
        """
        self._saves = forky is not None
        self.forky = forky or Forky.open(":memory:")
        self._system, self._model = system_prompt, model
        self._calls: Conversation | None = None
        """The conversation that has the calls, once there is one; the first of them is on its main branch."""
        self._parameters: dict[str, Json] = {"temperature": temperature}
        if json_mode:
            self._parameters["response_format"] = {"type": "json_object"}
        self._json_mode = json_mode
        self._on_text = _printed if stream is True else stream or None

    def __call__(self, text: str) -> str:
        """Reply to a text.

        Raises:
            ModelError: there is no complete reply.
            BadContent: in JSON mode, the reply is no JSON.
        """
        return self.generate_response((text,))

    def generate_response(self, messages: Sequence[Mapping[str, str] | Message | str]) -> str:
        """Reply to a conversation that the caller stores; the bot remembers none of it.

        A message is a mapping with `role` and `content`, a `Message`, or a text, which counts as the person's. The last
        one is the question.

        Raises:
            BadContent: there is no message, or one has another shape; in JSON mode, the reply is no JSON.
            ModelError: there is no complete reply.
        """
        turns = [_turn(message) for message in messages]
        system = "\n\n".join(text for role, text in turns if role == "system")
        spoken = [turn for turn in turns if turn[0] != "system"]
        if not spoken or spoken[-1][0] != "user":
            raise BadContent(
                "There is no question to reply to.", "End the messages with one of the role “user”."
            )
        chat = self._empty_branch()
        try:
            prompt = system or self._system or None
            if chat.rules.current.system != prompt:
                chat.rules.set(system=prompt)
            for role, text in spoken[:-1]:
                chat.say(text, role=role)
            return self._ask(chat, spoken[-1][1])
        finally:
            if not self._saves:
                chat.trash()
                self.forky.purge(chat.id)

    def _empty_branch(self) -> Conversation:
        """The branch for the next call: of the bot's conversation if it is saved, else of one for this call alone."""
        if self._calls is not None:
            return self._calls.branches.begin()
        chat = self.forky.create(system=self._system or None, model=self._model)
        if self._saves:
            self._calls = chat
        return chat

    def _ask(self, chat: Conversation, text: str) -> str:
        reply = chat.ask(text, on_text=self._on_text, **self._parameters).text
        if self._on_text is _printed:
            _printed("\n")
        if self._json_mode and not _is_json(reply):
            raise BadContent("The reply is no JSON.", "Say in the system prompt what it should look like.")
        return reply


class ChatBot(SimpleBot):
    """A bot with memory: its `history` is a branch, which the app can show, fork and merge."""

    def __init__(
        self,
        system_prompt: str = "",
        model: str | None = None,
        temperature: float = 0,
        stream: bool | Callable[[str], None] = True,  # noqa: FBT001, FBT002
        json_mode: bool = False,  # noqa: FBT001, FBT002
        *,
        session_name: str = "",
        forky: Forky | None = None,
    ) -> None:
        """Create a bot; with a `session_name` it continues the conversation of that title, also from another process.

        Without a `forky`, a named session is stored in your own database, and an unnamed one in memory.

        Raises:
            StoreBusy: another process has your database open.
        """
        if session_name and forky is None:
            forky = Forky.open()
        super().__init__(system_prompt, model, temperature, stream=stream, json_mode=json_mode, forky=forky)
        self._session = title_line(session_name)

    @cached_property
    def history(self) -> History:
        """The messages of this session; the first question creates the conversation."""
        known = (one.id for one in self.forky.conversations() if self._session and one.title == self._session)
        id = next(known, None)
        return History(self.forky.conversation(id) if id is not None else None, self._begin)

    def _begin(self) -> Conversation:
        return self.forky.create(self._session, system=self._system or None, model=self._model)

    def __call__(self, text: str) -> str:
        return self._ask(self.history.chat, text)


class QueryBot(ChatBot):
    """A bot that answers from `documents`: passages are sent with the question, and the reply names its sources."""

    def __init__(
        self,
        system_prompt: str = "",
        model: str | None = None,
        temperature: float = 0,
        stream: bool | Callable[[str], None] = True,  # noqa: FBT001, FBT002
        json_mode: bool = False,  # noqa: FBT001, FBT002
        *,
        documents: Iterable[str | Path] = (),
        session_name: str = "",
        forky: Forky | None = None,
    ) -> None:
        """Create a bot; `documents` are paths of files, and `add` adds more. `session_name` is as for a `ChatBot`.

        Raises:
            BadContent: one of them cannot be read.
            StoreBusy: another process has your database open.
        """
        super().__init__(
            system_prompt,
            model,
            temperature,
            stream=stream,
            json_mode=json_mode,
            session_name=session_name,
            forky=forky,
        )
        if paths := tuple(documents):
            self.add(paths)

    def __call__(self, text: str, n_results: int | None = None) -> str:
        """Reply from the documents; at most `n_results` of their passages are sent with the question."""
        chat = self.history.chat
        if not chat.rules.current.documents.on or chat.rules.current.documents.passages != n_results:
            chat.documents.use(passages=n_results)
        return self._ask(chat, text)

    def _begin(self) -> Conversation:
        chat = super()._begin()
        chat.documents.use()
        return chat

    @property
    def documents(self) -> DocumentStore:
        """The documents of the bot's branch."""
        return self.history.chat.documents

    def add(self, paths: Iterable[str | Path]) -> tuple[Document, ...]:
        added = self.documents.add_documents(paths)
        if added.refused:
            raise BadContent(added.refused[0].why)
        return (*added.documents, *added.already)


def _turn(message: Mapping[str, str] | Message | str) -> tuple[Role, str]:
    """Return a message's role and text."""
    if isinstance(message, Message):
        return message.role, message.text
    if isinstance(message, str):
        return "user", message
    role, text = message.get("role"), message.get("content")
    if role in ("system", "user", "assistant") and isinstance(text, str):
        return cast("Role", role), text
    raise BadContent("A message is a role (system, user or assistant) and a content of text.")


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold()))


def _printed(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
