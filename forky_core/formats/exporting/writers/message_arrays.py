"""Lists of messages, one for each branch, in the dialect of OpenAI's API, of Anthropic's or of ShareGPT.

A branch is an object with its title, its messages and their times (`created_at`); several branches are an array of
them, each with its name as `branch`. The messages are those of a context, with those that a branch's own system prompt
replaces.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar, Literal, get_args

from forky_core.formats.exporting.flattening import Path, flattened, only_named, paths, provider_messages
from forky_core.formats.exporting.losses import losses
from forky_core.formats.exporting.writers.json_pieces import array, array_of, object_with
from forky_core.formats.forky_file.chat import Chat
from forky_core.model import Message
from forky_core.model.parts import Json
from forky_core.wire.anthropic import blocks_of_message

_SIDES = {"user": "human", "assistant": "gpt", "system": "system", "tool": "observation"}


Dialect = Literal["openai", "anthropic", "sharegpt"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)


@dataclass(frozen=True, slots=True)
class Messages:
    """Lists of messages in one of the dialects that other programs read."""

    name: ClassVar[str] = "messages"
    label: ClassVar[str] = "Messages (JSON)"
    suffix: ClassVar[str] = ".messages.json"
    media_type: ClassVar[str] = "application/json"
    dialect: Dialect = "openai"

    def losses(self, chat: Chat) -> tuple[str, ...]:
        if self.dialect == "sharegpt":
            return losses(chat, ("tools", "prompts"))
        joined = _joined(chat) if self.dialect == "anthropic" else 0
        return losses(chat, ("tools", "files", "prompts"), {"files": only_named(chat), "turns": joined})

    def write(self, chat: Chat) -> Iterator[bytes]:
        plain = flattened(chat)
        write = _BRANCH[self.dialect]
        branches = (write(plain, path, number) for number, path in enumerate(paths(plain), 1))
        is_array = self.dialect == "sharegpt" or _several(plain)
        yield from array_of(branches) if is_array else chain.from_iterable(branches)
        yield b"\n"


def _openai(chat: Chat, path: Path, number: int) -> Iterator[bytes]:  # noqa: ARG001 - branches have no number in it
    messages = (_dated(message, at) for message, at in provider_messages(chat, path))
    return object_with(_heading(chat, path), "messages", array(messages))


def _anthropic(chat: Chat, path: Path, number: int) -> Iterator[bytes]:  # noqa: ARG001 - branches have no number in it
    heading = {**_heading(chat, path), **_system(chat, path)}
    return object_with(heading, "messages", array(_turns(provider_messages(chat, path))))


def _sharegpt(chat: Chat, path: Path, number: int) -> Iterator[bytes]:
    heading = {"id": f"{chat.id}_{number}", **_heading(chat, path)}
    sides = (_dated(one, at) for message, at in provider_messages(chat, path) for one in _side(message))
    return object_with(heading, "conversations", array(sides))


_BRANCH: Mapping[Dialect, Callable[[Chat, Path, int], Iterator[bytes]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "sharegpt": _sharegpt,
}


def _heading(chat: Chat, path: Path) -> dict[str, Json]:
    title = f"{chat.title} ({path.branch})" if path.branch != "main" else chat.title
    return {"title": title, **({"branch": path.branch} if _several(chat) else {})}


def _dated(message: Mapping[str, Any], at: str) -> dict[str, Json]:
    return {**message, "created_at": at} if at else dict(message)


def _several(chat: Chat) -> bool:
    """Whether the conversation has more than one branch to export."""
    return len({branch.head for branch in chat.view.branches.values() if branch.head is not None}) != 1


def _system(chat: Chat, path: Path) -> dict[str, Json]:
    """The system prompt, which Anthropic takes outside the messages."""
    those = replace(path, messages=tuple(id for id in path.messages if chat.messages[id].role == "system"))
    words = [_words(message["content"]) for message, _ in provider_messages(chat, those)]
    return {"system": "\n\n".join(words)} if words else {}


def _turns(messages: Iterable[tuple[Mapping[str, Any], str]]) -> Iterator[dict[str, Json]]:
    """The messages without `system`; tool results are in messages of the user, and adjacent messages of one role are
    joined, with the time of the first.
    """
    turn: dict[str, Any] = {}
    for message, at in messages:
        if message["role"] == "system":
            continue
        role = _turn(message["role"])
        if turn.get("role") != role:
            if turn:
                yield turn
            turn = _dated({"role": role, "content": []}, at)
        turn["content"] += blocks_of_message(message)
    if turn:
        yield turn


def _turn(role: str) -> str:
    return "assistant" if role == "assistant" else "user"


def _joined(chat: Chat) -> int:
    """The number of messages that `_anthropic` joins to others."""

    def is_joined(message: Message) -> bool:
        above = chat.messages.get(message.parent) if message.parent is not None else None
        if above is None or message.hidden:
            return False
        same = _turn(above.role) == _turn(message.role) and above.role != "system"
        return same or message.role == "system"

    return sum(map(is_joined, chat.messages.values()))


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n\n".join(piece["text"] for piece in content or () if piece.get("type") == "text")


def _side(message: Mapping[str, Any]) -> Iterator[dict[str, Json]]:
    words = _words(message["content"])
    if words or not message.get("tool_calls"):
        yield {"from": _SIDES[message["role"]], "value": words}
    for call in message.get("tool_calls", ()):
        function = call["function"]
        value = json.dumps(
            {"name": function["name"], "arguments": json.loads(function["arguments"])}, ensure_ascii=False
        )
        yield {"from": "function_call", "value": value}
