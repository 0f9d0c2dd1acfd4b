"""Claude Code's sessions: JSON Lines linked by `parentUuid`, including the program's own notes.

A sub-agent's lines have roots of their own. A compaction starts a new root and names its predecessor
(`logicalParentUuid`), so the path is made whole here. A line without an id belongs to the one it follows; a line that
repeats an id is stored with the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from forky_core.formats.chaining import spread, usage_of
from forky_core.formats.contract import (
    Node,
    ParsedConversation,
    Sample,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.fields import micros, obj, picked, ref, word, words
from forky_core.formats.leftovers import Program, leftovers
from forky_core.formats.openai_messages import content_parts
from forky_core.model import Role, Usage
from forky_core.model.parts import Draft, Json

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
_READ = frozenset(("content", "role"))
NOTE = "It is a note of the program, no message."
ERROR = "It is an error of the program, no answer."


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

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[ParsedConversation | Unreadable]:
        session = _Session(files)
        for value in document.values():
            if isinstance(value, Unreadable):
                yield value
            else:
                session.take(obj(value))
        yield session.found()


@dataclass(slots=True)
class _Session:
    files: SourceFiles
    lines: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Lines by id, in the order of the file."""
    again: dict[str, list[Json]] = field(default_factory=dict)
    """Further lines with an id that had occurred before."""
    pieces: dict[str, str] = field(default_factory=dict)
    """For a line without an id, the generated id → the id of the line it follows."""
    titles: dict[str, str] = field(default_factory=dict)
    summaries: dict[str, str] = field(default_factory=dict)

    def take(self, line: Mapping[str, Any]) -> None:
        kind, id = word(line.get("type")), word(line.get("uuid"))
        if id in self.lines:
            if line.get("message") != self.lines[id].get("message"):
                self.again.setdefault(id, []).append(line.get("message"))
        elif id:
            self.lines[id] = line
        elif kind in ("user", "assistant"):
            above = ref(line.get("parentUuid")) or ""
            id = f"{above}/+{len(self.pieces) + 1}"
            self.lines[id] = line
            self.pieces[id] = above
        elif kind == "summary":
            self.summaries[word(line.get("leafUuid"))] = word(line.get("summary"))
        elif kind in ("custom-title", "ai-title"):
            self.titles[kind] = word(line.get("customTitle")) or word(line.get("aiTitle"))

    def found(self) -> ParsedConversation:
        last_of = {_reply(line): id for id, line in self.lines.items()}
        nodes: list[Node] = []
        current, last = None, None
        for id, line in self.lines.items():
            nodes += self._nodes(id, line, counts=last_of[_reply(line)] == id)
            last = id
            if _says(line) and line.get("isSidechain") is not True and id not in self.pieces:
                current = id
        about = self.lines[current or last or ""] if self.lines else {}
        session, agent = word(about.get("sessionId")), word(about.get("agentId"))
        titles = (self.titles.get("custom-title"), self.titles.get("ai-title"), *self._summaries())
        return ParsedConversation(
            source_id=f"{session}/{agent}" if agent and current is None else session,
            title=next(filter(None, titles), ""),
            nodes=tuple(nodes),
            current=current or last,
            extra=picked(about, "gitBranch", "version"),
        )

    def _summaries(self) -> list[str]:
        """The summaries, newest first; the file contains those of other sessions as well."""
        return [text for leaf, text in reversed(self.summaries.items()) if leaf in self.lines]

    def _nodes(self, id: str, line: Mapping[str, Any], *, counts: bool) -> list[Node]:
        parent = ref(line.get("parentUuid")) or ref(line.get("logicalParentUuid"))
        if not _says(line):
            if line.get("isApiErrorMessage") is not True:
                return [Node(id, parent, None, why=NOTE)]
            failure = words(obj(line.get("message")).get("content")) or word(line.get("error")) or ERROR
            at = micros(line.get("timestamp"))
            return [Node(id, parent, Draft("assistant", ()), created=at, why=ERROR, failure=failure)]
        message = obj(line.get("message"))
        role: Role = "user" if line["type"] == "user" else "assistant"
        model = word(message.get("model"))
        node = Node(
            id,
            parent,
            Draft(role, ()),
            created=micros(line.get("timestamp")),
            model=model if role == "assistant" else "",
            # The lines of one reply each repeat the token usage of the whole reply.
            usage=usage_of(message.get("usage")) if counts else Usage(),
            hidden=line.get("isMeta") is True,
            extra=self._extra(id, line),
        )
        parts = content_parts(message.get("content"), self.files, PROGRAM)
        if not parts:
            parts = content_parts(message.get("text"), self.files, PROGRAM)
            parts += leftovers(message, (*_READ, "text"), PROGRAM)
        else:
            parts += leftovers(message, _READ, PROGRAM)
        nodes = spread(node, parts, role)
        return [replace(one, piece=True) for one in nodes] if id in self.pieces else nodes

    def _extra(self, id: str, line: Mapping[str, Any]) -> dict[str, Json]:
        extra = picked(line, "isSidechain", "isCompactSummary", "requestId", "agentId", "origin")
        extra.update(picked(obj(line.get("message")), "stop_reason"))
        if id in self.again:
            extra["again"] = self.again[id]
        return extra


def _says(line: Mapping[str, Any]) -> bool:
    return line.get("type") in ("user", "assistant") and line.get("isApiErrorMessage") is not True


def _reply(line: Mapping[str, Any]) -> tuple[str, str]:
    """The key of a line's API response, which several lines share."""
    id = word(obj(line.get("message")).get("id"))
    return (id, "") if id else ("", word(line.get("uuid")))
