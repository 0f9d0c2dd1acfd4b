"""Plain transcripts in Markdown or text: `## User`, `**You:** …` or `User: …`, whichever of them a file uses.

A mark inside a code block is part of the code. The text above the first mark is the title, or is kept separately.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import ClassVar

from forky_core.fences import parts
from forky_core.formats.chaining import Chain
from forky_core.formats.contract import ParsedConversation, Sample, SourceDocument, SourceFiles, Unreadable
from forky_core.formats.openai_messages import text_parts
from forky_core.model import Role
from forky_core.model.errors import BadContent

_ROLES: dict[str, Role] = {
    **dict.fromkeys(("user", "you", "human", "me", "prompt", "question", "you said"), "user"),
    **dict.fromkeys(
        ("assistant", "ai", "bot", "model", "answer", "response", "chatgpt", "chatgpt said"), "assistant"
    ),
    **dict.fromkeys(("claude", "gemini", "copilot", "grok", "llama", "mistral", "deepseek"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
}
_WHO = r"(?P<who>[A-Za-z][\w .-]{0,40}?)"
_STYLES = (
    re.compile(rf"#{{1,6}} +(?:\*\*)?{_WHO}:?(?:\*\*)?:? *(?:\((?P<note>[^()]{{0,80}})\))?(?P<rest>)"),
    re.compile(rf"\*\*{_WHO}(?::\*\*|\*\* *:|\*\*$) *(?P<rest>.*)"),
    re.compile(rf"(?:> *)?{_WHO}: *(?P<rest>.*)"),
)
"""Headings, bold names, bare names: a file's style is the first one in which both sides speak."""
_GPT = re.compile(r"(?:gpt|claude|gemini|llama|o\d|mistral|qwen|deepseek)[ \w.-]*", re.IGNORECASE)
_TITLE = re.compile(r"# +(.+)")


class Transcripts:
    name: ClassVar[str] = "transcript"
    label: ClassVar[str] = "Transcript (Markdown, text)"

    def fits(self, sample: Sample) -> bool:
        return sample.shape == "text" and _style(sample.text.splitlines()) is not None

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[ParsedConversation | Unreadable]:  # noqa: ARG002 - it carries none
        try:
            lines = document.text().splitlines()
        except BadContent as error:
            yield Unreadable(document.name, str(error))
            return
        style = _style(lines)
        if style is None:
            yield Unreadable(document.name, "Nobody speaks in it.")
            return
        yield _transcript(lines, style, PurePosixPath(document.name).stem)


def _marks(lines: list[str], style: re.Pattern[str]) -> Iterator[tuple[int, Role, str, str]]:
    """Line, role, name and the rest of the line of each mark outside of code."""
    for number, (line, part) in enumerate(parts(lines)):
        match = style.fullmatch(line.rstrip()) if part == "prose" and len(line) <= 1_000_000 else None
        role = _role(match["who"]) if match is not None else None
        if match is not None and role is not None:
            yield number, role, match["who"], match["rest"]


def _role(who: str) -> Role | None:
    known = _ROLES.get(who.strip().lower())
    return known or ("assistant" if _GPT.fullmatch(who) else None)


def _style(lines: list[str]) -> re.Pattern[str] | None:
    for style in _STYLES:
        sides = {role for _, role, _, _ in _marks(lines, style)}
        if {"user", "assistant"} <= sides:
            return style
    return None


def _transcript(lines: list[str], style: re.Pattern[str], stem: str) -> ParsedConversation:
    marks = list(_marks(lines, style))
    above = lines[: marks[0][0]]
    heading = next((match for line in above if (match := _TITLE.fullmatch(line.rstrip()))), None)
    preface = "\n".join(line for line in above if heading is None or line.rstrip() != heading.group()).strip()
    chain = Chain()
    ends = [number for number, _, _, _ in marks[1:]] + [len(lines)]
    for (number, role, who, rest), end in zip(marks, ends, strict=True):
        text = "\n".join((rest, *lines[number + 1 : end])).strip().removesuffix("\n---").strip()
        model = who.strip() if role == "assistant" and _GPT.fullmatch(who) else ""
        chain.add(text_parts(text), role, model=model)
    return ParsedConversation(
        source_id="",
        title=heading.group(1).strip() if heading else stem,
        nodes=tuple(chain.nodes),
        current=chain.last,
        extra={"preface": preface} if preface else {},
    )
