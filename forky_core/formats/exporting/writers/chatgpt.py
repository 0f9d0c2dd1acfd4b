"""ChatGPT's `mapping` tree with its `current_node`, as browser extensions write a single conversation.

One of our messages becomes several nodes there: thoughts, text, each call and each result are separate nodes. The last
of them has the message's id, so that the next message becomes its child.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import ClassVar

from forky_core.conversation.message_origins import MessageOrigin
from forky_core.formats.exporting.flattening import flattened, origins_of
from forky_core.formats.exporting.losses import losses
from forky_core.formats.exporting.writers.json_pieces import array_of, members, object_with
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.stored import linked
from forky_core.formats.forky_file.writing import checked_out
from forky_core.model import Message
from forky_core.model.parts import (
    AttachmentPart,
    Json,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

ROOT = "client-created-root"


class ChatGPTTree:
    name: ClassVar[str] = "chatgpt"
    label: ClassVar[str] = "ChatGPT (JSON)"
    suffix: ClassVar[str] = ".chatgpt.json"
    media_type: ClassVar[str] = "application/json"

    def losses(self, chat: Chat) -> tuple[str, ...]:
        return losses(chat, ("tree", "tools", "reasoning", "hidden", "authors", "models", "ends"))

    def write(self, chat: Chat) -> Iterator[bytes]:
        plain = flattened(chat)
        origins = origins_of(plain)
        head = plain.view.branch(checked_out(plain)).head if plain.view.branches else None
        stems = linked(plain.messages)
        times = [stems[id].created for id in plain.messages if stems[id].created]
        children = _children(plain)

        def nodes() -> Iterator[tuple[str, Json]]:
            yield ROOT, {"id": ROOT, "message": None, "parent": None, "children": children.get(ROOT, [])}
            for message in plain.messages.values():
                parent = message.parent or ROOT
                contents = _contents(message)
                ids = _ids(message, len(contents))
                for at, (id, content) in enumerate(zip(ids, contents, strict=True)):
                    body = _message(id, message, content, origins.of(message.id))
                    below = ids[at + 1 : at + 2] or children.get(id, [])
                    yield id, {"id": id, "message": body, "parent": parent, "children": below}
                    parent = id

        about = {
            "title": plain.title,
            # Readers of ChatGPT's export ask for both times; 0 is none.
            "create_time": min(times, default=0) / 1e6,
            "update_time": max(times, default=0) / 1e6,
            "moderation_results": [],
            "plugin_ids": None,
            "conversation_template_id": None,
            "id": chat.id,
            "conversation_id": chat.id,
            "current_node": head or ROOT,
        }
        yield from array_of((object_with(about, "mapping", members(nodes())),))


def _children(chat: Chat) -> Mapping[str, list[str]]:
    """For each message, the first nodes of its children."""
    found: dict[str, list[str]] = {}
    for message in chat.messages.values():
        found.setdefault(message.parent or ROOT, []).append(_ids(message, len(_contents(message)))[0])
    return found


def _ids(message: Message, nodes: int) -> list[str]:
    """The ids of the nodes that a message becomes."""
    return [*(f"{message.id}/{number}" for number in range(1, nodes)), message.id]


def _message(id: str, message: Message, content: dict[str, Json], origin: MessageOrigin) -> dict[str, Json]:
    metadata: dict[str, Json] = content.pop("metadata", {})
    role, name = content.pop("author", (message.role, message.name))
    if message.hidden:
        metadata["is_visually_hidden_from_conversation"] = True
    status = origin.call.status if origin.call is not None else "done"
    if origin.models:
        metadata["model_slug"] = origin.models[0]
    if status == "stopped":
        metadata["finish_details"] = {"type": "interrupted"}
    author = {"role": role, "metadata": {}}
    if name:
        author["name"] = name
    return {
        "id": id,
        "author": author,
        "create_time": message.created / 1e6 if message.created else None,
        "recipient": content.pop("recipient", "all"),
        "content": content,
        "status": "in_progress" if status == "interrupted" else "finished_successfully",
        "weight": 1.0,
        "metadata": metadata,
    }


def _contents(message: Message) -> list[dict[str, Json]]:
    """The `content` of each node, with its other fields that differ: `author`, `recipient`, `metadata`."""
    nodes: list[dict[str, Json]] = []
    texts: list[Json] = []
    files: list[Json] = []

    def close() -> None:
        if texts or files:
            node: dict[str, Json] = {"content_type": "text", "parts": list(texts) or [""]}
            if files:
                node["metadata"] = {"attachments": list(files)}
            nodes.append(node)
            texts.clear()
            files.clear()

    for part in message.parts:
        match part:
            case TextPart():
                texts.append(part.text)
            case AttachmentPart():
                files.append({"id": part.sha256, "name": part.name, "mimeType": part.media_type})
            case ReasoningPart():
                close()
                nodes.append(
                    {
                        "content_type": "thoughts",
                        "thoughts": [{"summary": "", "content": part.text}],
                        "parts": [""],
                    }
                )
            case ToolCallPart():
                close()
                arguments = json.loads(part.arguments)
                text = arguments if isinstance(arguments, str) else part.arguments
                nodes.append(
                    {"content_type": "code", "language": "json", "text": text, "recipient": part.name}
                )
            case ToolResultPart():
                close()
                kind = "system_error" if part.exception is not None else "execution_output"
                text = part.output or part.exception or ""
                nodes.append({"content_type": kind, "text": text, "author": ("tool", part.name)})
            case OpaquePart():
                pass
            case _:
                pass
    close()
    return nodes or [{"content_type": "text", "parts": [""]}]
