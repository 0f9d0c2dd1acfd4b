"""Qwen Code's sessions: JSON Lines linked by `parentUuid`, whose messages are contents of the Gemini API.

A line may repeat the id of the one before it; it follows that one. Lines of the program itself are no messages, but for
commands, notices and summaries, which are kept hidden.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import spread, usage_of
from forky_core.formats.contract import (
    Node,
    ParsedConversation,
    Result,
    Sample,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.fields import micros, obj, picked, ref, shallow, word, wrapped
from forky_core.formats.gemini_parts import gemini_parts
from forky_core.formats.leftovers import Program, leftovers, names, says_something, unknown_role
from forky_core.formats.openai_messages import text_parts
from forky_core.formats.roles import role_of
from forky_core.model import Role
from forky_core.model.opaque import not_understood
from forky_core.model.parts import Draft, Json, Part

PROGRAM = Program(
    "Qwen Code",
    frozenset(
        names(
            "parentUuid sessionId cwd gitBranch usageMetadata contextWindowSize isSidechain provenance"
            " goalContext backgroundTurn thoughtSignature forkedFrom subtype agentName agentColor"
            " externalInputKind"
        )
    ),
)
_BESIDE = ("toolCallResult", "systemPayload")
_SHOWN = ("displayText", "rawCommand", "userText")
"""What a person sees of a line of the program."""
SETTING = "It records a setting, no message."
_SETTINGS = frozenset(
    names(
        "ui_telemetry attribution_snapshot file_history_snapshot session_model session_source"
        " session_approval_mode session_execution_engine session_sources_snapshot parent_session"
        " session_artifact_event session_artifact_snapshot branch_checkpoint rewind agent_retry"
        " agent_session_ready goal_state goal_turn_end user_text_elements custom_title"
    )
)


class QwenCode:
    name: ClassVar[str] = "qwen-code"
    label: ClassVar[str] = "Qwen Code session"

    def fits(self, sample: Sample) -> bool:
        return any(
            "uuid" in line
            and "sessionId" in line
            and (isinstance(obj(line.get("message")).get("parts"), list) or "systemPayload" in line)
            for line in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        nodes: list[Node] = []
        latest: dict[str, str] = {}
        """The id of the node that stands last for an id of the file."""
        before: str | None = None
        about: Mapping[str, Any] = {}
        title = ""
        for value in document.values():
            if isinstance(value, Unreadable):
                yield value
                continue
            if not value:
                continue
            line = wrapped(value)
            about = about or line
            title = word(obj(line.get("systemPayload")).get("customTitle")) or title
            named = word(line.get("uuid")) or f"#{len(nodes) + 1}"
            parent = ref(line.get("parentUuid")) if "parentUuid" in line else before
            if named in latest:
                parent = latest[named]
            elif parent is not None:
                parent = latest.get(parent, parent)
            before = named if named not in latest else f"{latest[named]}#"
            latest[named] = before
            nodes += _nodes(before, parent, line, files)
        if about:
            yield ParsedConversation(
                source_id=word(about.get("sessionId")),
                title=title,
                nodes=tuple(nodes),
                current=before,
                created=micros(about.get("timestamp")),
                extra=picked(about, "forkedFrom"),
            )


def _nodes(id: str, parent: str | None, line: Mapping[str, Any], files: SourceFiles) -> list[Node]:
    kind, message = word(line.get("type")), obj(line.get("message"))
    parts: list[Part] = gemini_parts(message.get("parts"), files, PROGRAM)
    parts += leftovers(message, ("parts",), PROGRAM, within="message.")
    parts += leftovers(line, ("message", *_BESIDE), PROGRAM)
    extra = picked(line, "subtype", *_BESIDE)
    if kind == "system" and not message:
        subtype, payload = word(line.get("subtype")), line.get("systemPayload")
        if subtype in _SETTINGS or not says_something(payload):
            return [Node(id, parent, None, why=SETTING)]
        parts += _told(subtype, payload, files)
    role: Role = "user" if kind == "tool_result" else role_of(kind)
    if role == "system" and kind != "system":
        parts += unknown_role(kind, PROGRAM, "type")
    node = Node(
        id,
        parent,
        Draft(role, ()),
        created=micros(line.get("timestamp")),
        model=word(line.get("model")) if role == "assistant" else "",
        usage=usage_of(line.get("usageMetadata")),
        hidden=kind == "system",
        extra=extra,
    )
    return spread(node, parts, role)


def _told(subtype: str, payload: Json, files: SourceFiles) -> list[Part]:
    """What a line of the program says: a summary's text, a command that was typed, or the whole of it."""
    entry = obj(payload)
    if isinstance(entry.get("compressedHistory"), list):
        contents = [obj(one).get("parts") for one in entry["compressedHistory"]]
        return [part for parts in contents for part in gemini_parts(parts, files, PROGRAM)]
    shown = next((text for name in _SHOWN if (text := word(entry.get(name)))), "")
    if shown:
        return text_parts(shown)
    return [not_understood(PROGRAM.name, subtype or "systemPayload", shallow(payload))]
