"""ChatGPT's data export, and single conversations that browser extensions write in the same format.

`mapping` holds the nodes by id; edges are the nodes' `parent`, the checked-out end is `current_node`. One visible
answer is often several nodes: a call, its output, thoughts, a recap, the text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import no_messages, read_values
from forky_core.formats.contract import Node, ParsedConversation, Result, Sample, SourceDocument, SourceFiles
from forky_core.formats.fields import kept_json, micros, obj, objs, picked, ref, seq, shallow, word, words
from forky_core.formats.leftovers import (
    BOOKKEEPING,
    Program,
    leftovers,
    names,
    repeated_fields,
    says_something,
)
from forky_core.formats.openai_messages import content_parts, text_parts
from forky_core.formats.roles import is_role, role_of
from forky_core.model import GenerationStatus
from forky_core.model.parts import (
    Draft,
    Json,
    OpaquePart,
    Part,
    ReasoningPart,
    ToolCallPart,
    ToolResultPart,
    arguments_json,
)

RECAP = "It only says how long the model thought."
NO_MESSAGE = "It only holds the tree together."

PROGRAM = Program(
    "ChatGPT",
    frozenset(
        names(
            "crawl_date domain crawl_timestamp pub_date pub_timestamp is_ephemeral ref_id tether_id"
            " source_analysis_msg_id computer_id response_format_name finished decoding_id direction"
            " expiry_datetime format fovea audio_start_timestamp"
        )
    ),
)
_MESSAGE = frozenset(("author", "content", "end_turn", "weight", "metadata", "recipient", "channel"))
_ALL = _MESSAGE | BOOKKEEPING
_WORDS = frozenset(("content_type", "parts"))
_AUTHOR = frozenset(("role", "name", "metadata"))
_RESULT = ("title", "url", "text", "result", "output_str")
_POINTERS = ("assets", "screenshot")
"""Fields of a content that hold asset pointers."""
_AUDIO = frozenset(("content_type", "text"))
_KEPT_BESIDE = ("citations", "content_references", "attachments", "finish_details", "aggregate_result")
METADATA = frozenset(
    (
        *_KEPT_BESIDE,
        *names(
            "model_slug default_model_slug requested_model_slug resolved_model_slug message_type"
            " timestamp_ parent_id request_id turn_exchange_id turn_trace_id working_turn_exchange_id"
            " message_source message_locale is_complete is_visually_hidden_from_conversation status"
            " gizmo_id kwargs pad voice_mode_message serialization_metadata request_id"
            " is_user_system_message reasoning_status finished_duration_sec thinking_effort"
            " rebase_developer_message rebase_system_message user_timezone can_save conversation_id"
            " client_reported_search_source real_time_audio_has_video selected_github_repos"
            " selected_sources dictation sonic_classification_result"
        ),
    )
)
"""Fields of the metadata about the model and the request, or about how the message is displayed there."""

_INSTRUCTIONS = {
    "user_editable_context": ("user_profile", "user_instructions"),
    "model_editable_context": ("model_set_context",),
}
_RESULTS = frozenset(
    names(
        "execution_output system_error citable_code_output computer_output tether_quote"
        " tether_browsing_display tether_browsing_code sonic_webpage"
    )
)
_MARK = re.compile("\ue200[^\ue201]*\ue201|[\ue200-\ue206]")
"""A citation mark; if no reference explains it, it contains nothing readable."""
_FILE_ID = re.compile(r"file[-_][A-Za-z0-9]+")


class ChatGPT:
    name: ClassVar[str] = "chatgpt"
    label: ClassVar[str] = "ChatGPT export"

    def fits(self, sample: Sample) -> bool:
        return any(isinstance(value.get("mapping"), dict) for value in sample.objects)

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        beside = _by_id(files)

        def conversation(value: Json) -> Iterator[Result]:
            if isinstance(obj(value).get("mapping"), dict):
                yield conversation_of(value, files, beside)
            else:
                yield no_messages(obj(value), "mapping")

        return read_values(document, conversation)


def _by_id(files: SourceFiles) -> dict[str, str]:
    """Names of members by the file id in them: `file-<id>-name.png`, `file_<hex>-…`, in any folder."""
    found: dict[str, str] = {}
    for name in files.names():
        match = _FILE_ID.search(name.rpartition("/")[2])
        if match:
            found.setdefault(match.group(), name)
    return found


def conversation_of(
    value: Mapping[str, Any], files: SourceFiles, beside: Mapping[str, str]
) -> ParsedConversation:
    """Read one object with a `mapping`; `beside` has the names of members by file id."""
    nodes = tuple(_node(id, obj(entry), files, beside) for id, entry in _in_order(obj(value["mapping"])))
    return ParsedConversation(
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
    """Nodes with siblings in the order of their parent's `children` if that lists them; else in the file's order."""
    place: dict[str, int] = {}
    for entry in mapping.values():
        for number, child in enumerate(seq(obj(entry).get("children"))):
            place.setdefault(word(child), number)
    return sorted(mapping.items(), key=lambda item: place.get(item[0], 0))


def _node(id: str, entry: Mapping[str, Any], files: SourceFiles, beside: Mapping[str, str]) -> Node:
    message, parent = obj(entry.get("message")), ref(entry.get("parent"))
    if not message:
        return Node(id, parent, None, why=NO_MESSAGE)
    content, metadata = _content(message.get("content")), obj(message.get("metadata"))
    author = obj(message.get("author"))
    role = word(author.get("role"))
    kind = word(content.get("content_type")) or "text"
    if kind == "reasoning_recap" and not seq(content.get("parts")):
        return Node(id, parent, None, why=RECAP)
    parts = _parts(kind, content, message, files, beside)
    return Node(
        id,
        parent,
        Draft(role_of(role), tuple(parts), _speaker(message, role)),
        created=micros(message.get("create_time")),
        model=word(metadata.get("model_slug")) if role == "assistant" else "",
        status=_status(message, metadata),
        hidden=kind in _INSTRUCTIONS
        or metadata.get("is_visually_hidden_from_conversation") is True
        or metadata.get("is_user_system_message") is True,
        extra=_extra(message, metadata, role),
    )


def _content(content: Any) -> Mapping[str, Any]:
    """A content as an object; some programs that write the same format have a text or a list there."""
    if isinstance(content, str | list):
        return {"content_type": "text", "parts": content if isinstance(content, list) else [content]}
    return obj(content)


def _speaker(message: Mapping[str, Any], role: str) -> str | None:
    """The name of the speaker among several people or models; None for a tool, whose result has its name."""
    return (word(obj(message.get("author")).get("name")) or None) if role in ("user", "assistant") else None


def _extra(message: Mapping[str, Any], metadata: Mapping[str, Any], role: str) -> dict[str, Any]:
    extra = picked(message, "weight", "channel", "end_turn", "update_time")
    extra.update(picked(metadata, *_KEPT_BESIDE))
    # The metadata say how an answer was made and displayed; unknown ones are kept, but are no part of the message.
    other = {
        name: value for name, value in metadata.items() if name not in METADATA and says_something(value)
    }
    if other:
        extra["metadata"] = shallow(other)
    if not is_role(role):
        extra["role"] = role
    return extra


def _status(message: Mapping[str, Any], metadata: Mapping[str, Any]) -> GenerationStatus:
    if obj(metadata.get("finish_details")).get("type") == "interrupted":
        return "stopped"
    return "interrupted" if message.get("status") == "in_progress" else "done"


def _parts(
    kind: str,
    content: Mapping[str, Any],
    message: Mapping[str, Any],
    files: SourceFiles,
    beside: Mapping[str, str],
) -> list[Part]:
    said, read = _said(kind, content, message, files, beside)
    if not said:
        said = text_parts(words(message.get("text")) or words(message.get("value")))
    author = obj(message.get("author"))
    if (
        message.keys() <= _ALL
        and content.keys() <= _WORDS
        and author.keys() <= _AUTHOR
        and is_role(author.get("role"))
    ):
        return said  # A shortcut, since nearly every message is of this kind.
    known = {*_MESSAGE, *repeated_fields(message, ("text", "value"), *(words(one.stored()) for one in said))}
    return [
        *said,
        *leftovers(content, {*read, "content_type", "name"}, PROGRAM, within="content."),
        *leftovers(message, known, PROGRAM),
        *leftovers(author, _AUTHOR - {"role"}, PROGRAM, within="author."),
        *(
            part
            for thought in objs(content.get("thoughts"))
            for part in leftovers(
                thought, ("summary", "content", "chunks"), PROGRAM, within="content.thoughts."
            )
        ),
    ]


def _said(
    kind: str,
    content: Mapping[str, Any],
    message: Mapping[str, Any],
    files: SourceFiles,
    beside: Mapping[str, str],
) -> tuple[list[Part], Collection[str]]:
    """A message's parts, and the fields of its content that they came from."""
    author, recipient = obj(message.get("author")), word(message.get("recipient")) or "all"
    if kind in _INSTRUCTIONS:
        fields = _INSTRUCTIONS[kind]
        return text_parts("\n\n".join(filter(None, (word(content.get(key)) for key in fields)))), fields
    if kind in ("thoughts", "reasoning_recap"):
        return _thoughts(content), ("thoughts", "parts", "content")
    if kind in _RESULTS or author.get("role") == "tool":
        return _result(kind, content, author, message, files, beside), (*_RESULT, "parts", *_POINTERS)
    written = words(content.get("text")) or words(content.get("value"))
    pieces = [part for part in seq(content.get("parts")) if isinstance(part, str)]
    if recipient != "all":
        calls: list[Part] = [ToolCallPart(recipient, arguments_json(written or words(pieces)))]
        return [*calls, *_multimodal(content, message, files, beside, shown_only=True)], (
            "text",
            "parts",
            "language",
        )
    if kind == "code":
        fenced = text_parts(f"```{word(content.get('language'))}\n{written}\n```" if written else "")
        return [*fenced, *_multimodal(content, message, files, beside)], ("text", "language", "parts")
    if kind == "multimodal_text":
        said = [*text_parts(_cited(written, message)), *_multimodal(content, message, files, beside)]
        return said, ("text", "value", "parts")
    text = written or words(pieces)
    shown = _multimodal(content, message, files, beside, shown_only=True)
    unread = ["parts"] if written and pieces and words(pieces).strip() not in ("", written.strip()) else []
    return [*text_parts(_cited(text, message)), *shown], {"text", "value", "parts"} - set(unread)


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
    """A content's list of thoughts; some exporters have them as texts among the parts."""
    pieces = [words(part) for part in seq(content.get("parts"))]
    for thought in objs(content.get("thoughts")):
        summary, said = (
            word(thought.get("summary")),
            word(thought.get("content")) or words(thought.get("chunks")),
        )
        pieces.append(f"**{summary}**\n\n{said}" if summary and said else summary or said)
    text = "\n\n".join(piece for piece in pieces if piece)
    return [ReasoningPart(text)] if text else []


def _result(
    kind: str,
    content: Mapping[str, Any],
    author: Mapping[str, Any],
    message: Mapping[str, Any],
    files: SourceFiles,
    beside: Mapping[str, str],
) -> list[Part]:
    name = word(author.get("name")) or word(content.get("name")) or kind
    pieces = [words(content.get(key)) for key in _RESULT]
    text = "\n".join(piece for piece in pieces if piece)
    text = text or words([part for part in seq(content.get("parts")) if isinstance(part, str)])
    shown = _multimodal(content, message, files, beside, shown_only=True)
    if not text and not shown:
        return []
    if author.get("role") != "tool":
        return [*text_parts(_cited(text, message)), *shown]
    failed = text if kind == "system_error" else None
    return [ToolResultPart(name, _cited(text, message), exception=failed), *shown]


def _multimodal(
    content: Mapping[str, Any],
    message: Mapping[str, Any],
    files: SourceFiles,
    beside: Mapping[str, str],
    *,
    shown_only: bool = False,
) -> list[Part]:
    """The pictures and files among the parts of a content, and its text too unless `shown_only` is set."""
    parts: list[Part] = []
    used: set[str] = set()
    pointers = [content[key] for key in _POINTERS if content.get(key)]
    for piece in (*seq(content.get("parts")), *(one for held in pointers for one in _listed(held))):
        if isinstance(piece, str):
            parts += text_parts(_cited(piece, message)) if not shown_only else []
        else:
            parts += _piece(obj(piece), files, beside, used)
    return [*parts, *_attached(message, files, beside, used)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _piece(
    entry: Mapping[str, Any], files: SourceFiles, beside: Mapping[str, str], used: set[str]
) -> list[Part]:
    """Read one object among the parts of a content."""
    kind = word(entry.get("content_type")) or word(entry.get("type"))
    match kind:
        case "audio_transcription":
            return [
                *text_parts(word(entry.get("text"))),
                *leftovers(entry, _AUDIO, PROGRAM, within="content.parts."),
            ]
        case "real_time_user_audio_video_asset_pointer":
            heard = _pointed(obj(entry.get("audio_asset_pointer")), files, beside, used)
            known = {*_AUDIO, "audio_asset_pointer", "frames_asset_pointers"}
            frames = [
                _pointed(frame, files, beside, used) for frame in objs(entry.get("frames_asset_pointers"))
            ]
            return [heard, *frames, *leftovers(entry, known, PROGRAM, within="content.parts.")]
        case "thoughts":
            return [
                *_thoughts(entry),
                *leftovers(entry, ("thoughts", "content_type"), PROGRAM, within="content.parts."),
            ]
        case _ if "asset_pointer" in entry:
            return [_pointed(entry, files, beside, used)]
        case _:
            return content_parts(entry, files, PROGRAM) if entry else []


def _pointed(entry: Mapping[str, Any], files: SourceFiles, beside: Mapping[str, str], used: set[str]) -> Part:
    """The picture or sound of an asset pointer; the pointer itself if the export lacks the file."""
    match = _FILE_ID.search(word(entry.get("asset_pointer")).rpartition("//")[2])
    part = _file(match.group(), "", "", files, beside, used) if match else None
    return (
        part
        if part is not None
        else OpaquePart(kept_json({**entry, "type": word(entry.get("content_type")) or "unknown"}))
    )


def _attached(
    message: Mapping[str, Any], files: SourceFiles, beside: Mapping[str, str], used: set[str]
) -> list[Part]:
    parts: list[Part] = []
    for entry in objs(obj(message.get("metadata")).get("attachments")):
        id = word(entry.get("id"))
        if id and id not in used:
            media = word(entry.get("mimeType")) or word(entry.get("mime_type"))
            part = _file(id, media, word(entry.get("name")), files, beside, used)
            parts.append(part or OpaquePart(kept_json({**entry, "type": "file"})))
    return parts


def _file(
    id: str, media_type: str, shown: str, files: SourceFiles, beside: Mapping[str, str], used: set[str]
) -> Part | None:
    used.add(id)
    member = beside.get(id)
    return files.attach(member, media_type, shown) if member is not None else None
