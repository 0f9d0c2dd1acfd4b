"""Sessions of coding agents: SpecStory's Markdown, and the sessions that Forky's importers read.

Below build/mergebench/agents/ every `*.md` is a SpecStory history; any other file is read as Forky imports it, so that
traces of one's own can be laid there, too, in a folder `traces`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from bench.mergebench.case import Split, Turn
from bench.mergebench.hindsight import Hindsight, cut
from bench.mergebench.sources import folder
from forky_core.forky import Forky
from forky_core.formats.importing.landing import import_file
from forky_core.model import Message
from forky_core.model.errors import ForkyError
from forky_core.model.graph import first_parent_path
from forky_core.model.parts import TextPart, ToolCallPart, ToolResultPart

CASES_OF_A_SESSION = 4
"""Most cases that one session gives, so that a few long ones do not stand for all."""
QUICK_SESSIONS = 8

_HEADING = re.compile(r"^_\*\*(User|Agent)( - sidechain)?[^\n]*\*\*_$", re.MULTILINE)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_TOOL = re.compile(
    r'<tool-use[^>]*data-tool-name="([^"]*)"[^>]*>\s*<details>(.*?)</details>\s*</tool-use>', re.DOTALL
)
_SUMMARY = re.compile(r"\A\s*<summary>.*?</summary>[ \t]*\n?", re.DOTALL)
_OUTPUT = re.compile(r"^(`{3,})(?:text)?\n(.*?)\n?^\1\s*\Z", re.DOTALL | re.MULTILINE)
_RULE = re.compile(r"(?:^|\n)---\s*\Z")
_BY_PROGRAM = re.compile(
    r"\A\s*(?:<(?:command-|local-command|system-reminder|task-notification|bash-|user-prompt-submit)|"
    r"\[Request interrupted|This session is being continued|Caveat: )"
)
"""How a user's turn begins that nobody typed."""


def sessions(split: Split) -> Iterator[tuple[str, tuple[Turn, ...]]]:
    """The name and the turns of every session of a half.

    Sessions are sorted by the day on which they began; the first, third, … day is the development half. Sessions that
    began in the same second are the same one, continued; the longest file stands for it.
    """
    every: dict[str, Path] = {}
    for file in sorted(folder("agents").rglob("*.md")):
        began = file.name[:20]
        if began not in every or file.stat().st_size > every[began].stat().st_size:
            every[began] = file
    days = sorted({began[:10] for began in every})
    for began, file in sorted(every.items()):
        if (days.index(began[:10]) % 2 == 1) == (split == "test"):
            yield began, specstory(file.read_text("utf-8", "replace"))
    if split == "development":
        yield from _traces()


def specstory(text: str) -> tuple[Turn, ...]:
    """The turns of a SpecStory history, without thoughts, subagents' chains and what programs put in as the person."""
    found: list[Turn] = []
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    for heading, end in zip(headings, ends, strict=False):
        body = _RULE.sub("", text[heading.end() : end]).strip()
        if heading[2] or not body:
            continue
        if heading[1] == "Agent":
            found += _agent(_THOUGHT.sub("", body))
        elif not _BY_PROGRAM.match(body):
            found.append(Turn("user", body))
    return tuple(_joined(found))


def _agent(body: str) -> Iterator[Turn]:
    """What the agent says, and the tools that it uses, in their order."""
    at = 0
    for tool in _TOOL.finditer(body):
        if said := body[at : tool.start()].strip():
            yield Turn("assistant", said)
        inner = _SUMMARY.sub("", tool[2]).strip()
        output = _OUTPUT.search(inner)
        asked = inner[: output.start()].strip() if output else inner
        call = json.dumps({"input": asked}, ensure_ascii=False) if asked else "{}"
        yield Turn("tool", output[2] if output else "", tool[1], call)
        at = tool.end()
    if said := body[at:].strip():
        yield Turn("assistant", said)


def _joined(turns: list[Turn]) -> Iterator[Turn]:
    """Neighbouring turns of the person, and of the assistant, as one: they were one, cut by an interruption."""
    held: Turn | None = None
    for turn in turns:
        if held and held.role == turn.role != "tool":
            held = Turn(turn.role, f"{held.text}\n\n{turn.text}")
            continue
        if held:
            yield held
        held = turn
    if held:
        yield held


def _traces() -> Iterator[tuple[str, tuple[Turn, ...]]]:
    """The longest path of each conversation in files that Forky imports."""
    for file in sorted((folder("agents") / "traces").rglob("*")):
        if not file.is_file():
            continue
        with Forky.open(":memory:") as forky:
            try:
                arrived = import_file(forky, file)
            except ForkyError:
                continue  # No conversation.
            for number, id in enumerate(arrived.conversations):
                known = forky.conversation(id).visible.messages
                inner = {parent for message in known.values() for parent in message.parents[:1]}
                paths = [
                    [known[one] for one in first_parent_path(tip, lambda id: known[id].parents)]  # noqa: B023
                    for tip in sorted(set(known) - inner)
                ]
                if paths:
                    yield f"{file.name}-{number}", tuple(_joined(_turns(max(paths, key=len))))


def _turns(path: list[Message]) -> list[Turn]:
    found: list[Turn] = []
    called: dict[str, ToolCallPart] = {}
    for message in path:
        if message.hidden or message.role == "system":
            continue
        for part in message.parts:
            if isinstance(part, TextPart) and part.text.strip():
                role = message.role if message.role in ("user", "assistant") else "tool"
                found.append(Turn(role, part.text))
            elif isinstance(part, ToolCallPart):
                called[part.tool_call_id or ""] = part
            elif isinstance(part, ToolResultPart):
                call = called.pop(part.tool_call_id or "", None)
                found.append(Turn("tool", part.output, part.name, call.arguments if call else "{}"))
    return found


@lru_cache(maxsize=4)
def agent_logs(split: Split, *, quick: bool = False, spoken: bool = False) -> tuple[Hindsight, ...]:
    """The cases of the agents' sessions, at most CASES_OF_A_SESSION of each; () where there are no sessions.

    `spoken`: as in `cut`.
    """
    found: list[Hindsight] = []
    for number, (name, turns) in enumerate(sessions(split)):
        if quick and number >= QUICK_SESSIONS:
            break
        cases = list(cut(f"agents-{name}", turns, split, short=True, spoken=spoken))
        step = max(1, -(-len(cases) // CASES_OF_A_SESSION))
        found += cases[::step]
    return tuple(found)
