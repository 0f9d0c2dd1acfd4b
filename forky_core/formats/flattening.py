"""A conversation in words that every chat program knows: merges and reverts as text, lines of messages one by one.

What a merge brought is what a context shows of it: its block, and of a merge in full the messages below it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from forky_core.context.convert import Sight, convert
from forky_core.errors import NotFound
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.writing import checked_out
from forky_core.formats.rewriting import Wanted, rewritten, visible
from forky_core.llm.contract import ProviderMessage
from forky_core.model import Blob, Generation, Message, MessageId
from forky_core.parts import MergePart, Part, RevertPart, TextPart


def flattened(chat: Chat, *, names: bool = True) -> Chat:
    """The same tree with every merge an ordinary message below its first parent.

    Where there is nothing to flatten every id stays as it is.
    """
    plain = visible(chat)
    if all(_is_plain(message, names=names) for message in plain.messages.values()):
        return plain
    return rewritten(
        plain, Wanted("flat", parts=lambda one: plain_parts(one, plain.messages), merges=False, names=names)
    )


def _is_plain(message: Message, *, names: bool) -> bool:
    return (
        len(message.parents) < 2
        and not any(isinstance(part, MergePart | RevertPart) for part in message.parts)
        and (names or message.name is None)
    )


def plain_parts(message: Message, messages: Mapping[MessageId, Message]) -> tuple[Part, ...]:
    """Its parts, with what a merge brought and what a revert took back as text."""
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, MergePart):
            parts.append(TextPart(_brought(part, messages)))
        elif isinstance(part, RevertPart):
            number = len(part.targets)
            parts.append(TextPart(f"[Takes {number} message{'s' if number != 1 else ''} back from here on.]"))
        else:
            parts.append(part)
    return tuple(parts)


def _brought(merge: MergePart, messages: Mapping[MessageId, Message]) -> str:
    if not merge.brings_turns:
        return merge.text
    turns = (messages[MessageId(id)] for id in merge.messages if id in messages)
    said = [f"{turn.role}: {turn.text}" for turn in turns if turn.text.strip()]
    return "\n\n".join((merge.text, *said))


@dataclass(frozen=True, slots=True)
class Path:
    """One branch from its first message to its head."""

    branch: str
    system: str | None
    """The branch's own system prompt."""
    messages: tuple[Message, ...]


def paths(chat: Chat) -> tuple[Path, ...]:
    """Every branch that says something, the one that is checked out first; no line twice."""
    names = list(chat.view.branches)
    here = checked_out(chat)
    names.sort(key=lambda name: name != here)
    found: dict[MessageId, Path] = {}
    for name in names:
        branch = chat.view.branch(name)
        if branch.head is not None and branch.head not in found:
            found[branch.head] = Path(name, branch.rules.system, path_to(chat, branch.head))
    return tuple(found.values())


def path_to(chat: Chat, head: MessageId | None) -> tuple[Message, ...]:
    """The messages that lead to `head`, oldest first, without the hidden ones."""
    path: list[Message] = []
    while head is not None:
        message = chat.messages[head]
        path.append(message)
        head = message.parent
    return tuple(message for message in reversed(path) if not message.hidden)


def provider_messages(chat: Chat, path: Path) -> list[ProviderMessage]:
    """The path as OpenAI's chat API takes it; every call has an id and every result that of its call."""

    def blob(sha256: str) -> Blob:
        if sha256 not in chat.blobs:
            raise NotFound("It did not come along.")
        return chat.blobs[sha256]

    found: list[ProviderMessage] = []
    if path.system:
        found.append({"role": "system", "content": path.system})
    for message in path.messages:
        if not (path.system and message.role == "system"):
            found += convert(message, len, Sight(blob)).messages
    return _with_ids(found)


def _with_ids(messages: list[ProviderMessage]) -> list[ProviderMessage]:
    waiting: list[str] = []
    calls = 0
    given: list[ProviderMessage] = []
    for message in messages:
        named = message
        if message.get("tool_calls"):
            renamed = []
            for call in message["tool_calls"]:
                calls += 1
                id = call["id"] or f"call_{calls}"
                waiting.append(id)
                renamed.append({**call, "id": id})
            named = {**message, "tool_calls": renamed}
        elif message["role"] == "tool":
            id = message.get("tool_call_id") or (waiting[0] if waiting else "call_0")
            if id in waiting:
                waiting.remove(id)
            named = {**message, "tool_call_id": id}
        given.append(named)
    return given


def calls_of(chat: Chat) -> Mapping[MessageId, Generation]:
    """The newest model call that produced each message."""
    return {one.message: one for one in chat.generations if one.message is not None}
