"""Chats of editors and sessions of coding agents in terminals: what is special about each format."""

from __future__ import annotations

from pathlib import Path

from forky_core.formats.importing.readers.gemini_cli import GeminiCLI
from forky_core.formats.importing.readers.qwen_code import SETTING, QwenCode
from forky_core.formats.importing.readers.vscode_chat import VSCodeChat
from forky_core.formats.tree import build_tree
from forky_core.model.parts import Json, OpaquePart, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from tests.formats.importing.test_agents import lines
from tests.formats.importing.test_trees import live
from tests.formats.sources import one, written

GEMINI: Json = {
    "sessionId": "s",
    "projectHash": "h",
    "startTime": "2026-01-01T00:00:00Z",
    "summary": "Rivers",
    "messages": [
        {"id": "i", "type": "info", "content": "Update available."},
        {"id": "q", "type": "user", "timestamp": "2026-01-01T00:00:01Z", "content": [{"text": "Longest?"}]},
        {
            "id": "a",
            "type": "gemini",
            "timestamp": "2026-01-01T00:00:02Z",
            "content": "I look.",
            "model": "gemini-3-pro",
            "thoughts": [{"subject": "Plan", "description": "Open the file."}],
            "toolCalls": [
                {
                    "id": "t",
                    "name": "read_file",
                    "args": {"path": "rivers.txt"},
                    "result": [
                        {"functionResponse": {"id": "t", "name": "read_file", "response": {"output": "Nile"}}}
                    ],
                    "resultDisplay": "Read one line",
                }
            ],
            "tokens": {"input": 10, "output": 2, "cached": 4},
        },
        {"id": "b", "type": "gemini", "content": [{"text": "Hm", "thought": True}, {"text": "The Nile."}]},
    ],
}


def _gemini(id: str, kind: str, text: str) -> Json:
    return {"id": id, "type": kind, "content": text}


GEMINI_LINES: list[Json] = [
    {"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z", "kind": "main"},
    _gemini("q", "user", "Longest?"),
    _gemini("a", "gemini", ""),
    {"id": "a", "type": "gemini", "content": "Amazon", "toolCalls": [{"id": "t", "name": "f", "args": {}}]},
    {"$set": {"lastUpdated": "2026-01-01T00:00:05Z"}},
    {"$rewindTo": "a"},
    _gemini("b", "gemini", "Nile"),
    {
        "$set": {
            "summary": "Rivers",
            "messages": [_gemini("c", "user", "<state_snapshot>x"), _gemini("b", "gemini", "N…")],
        }
    },
    _gemini("d", "user", "Sure?"),
]


def qwen(id: str, parent: str | None, role: str, *parts: Json, **more: Json) -> Json:
    said = {"role": "model" if role == "assistant" else "user", "parts": list(parts)}
    return {
        "uuid": id,
        "parentUuid": parent,
        "sessionId": "s",
        "type": role,
        "cwd": "/x",
        "message": said,
        **more,
    }


def _system(id: str, parent: str, subtype: str, payload: Json) -> Json:
    row = {"uuid": id, "parentUuid": parent, "sessionId": "s", "type": "system"}
    return {**row, "subtype": subtype, "systemPayload": payload}


QWEN: list[Json] = [
    qwen("q", None, "user", {"text": "Longest?"}, timestamp="2026-01-01T00:00:00Z"),
    qwen("q", None, "assistant", {"text": "Hm", "thought": True}, model="qwen3"),
    qwen(
        "c",
        "q",
        "assistant",
        {"functionCall": {"id": "t", "name": "ls", "args": {"path": "x"}}},
        model="qwen3",
        usageMetadata={"promptTokenCount": 5, "candidatesTokenCount": 7},
    ),
    qwen(
        "r",
        "c",
        "tool_result",
        {"functionResponse": {"id": "t", "name": "ls", "response": {"error": "No such folder"}}},
        toolCallResult={"callId": "t", "resultDisplay": "nothing"},
    ),
    _system("u", "r", "ui_telemetry", {"uiEvent": {"name": "x y"}}),
    qwen("a", "u", "assistant", {"text": "The Nile."}, model="qwen3"),
    qwen(
        "b",
        "u",
        "assistant",
        {"text": "The Amazon."},
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
    ),
    _system("n", "a", "custom_title", {"customTitle": "Rivers"}),
    _system("k", "n", "slash_command", {"rawCommand": "/about", "phase": "invocation"}),
]


def test_a_session_of_gemini_cli_with_thoughts_calls_and_notes(tmp_path: Path) -> None:
    found = one(GeminiCLI(), written(tmp_path, GEMINI))
    tree = build_tree(found)
    assert (found.source_id, found.title) == ("s", "Rivers")
    note, question, call, result, answer = tree.messages
    assert (note.role, question.text) == ("system", "Longest?")
    assert call.parts == (
        ReasoningPart("**Plan**\n\nOpen the file."),
        TextPart("I look."),
        ToolCallPart("read_file", '{"path":"rivers.txt"}', "t"),
    )
    assert result.parts == (ToolResultPart("read_file", "Nile", "t"),)
    assert answer.parts == (ReasoningPart("Hm"), TextPart("The Nile."))
    nodes = {origin.message: origin.node for origin in tree.origins}
    assert nodes[note.id].hidden and not nodes[question.id].hidden
    assert (nodes[call.id].model, nodes[call.id].usage.prompt_tokens) == ("gemini-3-pro", 10)
    assert not tree.account.unread


def test_what_was_rewound_in_gemini_cli_is_a_branch_and_a_checkpoint_loses_nothing(tmp_path: Path) -> None:
    found = one(GeminiCLI(), written(tmp_path, lines(*GEMINI_LINES), "session.jsonl"))
    tree = build_tree(found)
    assert found.title == "Rivers"
    assert [text for _, text in live(tree)] == ["Longest?", "Nile", "<state_snapshot>x", "Sure?"]
    assert "Amazon" in {message.text for message in tree.messages}
    assert [node.hidden for node in found.nodes if node.id == "c"] == [True]
    assert [dict(node.extra) for node in found.nodes if node.id == "b"] == [{"others": [{"content": "N…"}]}]


def test_a_saved_chat_of_gemini_cli_is_a_list_of_contents(tmp_path: Path) -> None:
    said = [{"role": "user", "parts": [{"text": "ls"}]}]
    said += [{"role": "model", "parts": [{"functionCall": {"name": "ls", "args": {}}}, {"text": "Here."}]}]
    for value in (said, {"history": said}):
        tree = build_tree(one(GeminiCLI(), written(tmp_path, value)))
        assert [message.role for message in tree.messages] == ["user", "assistant"]
        assert tree.messages[1].parts == (ToolCallPart("ls", "{}"), TextPart("Here."))


def test_a_session_of_qwen_code_whose_thought_has_the_id_of_the_question(tmp_path: Path) -> None:
    found = one(QwenCode(), written(tmp_path, lines(*QWEN), "chat.jsonl"))
    tree = build_tree(found)
    assert (found.source_id, found.title) == ("s", "Rivers")
    assert [role for role, _ in live(tree)] == [
        "user",
        "assistant",
        "assistant",
        "tool",
        "assistant",
        "system",
    ]
    assert live(tree)[4][1] == "The Nile." and live(tree)[5][1] == "/about"
    result = next(m.parts[0] for m in tree.messages if m.role == "tool")
    assert result == ToolResultPart("ls", "No such folder", "t", "No such folder")
    assert {message.text for message in tree.messages} >= {"The Nile.", "The Amazon."}
    assert dict(tree.account.skipped) == {SETTING: 2}
    assert not tree.account.unread


VSCODE: Json = {
    "responderUsername": "GitHub Copilot",
    "requesterUsername": "me",
    "requests": [
        {
            "requestId": "r1",
            "message": {"text": "Sort #file:a.py", "parts": [{"kind": "text", "text": "Sort #file:a.py"}]},
            "variableData": {"variables": [{"kind": "file", "name": "a.py", "value": {"path": "/x/a.py"}}]},
            "timestamp": 1_790_000_000_000,
            "modelId": "copilot/gpt-5",
            "response": [
                {"kind": "thinking", "value": "Read first."},
                {"value": "I read "},
                {"kind": "inlineReference", "inlineReference": {"path": "/x/a.py"}},
                {"value": " now."},
                {
                    "kind": "toolInvocationSerialized",
                    "toolId": "copilot_readFile",
                    "toolCallId": "t",
                    "pastTenseMessage": {"value": "Read it"},
                },
                {"kind": "undoStop", "id": "u"},
                {"value": "Use sorted()."},
                {"kind": "unheard-of", "title": "Something new"},
            ],
            "result": {
                "metadata": {
                    "toolCallRounds": [
                        {"toolCalls": [{"id": "t", "name": "read_file", "arguments": '{"path": "a.py"}'}]}
                    ],
                    "toolCallResults": {"t": {"content": [{"value": "import os"}]}},
                }
            },
        },
        {
            "requestId": "r2",
            "message": "And then?",
            "response": [{"value": "Half an"}],
            "isCanceled": True,
            "result": {"errorDetails": {"message": "It was cancelled."}},
        },
    ],
}


def test_a_chat_of_vs_code_with_thoughts_calls_results_and_references(tmp_path: Path) -> None:
    found = one(VSCodeChat(), written(tmp_path, VSCODE))
    tree = build_tree(found)
    question, call, result, answer, then, half = tree.messages
    assert isinstance(question.parts[1], OpaquePart) and "/x/a.py" in question.parts[1].json
    assert call.parts == (
        ReasoningPart("Read first."),
        TextPart("I read `a.py` now."),
        ToolCallPart("read_file", '{"path":"a.py"}', "t"),
    )
    assert result.parts == (ToolResultPart("read_file", "import os", "t"),)
    assert answer.text == "Use sorted()."
    assert (then.text, half.text) == ("And then?", "Half an")
    assert [(node.status, node.failure) for node in found.nodes][-1] == ("stopped", "It was cancelled.")
    assert dict(tree.account.unread) == {
        "Not understood by Forky: field “response.unheard-of” of a message from VS Code": 1
    }


def _asked(id: str, text: str, answer: str = "") -> Json:
    said = [{"value": answer}] if answer else []
    return {"requestId": id, "message": {"text": text}, "response": said}


VSCODE_LOG: list[Json] = [
    {"kind": 0, "v": {"version": 3, "sessionId": "s", "creationDate": 1_790_000_000_000, "requests": []}},
    {"kind": 2, "k": ["requests"], "v": [_asked("r1", "Longest?")]},
    {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "The Ama"}]},
    {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "The Amazon."}], "i": 0},
    {"kind": 2, "k": ["requests"], "v": [_asked("r2", "The longest?", "The Nile.")], "i": 0},
    {"kind": 1, "k": ["customTitle"], "v": "Rivers"},
    {"kind": 1, "k": ["inputState"], "v": {"inputText": "a draft"}},
    {"kind": 3, "k": ["inputState"]},
    {"kind": 2, "k": ["pendingRequests"], "v": [{"id": "p", "request": _asked("r3", "Sure?")}]},
]


def test_a_session_log_of_vs_code_keeps_what_was_asked_again_as_a_branch(tmp_path: Path) -> None:
    found = one(VSCodeChat(), written(tmp_path, lines(*VSCODE_LOG), "session.jsonl"))
    tree = build_tree(found)
    assert (found.source_id, found.title, dict(found.extra)) == ("s", "Rivers", {})
    assert [text for _, text in live(tree)] == ["The longest?", "The Nile.", "Sure?"]
    assert {message.text for message in tree.messages} >= {"Longest?", "The Amazon."}


def test_an_empty_chat_of_vs_code_is_a_chat(tmp_path: Path) -> None:
    found = one(VSCodeChat(), written(tmp_path, {"responderUsername": "x", "requests": []}))
    assert found.nodes == ()
