"""A branch as a session file that Claude Code, Codex or pi resumes, in the place where that program looks for it.

The file has what a model would be sent of the branch, without the system prompt, which these programs bring themselves:
merges as text, nothing above a program's own summary, no thoughts. Tool calls stay what they are in the program that
made them; for another one, whose tools have other names, they become text. The program's importer reads the file back.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from forky_core.context.build import build_context
from forky_core.context.calls_as_text import calls_as_text
from forky_core.context.normalise import normalise
from forky_core.conversation.conversation import Conversation
from forky_core.formats.exporting.losses import many
from forky_core.formats.session_folders import session_folders
from forky_core.llm.contract import ProviderMessage
from forky_core.model.errors import BadContent, NothingToDo
from forky_core.process.private_files import make_folder, new_file
from forky_core.store.contract import Store
from forky_core.wire.anthropic import blocks_of_message

Line = dict[str, Any]
Turns = Sequence[ProviderMessage]
_MADE_BY = "forky"
"""The model and the version in lines where a program wants one."""
_NO_USAGE = {"input_tokens": 0, "output_tokens": 0}
_NO_COST = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "total"), 0)
_LONGEST_FOLDER = 200
"""Characters of a folder's name from which on Claude Code ends it with a hash of its own."""


@dataclass(frozen=True, slots=True)
class AgentSession:
    """A session that is to be written."""

    folder: Path
    """The folder in which the program works."""
    id: str
    at: datetime

    @property
    def moment(self) -> str:
        """When it is made, in ISO 8601 with milliseconds."""
        return self.at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class AgentProgram:
    """A program that can continue a branch."""

    name: str
    """What `forky continue --in` takes, and a word of the name by which the program calls itself in requests."""
    label: str
    format: str
    """The name of the importer that reads its sessions."""
    place: Callable[[AgentSession], Path]
    """The file in which the program looks for a session."""
    lines: Callable[[AgentSession, Turns], Iterator[Line]]
    resume: str
    """The command that resumes a session, with its id for {}."""

    def content(self, chat: Conversation, store: Store) -> tuple[Turns, tuple[str, ...]]:
        """The messages that a session of the checked-out branch has, and a sentence for each kind of thing that stays
        behind or becomes text. Raises NothingToDo if there is no message.
        """
        every = chat.path()
        path = [message for message in every if not message.hidden]
        rules = replace(chat.branch.rules, system="")
        made = build_context(path, rules, lookup=chat.message, count_tokens=len, blob=store.blob)
        turns: Turns = [turn for turn in made.messages if turn["role"] != "system"]
        if not turns:
            raise NothingToDo("There is nothing to continue.", "Say something on the branch first.")
        behind = Counter(item.why for item in made.left_out if item.role != "system")
        said = [f"{many(number, 'part')} left out: {why}" for why, number in behind.items()]
        if len(path) < len(every):
            said.append(f"{many(len(every) - len(path), 'hidden message')} left out.")
        if chat.branch.rules.system or any(message.role == "system" for message in path):
            said.append(f"The system prompt stays here: {self.label} has its own.")
        calling = [at for at, turn in enumerate(turns) if turn.get("tool_calls")]
        if calling and not self._wrote(chat):
            turns = normalise(calls_as_text(turns, calling))
            said.append(
                f"Tool calls become text in {many(len(calling), 'message')}: another program made them."
            )
        return turns, tuple(said)

    def _wrote(self, chat: Conversation) -> bool:
        """Whether the conversation is the program's own, by the file or by the calls that it came from."""
        origin = chat.view.entries.get("origin")
        calls_itself = re.split(r"[^a-z]+", chat.view.program.lower())
        return self.name in calls_itself or (isinstance(origin, dict) and origin.get("format") == self.format)

    def write(self, session: AgentSession, turns: Turns) -> Path:
        """Write a session file that was not there before; returns its path. Raises BadContent if it cannot be."""
        place = self.place(session)
        try:
            make_folder(place.parent)
            with os.fdopen(new_file(place), "w", encoding="utf-8") as file:
                file.writelines(f"{json.dumps(line)}\n" for line in self.lines(session, turns))
        except OSError as error:
            raise BadContent(f"“{place}” cannot be written: {error.strerror}.") from error
        return place


def new_session(folder: Path) -> AgentSession:
    """A session with an id that no other one has."""
    return AgentSession(folder, str(uuid4()), datetime.now(UTC))


def _claude_file(session: AgentSession) -> Path:
    folder = re.sub(r"[^A-Za-z0-9]", "-", str(session.folder))
    if len(folder) > _LONGEST_FOLDER:
        raise BadContent(
            "This folder's path is too long for Claude Code's sessions.", "Go to another folder."
        )
    return session_folders()["Claude Code"] / folder / f"{session.id}.jsonl"


def _claude_lines(session: AgentSession, turns: Turns) -> Iterator[Line]:
    about = {"isSidechain": False, "userType": "external", "cwd": str(session.folder), "version": _MADE_BY}
    about |= {"sessionId": session.id, "timestamp": session.moment}
    above = None
    for turn in turns:
        role = "assistant" if turn["role"] == "assistant" else "user"
        message: Line = {"role": role, "content": blocks_of_message(turn)}
        if role == "assistant":
            stop = "tool_use" if turn.get("tool_calls") else "end_turn"
            message |= {"id": f"msg_{uuid4().hex}", "type": "message", "usage": _NO_USAGE}
            message |= {"stop_reason": stop, "stop_sequence": None}
        own = str(uuid4())
        yield {**about, "parentUuid": above, "uuid": own, "type": role, "message": message}
        above = own


def _codex_file(session: AgentSession) -> Path:
    day, time = session.at.strftime("%Y/%m/%d"), session.at.strftime("%Y-%m-%dT%H-%M-%S")
    return session_folders()["Codex"] / day / f"rollout-{time}-{session.id}.jsonl"


def _codex_lines(session: AgentSession, turns: Turns) -> Iterator[Line]:
    def line(kind: str, payload: Line) -> Line:
        return {"timestamp": session.moment, "type": kind, "payload": payload}

    about = {"id": session.id, "timestamp": session.moment, "cwd": str(session.folder)}
    about |= {"originator": _MADE_BY, "cli_version": _MADE_BY, "source": "cli"}
    yield line("session_meta", {**about, "model_provider": _codex_provider()})
    for turn in turns:
        if turn["role"] == "tool":
            answered = {"call_id": turn["tool_call_id"], "output": turn["content"]}
            yield line("response_item", {"type": "function_call_output", **answered})
            continue
        if content := [_codex_part(part, turn["role"]) for part in _parts(turn)]:
            yield line("response_item", {"type": "message", "role": turn["role"], "content": content})
            shown = "\n\n".join(part["text"] for part in content if "text" in part)
            event = "agent_message" if turn["role"] == "assistant" else "user_message"
            yield line("event_msg", {"type": event, "message": shown})  # What Codex shows of it.
        for call in turn.get("tool_calls", ()):
            yield line("response_item", {"type": "function_call", "call_id": call["id"], **call["function"]})


def _codex_provider() -> str:
    """The provider of models that the person has set up, without which Codex shows a session and does not go on."""
    try:
        chosen = tomllib.loads((session_folders()["Codex"].parent / "config.toml").read_text("utf-8"))
    except (OSError, ValueError):
        chosen = {}
    return str(chosen.get("model_provider", "openai"))


def _codex_part(part: Line, role: str) -> Line:
    if part["type"] == "text":
        return {"type": "output_text" if role == "assistant" else "input_text", "text": part["text"]}
    return {"type": "input_image", "image_url": part["image_url"]["url"]}


def _parts(turn: ProviderMessage) -> list[Line]:
    content = turn["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def _pi_file(session: AgentSession) -> Path:
    folder, time = re.sub(r"[/\\:]", "-", str(session.folder)[1:]), re.sub(r"[:.]", "-", session.moment)
    return session_folders()["pi"] / f"--{folder}--" / f"{time}_{session.id}.jsonl"


def _pi_lines(session: AgentSession, turns: Turns) -> Iterator[Line]:
    about = {"id": session.id, "timestamp": session.moment, "cwd": str(session.folder)}
    yield {"type": "session", "version": 3, **about}
    names = {call["id"]: call["function"]["name"] for turn in turns for call in turn.get("tool_calls", ())}
    above = None
    for number, turn in enumerate(turns, 1):
        message: Line = {"role": turn["role"], "timestamp": int(session.at.timestamp() * 1000)}
        if turn["role"] == "tool":
            called = turn["tool_call_id"]
            message |= {"role": "toolResult", "toolCallId": called, "toolName": names[called]}
            message |= {"content": _parts(turn), "isError": False}
        else:
            message["content"] = [_pi_part(block) for block in blocks_of_message(turn)]
        if turn["role"] == "assistant":
            message |= {"api": "openai-completions", "provider": _MADE_BY, "model": _MADE_BY}
            message |= {"usage": {**_NO_COST, "totalTokens": 0, "cost": _NO_COST}}
            message["stopReason"] = "toolUse" if turn.get("tool_calls") else "stop"
        own = f"{number:08x}"
        yield {
            "type": "message",
            "id": own,
            "parentId": above,
            "timestamp": session.moment,
            "message": message,
        }
        above = own


def _pi_part(block: Line) -> Line:
    if block["type"] == "tool_use":
        return {"type": "toolCall", "id": block["id"], "name": block["name"], "arguments": block["input"]}
    if block["type"] == "image":
        return {"type": "image", "data": block["source"]["data"], "mimeType": block["source"]["media_type"]}
    return block


PROGRAMS = (
    AgentProgram("claude", "Claude Code", "claude-code", _claude_file, _claude_lines, "claude --resume {}"),
    AgentProgram("codex", "Codex", "codex", _codex_file, _codex_lines, "codex resume {}"),
    AgentProgram("pi", "pi", "pi", _pi_file, _pi_lines, "pi --session {}"),
)
