"""Chats of editors and sessions of coding agents in terminals: what is special about each format."""

from __future__ import annotations

from pathlib import Path

from forky_core.formats.importing.readers.gemini_cli import GeminiCLI
from forky_core.formats.importing.readers.qwen_code import SETTING, QwenCode
from forky_core.formats.importing.readers.vscode_chat import VSCodeChat
from forky_core.formats.tree import build_tree
from forky_core.model.parts import OpaquePart, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from tests.formats.importing.test_trees import live
from tests.formats.sources import PROGRAM_FILES, one, written


def test_a_session_of_gemini_cli_with_thoughts_calls_and_notes() -> None:
    found = one(GeminiCLI(), PROGRAM_FILES / "gemini-cli.json")
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


def test_what_was_rewound_in_gemini_cli_is_a_branch_and_a_checkpoint_loses_nothing() -> None:
    found = one(GeminiCLI(), PROGRAM_FILES / "gemini-cli.jsonl")
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


def test_a_session_of_qwen_code_whose_thought_has_the_id_of_the_question() -> None:
    found = one(QwenCode(), PROGRAM_FILES / "qwen-code.jsonl")
    tree = build_tree(found)
    assert (found.source_id, found.title) == ("s", "Rivers")
    roles = ["user", "assistant", "assistant", "tool", "assistant", "system"]
    assert [role for role, _ in live(tree)] == roles
    assert live(tree)[4][1] == "The Nile." and live(tree)[5][1] == "/about"
    result = next(m.parts[0] for m in tree.messages if m.role == "tool")
    assert result == ToolResultPart("ls", "No such folder", "t", "No such folder")
    assert {message.text for message in tree.messages} >= {"The Nile.", "The Amazon."}
    assert dict(tree.account.skipped) == {SETTING: 2}
    assert not tree.account.unread


def test_a_chat_of_vs_code_with_thoughts_calls_results_and_references() -> None:
    found = one(VSCodeChat(), PROGRAM_FILES / "vscode-chat.json")
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


def test_a_session_log_of_vs_code_keeps_what_was_asked_again_as_a_branch() -> None:
    found = one(VSCodeChat(), PROGRAM_FILES / "vscode-chat.jsonl")
    tree = build_tree(found)
    assert (found.source_id, found.title, dict(found.extra)) == ("s", "Rivers", {})
    assert [text for _, text in live(tree)] == ["The longest?", "The Nile.", "Sure?"]
    assert {message.text for message in tree.messages} >= {"Longest?", "The Amazon."}


def test_an_empty_chat_of_vs_code_is_a_chat(tmp_path: Path) -> None:
    found = one(VSCodeChat(), written(tmp_path, {"responderUsername": "x", "requests": []}))
    assert found.nodes == ()
