"""The three bots: `SimpleBot` answers a text, `ChatBot` remembers, `QueryBot` answers from documents."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final, cast

from forky_core.bots.document_store import DocumentStore
from forky_core.bots.history import History, as_said
from forky_core.bots.messages import AIMessage, BotMessage, autorecord
from forky_core.context.citing import SOURCES, sources_in, without_sources
from forky_core.conversation.conversation import Conversation
from forky_core.conversation.identity import title_line
from forky_core.documents.shelf import DocumentShelf
from forky_core.forky import Forky, own_database
from forky_core.llm.function_model import FunctionModel
from forky_core.model import Message, Role
from forky_core.model.document import Document
from forky_core.model.errors import BadContent
from forky_core.model.hashing import content_hash
from forky_core.model.memory import Memory
from forky_core.model.parts import Json

Show = Callable[[str], None]
Paths = str | Path | Iterable[str | Path]
Argument = str | float | bool | Show | Path | Sequence[str | Path] | None
"""An argument that may stand at several places: bots tell what it is by its kind."""

_TARGETS: Final[Mapping[str, bool | None]] = {"stdout": True, "none": False, "panel": None, "api": None}


@dataclass(frozen=True, slots=True)
class _Arguments:
    """The arguments of a bot in the order that was used, sorted by their kinds."""

    names: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()
    stream: bool | Show = True
    json_mode: bool = False
    documents: tuple[str | Path, ...] = ()

    @classmethod
    def sorted(
        cls, model: Argument, temperature: Argument, stream: Argument, *more: Argument, target: str | None
    ) -> _Arguments:
        """Sort what stands at the places of these arguments. `target`, by its name, counts before `stream`.

        Raises:
            BadContent: one of them is no argument of a bot.
        """
        if target is not None:
            stream = _printed_at(target)
        if stream is None and not any(_is_switch(one) for one in (model, temperature)):
            stream = True
        names: list[str] = []
        numbers: list[float] = []
        switches: list[bool | Show] = []
        documents: list[str | Path] = []
        for one in (model, temperature, stream, *more):
            if isinstance(one, bool):
                switches.append(one)
            elif isinstance(one, int | float):
                numbers.append(one)
            elif isinstance(one, str):
                if one in _TARGETS:
                    switches.append(_printed_at(one))
                else:
                    names.append(one)
            elif isinstance(one, Path):
                documents.append(one)
            elif isinstance(one, Sequence):
                documents.extend(one)
            elif one is not None:
                switches.append(one)
        json_asked = len(switches) > 1 and switches[1] is True
        return cls(
            tuple(names), tuple(numbers), switches[0] if switches else True, json_asked, tuple(documents)
        )


class SimpleBot:
    """A bot that takes a text and returns the reply, without memory of earlier calls."""

    def __init__(  # noqa: PLR0913, PLR0917 - as programs that use it already pass them
        self,
        system_prompt: str = "",
        model: Argument = None,
        temperature: Argument = None,
        stream: Argument = None,
        json_mode: Argument = None,
        api_key: str | None = None,
        mock_response: str | None = None,
        *,
        model_name: str | None = None,
        stream_target: str | None = None,
        forky: Forky | None = None,
        **parameters: Json,
    ) -> None:
        """Create a bot. The model and the temperature may stand in either order.

        Args:
            model: the model's name, also as `model_name`; without one, the model of new conversations answers.
            temperature: 0 if it is not given.
            stream: True, as by default, or "stdout" prints each piece of a reply as it arrives, False or "none" does
                not, and a function is called with each piece; also as `stream_target`.
            json_mode: ask the model for JSON, and check the reply.
            api_key: is refused, since it would be stored with each call; set the provider's variable instead.
            mock_response: the reply to everything, for tests; no model is asked.
            forky: without one, the bot works in memory, and nothing is saved. With one, each call of the bot is saved
                as a branch of one conversation.
            parameters: what else the model is sent, such as `max_tokens`.
        """
        if api_key is not None:
            raise BadContent(
                "A key is not passed to a bot.", "Set the provider's variable, such as OPENAI_API_KEY."
            )
        found = _Arguments.sorted(model, temperature, stream, json_mode, target=stream_target)
        self._begin_with(system_prompt, found, model_name, mock_response, forky, parameters)

    def _begin_with(
        self,
        system_prompt: str,
        found: _Arguments,
        model_name: str | None,
        mock_response: str | None,
        forky: Forky | None,
        parameters: Mapping[str, Json],
    ) -> None:
        names = (*found.names, *((model_name,) if model_name else ()))
        if len(names) > 1 or found.documents:
            raise BadContent(f"There are too many arguments: {', '.join(map(str, names + found.documents))}.")
        self._saves = forky is not None
        self.forky = forky or Forky.open(":memory:")
        self._system, self._model = str(system_prompt), names[0] if names else None
        if mock_response is not None:
            self._model = f"mock/{content_hash(mock_response).removeprefix('b2:')[:8]}"
            self.forky.add_model(FunctionModel(self._model, lambda _: mock_response))
        self._calls: Conversation | None = None
        """The conversation that has the calls, once there is one; the first of them is on its main branch."""
        self._parameters: dict[str, Json] = {
            "temperature": found.numbers[0] if found.numbers else 0,
            **parameters,
        }
        if found.json_mode:
            self._parameters["response_format"] = {"type": "json_object"}
        self._json_mode = found.json_mode
        stream = found.stream
        self._on_text: Show | None = None if stream is False else _printed if stream is True else stream

    def __call__(self, *texts: str | Sequence[str]) -> BotMessage:
        """Reply to a text, or to several, of which the last one is the question.

        Raises:
            ModelError: there is no complete reply.
            BadContent: in JSON mode, the reply is no JSON.
        """
        return self.generate_response(_flat(texts))

    def generate_response(self, messages: Sequence[Mapping[str, str] | Message | str]) -> BotMessage:
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

    def _ask(self, chat: Conversation, text: str) -> BotMessage:
        reply = self._reply(chat, text)
        if self._on_text is _printed:
            _printed("\n")
        if self._json_mode and not _is_json(reply):
            raise BadContent("The reply is no JSON.", "Say in the system prompt what it should look like.")
        autorecord(text, reply)
        return AIMessage(reply)

    def _reply(self, chat: Conversation, text: str) -> str:
        return chat.ask(text, on_text=self._on_text, **self._parameters).text


class ChatBot(SimpleBot):
    """A bot with memory: its `history` is a branch, which the app can show, fork and merge."""

    def __init__(  # noqa: PLR0913
        self,
        system_prompt: str = "",
        model: Argument = None,
        temperature: Argument = None,
        stream: Argument = None,
        json_mode: Argument = None,
        *more: Argument,
        session_name: str = "",
        model_name: str | None = None,
        stream_target: str | None = None,
        response_budget: int | None = None,
        mock_response: str | None = None,
        forky: Forky | None = None,
        **parameters: Json,
    ) -> None:
        """Create a bot; with a `session_name` it continues the conversation of that title, also from another process.

        Without a `forky`, a named session is stored in your own database, and an unnamed one in memory. A system prompt
        or a model other than that of the session holds from the next question on, and a warning says so. The model
        reads as much of the history as fits in `response_budget` characters; without one, the conversation's memory
        decides. The name may come before the model, as `ChatBot(prompt, "minutes", model_name="gpt-4o")`.

        Raises:
            StoreBusy: another process has your database open.
        """
        found = _Arguments.sorted(model, temperature, stream, json_mode, *more, target=stream_target)
        names = list(found.names)
        if not session_name and names and (len(names) > 1 or model_name):
            session_name = names.pop(0)
        if session_name and forky is None:
            forky = own_database()
        self._begin_with(
            system_prompt, replace(found, names=tuple(names)), model_name, mock_response, forky, parameters
        )
        self._session = title_line(session_name)
        self._budget = response_budget or next((int(one) for one in found.numbers[1:]), None)
        self._fitted = False
        """Whether the conversation has the prompt, the model and the memory that this bot was made with."""

    @cached_property
    def history(self) -> History:
        """The messages of this session; the first question creates the conversation."""
        known = (one.id for one in self.forky.conversations() if self._session and one.title == self._session)
        id = next(known, None)
        return History(self.forky.conversation(id) if id is not None else None, self._begin)

    def _begin(self) -> Conversation:
        return self.forky.create(self._session, system=self._system or None, model=self._model)

    def __call__(self, *texts: str | Sequence[str]) -> BotMessage:
        return self._ask_below(self._fitting(), texts)

    def _ask_below(self, chat: Conversation, texts: Sequence[str | Sequence[str]]) -> BotMessage:
        if not (flat := _flat(texts)):
            raise BadContent("There is no question to reply to.")
        *before, question = flat
        for text in before:
            self.history.append(text, "user")
        return self._ask(chat, question)

    def _fitting(self) -> Conversation:
        """The conversation, on the branch to ask on, with what this bot was made with; the first call sets it."""
        chat = self.history.chat
        if self._fitted:
            return chat
        rules = chat.rules.current
        changed = [
            name
            for name, new, old in (
                ("system prompt", self._system, rules.system),
                ("model", self._model, rules.model),
            )
            if new and new != old
        ]
        if changed and chat.head is not None:
            warnings.warn(
                f"The session “{chat.title}” had another {' and another '.join(changed)}; from here on it has that of "
                "this bot.",
                stacklevel=3,
            )
        if changed:
            chat.rules.set(system=self._system or rules.system, model=self._model or rules.model)
        memory = Memory("characters", amount=self._budget)
        if self._budget is not None and chat.rules.memory != memory:
            chat.rules.set_memory(memory)
        self._fitted = True
        return chat

    @property
    def session_name(self) -> str:
        return self._session

    @property
    def messages(self) -> tuple[BotMessage, ...]:
        """The texts of the history, oldest first."""
        return tuple(as_said(one.role, one.text) for one in self.history.messages)

    def __getitem__(self, at: int) -> BotMessage:
        return self.messages[at]

    def append(self, message: str) -> None:
        """Add a message to the history without asking a model."""
        self.history.append(message)

    def retrieve(self, query: str, character_budget: int) -> list[BotMessage]:
        """Return the newest messages, oldest first, that fit in so many characters, whatever the query."""
        return list(self.history.retrieve(query, character_budget=character_budget))

    def __repr__(self) -> str:
        said = {"user": "Human", "assistant": "AI", "system": "System", "tool": "Tool"}
        return "".join(f"[{said[one.role]}]\n{one}\n\n" for one in self.messages)


class QueryBot(ChatBot):
    """A bot that answers from `documents`: passages are sent with the question, and the reply names its sources."""

    def __init__(  # noqa: PLR0913
        self,
        system_prompt: str = "",
        model: Argument = None,
        temperature: Argument = None,
        stream: Argument = None,
        json_mode: Argument = None,
        *more: Argument,
        documents: Paths = (),
        document_paths: Paths = (),
        docstore: DocumentStore | None = None,
        collection_name: str = "",
        sources: str | None = None,
        session_name: str = "",
        model_name: str | None = None,
        stream_target: str | None = None,
        response_budget: int | None = None,
        mock_response: str | None = None,
        forky: Forky | None = None,
        **parameters: Json,
    ) -> None:
        """Create a bot; `documents`, also as `document_paths`, are paths of files, and `add` adds more.

        `session_name` is as for a `ChatBot`. With a `collection_name` the documents are those of the `DocumentStore` of
        that name, or of the given `docstore`, and each question is asked for itself, without the history of others.

        `sources` is the wording of the last line of a reply, such as "Quellen: {sources}"; "" leaves the line out. The
        stored reply keeps its SOURCES line, by which citations open.

        Raises:
            BadContent: one of the documents cannot be read.
            StoreBusy: another process has your database open.
        """
        found = _Arguments.sorted(model, temperature, stream, json_mode, *more, target=stream_target)
        names = list(found.names)
        if names and (len(names) > 1 or model_name) and not session_name:
            collection_name = names.pop(0)
        self._collection = docstore
        if collection_name and docstore is None:
            self._collection = DocumentStore(collection_name, forky=forky)
        super().__init__(
            system_prompt,
            *names,
            *found.numbers,
            found.stream,
            found.json_mode,
            session_name=session_name,
            model_name=model_name,
            response_budget=response_budget,
            mock_response=mock_response,
            forky=forky if self._collection is None else self._collection.forky,
            **parameters,
        )
        self._sources = sources
        if paths := (*found.documents, *_paths(documents), *_paths(document_paths)):
            self.add(paths)

    @cached_property
    def history(self) -> History:
        return History(self._collection.chat) if self._collection is not None else super().history

    def __call__(self, *texts: str | Sequence[str] | int, n_results: int | None = None) -> BotMessage:
        """Reply from the documents; at most `n_results` of their passages are sent with the question.

        That number may also stand behind the question.
        """
        numbers = [one for one in texts if isinstance(one, int)]
        n_results = n_results if n_results is not None else next(iter(numbers), None)
        chat = self._fitting()
        if self._collection is not None and chat.head is not None:
            self.history.reset()
            chat = self.history.chat
        if not chat.rules.current.documents.on or chat.rules.current.documents.passages != n_results:
            chat.documents.use(passages=n_results)
        return self._ask_below(chat, [one for one in texts if not isinstance(one, int)])

    def _begin(self) -> Conversation:
        chat = super()._begin()
        chat.documents.use()
        return chat

    def _reply(self, chat: Conversation, text: str) -> str:
        if self._sources is None:
            return super()._reply(chat, text)
        shown = _WithoutSources(self._on_text) if self._on_text is not None else None
        reply = chat.ask(text, on_text=shown, **self._parameters).text
        worded = _reworded(reply, self._sources)
        if shown is not None:
            shown.end(worded)
        return worded

    @property
    def documents(self) -> DocumentShelf:
        """The documents of the bot's branch, or of its collection."""
        chat = self.history.chat
        return chat.documents if self._collection is None else chat.documents.of_conversation

    def add(self, paths: Paths) -> tuple[Document, ...]:
        added = self.documents.add_documents(_paths(paths))
        if added.refused:
            raise BadContent(added.refused[0].why)
        return (*added.documents, *added.already)


class _WithoutSources:
    """Shows the pieces of a reply up to its SOURCES line, in whose place its end is shown."""

    def __init__(self, show: Show) -> None:
        self._show = show
        self._text = ""
        self._shown = 0

    def __call__(self, piece: str) -> None:
        self._text += piece
        line = self._text.find(f"\n\n{SOURCES}")
        until = line if line >= 0 else len(self._text) - len(SOURCES) - 2
        if until > self._shown:
            self._show(self._text[self._shown : until])
            self._shown = until

    def end(self, reply: str) -> None:
        self._show(reply[self._shown :])


def _reworded(reply: str, wording: str) -> str:
    """Return the reply with its SOURCES line in other words."""
    bare = without_sources(reply)
    line = reply[len(bare) :].strip().removeprefix(SOURCES).strip()
    if not line or not wording:
        return bare
    entries = " · ".join(f"[{one.number}] {one.source}" for one in sources_in(reply))
    return f"{bare}\n\n{wording.replace('{sources}', entries or line)}"


def _paths(given: Paths) -> tuple[str | Path, ...]:
    return (given,) if isinstance(given, str | Path) else tuple(given)


def _flat(texts: Sequence[str | Sequence[str]]) -> list[str]:
    """Return the texts of a call, in which a list stands for each of its texts."""
    return [one for given in texts for one in ((given,) if isinstance(given, str) else given)]


def _is_switch(argument: Argument) -> bool:
    named = isinstance(argument, str) and argument in _TARGETS
    return isinstance(argument, bool) or callable(argument) or named


def _printed_at(target: str) -> bool:
    """Return whether a reply is printed that is to go to this target.

    Raises:
        BadContent: a reply cannot go there.
    """
    printed = _TARGETS.get(target)
    if printed is None:
        raise BadContent(
            f"A bot's stream_target is “stdout” or “none”, not “{target}”.",
            "For other places, pass a function as stream: it is called with each piece of a reply.",
        )
    return printed


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


def _printed(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
