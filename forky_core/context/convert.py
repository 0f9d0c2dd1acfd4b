"""Converts one message to provider messages, with its lines of the account. conversion_cache.py caches the results."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from forky_core.context.account import ONLY_NAMED, Item, ItemKind, why_here
from forky_core.context.normalise import NO_PICTURE, flat_call, flat_result
from forky_core.context.quoting import file_text, is_picture, quoted_file, unread_file
from forky_core.llm.contract import ProviderMessage
from forky_core.llm.tokens import message_text
from forky_core.model import Blob, Message
from forky_core.model.errors import NotFound
from forky_core.model.parts import (
    AttachmentPart,
    MergePart,
    OpaquePart,
    ReasoningPart,
    RevertPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from forky_core.model.room import Voices, shown_name
from forky_core.opaque import opaque

SPEAKERS = frozenset({"user", "assistant"})
JOINT = 2
"""The most characters that may join two texts of one turn."""

CountTokens = Callable[[str], int]
BlobOf = Callable[[str], Blob]
"""Returns the file with that sha256; raises NotFound."""


class Converted(NamedTuple):
    """A message as provider messages, with its items of the account."""

    messages: tuple[ProviderMessage, ...]
    items: tuple[Item, ...]
    tokens: int
    """The tokens of the included items."""
    ordinary: bool
    """Whether it is sent in its place unchanged: no system message, not hidden, no full merge."""
    characters: int = 0
    """The characters that are sent."""


@dataclass(frozen=True, slots=True)
class FileAccess:
    """The files that a model can be shown."""

    blob: BlobOf | None = None
    """None if the files' bytes are not available."""
    images: bool = True


@dataclass(slots=True)
class _Turn:
    """The provider messages of one message while its parts are read."""

    role: str
    messages: list[ProviderMessage] = field(default_factory=list)
    content: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    """The texts whose tokens the message itself costs, without its files."""

    def say(self, text: str) -> None:
        self.words.append(text)
        self.show({"type": "text", "text": text})

    def show(self, part: dict[str, Any]) -> None:
        if self.role == "tool" and self.messages and part["type"] == "text":
            self.messages[-1]["content"] += "\n\n" + part["text"]
        else:
            self.content.append(part)

    def call(self, part: ToolCallPart) -> None:
        self.words.append(f"{part.name} {part.arguments}")
        function = {"name": part.name, "arguments": part.arguments}
        self.calls.append({"id": part.tool_call_id, "type": "function", "function": function})

    def answer(self, part: ToolResultPart) -> None:
        self.close()
        text = "\n".join(
            t for t in (part.output, f"[failed: {part.exception}]" if part.exception else "") if t
        )
        self.words.append(text)
        result = {"role": "tool", "tool_call_id": part.tool_call_id, "name": part.name, "content": text}
        self.messages.append(result)

    def close(self) -> None:
        """Finish the current provider message, so that tool results can follow it."""
        if not self.content and not self.calls:
            return
        role = "assistant" if self.calls else "user" if self.role == "tool" else self.role
        only_words = all(part["type"] == "text" for part in self.content)
        content: Any = "\n\n".join(part["text"] for part in self.content) if only_words else self.content
        message: ProviderMessage = {"role": role, "content": content or None}
        if self.calls:
            message["tool_calls"] = self.calls
        self.messages.append(message)
        self.content, self.calls = [], []


def convert(
    message: Message, count_tokens: CountTokens, file_access: FileAccess, voices: Voices | None = None
) -> Converted:
    """Convert a message to provider form, not yet normalised; with `voices`, author names are added."""
    if voices is not None and message.name:
        message = _voiced(message, message.name, voices)
    return _plain(message, count_tokens) or _composed(message, count_tokens, file_access)


def _voiced(message: Message, name: str, voices: Voices) -> Message:
    """Return the message with its author's name before its text. Another model's messages become a user's."""
    if message.role not in SPEAKERS or name == voices.own:
        return message
    calls = any(isinstance(part, ToolCallPart) for part in message.parts)
    at = next((at for at, part in enumerate(message.parts) if type(part) is TextPart), None)
    parts = list(message.parts)
    if at is None:
        parts.insert(0, TextPart(f"{shown_name(name, voices.called)}:"))
    else:
        parts[at] = TextPart(voices.spoken(name, message.text if len(parts) == 1 else parts[at].text))  # type: ignore[union-attr]
    return replace(message, role=message.role if calls else "user", parts=tuple(parts))


def _plain(message: Message, count_tokens: CountTokens) -> Converted | None:
    """Convert a plain text message, as nearly all are, at a tenth of the cost; None for any other."""
    parts, role = message.parts, message.role
    if len(parts) != 1 or type(part := parts[0]) is not TextPart or role not in SPEAKERS:
        return None
    text = part.text
    if not text or text.isspace():
        return None
    tokens = count_tokens(text)
    item = Item("message", role, True, why_here(message), tokens, message.id)
    return Converted(
        ({"role": role, "content": text},), (item,), tokens, not message.hidden, len(text) + JOINT
    )


def _composed(message: Message, count_tokens: CountTokens, file_access: FileAccess) -> Converted:
    turn = _Turn(message.role)
    extra: list[Item] = []

    def aside(kind: ItemKind, why: str, tokens: int, text: str = "") -> None:
        extra.append(Item(kind, message.role, kind == "attachment", why, tokens, message.id, text=text))

    for part in message.parts:
        match part:
            case TextPart():
                turn.say(part.text)
            case MergePart():
                turn.say(part.text)
            case ToolCallPart():
                turn.call(part)
            case ToolResultPart():
                turn.answer(part)
            case AttachmentPart():
                shown, why = _attachment(part, file_access, message.role)
                turn.show(shown)
                aside("attachment", why, count_tokens(shown.get("text", "")), part.name)
            case ReasoningPart():
                aside("reasoning", "A model's thinking is not sent again.", count_tokens(part.text))
            case RevertPart():
                aside(
                    "revert",
                    f"Takes back {_messages(len(part.targets))} from here on; it says nothing itself.",
                    0,
                )
            case OpaquePart():
                aside("unknown", f"{opaque(part).title}; nothing of it is sent.", 0)
    turn.close()
    items = (_item(message, turn, count_tokens, bare=not extra), *extra)
    tokens = sum(item.tokens for item in items if item.included)
    full = any(part.brings_turns for part in message.merges)
    ordinary = message.role != "system" and not message.hidden and not full
    return Converted(tuple(turn.messages), items, tokens, ordinary, sum(map(characters, turn.messages)))


def characters(message: ProviderMessage) -> int:
    """Return the most characters a message's text can take, with what may join it to the message before.

    A call without its result, and a result without its call, are sent as text (normalise.py).
    """
    if message["role"] == "tool":
        return len(flat_result(message)) + JOINT
    calls, content = message.get("tool_calls") or (), message.get("content")
    pictures = 0
    if message["role"] != "user" and isinstance(content, list):
        pictures = sum(part["type"] == "image_url" for part in content)
    words = message_text({"role": message["role"], "content": content} if calls else message)
    called = sum(len(flat_call(call)) + JOINT for call in calls)
    return len(words) + JOINT + called + pictures * (len(NO_PICTURE) + JOINT)


def _item(message: Message, turn: _Turn, count_tokens: CountTokens, *, bare: bool) -> Item:
    words = "\n\n".join(turn.words)
    kind: ItemKind = "merge" if message.merges else "message"
    why = " ".join(map(_brought, message.merges)) or why_here(message)
    if not words.strip():
        return Item(kind, message.role, False, "It is empty." if bare else "Holds no words.", 0, message.id)
    return Item(kind, message.role, True, why, count_tokens(words), message.id)


def _brought(merge: MergePart) -> str:
    return merge.kind.account.format(name=merge.strategy, source=merge.source)


def _messages(count: int) -> str:
    return "1 message" if count == 1 else f"{count} messages"


def _attachment(part: AttachmentPart, file_access: FileAccess, role: str) -> tuple[dict[str, Any], str]:
    """Return the content part for a file, and the sentence about it."""
    unread = {"type": "text", "text": unread_file(part)}
    if is_picture(part.media_type) and not (file_access.images and role == "user"):
        return unread, f"{ONLY_NAMED}: the model cannot be sent pictures here."
    try:
        file = file_access.blob(part.sha256) if file_access.blob is not None else None
    except NotFound:
        file = None
    if file is None:
        return unread, f"{ONLY_NAMED}: its bytes are not at hand."
    if is_picture(part.media_type):
        url = f"data:{part.media_type.lower()};base64,{base64.b64encode(file.content).decode()}"
        return {
            "type": "image_url",
            "image_url": {"url": url},
        }, "Sent as a picture; the provider counts its tokens."
    text = file_text(file)
    if text is None:
        return unread, f"{ONLY_NAMED}: a model cannot be sent a file of the type {part.media_type} as it is."
    return {"type": "text", "text": quoted_file(part, text)}, "A text file, quoted inside the message."
