"""Gemini CLI's sessions: one object (`session-*.json`), or since 2026 a line for each change of it; and saved chats.

A line with the id of an earlier message replaces it. Where somebody rewound, later messages follow the message before:
a fork. A checkpoint lists the messages that the model is sent from then on; those that are new in it, such as a
summary, follow the ones that were said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
from forky_core.formats.fields import micros, obj, objs, picked, word, words, wrapped
from forky_core.formats.gemini_parts import gemini_parts, gemini_result
from forky_core.formats.leftovers import Program, leftovers, repeats, says_something, unknown_role
from forky_core.formats.openai_messages import tool_call
from forky_core.formats.roles import role_of
from forky_core.model.parts import Draft, Json, Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart

PROGRAM = Program(
    "Gemini CLI",
    frozenset(("thoughtSignature", "tokens", "displayName", "renderOutputAsMarkdown", "lastUpdated")),
)
_SHOWN = ("description", "resultDisplay")
"""What the program shows of a call."""
_CALL = frozenset(("args", "result", *_SHOWN))
_READ = frozenset(("content", "displayContent", "thoughts", "toolCalls"))
_ABOUT = frozenset(("sessionId", "projectHash", "startTime", "lastUpdated", "summary"))
_FROM_THE_PROGRAM = ("<session_context>", "<hook_context>", "<state_snapshot>")
"""Beginnings of messages that the program itself wrote for the model."""
NOTE = "It is a note of the program, no message."
_NOTES = ("info", "warning", "error")


class GeminiCLI:
    name: ClassVar[str] = "gemini-cli"
    label: ClassVar[str] = "Gemini CLI session"

    def fits(self, sample: Sample) -> bool:
        return sample.has("sessionId", "projectHash") or any(
            map(_is_content, [*sample.objects, *_history(next(iter(sample.objects), {}))])
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        session = _GeminiSession(files)
        for value in document.values():
            if isinstance(value, Unreadable):
                yield value
            else:
                session.take(wrapped(value))
        if session.path or session.about:
            yield session.found()


def _is_content(value: Mapping[str, Any]) -> bool:
    """Whether it is an answer as the API has it, which saved chats are made of."""
    return value.get("role") == "model" and isinstance(value.get("parts"), list)


def _history(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return objs(value.get("history"))


@dataclass(slots=True)
class _GeminiSession:
    files: SourceFiles
    about: dict[str, Json] = field(default_factory=dict)
    entries: dict[str, tuple[str | None, Mapping[str, Any]]] = field(default_factory=dict)
    """Messages by id, with the one before them."""
    path: list[str] = field(default_factory=list)
    """Ids of the messages that were said, without what was rewound."""
    others: dict[str, list[Json]] = field(default_factory=dict)
    """For each message that the file has several times, what only its other lines say."""

    def take(self, line: Mapping[str, Any]) -> None:
        changed = obj(line.get("$set"))
        if "$rewindTo" in line:
            id = word(line["$rewindTo"])
            del self.path[self.path.index(id) if id in self.path else 0 :]
        elif changed or "sessionId" in line or "history" in line:
            about = changed or line
            self.about.update(
                (key, value) for key, value in about.items() if key not in ("messages", "history")
            )
            for message in (*objs(about.get("messages")), *_history(about)):
                self._say(message, again=bool(changed))
        elif line:
            self._say(line)

    def _say(self, message: Mapping[str, Any], *, again: bool = False) -> None:
        id = word(message.get("id")) or f"#{len(self.entries) + 1}"
        if id in self.path and self.entries[id][1].get("type", again) == message.get("type", again):
            before, known = self.entries[id]
            kept, other = (known, message) if again else (message, known)
            self.entries[id] = (before, kept)
            more = {name: value for name, value in other.items() if not _repeats(value, kept.get(name))}
            if more:
                self.others.setdefault(id, []).append(more)
        else:
            while id in self.entries:  # It was rewound and said again, or two messages have one id.
                id += "#"
            self.entries[id] = (self.path[-1] if self.path else None, message)
            self.path.append(id)

    def found(self) -> ParsedConversation:
        nodes: list[Node] = []
        for id, (before, message) in self.entries.items():
            nodes += _nodes(id, before, message, self.others.get(id, []), self.files)
        return ParsedConversation(
            source_id=word(self.about.get("sessionId")),
            title=word(self.about.get("summary")),
            nodes=tuple(nodes),
            current=self.path[-1] if self.path else None,
            created=micros(self.about.get("startTime")),
            extra={name: value for name, value in self.about.items() if name not in _ABOUT and value},
        )


def _repeats(value: Json, kept: Json) -> bool:
    """Whether a field of a line says nothing that another line does not say."""
    if isinstance(value, str) and isinstance(kept, str):
        return value in kept
    if isinstance(value, list) and isinstance(kept, list):
        return all(one in kept for one in value)
    return value == kept or not says_something(value)


def _nodes(
    id: str, before: str | None, message: Mapping[str, Any], others: list[Json], files: SourceFiles
) -> list[Node]:
    kind = word(message.get("type")) or word(message.get("role"))
    calls = objs(message.get("toolCalls"))
    parts = gemini_parts(message.get("content", message.get("parts")), files, PROGRAM)
    text = "\n".join(part.text for part in parts if isinstance(part, TextPart))
    thoughts = [_thought(one) for one in objs(message.get("thoughts"))]
    if not any(isinstance(part, ReasoningPart) for part in parts):
        parts = [*(ReasoningPart(thought) for thought in thoughts if thought), *parts]
    parts += _calls(calls, parts, files)
    for thought in objs(message.get("thoughts")):
        parts += leftovers(thought, ("subject", "description"), PROGRAM, within="thoughts.")
    parts += leftovers(message, _READ if "content" in message else (*_READ, "parts"), PROGRAM)
    role = role_of(kind)
    parts += [] if kind in _NOTES else unknown_role(kind, PROGRAM, "type")
    shown = [found for call in calls if (found := picked(call, *_SHOWN))]
    display = message.get("displayContent")
    node = Node(
        id,
        before,
        Draft(role, ()),
        created=micros(message.get("timestamp")),
        model=word(message.get("model")) if role == "assistant" else "",
        usage=usage_of(message.get("tokens")),
        hidden=kind in _NOTES or text.lstrip().startswith(_FROM_THE_PROGRAM),
        extra={
            **({"type": kind} if kind in _NOTES else {}),
            **({"displayContent": display} if display and words(display) != text else {}),
            **({"toolCalls": shown} if shown else {}),
            **({"thoughts": thoughts} if not repeats("\n".join(thoughts), _thinking(parts)) else {}),
            **({"others": others} if others else {}),
        },
    )
    return spread(node, parts, role)


def _thinking(parts: list[Part]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, ReasoningPart))


def _thought(entry: Mapping[str, Any]) -> str:
    subject, description = word(entry.get("subject")), word(entry.get("description"))
    return "\n\n".join(filter(None, (f"**{subject}**" if subject else "", description)))


def _calls(calls: list[Mapping[str, Any]], said: list[Part], files: SourceFiles) -> list[Part]:
    """Calls that the content does not have, and the results of all of them."""
    known = {part.tool_call_id for part in said if isinstance(part, ToolCallPart)}
    made: list[Part] = []
    results: list[Part] = []
    for call in calls:
        id, name = word(call.get("id")), word(call.get("name"))
        if not id or id not in known:
            made.append(tool_call(call, id))
        result = call.get("result")
        if isinstance(result, str):
            results += gemini_result(result, name, id)
        else:
            parts = gemini_parts(result, files, PROGRAM)
            if not any(isinstance(part, ToolResultPart) for part in parts):
                text = "\n\n".join(part.text for part in parts if isinstance(part, TextPart))
                text = text or ("" if result else word(call.get("resultDisplay")))
                parts = [part for part in parts if not isinstance(part, TextPart)]
                results += [ToolResultPart(name, text, id or None)] if text.strip() else []
            results += parts
        made += leftovers(call, _CALL, PROGRAM, within="toolCalls.")
    return [*made, *results]
