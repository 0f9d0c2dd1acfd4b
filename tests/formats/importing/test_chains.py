"""The formats that are one line of messages."""

from __future__ import annotations

from pathlib import Path

from forky_core.formats.contract import ParsedConversation, Unreadable
from forky_core.formats.importing.readers.message_arrays import MessageArrays
from forky_core.formats.importing.readers.session_traces import SessionTraces
from forky_core.formats.importing.readers.sharegpt import ShareGPT
from forky_core.formats.tree import build_tree
from forky_core.model.parts import AttachmentPart, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from tests.formats.sources import PROGRAM_FILES, one, read, written


def said(found: ParsedConversation) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in build_tree(found).messages]


def test_openai_lines_with_calls_thoughts_and_pictures() -> None:
    messages = build_tree(one(MessageArrays(), PROGRAM_FILES / "messages-openai.jsonl")).messages
    assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert isinstance(messages[1].parts[1], AttachmentPart)
    assert messages[2].parts == (ReasoningPart("Look it up."), ToolCallPart("f", '{"x":1}', "t"))
    assert messages[3].parts == (ToolResultPart("", "42", "t"),)


def test_an_anthropic_request_keeps_its_system_prompt_and_moves_results_to_the_tool() -> None:
    found = one(MessageArrays(), PROGRAM_FILES / "messages-anthropic.json")
    messages = build_tree(found).messages
    assert found.system == "Be brief."
    assert [message.role for message in messages] == ["user", "assistant", "tool", "user"]
    assert messages[2].parts == (ToolResultPart("", "sunny", "t"),)
    assert messages[3].parts == (TextPart("And tomorrow?"),)


def test_a_bare_array_of_messages_is_one_conversation(tmp_path: Path) -> None:
    found = one(
        MessageArrays(),
        written(tmp_path, [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]),
    )
    assert said(found) == [("user", "a"), ("assistant", "b")]


def test_sharegpt_sides_and_calls() -> None:
    found = one(ShareGPT(), PROGRAM_FILES / "sharegpt-calls.json")
    messages = build_tree(found).messages
    assert [message.role for message in messages] == ["assistant", "user", "assistant", "tool", "assistant"]
    assert messages[2].parts == (ToolCallPart("add", '{"a":1}'),)
    assert found.system == "Be kind."


def test_a_hub_trace_without_ids_is_a_chain(tmp_path: Path) -> None:
    rows = (
        '{"type":"session","harness":"agent","id":"x","name":"time"}\n'
        '{"type":"message","message":{"role":"user","content":"what time is it?"}}\n'
        '{"type":"message","message":{"role":"assistant","content":"","toolCalls":[{"id":"t","function":{"name":"now","arguments":"{}"}}]}}\n'
        '{"type":"message","message":{"role":"tool","toolCallId":"t","content":"15:00"}}\n'
    )
    messages = build_tree(one(SessionTraces(), written(tmp_path, rows, "t.jsonl"))).messages
    assert [message.role for message in messages] == ["user", "assistant", "tool"]
    assert messages[1].parts == (ToolCallPart("now", "{}", "t"),)


def test_several_conversations_of_one_file_come_one_by_one(tmp_path: Path) -> None:
    rows = '{"messages":[{"role":"user","content":"a"}]}\n{"broken\n{"messages":[{"role":"user","content":"b"}]}\n'
    found = list(read(MessageArrays(), written(tmp_path, rows, "x.jsonl")))
    assert [type(item) for item in found] == [ParsedConversation, Unreadable, ParsedConversation]
