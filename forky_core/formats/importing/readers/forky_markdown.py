"""The Markdown that Forky writes (exporting/writers/markdown.py): branches are restored at the messages they branch
off.

Its numbers count through the whole file, so a heading inside a message could be one of ours only if it had the next
number: such a line is written with a backslash. Calls, attachments and thoughts were written as text and stay text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from forky_core.formats.contract import Node, ParsedConversation, Result, Sample, SourceDocument, SourceFiles
from forky_core.formats.fields import micros
from forky_core.formats.openai_messages import text_parts
from forky_core.model import Role
from forky_core.model.parts import Draft
from forky_core.text.fences import CodeBlocks

_TITLE = re.compile(r"# (.+)")
_HEADING = re.compile(r"## (\d{1,9})\. (.{1,300}?)(?: · (\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?) UTC)?")
_SECTION = re.compile(r"\*\*(?:Branch “(.*)”|Beside the branches)\*\*(?:, from message (\d{1,9}))?")
_RULE = "---"
_ROLES: dict[str, Role] = {"You": "user", "Assistant": "assistant", "System": "system", "Tool": "user"}
_MODEL = re.compile(r"\S*/\S+|(?:gpt|claude|gemini|llama|o\d|mistral|qwen|deepseek)[\w.:-]*", re.IGNORECASE)
_MERGE = "Merge of “"


class ForkyMarkdown:
    name: ClassVar[str] = "forky-markdown"
    label: ClassVar[str] = "Markdown that Forky wrote"

    def fits(self, sample: Sample) -> bool:
        if sample.shape != "text" or _TITLE.match(sample.text) is None:
            return False
        first = next((match for line in sample.text.split("\n") if (match := _heading(line))), None)
        return first is not None and first[1] == "1" and (first[2] in _ROLES or bool(first[3]))

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:  # noqa: ARG002 - it carries none
        lines = document.text().replace("\r\n", "\n").split("\n")
        reading = _MarkdownReading()
        for number, line in enumerate(lines):
            reading.take(line, above=lines[max(0, number - 2) : number])
        yield reading.found(lines[0].removeprefix("# ").strip())


def is_mark(line: str, number: int) -> bool:
    """Whether a line, behind any backslashes, begins like the heading of message `number` or of a branch. Inside a
    message it is written with one more backslash.
    """
    return line.lstrip("\\").startswith((f"## {number}. ", "**Branch “", "**Beside the branches**"))


def _heading(line: str) -> re.Match[str] | None:
    return _HEADING.fullmatch(line) if line.startswith("## ") and len(line) < 400 else None


@dataclass(slots=True)
class _Said:
    who: str
    at: int
    parent: int | None
    lines: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _MarkdownReading:
    messages: list[_Said] = field(default_factory=list)
    """The messages in order; numbers start with 1."""
    ends: dict[str, int] = field(default_factory=dict)
    """For each branch, the number of its last message."""
    sections: int = 0
    """Sections whose heading has been read; a file with a single line has none."""
    branch: str = ""
    parent: int | None = None
    live: int = 0
    """The last message of the first section, which is the main line."""
    blocks: CodeBlocks = field(default_factory=CodeBlocks)

    def take(self, line: str, above: list[str]) -> None:
        section = None if self.blocks.marker or above != [_RULE, ""] else _SECTION.fullmatch(line)
        if section is not None:
            if self.messages:
                del self.messages[-1].lines[-2:]
            after = int(section[2] or 0)
            self.sections += 1
            self.branch, self.parent = section[1] or "", after if 0 < after <= len(self.messages) else None
            return
        heading = None if self.blocks.marker else _heading(line)
        if heading is not None and int(heading[1]) == len(self.messages) + 1:
            self._begin(heading)
        elif self.messages:
            is_escaped = not self.blocks.marker and line[:1] == "\\" and is_mark(line, len(self.messages) + 1)
            self.blocks.take(line)
            self.messages[-1].lines.append(line[1:] if is_escaped else line)

    def _begin(self, heading: re.Match[str]) -> None:
        self.messages.append(_Said(heading[2], micros(heading[3]), self.parent))
        self.parent = number = len(self.messages)
        if self.branch:
            self.ends[self.branch] = number
        if self.sections < 2:
            self.live = number

    def found(self, title: str) -> ParsedConversation:
        asks = any(said.who == "You" for said in self.messages)
        nodes = []
        for number, said in enumerate(self.messages, 1):
            role = _role(said.who, alone=asks)
            model = said.who if role == "assistant" and said.who not in _ROLES else ""
            draft = Draft(role, tuple(text_parts("\n".join(said.lines).strip())))
            nodes.append(
                Node(
                    str(number),
                    str(said.parent) if said.parent is not None else None,
                    draft,
                    created=said.at,
                    model="" if model.startswith(_MERGE) else model,
                    extra={"who": said.who} if said.who not in _ROLES else {},
                )
            )
        return ParsedConversation(
            source_id="",
            title="" if title == "Untitled" else title,
            nodes=tuple(nodes),
            current=str(self.live) if self.live else None,
            branch=next((name for name, end in self.ends.items() if end == self.live), "main"),
            names={name: str(end) for name, end in self.ends.items() if end != self.live},
        )


def _role(who: str, *, alone: bool) -> Role:
    """The role of a speaker. `alone`: the one person is “You”, so any other name is a model's."""
    known = _ROLES.get(who)
    if known is not None:
        return known
    return "assistant" if alone or who.startswith(_MERGE) or _MODEL.fullmatch(who) else "user"
