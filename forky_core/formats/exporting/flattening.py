"""Conversations in terms that every chat program knows: merges and reverts as text, branches as lists of messages.

A merge is rendered as in a context: its block, and for a merge in full the messages below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from forky_core.context.convert import FileAccess, convert
from forky_core.conversation.message_origins import MessageOrigins, call_index
from forky_core.formats.exporting.rewriting import RewriteRules, rewritten, visible
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.stored import linked
from forky_core.formats.forky_file.writing import checked_out
from forky_core.llm.contract import ProviderMessage
from forky_core.model import Blob, Message, MessageId
from forky_core.model.errors import NotFound
from forky_core.model.graph import first_parent_path, parents_in
from forky_core.model.parts import AttachmentPart, MergePart, Part, RevertPart, TextPart


def flattened(chat: Chat, *, names: bool = True) -> Chat:
    """The same tree with every merge turned into an ordinary message below its first parent.

    If there is nothing to flatten, every id is unchanged.
    """
    plain = visible(chat)
    if all(_is_plain(message, names=names) for message in plain.messages.values()):
        return plain
    return rewritten(
        plain,
        RewriteRules("flat", parts=lambda one: plain_parts(one, plain.messages), merges=False, names=names),
    )


def _is_plain(message: Message, *, names: bool) -> bool:
    return (
        len(message.parents) < 2
        and not any(isinstance(part, MergePart | RevertPart) for part in message.parts)
        and (names or message.name is None)
    )


def plain_parts(message: Message, messages: Mapping[MessageId, Message]) -> tuple[Part, ...]:
    """The message's parts, with the content of a merge or revert as text."""
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
    messages: tuple[MessageId, ...]
    """The branch's messages; hidden ones are left out."""


def paths(chat: Chat) -> Iterator[Path]:
    """Every branch with messages, the checked-out one first; branches with the same messages are yielded once."""
    stems = linked(chat.messages)
    names = list(chat.view.branches)
    here = checked_out(chat)
    names.sort(key=lambda name: name != here)
    found: set[MessageId] = set()
    for name in names:
        branch = chat.view.branch(name)
        if branch.head is not None and branch.head not in found:
            path = first_parent_path(branch.head, parents_in(stems))
            shown = tuple(id for id in path if not stems[id].hidden)
            found.add(branch.head)
            yield Path(name, branch.rules.system, shown)


def provider_messages(chat: Chat, path: Path) -> Iterator[tuple[ProviderMessage, str]]:
    """The path in the format of OpenAI's chat API, each message with its time (`moment`); every call has an id and
    every result that of its call.
    """
    if path.system:
        yield {"role": "system", "content": path.system}, ""
    said = (chat.messages[id] for id in path.messages)
    files = _files_of(chat)
    yield from _with_ids(
        (one, moment(message.created)) for message in said for one in convert(message, len, files).messages
    )


def only_named(chat: Chat) -> int:
    """The number of files of which `provider_messages` says the name alone."""
    files = _files_of(chat)
    with_files = (
        message
        for message in chat.messages.values()
        if any(isinstance(part, AttachmentPart) for part in message.parts)
    )
    items = (item for message in with_files for item in convert(message, len, files).items)
    return sum(item.only_named for item in items)


def _files_of(chat: Chat) -> FileAccess:
    def blob(sha256: str) -> Blob:
        if sha256 not in chat.blobs:
            raise NotFound("It did not come along.")
        return chat.blobs[sha256]

    return FileAccess(blob)


def moment(created: int) -> str:
    """A time in ISO 8601; "" for an unknown one."""
    if not created:
        return ""
    return datetime.fromtimestamp(created / 1e6, UTC).isoformat().replace("+00:00", "Z")


def _with_ids(messages: Iterable[tuple[ProviderMessage, str]]) -> Iterator[tuple[ProviderMessage, str]]:
    waiting: list[str] = []
    calls = 0
    for message, at in messages:
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
        yield named, at


def origins_of(chat: Chat) -> MessageOrigins:
    """Who gave each message: every model that said it, since a file has a message once for all branches."""
    return MessageOrigins(call_index(tuple(chat.generations)))
