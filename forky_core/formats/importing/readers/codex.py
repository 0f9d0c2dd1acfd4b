"""Codex rollouts: a line for each item of the conversation, between events that repeat them for the screen.

If turns were rolled back, later messages follow the message before them: a fork.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
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
_TOLD: Mapping[str, Role] = {
    "user_message": "user",
    "agent_message": "assistant",
    "UserMessage": "user",
    "AgentMessage": "assistant",
}
"""Events that show a message, and what newer versions call it in an `item_completed`."""
_SURE = 40
"""The least characters by which a message inside another one is recognised."""
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
    told: list[tuple[int, Role, str, Node]] = field(default_factory=list)
    """Messages that events show, with their place among the nodes, role and text: most of them are items, too."""
    said: set[tuple[Role, str]] = field(default_factory=set)
    """What items say."""
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
                elif (item := obj(payload.get("item")) or payload) and word(item.get("type")) in _TOLD:
                    self._tell(item, micros(line.get("timestamp")))
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

    def _tell(self, item: Mapping[str, Any], at: int) -> None:
        role, content = _TOLD[word(item.get("type"))], item.get("content", item.get("message"))
        draft = Draft(role, tuple(content_parts(content, self.files, PROGRAM)))
        model = self.model if role == "assistant" else ""
        node = Node(f"event {len(self.told)}", self.last, draft, created=at, model=model)
        self.told.append((len(self.nodes), role, words(content).strip(), node))

    def _insert_told(self) -> None:
        """Insert the messages that only events have: some files have no others, newer ones no other questions."""
        for place, role, text, node in reversed(self.told):
            if (role, text) in self.said or (
                len(text) >= _SURE and any(role == who and text in said for who, said in self.said)
            ):
                continue
            if place == len(self.nodes):
                self.last = node.id
            elif self.nodes[place].parent == node.parent:
                self.nodes[place] = replace(self.nodes[place], parent=node.id)
            self.nodes.insert(place, node)

    def _roll_back(self, turns: Any) -> None:
        if isinstance(turns, int) and not isinstance(turns, bool) and turns > 0 and self.turns:
            first = max(0, len(self.turns) - turns)
            self.last = self.turns[first]
            del self.turns[first:]

    def _item(self, item: Mapping[str, Any], at: int) -> None:
        kind, call = word(item.get("type")), word(item.get("call_id"))
        if kind == "message":
            role = role_of(item.get("role"))
            parts = content_parts(item.get("content"), self.files, PROGRAM)
            parts += leftovers(item, ("content",), PROGRAM)
            text = words(item.get("content"))
            self.said.add((role, text.strip()))
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
        elif kind in ("web_search_call", "local_shell_call"):
            called = {"name": kind.removesuffix("_call"), "args": item.get("action", {})}
            self.names[call] = called["name"]
            self._add("assistant", [tool_call(called, call), *leftovers(item, ("action",), PROGRAM)], at)
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
        self._insert_told()
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
