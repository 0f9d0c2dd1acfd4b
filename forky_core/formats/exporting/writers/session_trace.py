"""Session traces as llama.cpp's web UI writes them: JSON Lines, a tree by `parent`, the checked-out end `currNode`."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import ClassVar

from forky_core.formats.exporting.flattening import flattened, origins_of
from forky_core.formats.exporting.losses import losses
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.stored import linked
from forky_core.formats.forky_file.writing import checked_out
from forky_core.model import Linked, Message, MessageId
from forky_core.model.parts import (
    AttachmentPart,
    Json,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)


class SessionTrace:
    name: ClassVar[str] = "llama.cpp"
    label: ClassVar[str] = "Session trace (llama.cpp, Hugging Face)"
    suffix: ClassVar[str] = ".jsonl"
    media_type: ClassVar[str] = "application/x-ndjson"

    def losses(self, chat: Chat) -> tuple[str, ...]:
        return losses(chat, ("tree", "tools", "reasoning", "files", "models"))

    def write(self, chat: Chat) -> Iterator[bytes]:
        plain = flattened(chat)
        origins = origins_of(plain)
        head = plain.view.branch(checked_out(plain)).head if plain.view.branches else None
        header = {"type": "session", "harness": "llama.cpp", "id": chat.id, "name": plain.title}
        stems = linked(plain.messages)
        shown = {"currNode": _shown(stems, head)} if head else {}
        yield _line(header | shown)
        for message in plain.messages.values():
            if message.hidden:
                continue
            entries = _entries(plain, message)
            parent: str | None = _shown(stems, message.parent)
            for number, entry in enumerate(entries, 1):
                id = message.id if number == len(entries) else f"{message.id}/{number}"
                body = {"id": id, "parent": parent, "timestamp": message.created // 1000, **entry}
                if models := origins.of(message.id).models:
                    body["model"] = models[0]
                yield _line({"type": "message", "message": body})
                parent = id


def _shown(stems: Mapping[MessageId, Linked], id: MessageId | None) -> MessageId | None:
    """The message, or its nearest ancestor that is not hidden."""
    while id is not None and stems[id].hidden:
        id = stems[id].parent
    return id


def _line(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _entries(chat: Chat, message: Message) -> list[dict[str, Json]]:
    """The message's entries: one for each tool result, and one for its other content."""
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    thoughts = [part.text for part in message.parts if isinstance(part, ReasoningPart)]
    calls = [_call(part) for part in message.parts if isinstance(part, ToolCallPart)]
    files = [_file(chat, part) for part in message.parts if isinstance(part, AttachmentPart)]
    entries = [_result(part) for part in message.parts if isinstance(part, ToolResultPart)]
    if entries and not (texts or thoughts or calls or files):
        return entries
    role = "user" if message.role == "tool" else message.role
    entry: dict[str, Json] = {"role": role, "content": "\n\n".join(texts)}
    if thoughts:
        entry["reasoningContent"] = "\n\n".join(thoughts)
    if calls:
        entry["toolCalls"] = calls
    if files:
        entry["extra"] = files
    return [*entries, entry]


def _call(part: ToolCallPart) -> dict[str, Json]:
    return {
        "id": part.tool_call_id or "",
        "type": "function",
        "function": {"name": part.name, "arguments": part.arguments},
    }


def _result(part: ToolResultPart) -> dict[str, Json]:
    output = part.output or part.exception or ""
    return {"role": "tool", "name": part.name, "toolCallId": part.tool_call_id or "", "content": output}


def _file(chat: Chat, part: AttachmentPart) -> dict[str, Json]:
    blob = chat.blobs.get(part.sha256)
    if blob is None:
        return {"type": "LEGACY_CONTEXT", "name": part.name, "content": f"[{part.name or part.media_type}]"}
    data = base64.b64encode(blob.content).decode()
    if part.media_type.startswith("image/"):
        return {"type": "IMAGE", "name": part.name, "base64Url": f"data:{part.media_type};base64,{data}"}
    return {"type": "FILE", "name": part.name, "mimeType": part.media_type, "base64Data": data}
