"""What coding agents show in a terminal, as text: aider's chat history, and Claude Code's `/export`.

The first characters of a line say who speaks. What the program itself says between the messages is kept beside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import ClassVar

from forky_core.formats.chaining import Chain
from forky_core.formats.contract import (
    ParsedConversation,
    Result,
    Sample,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.fields import micros
from forky_core.formats.openai_messages import text_parts
from forky_core.model.parts import Part, ReasoningPart
from forky_core.text.fences import parts

NOBODY = "Nobody speaks in it."


class Aider:
    name: ClassVar[str] = "aider"
    label: ClassVar[str] = "aider chat history"

    def fits(self, sample: Sample) -> bool:
        return sample.shape == "text" and any(map(_STARTED.fullmatch, sample.text.splitlines()))

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:  # noqa: ARG002 - it carries none
        """A conversation for each session in which somebody spoke."""
        lines = document.text().splitlines()
        starts = [number for number, line in enumerate(lines) if _STARTED.fullmatch(line.rstrip())]
        for start, end in zip(starts, [*starts, len(lines)][1:], strict=True):
            session = _session(lines[start], lines[start + 1 : end])
            yield session if session.nodes else Unreadable(lines[start].strip("# "), NOBODY)


_STARTED = re.compile(r"# aider chat started at (?P<when>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_ASKED, _TOLD = "####", ">"


def _session(head: str, lines: list[str]) -> ParsedConversation:
    at = micros(head.partition(" at ")[2].strip())
    blocks: list[tuple[str, list[str]]] = [("", [])]
    """Lines that follow each other, with the sign of who says them: "" is the model, or nobody before a question."""
    for line, part in parts(lines):
        sign = next(
            (
                sign
                for sign in (_ASKED, _TOLD)
                if part == "prose" and f"{line.rstrip()} ".startswith(f"{sign} ")
            ),
            "",
        )
        said = line.removeprefix(sign).strip() if sign else line
        if sign != blocks[-1][0] and (sign or said.strip()):
            blocks.append((sign, []))
        blocks[-1][1].append(said)
    chain = Chain()
    starts = [number for number, (sign, _) in enumerate(blocks) if sign == _ASKED]
    preface = _joined(*map(_shown, blocks[: starts[0] if starts else len(blocks)]))
    for start, end in zip(starts, [*starts, len(blocks)][1:], strict=True):
        answer, told = _reply(blocks[start + 1 : end])
        beside = {"program": told} if told else {}
        asked = text_parts(_text(blocks[start][1]))
        chain.add(asked, "user", created=at, extra={} if answer else beside)
        if answer:
            chain.add(text_parts(answer), "assistant", created=at, extra=beside)
    return chain.conversation(
        "",
        "",
        created=at,
        extra={"preface": preface} if preface else {},
    )


def _reply(blocks: list[tuple[str, list[str]]]) -> tuple[str, str]:
    """What the model answered, with the quotations in it; and what the program tells before and after that."""
    said = [number for number, (sign, _) in enumerate(blocks) if not sign]
    first, last = (said[0], said[-1] + 1) if said else (len(blocks), len(blocks))
    told = _joined(*(_text(lines) for _, lines in (*blocks[:first], *blocks[last:])))
    return _joined(*map(_shown, blocks[first:last])), told


def _shown(block: tuple[str, list[str]]) -> str:
    """A block as it stands in the file."""
    sign, lines = block
    return "\n".join(f"{sign} {line}" if sign else line for line in "\n".join(lines).strip("\n").split("\n"))


def _joined(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))


class ClaudeCodeExport:
    name: ClassVar[str] = "claude-code-export"
    label: ClassVar[str] = "Claude Code /export"

    def fits(self, sample: Sample) -> bool:
        if sample.shape != "text" or not _SHOWN.search(sample.text):
            return False
        signs = {found["sign"] for line in sample.text.splitlines() if (found := _SPOKEN.match(line))}
        return bool(signs & _PERSON) and bool(signs & _MODEL)

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:  # noqa: ARG002 - it carries none
        lines = document.text().splitlines()
        found = _exported(lines, PurePosixPath(document.name).stem)
        yield found if found.nodes else Unreadable(document.name, NOBODY)


_PERSON, _MODEL = frozenset("❯>"), frozenset("⏺●")
_SPOKEN = re.compile(r"(?P<sign>[❯>⏺●✻✽✶✢∴※])\s(?P<rest>.*)")
_THINKING = re.compile(r"Thinking.{0,20}")
_SHOWN = re.compile(r"^[❯⏺] |^ +⎿|Claude Code v\d", re.MULTILINE)
"""What tells such a text from a list with quotations."""
_OUTPUT = re.compile(r"\s*⎿.*|.*\(ctrl\+\w to expand\)\s*")
"""Where the output of a command begins below it."""


def _exported(lines: list[str], title: str) -> ParsedConversation:
    blocks: list[tuple[str, list[str]]] = [("", [])]
    for line in lines:
        spoken = _SPOKEN.match(line)
        if spoken:
            blocks.append((spoken["sign"], [spoken["rest"]]))
        else:
            blocks[-1][1].append(line.removeprefix("  "))
    chain = Chain()
    thoughts: list[Part] = []
    texts: list[str] = []
    told: list[str] = []

    def close() -> None:
        """Add what the model said since the last question: the calls that are shown in it are part of its text."""
        if texts or thoughts:
            beside = {"program": _joined(*told)} if told else {}
            chain.add([*thoughts, *text_parts(_joined(*texts))], "assistant", extra=beside)
            for held in (thoughts, texts, told):
                held.clear()

    for sign, block in blocks[1:]:
        text = _text(block)
        if sign in _PERSON:
            close()
            cut = next(
                (number for number, line in enumerate(block) if number and _OUTPUT.fullmatch(line)),
                len(block),
            )
            shown = _text(block[cut:])
            chain.add(text_parts(_text(block[:cut])), "user", extra={"program": shown} if shown else {})
        elif sign in _MODEL:
            texts.append(text)
        elif _THINKING.fullmatch(block[0].strip()):
            thoughts += [ReasoningPart(_text(block[1:]))] if _text(block[1:]) else []
        else:
            told.append(f"{sign} {text}")
    close()
    preface = _joined("\n".join(blocks[0][1]).strip(), *told)
    return chain.conversation("", title, extra={"preface": preface} if preface else {})


def _text(lines: list[str]) -> str:
    return "\n".join(line.rstrip() for line in lines).strip()
