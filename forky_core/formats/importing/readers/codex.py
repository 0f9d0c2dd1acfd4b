"""Codex rollouts: a line for each item of the conversation, between events that repeat them for the screen.

If turns were rolled back, later messages follow the message before them: a fork.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from forky_core.formats.chaining import spread, unknown_line
from forky_core.formats.contract import (
    Node,
    ParsedConversation,
    Result,
    Sample,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.fields import kept_json, micros, obj, picked, seq, word, words, wrapped
from forky_core.formats.files.json_values import parse
from forky_core.formats.leftovers import Program, leftovers, repeated_fields
from forky_core.formats.openai_messages import content_parts, text_parts, tool_call
from forky_core.formats.roles import role_of
from forky_core.model import Role
from forky_core.model.parts import Draft, OpaquePart, Part, ReasoningPart, ToolResultPart
from forky_core.text.surroundings import bare

PROGRAM = Program(
    "Codex",
    frozenset(
        ("call_id", "phase", "internal_chat_message_metadata_passthrough", "ghost_commit", "execution")
    ),
)
SEALED = "It holds thoughts that only the provider can read."
_ITEMS = frozenset(("message", "reasoning", "function_call", "function_call_output"))
_SETTINGS = frozenset(
    ("world_state", "ghost_snapshot", "inter_agent_communication_metadata", "token_usage_record")
)
"""Other lines without content of the conversation."""
_TOLD: dict[str, Role] = {"user_message": "user", "agent_message": "assistant"}
_ON_SCREEN = re.compile(
    r"\w+_(begin|end|started|complete|completed|delta|updated?|request|response|count|event|break|aborted|applied|mode|diff)"
    r"|agent_reasoning(_raw_content)?|session_configured|context_compacted|error|warning|stream_error|deprecation_notice"
    r"|model_reroute|guardian_\w+|realtime_\w+|collab_\w+|view_image_tool_call|raw_response_item|(exec|dynamic)_\w+"
)
"""Events that show what other lines say, or how the program is doing."""


class Codex:
    name: ClassVar[str] = "codex"
    label: ClassVar[str] = "Codex session"

    def fits(self, sample: Sample) -> bool:
        if sample.shape != "lines" or not sample.objects:
            return False
        first = sample.objects[0]
        if any(line.get("type") in ("session_meta", "response_item") for line in sample.objects):
            return any(isinstance(line.get("payload"), dict) for line in sample.objects)
        # The first versions wrote the items themselves, below a line with an id.
        return {"id", "timestamp", "instructions"} <= first.keys() and "type" not in first

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        rollout = _Rollout(files)
        for value in document.values():
            if isinstance(value, Unreadable):
                yield value
            else:
                rollout.take(wrapped(value))
        yield rollout.found()


@dataclass(slots=True)
class _Rollout:
    files: SourceFiles
    about: Mapping[str, Any] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    last: str | None = None
    turns: list[str | None] = field(default_factory=list)
    """For each user message on the current path, the message it follows."""
    model: str = ""
    told: list[Mapping[str, Any]] = field(default_factory=list)
    """Events that repeat messages."""
    has_messages: bool = False
    names: dict[str, str] = field(default_factory=dict)
    """Names of tools, by the id of the call."""

    def take(self, line: Mapping[str, Any]) -> None:
        payload = obj(line.get("payload")) or line
        match word(line.get("type")):
            case "session_meta":
                self.about = self.about or payload
            case "turn_context":
                self.model = word(payload.get("model")) or self.model
            case "event_msg":
                kind = word(payload.get("type"))
                if kind == "thread_rolled_back":
                    self._roll_back(payload.get("num_turns"))
                elif kind in _TOLD:
                    self.told.append(line)
                elif not _ON_SCREEN.fullmatch(kind):
                    self._keep(line)
            case "response_item":
                self._item(payload, micros(line.get("timestamp")))
            case "compacted":
                parts = text_parts(word(payload.get("message")))
                self._add("user", parts, micros(line.get("timestamp")), hidden=True)
            case "" if not self.about and "id" in line:
                self.about = line
            case kind if kind in _ITEMS:
                self._item(line, 0)
            case kind if kind not in _SETTINGS and "record_type" not in line:
                self._keep(line)

    def _keep(self, line: Mapping[str, Any]) -> None:
        node = unknown_line(str(len(self.nodes) + 1), self.last, line, PROGRAM)
        self.nodes.append(node)
        self.last = node.id

    def _roll_back(self, turns: Any) -> None:
        if isinstance(turns, int) and not isinstance(turns, bool) and turns > 0 and self.turns:
            first = max(0, len(self.turns) - turns)
            self.last = self.turns[first]
            del self.turns[first:]

    def _item(self, item: Mapping[str, Any], at: int) -> None:
        kind, call = word(item.get("type")), word(item.get("call_id"))
        if kind == "message":
            self.has_messages = True
            role = role_of(item.get("role"))
            parts = content_parts(item.get("content"), self.files, PROGRAM)
            parts += leftovers(item, ("content",), PROGRAM)
            text = words(item.get("content"))
            hidden = role != "assistant" and bool(text.strip()) and not bare(text)
            if role == "user" and not hidden:
                self.turns.append(self.last)
            self._add(role, parts, at, hidden=hidden)
        elif kind == "reasoning":
            text = words(item.get("summary")) or words(item.get("content"))
            thoughts: list[Part] = [ReasoningPart(text)] if text.strip() else []
            known = ("encrypted_content", *repeated_fields(item, ("summary", "content"), text))
            self._add("assistant", [*thoughts, *leftovers(item, known, PROGRAM)], at, why=SEALED)
        elif kind in ("function_call", "custom_tool_call"):
            self.names[call] = word(item.get("name"))
            known = ("name", "arguments", "input", "namespace")
            self._add("assistant", [tool_call(item, call), *leftovers(item, known, PROGRAM)], at)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output, shown = _output(item.get("output"), self.files)
            parts = [ToolResultPart(self.names.get(call, ""), output, call or None), *shown]
            self._add("tool", [*parts, *leftovers(item, ("output",), PROGRAM)], at)
        else:
            named = {**item, "type": kind or "unknown"}
            self._add("assistant", [OpaquePart(kept_json(named))], at)

    def _add(self, role: Role, parts: list[Part], at: int, *, hidden: bool = False, why: str = "") -> None:
        id = str(len(self.nodes) + 1)
        model = self.model if role == "assistant" else ""
        draft = Draft(role, ()) if parts else None
        node = Node(id, self.last, draft, created=at, model=model, hidden=hidden, why="" if parts else why)
        self.nodes += spread(node, parts, role) if parts else [node]
        self.last = id

    def found(self) -> ParsedConversation:
        if not self.has_messages:  # Some files have nothing but what was shown on the screen.
            for line in self.told:
                event = obj(line["payload"])
                parts = content_parts(event.get("message"), self.files, PROGRAM)
                self._add(_TOLD[word(event.get("type"))], parts, micros(line.get("timestamp")))
        id, above = word(self.about.get("id")), word(self.about.get("session_id"))
        return ParsedConversation(
            source_id=id,
            title="",
            nodes=tuple(self.nodes),
            current=self.last,
            created=micros(self.about.get("timestamp")),
            model=self.model,
            extra=picked(self.about, "originator", "cli_version", "source", "forked_from_id"),
            session=id if above in ("", id) else f"{above}/{id}",
            folder=word(self.about.get("cwd")),
        )


def _output(output: Any, files: SourceFiles) -> tuple[str, list[Part]]:
    """The text of an output (a string, an object with one, or JSON of such an object), and its other parts, such as
    pictures.
    """
    if isinstance(output, str):
        try:
            inner = obj(parse(output)) if output.startswith("{") else {}
        except ValueError:
            inner = {}
        return word(inner.get("output")) or output, []
    content = obj(output).get("content", output) if isinstance(output, dict) else output
    text = words(content)
    if not text.strip() and isinstance(content, dict):
        return (kept_json(content) if content else ""), []
    shown = [block for block in seq(content) if not words([block]).strip()]
    return text, content_parts(shown, files, PROGRAM)
