"""Claude Code's sessions: JSON Lines linked by `parentUuid`, messages between the program's own lines.

Whatever people, models and tools said is a message in its place: lines of any type with a `message`, prompts that were
queued while a reply was written, the contents of files that were named with @, and what the program showed in the
conversation or added to it for the model. A line of a type that nobody knows is kept, hidden and counted.

A sub-agent's lines have roots of their own. A compaction starts a new root and names its predecessor
(`logicalParentUuid`), so the path is made whole here. A line without an id belongs to the one it follows; a line that
repeats an id follows the one that had it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
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
from forky_core.formats.fields import kept_json, micros, obj, objs, picked, ref, word, words
from forky_core.formats.leftovers import Program, leftovers, names
from forky_core.formats.openai_messages import content_parts, text_parts
from forky_core.formats.roles import is_role, role_of
from forky_core.model import Role, Usage
from forky_core.model.parts import Draft, Json, OpaquePart, Part, ToolResultPart

PROGRAM = Program(
    "Claude Code",
    frozenset(
        (
            *("caller", "container", "context_management", "toolUseResult", "stop_sequence", "diagnostics"),
            *("service_tier", "ttftMs"),
        )
    ),
)
"""`toolUseResult` repeats for the program what the block of the result has for the model."""
_LINE = Program(
    "Claude Code",
    frozenset(
        names(
            "parentUuid logicalParentUuid sessionId isSidechain isMeta userType cwd slug gitBranch"
            " entrypoint subtype level durationMs messageCount compactMetadata microcompactMetadata"
            " toolUseID parentToolUseID agentId hookCount hookInfos retryInMs retryAttempt maxRetries"
            " session_id permissionMode effort origin requestId promptId promptSource"
            " sourceToolAssistantUUID isApiErrorMessage"
        )
    ),
)
"""Fields of a line that is no message, without anything that was said."""
_READ = frozenset(("content",))
_OUTPUT = ("content", "output", "tool_output", "toolOutput", "result", "text")
"""Fields in which the message of a tool may have its output."""
_TOOL = ("name", "tool_name", "toolName")
_CALL = ("tool_call_id", "tool_use_id", "toolCallId")

NOTE = "It is a line of the program's bookkeeping, no message."
ERROR = "It is an error of the program, no answer."
SHOWN = "A note of the program, kept as a message of the system."
REMINDER = "What the program added for the model, kept and hidden."
QUEUED = "It was typed while a reply was written, and has its place there."
_BOOKKEEPING = frozenset(
    (
        *("file-history-snapshot", "mode", "permission-mode", "last-prompt", "agent-name", "agent-color"),
        *("pr-link", "worktree-state", "attribution-snapshot", "bridge-session", "content-replacement"),
        *("frame-link", "relocated", "started", "atis-latch", "tools-used", "cost-state", "prompt_snapshot"),
        *("api-request", "api-request-shape", "api-request-blob"),
    )
)
"""Types of lines and attachments that say nothing new: settings, links, copies of files, of prompts and of requests. A
last prompt is that of a message."""
_SCREEN = frozenset(
    (
        *("bash_progress", "hook_progress", "mcp_progress", "powershell_progress", "waiting_for_task"),
        *("query_update", "search_results_received"),
    )
)
"""Kinds of `progress` that show on the screen what a later line of a tool has in full."""


_REMINDERS = frozenset(
    names(
        "hook_success hook_cancelled hook_error_during_execution hook_non_blocking_error"
        " hook_blocking_error hook_system_message hook_stopped_continuation hook_permission_decision"
        " todo_reminder task_reminder total_tokens_reminder deferred_tools_delta command_permissions"
        " mcp_instructions_delta agent_listing_delta skill_listing invoked_skills nested_memory plan_mode"
        " plan_mode_exit plan_mode_reentry plan_file_reference auto_mode auto_mode_exit date_change"
        " edited_text_file edited_image_file compact_file_reference task_status goal_status"
        " ultra_effort_enter ultra_effort_exit opened_file_in_ide diagnostics output_style todo"
        " agent_mention token_usage budget_usd already_read_file relevant_memories current_session_memory"
        " max_turns_reached dynamic_skill critical_system_reminder async_hook_response ultramemory"
        " environment model instructions session_context date remote_session_change"
    )
)
"""Kinds of `attachment` whose text the program wrote for the model, or notes for itself."""


class ClaudeCode:
    name: ClassVar[str] = "claude-code"
    label: ClassVar[str] = "Claude Code session"

    def fits(self, sample: Sample) -> bool:
        return sample.shape == "lines" and any(
            ("uuid" in line and ("parentUuid" in line or "sessionId" in line))
            or (line.get("type") == "summary" and "leafUuid" in line)
            or (line.get("type") == "file-history-snapshot" and "messageId" in line)
            or (line.get("type") == "queue-operation" and "sessionId" in line)
            for line in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        session = _ClaudeCodeSession(files)
        for value in document.values():
            if isinstance(value, Unreadable):
                yield value
            else:
                session.take(value if isinstance(value, dict) else {"type": "unknown", "value": value})
        yield session.found()


@dataclass(slots=True)
class _TranscriptLine:
    """One line of the file that becomes a node."""

    id: str
    entry: Mapping[str, Any]
    parent: str | None = None
    piece: bool = False
    """It has no id in the file, or an earlier line is the same."""
    repeats: bool = False
    queued: bool = False
    """It puts a prompt into the queue that has no line of its own later."""
    withdrawn: bool = False
    """The queued prompt was taken out again before a model read it."""

    @property
    def is_main(self) -> bool:
        return self.entry.get("isSidechain") is not True


@dataclass(slots=True)
class _ClaudeCodeSession:
    files: SourceFiles
    lines: list[_TranscriptLine] = field(default_factory=list)
    """In the order of the file."""
    newest: dict[str, _TranscriptLine] = field(default_factory=dict)
    """By the id in the file, the newest line that has it."""
    last: _TranscriptLine | None = None
    """The newest message outside of side chains."""
    before: _TranscriptLine | None = None
    """The line before, which lines without an id and a parent belong to."""
    titles: dict[str, str] = field(default_factory=dict)
    summaries: dict[str, str] = field(default_factory=dict)

    def take(self, entry: Mapping[str, Any]) -> None:
        kind, id = word(entry.get("type")), word(entry.get("uuid"))
        if kind == "summary" and not id:
            self.summaries[word(entry.get("leafUuid"))] = word(entry.get("summary"))
        elif kind in ("custom-title", "ai-title") and not id:
            self.titles[kind] = word(entry.get("customTitle")) or word(entry.get("aiTitle"))
        else:
            self._add(id, entry)

    def _add(self, id: str, entry: Mapping[str, Any]) -> None:
        known = self.newest.get(id) if id else None
        named = ref(entry.get("parentUuid")) or ref(entry.get("logicalParentUuid"))
        parent = self.newest[named].id if named in self.newest else named
        if known is not None and all(entry.get(key) == known.entry.get(key) for key in _SAME):
            self.lines.append(
                _TranscriptLine(f"{id}/+{len(self.lines)}", entry, known.parent, piece=True, repeats=True)
            )
            return
        if known is not None:
            line = _TranscriptLine(f"{id}#{len(self.lines)}", entry, known.id, piece=True)
        elif id:
            line = _TranscriptLine(id, entry, parent)
        else:
            above = parent or (self.before.id if self.before else None)
            line = _TranscriptLine(f"{above or ''}/+{len(self.lines)}", entry, above, piece=True)
        self.lines.append(line)
        if id:
            self.newest[id] = self.before = line
            if _speaks(entry) and line.is_main:
                self.last = line

    def found(self) -> ParsedConversation:
        self._place_queued()
        last_of = {_reply(line): line.id for line in self.lines if not line.repeats}
        nodes: list[Node] = []
        for line in self.lines:
            nodes += self._nodes(line, counts=last_of.get(_reply(line)) == line.id)
        current = self.last or (self.lines[-1] if self.lines else None)
        about = current.entry if current else {}
        session, agent = word(about.get("sessionId")), word(about.get("agentId"))
        titles = (self.titles.get("custom-title"), self.titles.get("ai-title"), *self._summaries())
        extra = picked(about, "gitBranch", "version")
        id = f"{session}/{agent}" if agent and self.last is None else session
        return ParsedConversation(
            source_id=id,
            title=next(filter(None, titles), ""),
            nodes=tuple(nodes),
            current=current.id if current else None,
            extra={**extra, "summaries": list(self.summaries.values())} if self.summaries else extra,
            session=id,
            folder=next((cwd for line in self.lines if (cwd := word(line.entry.get("cwd")))), ""),
        )

    def _summaries(self) -> list[str]:
        """The summaries, newest first; the file contains those of other sessions as well."""
        return [text for leaf, text in reversed(self.summaries.items()) if leaf in self.newest]

    def _place_queued(self) -> None:
        """Put each queued prompt that has no line of its own before the reply that was next; one that was withdrawn
        stays beside the conversation.
        """
        later: Counter[str] = Counter()
        withdrawn: Counter[str] = Counter()
        for line in reversed(self.lines):
            text = _typed(line.entry)
            if line.entry.get("type") != "queue-operation":
                later[text] += not line.repeats
                continue
            does, reason = word(line.entry.get("operation")), word(line.entry.get("reason"))
            if does == "popAll" or (does == "remove" and reason not in ("", "absorbed_mid_turn")):
                withdrawn[text] += 1
            elif does in ("enqueue", "") and text:
                if later[text] > 0:
                    later[text] -= 1
                else:
                    line.queued = True
                    line.withdrawn = withdrawn[text] + withdrawn[""] > 0
                    withdrawn[text] -= 1
        waiting: list[_TranscriptLine] = []
        reply = ("", "")
        for line in self.lines:
            if line.queued and not line.withdrawn:
                waiting.append(line)
            elif (
                line.is_main
                and not line.piece
                and (_typed(line.entry) or line.entry.get("type") == "assistant")
            ):
                if _reply(line) != reply:
                    line.parent = self._below(line.parent, waiting)
                    waiting = []
                reply = _reply(line)
        if waiting:
            self._below(self.last.id if self.last else None, waiting)
            self.last = waiting[-1]

    @staticmethod
    def _below(parent: str | None, prompts: list[_TranscriptLine]) -> str | None:
        for prompt in prompts:
            prompt.parent, parent = parent, prompt.id
        return parent

    def _nodes(self, line: _TranscriptLine, *, counts: bool) -> list[Node]:
        entry = line.entry
        at = micros(entry.get("timestamp"))
        role, parts, note, hidden = self._read(line)
        if entry.get("isApiErrorMessage") is True or (not parts and entry.get("subtype") == "api_error"):
            why = words(obj(entry.get("message")).get("content")) or words(entry.get("error")) or ERROR
            draft = Draft("assistant", ())
            return [Node(line.id, line.parent, draft, created=at, why=ERROR, failure=why, piece=line.piece)]
        if not parts:
            return [Node(line.id, line.parent, None, why="" if _speaks(entry) else NOTE, piece=line.piece)]
        message = obj(entry.get("message"))
        model = word(message.get("model"))
        node = Node(
            line.id,
            line.parent,
            Draft(role, ()),
            created=at,
            model=model if role == "assistant" and not line.repeats else "",
            # The lines of one reply each repeat the token usage of the whole reply.
            usage=usage_of(message.get("usage")) if counts else Usage(),
            hidden=hidden or entry.get("isMeta") is True,
            extra=_extra(entry),
            note=note,
        )
        nodes = spread(node, parts, role)
        return [replace(one, piece=True) for one in nodes] if line.piece else nodes

    def _read(self, line: _TranscriptLine) -> tuple[Role, list[Part], str, bool]:
        """The role and parts of a line, what the account notes of it, and whether it is hidden."""
        entry, kind = line.entry, word(line.entry.get("type"))
        if line.queued:
            told = _of_program(entry)
            return "system" if told else "user", text_parts(_typed(entry)), REMINDER if told else QUEUED, told
        if _has_message(entry):
            return (*self._message(entry), "", False)
        if kind == "attachment" and obj(entry.get("attachment")):
            return self._attachment(obj(entry["attachment"]))
        if kind == "progress":
            data = obj(entry.get("data"))
            inner = obj(data.get("message"))
            if "message" in inner:
                return (*self._message(inner), REMINDER, True)
            return "system", [] if data.get("type") in _SCREEN else leftovers(entry, (), _LINE), "", True
        if kind in _BOOKKEEPING or (kind == "queue-operation" and "operation" in entry):
            return "system", [], "", True
        shown = text_parts(words(entry.get("content")))
        known = ("content", "error", "stopReason") if shown or kind == "system" else ()
        rest = leftovers(entry, known, _LINE)
        return "system", [*shown, *rest], SHOWN if shown else "", not shown

    def _message(self, entry: Mapping[str, Any]) -> tuple[Role, list[Part]]:
        message = obj(entry["message"]) or {"content": entry["message"]}
        kind = word(entry.get("type"))
        role = role_of(message.get("role") if is_role(message.get("role")) else kind)
        if kind in ("user", "assistant"):
            role = "user" if kind == "user" else "assistant"
        if role == "tool":
            name, id = (next((key for key in keys if message.get(key)), "") for keys in (_TOOL, _CALL))
            field = next((key for key in _OUTPUT if message.get(key)), "")
            output = message.get(field) if field else ""
            text = words(output) or (kept_json(output) if isinstance(output, dict | list) else word(output))
            parts: list[Part] = (
                [ToolResultPart(word(message.get(name)), text, ref(message.get(id)))] if text else []
            )
            shown = content_parts(output, self.files, PROGRAM) if isinstance(output, list) else []
            parts += [part for part in shown if isinstance(part, OpaquePart)]
            return role, [*parts, *leftovers(message, (*_READ, field, name, id), PROGRAM)]
        parts = content_parts(message.get("content"), self.files, PROGRAM)
        read = _READ if parts else {*_READ, "text"}
        parts = parts or content_parts(message.get("text"), self.files, PROGRAM)
        return role, [*parts, *leftovers(message, read, PROGRAM)]

    def _attachment(self, entry: Mapping[str, Any]) -> tuple[Role, list[Part], str, bool]:
        """What the program added to a question: a queued prompt, a file that a person named, or text for the model."""
        kind, content = word(entry.get("type")), entry.get("content")
        if kind == "queued_command":
            prompt = content_parts(entry.get("prompt"), self.files, PROGRAM)
            told = _of_program(entry)
            parts = [*prompt, *leftovers(entry, ("prompt", "commandMode", "origin"), _LINE)]
            return "system" if told else "user", parts, REMINDER if told else QUEUED, told
        if kind in ("file", "directory", "selected_lines_in_ide", "mcp_resource"):
            name = next((text for key in _PATHS if (text := word(entry.get(key)))), "")
            file = obj(obj(content).get("file"))
            text = words(file.get("content")) or words(content) or words(entry.get("text"))
            picture = {
                "type": "image",
                "source": {"type": "base64", "data": file.get("base64"), "media_type": file.get("type")},
            }
            parts = [
                *text_parts(f"{name}\n\n{text}".strip() if text else ""),
                *(content_parts([picture], self.files, PROGRAM) if file.get("base64") else ()),
            ]
            return "user", parts or [OpaquePart(kept_json({**entry, "type": "file"}))], "", False
        if kind in _BOOKKEEPING:
            return "system", [], "", True
        if kind == "hook_additional_context":
            return "system", text_parts(words(content)), REMINDER, True
        known = frozenset(_PATHS) | {"type", "hookName", "hookEvent", "command", "toolUseID"}
        if kind in _REMINDERS:
            return (
                "system",
                text_parts(kept_json(dict(entry))) if entry.keys() - known else [],
                REMINDER,
                True,
            )
        return "system", leftovers(entry, (), _LINE, within=f"attachment.{kind or 'unknown'}."), "", True


_COMMAND = re.compile(
    r"<command-name>([^<]*)</command-name>(?:.*?<command-args>([^<]*)</command-args>)?", re.DOTALL
)
"""A command of the program as the file has it."""
_PATHS = ("displayPath", "filename", "path", "uri")
_SAME = ("type", "message", "attachment", "content", "parentUuid")


def _extra(entry: Mapping[str, Any]) -> dict[str, Json]:
    extra = picked(entry, "isSidechain", "isCompactSummary", "requestId", "agentId", "origin", "subtype")
    return {
        **extra,
        **picked(obj(entry.get("message")), "stop_reason"),
        **picked(obj(entry.get("attachment")), "hookName", "hookEvent", "origin"),
    }


def _speaks(entry: Mapping[str, Any]) -> bool:
    """Whether a person, a model or a tool says something in this line."""
    if entry.get("isApiErrorMessage") is True:
        return False
    attached = obj(entry.get("attachment"))
    return _has_message(entry) or (attached.get("type") == "queued_command" and not _of_program(attached))


def _has_message(entry: Mapping[str, Any]) -> bool:
    return "message" in entry and word(entry.get("type")) not in _BOOKKEEPING


def _of_program(entry: Mapping[str, Any]) -> bool:
    """Whether a queued prompt is a notice of the program's: the end of a task in the background."""
    kind = word(obj(entry.get("origin")).get("kind"))
    text = words(entry.get("prompt")) or words(entry.get("content"))
    return (
        word(entry.get("commandMode")) == "task-notification"
        or kind not in ("", "human")
        or text.startswith("<task-notification>")
    )


def _typed(entry: Mapping[str, Any]) -> str:
    """The text that a person typed, or put into the queue; "" for any other line."""
    attached = obj(entry.get("attachment"))
    if attached.get("type") == "queued_command":
        return words(attached.get("prompt")).strip()
    if entry.get("type") == "queue-operation":
        return words(entry.get("content")).strip()
    said = obj(entry.get("message")).get("content")
    if entry.get("type") != "user" or any(one.get("type") == "tool_result" for one in objs(said)):
        return ""
    text = words(said).strip()
    command = _COMMAND.search(text)
    return f"{command[1]} {command[2] or ''}".strip() if command else text


def _reply(line: _TranscriptLine) -> tuple[str, str]:
    """The key of a line's API response, which several lines share."""
    id = word(obj(line.entry.get("message")).get("id"))
    return (id, "") if id else ("", line.id)
