"""LM Studio's chats (`*.conversation.json`): a list of messages, each with the versions that were generated of it.

The chat goes on from the version that is selected; the others are siblings of it. An answer is a list of steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import read_values, spread, usage_of
from forky_core.formats.contract import Node, ParsedConversation, Result, Sample, SourceDocument, SourceFiles
from forky_core.formats.fields import count, kept_json, micros, obj, objs, picked, shallow, word, words
from forky_core.formats.leftovers import Program, leftovers
from forky_core.formats.openai_messages import content_parts, tool_call
from forky_core.formats.roles import role_of
from forky_core.model import GenerationStatus
from forky_core.model.parts import Draft, Json, OpaquePart, Part, ReasoningPart, TextPart, ToolResultPart

PROGRAM = Program(
    "LM Studio",
    frozenset(
        (
            *("currentlySelected", "stepIdentifier", "style", "prefix", "suffix", "genInfo", "senderInfo"),
            *("shouldIncludeInContext", "defaultShouldIncludeInContext", "pluginIdentifier", "toolType"),
            *("toolCallRequestId", "preprocessed"),
        )
    ),
)
_STOPPED: dict[str, GenerationStatus] = {"userStopped": "stopped", "failed": "interrupted"}


class LMStudio:
    name: ClassVar[str] = "lm-studio"
    label: ClassVar[str] = "LM Studio chat"

    def fits(self, sample: Sample) -> bool:
        return any(
            any(isinstance(message.get("versions"), list) for message in objs(value.get("messages")))
            or (
                "systemPrompt" in value
                and "lastUsedModel" in value
                and isinstance(value.get("messages"), list)
            )
            for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        return read_values(document, lambda value: [_chat(obj(value), files)] if obj(value) else [])


def _chat(chat: Mapping[str, Any], files: SourceFiles) -> ParsedConversation:
    nodes: list[Node] = []
    before: str | None = None
    for number, message in enumerate(objs(chat.get("messages")), 1):
        versions = objs(message.get("versions")) or [message]
        chosen = count(message.get("currentlySelected")) or 0
        around = leftovers(message, ("versions",), PROGRAM) if "versions" in message else []
        for place, version in enumerate(versions):
            selected = place == min(chosen, len(versions) - 1)
            nodes += _version(f"{number}.{place + 1}", before, version, around if selected else [], files)
        before = f"{number}.{min(chosen, len(versions) - 1) + 1}"
    return ParsedConversation(
        source_id=word(chat.get("createdAt")),
        title=word(chat.get("name")),
        nodes=tuple(nodes),
        current=before,
        created=micros(chat.get("createdAt")),
        system=word(chat.get("systemPrompt")) or None,
        model=word(obj(chat.get("lastUsedModel")).get("identifier")),
        extra=picked(chat, "notes", "clientInput", "clientInputFiles", "plugins", "looseFiles"),
    )


def _version(
    id: str, before: str | None, version: Mapping[str, Any], around: list[Part], files: SourceFiles
) -> list[Node]:
    role = role_of(version.get("role"))
    steps = [step for step in objs(version.get("steps")) if step.get("type") == "contentBlock"]
    info = next((found for step in reversed(steps) if (found := obj(step.get("genInfo")))), {})
    stats = obj(info.get("stats"))
    names: dict[str, str] = {}
    parts = _blocks(version.get("content"), names, files)
    for step in steps:
        parts += _step(step, names, files)
    beside = [
        shallow(dict(step)) for step in objs(version.get("steps")) if step.get("type") != "contentBlock"
    ]
    parts += leftovers(version, ("content", "steps"), PROGRAM)
    node = Node(
        id,
        before,
        Draft(role, ()),
        model=word(obj(version.get("senderInfo")).get("senderName")) or word(info.get("identifier"))
        if role == "assistant"
        else "",
        status=_STOPPED.get(word(stats.get("stopReason")), "done"),
        usage=usage_of(stats),
        extra={"steps": beside} if beside else {},
    )
    return spread(node, parts + around, role)


def _step(step: Mapping[str, Any], names: dict[str, str], files: SourceFiles) -> list[Part]:
    parts = _blocks(step.get("content"), names, files)
    if obj(step.get("style")).get("type") == "thinking":
        parts = [ReasoningPart(part.text) if isinstance(part, TextPart) else part for part in parts]
    return [*parts, *leftovers(step, ("content", "roleOverride"), PROGRAM, within="steps.")]


def _blocks(content: Json, names: dict[str, str], files: SourceFiles) -> list[Part]:
    """The parts of a message or a step; `names` has the tools' names by the call's number."""
    parts: list[Part] = []
    for block in content if isinstance(content, list) else [content]:
        entry = obj(block)
        number = word(entry.get("toolCallRequestId")) or word(entry.get("callId"))
        match entry.get("type"):
            case "toolCallRequest":
                names[number] = word(entry.get("name"))
                parts.append(tool_call(entry, number))
                parts += leftovers(entry, ("parameters", "callId"), PROGRAM, within="content.")
            case "toolCallResult":
                name = word(entry.get("name")) or names.get(number, "")
                output = words(entry.get("content"))
                parts += [ToolResultPart(name, output, number or None)] if output.strip() else []
                parts += leftovers(entry, ("content", "callId"), PROGRAM, within="content.")
            case "file":
                parts.append(OpaquePart(kept_json(dict(entry))))
            case _:
                parts += content_parts([block], files, PROGRAM) if block is not None else []
    return parts
