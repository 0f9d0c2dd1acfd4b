"""Converts one message to provider messages, with its lines of the account. conversion_cache.py caches the results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from forky_core.context.account import ONLY_NAMED, Item, ItemKind, why_here
from forky_core.context.normalise import NO_PICTURE, flat_call, flat_result
from forky_core.context.pictures import as_png
from forky_core.context.quoting import file_text, quoted_file, unread_file
from forky_core.llm.contract import ProviderMessage
from forky_core.llm.tokens import message_text
from forky_core.model import Blob, Message
from forky_core.model.errors import NotFound
from forky_core.model.media import as_data_url
from forky_core.model.opaque import opaque
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
from forky_core.model.wires import PLAIN, Wire, call_fields, goes_back, is_picture, thought_fields
from forky_core.text.counting import counted

SPEAKERS = frozenset({"user", "assistant"})
NO_THOUGHT = "A model's thinking is not sent again."
THOUGHT_SENT = "The provider wants this thought back beside the tool call."
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
    pictures: frozenset[str] = PLAIN.pictures
    """The media types of pictures that the model can be sent; empty if it sees none."""


_NAMES_ONLY = FileAccess()


@dataclass(slots=True)
class _Turn:
    """The provider messages of one message while its parts are read."""

    role: str
    wire: Wire
    thoughts: dict[str, Any]
    """The fields that carry the message's thoughts; {} if none goes back."""
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
        call = {"id": part.tool_call_id, "type": "function", "function": function}
        self.calls.append({**call, **call_fields(part, self.wire)})

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
        if role == "assistant":
            message |= self.thoughts
            self.thoughts = {}
        self.messages.append(message)
        self.content, self.calls = [], []


def convert(
    message: Message,
    count_tokens: CountTokens,
    file_access: FileAccess,
    voices: Voices | None = None,
    wire: Wire = PLAIN,
    *,
    after_result: bool = False,
) -> Converted:
    """Convert a message to provider form, not yet normalised; with `voices`, author names are added.

    Thoughts go back to `wire` if the message calls a tool, or stands right after a tool's result.
    """
    if voices is not None and message.name:
        message = _voiced(message, message.name, voices)
    calls = any(type(part) is ToolCallPart for part in message.parts)
    sent = wire if (calls or after_result) and message.role == "assistant" else replace(wire, thoughts="none")
    return _plain(message, count_tokens) or _composed(message, count_tokens, file_access, sent)


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


def plain_text(message: Message) -> str:
    """Return the text of a message that is one text of a user or an assistant, as nearly all are; "" for any other."""
    parts = message.parts
    if len(parts) != 1 or type(part := parts[0]) is not TextPart or message.role not in SPEAKERS:
        return ""
    return "" if part.text.isspace() else part.text


def message_as_text(message: Message, file_access: FileAccess = _NAMES_ONLY) -> str:
    """Return a message as plain text: its words, tool calls and names of files; with
    `file_access`, the text of files.
    """
    if text := plain_text(message):
        return text
    pieces = convert(message, len, file_access).messages
    return "\n\n".join(text for piece in pieces if (text := message_text(piece)))


def _plain(message: Message, count_tokens: CountTokens) -> Converted | None:
    """Convert a plain text message at a tenth of the cost; None for any other."""
    text, role = plain_text(message), message.role
    if not text:
        return None
    tokens = count_tokens(text)
    item = Item("message", role, True, why_here(message), tokens, message.id)
    return Converted(
        ({"role": role, "content": text},), (item,), tokens, not message.hidden, len(text) + JOINT
    )


def _composed(message: Message, count_tokens: CountTokens, file_access: FileAccess, wire: Wire) -> Converted:
    turn = _Turn(message.role, wire, thought_fields(message.parts, wire))
    extra: list[Item] = []

    def aside(kind: ItemKind, why: str, tokens: int, text: str = "", *, sent: bool = False) -> None:
        extra.append(Item(kind, message.role, sent, why, tokens, message.id, text=text))

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
                aside("attachment", why, count_tokens(shown.get("text", "")), part.name, sent=True)
            case ReasoningPart():
                sent = goes_back(part, wire)
                aside("reasoning", THOUGHT_SENT if sent else NO_THOUGHT, count_tokens(part.text), sent=sent)
            case RevertPart():
                aside(
                    "revert",
                    f"Takes back {counted(len(part.targets), 'message')} from here on; it says nothing itself.",
                    0,
                )
            case OpaquePart() if goes_back(part, wire):
                aside("reasoning", THOUGHT_SENT, 0, sent=True)
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


def _attachment(part: AttachmentPart, file_access: FileAccess, role: str) -> tuple[dict[str, Any], str]:
    """Return the content part for a file, and the sentence about it."""
    unread = {"type": "text", "text": unread_file(part)}
    if is_picture(part.media_type) and not (file_access.pictures and role == "user"):
        return unread, f"{ONLY_NAMED}: the model cannot be sent pictures here."
    try:
        file = file_access.blob(part.sha256) if file_access.blob is not None else None
    except NotFound:
        file = None
    if file is None:
        return unread, f"{ONLY_NAMED}: its bytes are not at hand."
    if is_picture(part.media_type):
        return _picture(part, file, file_access.pictures)
    text = file_text(file)
    if text is None:
        return unread, f"{ONLY_NAMED}: a model cannot be sent a file of the type {part.media_type} as it is."
    return {"type": "text", "text": quoted_file(part, text)}, "A text file, quoted inside the message."


def _picture(part: AttachmentPart, file: Blob, accepted: frozenset[str]) -> tuple[dict[str, Any], str]:
    """Return the content part for a picture, as PNG if the provider does not accept its format."""
    kind, content, why = part.media_type.lower(), file.content, _AS_PICTURE
    if kind not in accepted:
        converted = as_png(content)
        if converted is None:
            return {
                "type": "text",
                "text": unread_file(part),
            }, f"{ONLY_NAMED}: this model's provider accepts no pictures of the type {kind}."
        kind, content, why = "image/png", converted, _AS_PNG.format(kind)
    return {"type": "image_url", "image_url": {"url": as_data_url(content, kind)}}, why


_AS_PICTURE = "Sent as a picture; the provider counts its tokens."
_AS_PNG = "Sent as a PNG picture of its first frame, since this model's provider does not accept {}; it counts the tokens."
