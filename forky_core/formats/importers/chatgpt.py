"""ChatGPT's data export, and the single conversations that browser extensions write in the same shape.

`mapping` holds the nodes by id; edges are the nodes' `parent`, the live end is `current_node`. One visible answer is
often several nodes: a call, its output, thoughts, a recap, the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.contract import Document, Files, Found, Node, Sample, Unreadable
from forky_core.formats.fields import kept_json, micros, obj, objs, picked, ref, seq, word, words
from forky_core.model import GenerationStatus, Role
from forky_core.parts import (
    Draft,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    arguments_json,
)

RECAP = "It only says how long the model thought."
NO_MESSAGE = "It only holds the tree together."

_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_INSTRUCTIONS = {
    "user_editable_context": ("user_profile", "user_instructions"),
    "model_editable_context": ("model_set_context",),
}
_RESULTS = frozenset(
    (
        "execution_output",
        "system_error",
        "citable_code_output",
        "computer_output",
        "tether_quote",
        "tether_browsing_display",
        "tether_browsing_code",
        "sonic_webpage",
    )
)
_MARK = re.compile("\ue200[^\ue201]*\ue201|[\ue200-\ue206]")
"""A citation mark: where no reference says what it stood for, nothing readable is in it."""
_FILE_ID = re.compile(r"file[-_][A-Za-z0-9]+")


class ChatGPT:
    name: ClassVar[str] = "chatgpt"
    label: ClassVar[str] = "ChatGPT export"

    def fits(self, sample: Sample) -> bool:
        return any(isinstance(value.get("mapping"), dict) for value in sample.objects)

    def read(self, document: Document, files: Files) -> Iterator[Found | Unreadable]:
        beside = _by_id(files)
        for value in document.values():
            if isinstance(value, Unreadable):
                yield value
            elif not isinstance(value, dict) or not isinstance(value.get("mapping"), dict):
                yield Unreadable(
                    word(obj(value).get("title")) or "untitled", "It has no messages (no `mapping`)."
                )
            else:
                yield conversation_of(value, files, beside)


def _by_id(files: Files) -> dict[str, str]:
    """Names of members by the file id in them: `file-<id>-name.png`, `file_<hex>-…`, in any folder."""
    found: dict[str, str] = {}
    for name in files.names():
        match = _FILE_ID.search(name.rpartition("/")[2])
        if match:
            found.setdefault(match.group(), name)
    return found


def conversation_of(value: Mapping[str, Any], files: Files, beside: Mapping[str, str]) -> Found:
    """One object of `mapping` and what stands around it; `beside`: names of members by file id."""
    nodes = tuple(_node(id, obj(entry), files, beside) for id, entry in _in_order(obj(value["mapping"])))
    return Found(
        source_id=word(value.get("conversation_id")) or word(value.get("id")),
        title=word(value.get("title")),
        nodes=nodes,
        current=ref(value.get("current_node")),
        created=micros(value.get("create_time")),
        model=word(value.get("default_model_slug")),
        extra=picked(
            value, "update_time", "gizmo_id", "is_archived", "is_starred", "plugin_ids", "memory_scope"
        ),
    )


def _in_order(mapping: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Siblings in the order of their parent's `children`, where that names them; else as the file has them."""
    place: dict[str, int] = {}
    for entry in mapping.values():
        for number, child in enumerate(seq(obj(entry).get("children"))):
            place.setdefault(word(child), number)
    return sorted(mapping.items(), key=lambda item: place.get(item[0], 0))


def _node(id: str, entry: Mapping[str, Any], files: Files, beside: Mapping[str, str]) -> Node:
    message, parent = obj(entry.get("message")), ref(entry.get("parent"))
    if not message:
        return Node(id, parent, None, why=NO_MESSAGE)
    content, metadata = obj(message.get("content")), obj(message.get("metadata"))
    author = obj(message.get("author"))
    role = word(author.get("role"))
    kind = word(content.get("content_type")) or "text"
    if kind == "reasoning_recap":
        return Node(id, parent, None, why=RECAP)
    parts = _parts(kind, content, message, files, beside)
    return Node(
        id,
        parent,
        Draft(_ROLES.get(role, "assistant"), tuple(parts), _speaker(message, role)),
        created=micros(message.get("create_time")),
        model=word(metadata.get("model_slug")) if role == "assistant" else "",
        status=_status(message, metadata),
        hidden=kind in _INSTRUCTIONS
        or metadata.get("is_visually_hidden_from_conversation") is True
        or metadata.get("is_user_system_message") is True,
        extra=_extra(message, metadata, role),
    )


def _speaker(message: Mapping[str, Any], role: str) -> str | None:
    """Who of several people or models spoke; of a tool it is the tool's name, which its result has."""
    return (word(obj(message.get("author")).get("name")) or None) if role in ("user", "assistant") else None


def _extra(message: Mapping[str, Any], metadata: Mapping[str, Any], role: str) -> dict[str, Any]:
    extra = picked(message, "weight", "channel", "end_turn", "update_time")
    extra.update(
        picked(
            metadata, "citations", "content_references", "attachments", "finish_details", "aggregate_result"
        )
    )
    if role not in _ROLES:
        extra["role"] = role
    return extra


def _status(message: Mapping[str, Any], metadata: Mapping[str, Any]) -> GenerationStatus:
    if obj(metadata.get("finish_details")).get("type") == "interrupted":
        return "stopped"
    return "interrupted" if message.get("status") == "in_progress" else "done"


def _parts(
    kind: str, content: Mapping[str, Any], message: Mapping[str, Any], files: Files, beside: Mapping[str, str]
) -> list[Part]:
    author, recipient = obj(message.get("author")), word(message.get("recipient")) or "all"
    if kind in _INSTRUCTIONS:
        return _texts("\n\n".join(filter(None, (word(content.get(key)) for key in _INSTRUCTIONS[kind]))))
    if kind == "thoughts":
        return _thoughts(content)
    if kind in _RESULTS or author.get("role") == "tool":
        return _result(kind, content, author, message, files, beside)
    text = word(content.get("text")) or words(
        [part for part in seq(content.get("parts")) if isinstance(part, str)]
    )
    if recipient != "all":
        return [ToolCallPart(recipient, arguments_json(text))]
    if kind == "code":
        return _texts(f"```{word(content.get('language'))}\n{text}\n```" if text else "")
    if kind == "multimodal_text":
        return _multimodal(content, message, files, beside)
    return [*_texts(_cited(text, message)), *_attached(message, files, beside, set())]


def _texts(text: str) -> list[Part]:
    return [TextPart(text)] if text.strip() else []


def _cited(text: str, message: Mapping[str, Any]) -> str:
    """The text with its citation marks replaced by the links they stand for."""
    if "\ue200" not in text and "\ue203" not in text:
        return text
    for reference in objs(obj(message.get("metadata")).get("content_references")):
        matched, shown = word(reference.get("matched_text")), word(reference.get("alt"))
        if matched and "\ue200" in matched:
            text = text.replace(matched, shown)
    return _MARK.sub("", text)


def _thoughts(content: Mapping[str, Any]) -> list[Part]:
    pieces = []
    for thought in objs(content.get("thoughts")):
        summary, said = word(thought.get("summary")), word(thought.get("content"))
        pieces.append(f"**{summary}**\n\n{said}" if summary and said else summary or said)
    text = "\n\n".join(piece for piece in pieces if piece)
    return [ReasoningPart(text)] if text else []


def _result(
    kind: str,
    content: Mapping[str, Any],
    author: Mapping[str, Any],
    message: Mapping[str, Any],
    files: Files,
    beside: Mapping[str, str],
) -> list[Part]:
    name = word(author.get("name")) or word(content.get("name")) or kind
    pieces = [word(content.get(key)) for key in ("title", "url", "text", "result", "output_str")]
    text = "\n".join(piece for piece in pieces if piece)
    text = text or words([part for part in seq(content.get("parts")) if isinstance(part, str)])
    shown = [part for part in _multimodal(content, message, files, beside) if not isinstance(part, TextPart)]
    if not text and not shown:
        return []
    if author.get("role") != "tool":
        return [*_texts(_cited(text, message)), *shown]
    failed = text if kind == "system_error" else None
    return [ToolResultPart(name, _cited(text, message), exception=failed), *shown]


def _multimodal(
    content: Mapping[str, Any], message: Mapping[str, Any], files: Files, beside: Mapping[str, str]
) -> list[Part]:
    parts: list[Part] = []
    used: set[str] = set()
    for piece in seq(content.get("parts")):
        if isinstance(piece, str):
            parts += _texts(_cited(piece, message))
            continue
        entry = obj(piece)
        kind = word(entry.get("content_type"))
        if kind == "audio_transcription":
            parts += _texts(word(entry.get("text")))
        elif kind == "real_time_user_audio_video_asset_pointer":
            parts.append(_pointed(obj(entry.get("audio_asset_pointer")), files, beside, used))
        elif entry:
            parts.append(_pointed(entry, files, beside, used))
    return [*parts, *_attached(message, files, beside, used)]


def _pointed(entry: Mapping[str, Any], files: Files, beside: Mapping[str, str], used: set[str]) -> Part:
    """The picture or sound of an asset pointer; where the export has not got it, the pointer itself."""
    match = _FILE_ID.search(word(entry.get("asset_pointer")).rpartition("//")[2])
    part = _file(match.group(), "", "", files, beside, used) if match else None
    return (
        part
        if part is not None
        else OpaquePart(kept_json({**entry, "type": word(entry.get("content_type")) or "unknown"}))
    )


def _attached(
    message: Mapping[str, Any], files: Files, beside: Mapping[str, str], used: set[str]
) -> list[Part]:
    parts: list[Part] = []
    for entry in objs(obj(message.get("metadata")).get("attachments")):
        id = word(entry.get("id"))
        if id and id not in used:
            media = word(entry.get("mimeType")) or word(entry.get("mime_type"))
            part = _file(id, media, word(entry.get("name")), files, beside, used)
            parts += [part] if part is not None else []
    return parts


def _file(
    id: str, media_type: str, shown: str, files: Files, beside: Mapping[str, str], used: set[str]
) -> Part | None:
    used.add(id)
    member = beside.get(id)
    return files.attach(member, media_type, shown) if member is not None else None
