"""A small whole file of every format, to be spoilt: calls, thoughts, files, siblings and times where it has them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from forky_core.formats.importing.readers import chatgpt
from forky_core.model.parts import Json
from tests.formats.importing.test_agent_runs import cursor_database
from tests.formats.importing.test_llm_logs import responses, threads
from tests.formats.importing.test_local_apps import first_forky
from tests.formats.importing.test_trees import webui_database
from tests.formats.sources import program_file


@dataclass(frozen=True, slots=True)
class Seed:
    importer: str
    """Name of the importer that reads it."""
    kind: Literal["value", "lines", "text", "bytes"]
    content: Json
    messages: str = ""
    """Where its messages stand: a regular expression of paths such as `.conversations[0]`. JSON has to say it."""
    signs: frozenset[str] = frozenset()
    """Names of fields that only say how a message is read, such as who speaks, and need not be kept."""


def whole(seed: Seed) -> bytes:
    """Its file as it should be."""
    if seed.kind == "value":
        return json.dumps(seed.content).encode()
    if seed.kind == "lines":
        return "".join(f"{json.dumps(line)}\n" for line in seed.content).encode()
    return seed.content.encode() if isinstance(seed.content, str) else bytes(seed.content)


_DEEPSEEK = r"\.mapping\.[^.]+\.message|\.chat_messages\[\d+\]"
_GEMINI_CLI = r"\.messages\[\d+\]|^\[[1-9]\d*\]"
_MESSAGES = r"\.messages\[\d+\]"
_FIRST_FORKY = r"\.nodes\.[^.]+|\.tree"
_LOOM = r"\.root|\.nodes\.[^.]+"
_CHATGPT = frozenset(("content_type", "recipient", "language")) | chatgpt.METADATA
_JSON: tuple[tuple[str, str, str, Iterable[str]], ...] = (
    ("chatgpt", "chatgpt.json", r"\.mapping\.[^.]+\.message", _CHATGPT),
    ("deepseek", "deepseek.json", _DEEPSEEK, ()),
    ("deepseek", "deepseek-page.json", _DEEPSEEK, ()),
    ("claude-ai", "claude-ai-blocks.json", r"\.chat_messages\[\d+\]", ("sender",)),
    ("open-webui", "open-webui-output.json", r"\.history\.messages\.[^.]+", ()),
    ("librechat", "librechat.json", r"\.messages(Tree)?\[\d+\]", ()),
    ("grok", "grok.json", r"\.responses\[\d+\]\.response", ("sender",)),
    ("loom", "loom.json", _LOOM, ()),
    ("loom", "loom-obsidian.json", _LOOM, ()),
    ("ai-studio", "ai-studio.json", r"\.chunkedPrompt\.chunks\[\d+\]", ()),
    ("chatbox", "chatbox.json", _MESSAGES, ()),
    ("lobechat", "lobechat.json", _MESSAGES, ()),
    ("session-traces", "session-traces.jsonl", r"^\[\d+\]\.message", ("parent",)),
    ("pi", "pi.jsonl", r"^\[\d+\]\.message", ()),
    ("recorded-calls", "recorded-calls.jsonl", r"\.(request\.messages|response\.choices)\[\d+\]", ()),
    ("claude-code", "claude-code.jsonl", r"^\[\d+\]\.message", ()),
    ("codex", "codex.jsonl", r"^\[[1-9]\d*\]\.payload", ()),
    ("sillytavern", "sillytavern.jsonl", r"^\[[1-9]\d*\]", ("send_date",)),
    ("sharegpt", "sharegpt.json", r"\.conversations\[\d+\]", ("from",)),
    ("messages", "messages.json", _MESSAGES, ()),
    ("messages", "messages.jsonl", _MESSAGES, ()),
    ("takeout-gemini", "takeout-gemini.json", r"^\[\d+\]", ()),
    ("langchain", "langchain.json", r"^\[\d+\]\.(data|kwargs)", ()),
    ("langchain", "langchain-dicts.json", r"^\[\d+\]\.(data|kwargs)", ()),
    ("big-agi", "big-agi.json", _MESSAGES, ("ft",)),
    ("gemini-cli", "gemini-cli.json", _GEMINI_CLI, ()),
    ("gemini-cli", "gemini-cli.jsonl", _GEMINI_CLI, ("$rewindTo",)),
    ("qwen-code", "qwen-code.jsonl", r"^\[\d+\]\.message", ()),
    ("vscode-chat", "vscode-chat.json", r"\.requests\[\d+\]", ()),
    ("vscode-chat", "vscode-chat.jsonl", r"^\[[14]\]\.v\[\d+\]", ()),
    ("lm-studio", "lm-studio.json", _MESSAGES, ()),
    ("opencode", "opencode.json", _MESSAGES, ()),
    ("first-forky", "first-forky.json", _FIRST_FORKY, ()),
    ("first-forky", "first-forky-2024.json", _FIRST_FORKY, ()),
    ("canvas-chat", "canvas-chat.json", r"\.nodes\[\d+\]", ()),
    ("openhands", "openhands.json", r"^\[\d+\]", ()),
    ("openhands", "openhands-kit.jsonl", r"^\[\d+\]", ()),
    ("swe-agent", "swe-agent.json", r"\.history\[\d+\]", ()),
    ("atif", "atif.json", r"\.steps\[\d+\]", ()),
    ("cherry-studio", "cherry-studio.json", r"\.(topics\[\d+\]\.messages|message_blocks)\[\d+\]", ()),
)
"""Importer, file, where its messages stand, and the signs."""
_TEXTS = (
    ("transcript", "transcript.md"),
    ("forky-markdown", "forky-markdown.md"),
    ("transcript", "specstory.md"),
    ("transcript", "cursor.md"),
    ("aider", "aider-once.md"),
    ("claude-code-export", "claude-code-export.txt"),
    ("transcript", "transcript-bold.md"),
    ("transcript", "transcript-plain.md"),
    ("chatgpt-share", "chatgpt-share.html"),
)


def seeds(folder: Path) -> tuple[Seed, ...]:
    """One or more for each importer; databases are made in `folder`."""
    texts = (Seed(importer, "text", program_file(name)) for importer, name in _TEXTS)
    databases = (
        ("llm", threads(folder / "new.db")),
        ("llm", responses(folder / "old.db")),
        ("cursor", cursor_database(folder / "state.vscdb")),
        ("first-forky", first_forky(folder / "forky.db")),
        ("open-webui", webui_database(folder / "webui.db")),
    )
    return (
        *json_seeds(),
        *texts,
        *(Seed(importer, "bytes", path.read_bytes()) for importer, path in databases),
    )


def json_seeds() -> tuple[Seed, ...]:
    """Those that are JSON with messages in it."""
    return tuple(
        Seed(
            importer,
            "lines" if name.endswith(".jsonl") else "value",
            program_file(name),
            messages,
            frozenset(signs),
        )
        for importer, name, messages, signs in _JSON
    )
