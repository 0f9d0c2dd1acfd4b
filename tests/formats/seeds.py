"""A small whole file of every format, to be spoilt: calls, thoughts, files, siblings and times where it has them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from forky_core.formats.importing.readers import chatgpt
from forky_core.model.parts import Json
from tests.formats.importing.test_agent_runs import (
    ATIF_RUN,
    CHERRY,
    OPENHANDS,
    OPENHANDS_KIT,
    SWE,
    cursor_database,
)
from tests.formats.importing.test_agent_transcripts import AIDER, CURSOR, EXPORT, SPECSTORY
from tests.formats.importing.test_agents import code, item
from tests.formats.importing.test_apps import made
from tests.formats.importing.test_chatgpt import conversation, entry
from tests.formats.importing.test_editors import GEMINI, GEMINI_LINES, QWEN, VSCODE, VSCODE_LOG
from tests.formats.importing.test_llm_logs import responses, threads
from tests.formats.importing.test_local_apps import (
    CANVAS,
    FORKY_FLAT,
    FORKY_NESTED,
    LM_STUDIO,
    OPENCODE,
    first_forky,
)
from tests.formats.importing.test_siblings import ASKED, CHATBOX, LOBE, LOOM, OBSIDIAN, STUDIO, SWIPED
from tests.formats.importing.test_trees import (
    CLAUDE_TREE,
    GROK_TREE,
    LIBRE_TREE,
    WEBUI_TREE,
    webui_database,
)

PICTURE = "data:image/png;base64,iVBORw0KGgoAAAAA"
CALL = {"id": "t", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
BLOCKS: list[Json] = [
    {"type": "thinking", "thinking": "Hm", "signature": "s"},
    {"type": "text", "text": "Look"},
    {"type": "tool_use", "id": "t", "name": "f", "input": {"x": [1, {"y": None}]}},
    {
        "type": "tool_result",
        "tool_use_id": "t",
        "content": [{"type": "text", "text": "42"}],
        "is_error": True,
    },
    {"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgoAAAAA", "media_type": "image/png"}},
    {"type": "unheard-of", "x": 1.5},
]
USAGE = {"input_tokens": 3, "output_tokens": 4}


def _message(**message: Json) -> Json:
    return {"type": "message", "message": message}


TRACE: list[Json] = [
    {"type": "session", "harness": "llama.app", "id": "c", "name": "Rivers", "currNode": "a"},
    _message(id="q", role="user", content="Longest?", parent=None),
    _message(id="b", role="assistant", content="x", parent="q", toolCalls=[CALL]),
    _message(id="a", role="tool", content="y", parent="q", timestamp=1.7e12),
]

ASKING: list[Json] = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
SAID: Json = {"content": "Hello", "reasoning_content": "Hm", "tool_calls": [CALL]}
CALLS: list[Json] = [
    {
        "forky": "call",
        "id": "one",
        "request": {"model": "m", "messages": ASKING},
        "response": {
            "choices": [{"message": SAID, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 3},
        },
        "error": "",
        "started": 1750000000.5,
        "finished": 1750000001,
        "cost": 0.25,
        "session": "s",
    },
    {
        "forky": "call",
        "request": {
            "model": "m",
            "messages": [
                *ASKING,
                {"role": "assistant", **SAID},
                {"role": "tool", "tool_call_id": "t", "content": "42"},
            ],
        },
        "response": None,
        "error": "It fell over.",
        "session": "s",
    },
]


def _fragments(*fragments: Json, **message: Json) -> Json:
    return {"files": [], "model": "deepseek-chat", "fragments": list(fragments), **message}


FOUND: Json = {"title": "Nile", "url": "https://x.org/nile", "snippet": "The longest", "site_name": "x.org"}
DEEPSEEK: Json = [
    {
        "id": "d-1",
        "title": "Rivers",
        "inserted_at": "2026-01-01T00:00:00+08:00",
        "mapping": {
            "root": {"id": "root", "parent": None, "children": ["1"], "message": None},
            "1": {
                "id": "1",
                "parent": "root",
                "children": ["2", "3"],
                "message": _fragments(
                    {"type": "REQUEST", "content": "Longest river?"},
                    files=[{"id": "file-1", "file_name": "map.png", "file_size": 3}],
                ),
            },
            "2": {
                "id": "2",
                "parent": "1",
                "children": [],
                "message": _fragments(
                    {"type": "THINK", "content": "Hm, the Nile.", "elapsed_secs": 2.5},
                    {"type": "SEARCH", "queries": [{"query": "longest river"}], "results": [FOUND]},
                    {"type": "RESPONSE", "content": "The Nile."},
                    inserted_at="2026-01-01T00:00:05+08:00",
                ),
            },
            "3": {
                "id": "3",
                "parent": "1",
                "children": [],
                "message": _fragments(
                    {"type": "RESPONSE", "content": "The Amazon."}, {"type": "NEW", "x": "y z"}
                ),
            },
        },
    }
]
DEEPSEEK_PAGE: Json = {
    "code": 0,
    "data": {
        "biz_data": {
            "chat_session": {"id": "d-2", "title": "Ports", "current_message_id": 2, "inserted_at": 1.7e9},
            "chat_messages": [
                {
                    "message_id": 1,
                    "parent_id": None,
                    "role": "USER",
                    "fragments": [{"type": "REQUEST", "content": "?"}],
                },
                {
                    "message_id": 2,
                    "parent_id": 1,
                    "role": "ASSISTANT",
                    "status": "INCOMPLETE",
                    "content": "8443",
                    "thinking_content": "Hm",
                },
            ],
        }
    },
}


def _pi(id: str, parent: str | None, **message: Json) -> Json:
    return {"type": "message", "id": id, "parentId": parent, "message": message}


PI: list[Json] = [
    {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/x"},
    _pi("q", None, role="user", content="Longest?"),
    _pi("b", "q", role="assistant", content=BLOCKS, usage={"input": 3}),
    {"type": "compaction", "id": "c", "parentId": "q", "summary": "short"},
    _pi("a", "c", role="toolResult", content="x", toolCallId="t"),
    {"type": "label", "id": "l", "parentId": "a", "targetId": "b", "label": "wrong"},
]

CLAUDE_CODE: list[Json] = [
    {"type": "summary", "summary": "Rivers", "leafUuid": "a"},
    code("q", None, "user", "Longest?", timestamp="2026-01-01T00:00:01Z"),
    code("b", "q", "assistant", BLOCKS, message={"id": "m", "usage": USAGE}),
    code("a", "q", "assistant", "Nile"),
    code(None, "a", "user", "stop"),
]

CODEX: list[Json] = [
    {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "s"}},
    item(type="message", role="user", content=[{"type": "input_text", "text": "ls"}]),
    item(type="function_call", name="shell", arguments='{"a": 1}', call_id="i"),
    item(type="function_call_output", call_id="i", output='{"output": "x"}'),
    {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}},
    item(type="message", role="assistant", content=[{"type": "output_text", "text": "x"}]),
]


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


def seeds(folder: Path) -> tuple[Seed, ...]:
    """One or more for each importer; databases are made in `folder`."""
    return (*json_seeds(), *_texts(), *_databases(folder))


def json_seeds() -> tuple[Seed, ...]:
    """Those that are JSON with messages in it."""
    return (*_trees(), *_lines(), *_apps(), *_editors())


def _trees() -> tuple[Seed, ...]:
    claude: Json = CLAUDE_TREE[0]
    chat: Json = WEBUI_TREE[0]
    mapping = conversation(
        entry("s", "root", "system", "", metadata={"is_visually_hidden_from_conversation": True}),
        entry(
            "q",
            "s",
            "user",
            {"content_type": "multimodal_text", "parts": ["See", {"asset_pointer": "file-1"}]},
        ),
        entry(
            "t",
            "q",
            "assistant",
            {"content_type": "thoughts", "thoughts": [{"summary": "a", "content": "b"}]},
        ),
        entry(
            "c", "t", "assistant", {"content_type": "code", "language": "py", "text": "1"}, recipient="python"
        ),
        entry("r", "c", "tool", {"content_type": "execution_output", "text": "1"}, name="python"),
        entry(
            "a", "r", "assistant", "Nile \ue200cite\ue201", create_time=1.7e9, metadata={"model_slug": "m"}
        ),
        entry("b", "q", "assistant", "Amazon", metadata={"attachments": [{"id": "file-1", "name": "x.png"}]}),
        current="a",
        create_time=1_700_000_000.5,
    )
    blocks = [{**claude["chat_messages"][0], "content": BLOCKS, "attachments": [{"extracted_content": "t"}]}]
    details = '<details type="tool_calls" id="t" name="f" arguments="{}"><summary>x</summary>r</details>after'
    output = [
        {"type": "reasoning", "summary": [{"text": "Hm"}]},
        {"type": "function_call", "call_id": "t", "name": "f"},
    ]
    history = chat["chat"]["history"]
    shown = {
        **history["messages"],
        "x": {"parentId": "b", "role": "assistant", "content": details, "files": [{"url": PICTURE}]},
        "y": {"parentId": "b", "role": "assistant", "content": "", "output": output, "usage": USAGE},
    }
    return (
        Seed(
            "chatgpt",
            "value",
            mapping,
            r"\.mapping\.[^.]+\.message",
            frozenset(("content_type", "recipient", "language")) | chatgpt.METADATA,
        ),
        Seed("deepseek", "value", DEEPSEEK, r"\.mapping\.[^.]+\.message|\.chat_messages\[\d+\]"),
        Seed("deepseek", "value", DEEPSEEK_PAGE, r"\.mapping\.[^.]+\.message|\.chat_messages\[\d+\]"),
        Seed(
            "claude-ai",
            "value",
            [{**claude, "chat_messages": [*claude["chat_messages"], *blocks]}],
            r"\.chat_messages\[\d+\]",
            frozenset(("sender",)),
        ),
        Seed(
            "open-webui",
            "value",
            [{**chat, "chat": {"history": {**history, "messages": shown}}}],
            r"\.history\.messages\.[^.]+",
        ),
        Seed("librechat", "value", LIBRE_TREE, r"\.messages(Tree)?\[\d+\]"),
        Seed("grok", "value", GROK_TREE, r"\.responses\[\d+\]\.response", frozenset(("sender",))),
        Seed("loom", "value", LOOM, r"\.root|\.nodes\.[^.]+"),
        Seed("loom", "value", OBSIDIAN, r"\.root|\.nodes\.[^.]+"),
        Seed("ai-studio", "value", STUDIO, r"\.chunkedPrompt\.chunks\[\d+\]"),
        Seed("chatbox", "value", CHATBOX, r"\.messages\[\d+\]"),
        Seed("lobechat", "value", LOBE, r"\.messages\[\d+\]"),
    )


def _lines() -> tuple[Seed, ...]:
    return (
        Seed("session-traces", "lines", TRACE, r"^\[\d+\]\.message", frozenset(("parent",))),
        Seed("pi", "lines", PI, r"^\[\d+\]\.message"),
        Seed("recorded-calls", "lines", CALLS, r"\.(request\.messages|response\.choices)\[\d+\]"),
        Seed("claude-code", "lines", CLAUDE_CODE, r"^\[\d+\]\.message"),
        Seed("codex", "lines", CODEX, r"^\[[1-9]\d*\]\.payload"),
        Seed(
            "sillytavern",
            "lines",
            [{"user_name": "A", "chat_metadata": {"main_chat": "x"}}, ASKED, SWIPED],
            r"^\[[1-9]\d*\]",
            frozenset(("send_date",)),
        ),
    )


def _editors() -> tuple[Seed, ...]:
    return (
        Seed("gemini-cli", "value", GEMINI, r"\.messages\[\d+\]|^\[[1-9]\d*\]"),
        Seed(
            "gemini-cli", "lines", GEMINI_LINES, r"\.messages\[\d+\]|^\[[1-9]\d*\]", frozenset(("$rewindTo",))
        ),
        Seed("qwen-code", "lines", QWEN, r"^\[\d+\]\.message"),
        Seed("vscode-chat", "value", VSCODE, r"\.requests\[\d+\]"),
        Seed("vscode-chat", "lines", VSCODE_LOG, r"^\[[14]\]\.v\[\d+\]"),
        Seed("lm-studio", "value", LM_STUDIO, r"\.messages\[\d+\]"),
        Seed("opencode", "value", OPENCODE, r"\.messages\[\d+\]"),
        Seed("first-forky", "value", FORKY_FLAT, r"\.nodes\.[^.]+|\.tree"),
        Seed("first-forky", "value", FORKY_NESTED, r"\.nodes\.[^.]+|\.tree"),
        Seed("canvas-chat", "value", CANVAS, r"\.nodes\[\d+\]"),
        Seed("openhands", "value", OPENHANDS, r"^\[\d+\]"),
        Seed("openhands", "lines", OPENHANDS_KIT, r"^\[\d+\]"),
        Seed("swe-agent", "value", SWE, r"\.history\[\d+\]"),
        Seed("atif", "value", ATIF_RUN, r"\.steps\[\d+\]"),
        Seed("cherry-studio", "value", CHERRY, r"\.(topics\[\d+\]\.messages|message_blocks)\[\d+\]"),
    )


def _apps() -> tuple[Seed, ...]:
    said = [
        {"role": "user", "content": "a", "uuid": "q"},
        {"role": "assistant", "content": BLOCKS, "usage": USAGE},
    ]
    shared = [{"from": "human", "value": "a"}, {"from": "function_call", "value": '{"name": "f"}'}]
    record = {
        "header": "Gemini Apps",
        "title": "Prompted a",
        "time": "2026-01-01",
        "safeHtmlItem": [{"html": "<p>b"}],
    }
    fragments = [
        {"ft": "content", "part": {"pt": "text", "text": "a"}},
        {
            "ft": "content",
            "part": {"pt": "tool_invocation", "id": "t", "invocation": {"name": "f", "args": "{}"}},
        },
        {"ft": "content", "part": {"pt": "image_ref", "dataRef": {"url": PICTURE}}},
    ]
    agi = {
        "systemPurposeId": "x",
        "messages": [{"id": "q", "role": "user", "fragments": fragments, "created": 1.7e12}],
    }
    return (
        Seed(
            "sharegpt",
            "value",
            [{"id": "s", "conversations": shared}],
            r"\.conversations\[\d+\]",
            frozenset(("from",)),
        ),
        Seed(
            "messages",
            "value",
            [{"id": "c", "messages": [*said, {"role": "assistant", "tool_calls": [CALL]}]}],
            r"\.messages\[\d+\]",
        ),
        Seed("messages", "lines", [{"messages": said}, {"messages": said}], r"\.messages\[\d+\]"),
        Seed(
            "takeout-gemini",
            "value",
            [record, {**record, "titleUrl": "https://gemini.google.com/app/0123456789"}],
            r"^\[\d+\]",
        ),
        Seed(
            "langchain",
            "value",
            [made("HumanMessage", content="a"), made("AIMessage", content=BLOCKS, id="x")],
            r"^\[\d+\]\.(data|kwargs)",
        ),
        Seed("langchain", "value", [{"type": "human", "data": {"content": "a"}}], r"^\[\d+\]\.(data|kwargs)"),
        Seed("big-agi", "value", agi, r"\.messages\[\d+\]", frozenset(("ft",))),
    )


def _texts() -> tuple[Seed, ...]:
    return (
        Seed(
            "transcript", "text", "# Rivers\n\n## User\n\nLongest?\n\n```\nx\n```\n\n## Assistant\n\nNile\n"
        ),
        Seed(
            "forky-markdown",
            "text",
            "# Rivers\n\n---\n\n**Branch “main”**\n\n## 1. You · 2026-01-01 10:00 UTC\n\nLongest?\n\n## 2. gpt-4o\n\nNile\n"
            "\n---\n\n**Beside the branches**, from message 1\n\n## 3. Assistant\n\nAmazon\n",
        ),
        Seed("transcript", "text", SPECSTORY),
        Seed("transcript", "text", CURSOR),
        Seed("aider", "text", AIDER[: AIDER.index("# aider chat started at 2026-01-02")]),
        Seed("claude-code-export", "text", EXPORT),
        Seed("transcript", "text", "**You:** Longest?\n\n**ChatGPT:**\nNile\n"),
        Seed("transcript", "text", "User: Longest?\nAssistant: Nile\n"),
        Seed(
            "chatgpt-share",
            "text",
            '<html><a href="https://chatgpt.com/share/0190aaaa-bbbb"></a><script id="__NEXT_DATA__">'
            '{"data":{"title":"n","mapping":{"q":{"message":{"author":{"role":"user"},"content":{"parts":["a"]}}}}}}'
            '</script><script>streamController.enqueue("[{\\"_1\\":2},\\"mapping\\",{}]")</script></html>',
        ),
    )


def _databases(folder: Path) -> tuple[Seed, ...]:
    return (
        Seed("llm", "bytes", threads(folder / "new.db").read_bytes()),
        Seed("llm", "bytes", responses(folder / "old.db").read_bytes()),
        Seed("cursor", "bytes", cursor_database(folder / "state.vscdb").read_bytes()),
        Seed("first-forky", "bytes", first_forky(folder / "forky.db").read_bytes()),
        Seed("open-webui", "bytes", webui_database(folder / "webui.db").read_bytes()),
    )
