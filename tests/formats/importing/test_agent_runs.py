"""Runs of agents that were recorded: OpenHands, SWE-agent, ATIF; and the stores of Cursor and Cherry Studio."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from forky_core.forky import Forky
from forky_core.formats.contract import ParsedConversation
from forky_core.formats.importing.landing import preview
from forky_core.formats.importing.readers.cherry_studio import CLEARED, CherryStudio
from forky_core.formats.importing.readers.cursor import Cursor
from forky_core.formats.importing.readers.openhands import OpenHands
from forky_core.formats.importing.readers.trajectories import ATIF, SWEAgent
from forky_core.formats.tree import build_tree
from forky_core.model.parts import (
    AttachmentPart,
    Json,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from tests.formats.importing.test_agents import lines
from tests.formats.importing.test_trees import live
from tests.formats.sources import one, packed, read, written

OPENHANDS: Json = [
    {"id": 0, "source": "agent", "action": "system", "message": "", "args": {"content": "You are an agent."}},
    {
        "id": 1,
        "timestamp": "2026-01-01T00:00:00",
        "source": "user",
        "action": "message",
        "message": "List them.",
        "args": {"content": "List them.", "image_urls": ["map of rivers"]},
    },
    {
        "id": 2,
        "source": "agent",
        "action": "run",
        "message": "Running command: ls",
        "tool_call_metadata": {
            "function_name": "execute_bash",
            "tool_call_id": "t",
            "model_response": {"model": "m", "usage": {"prompt_tokens": 3}},
        },
        "args": {"command": "ls", "thought": "I look."},
    },
    {
        "id": 3,
        "source": "agent",
        "cause": 2,
        "observation": "run",
        "content": "rivers.txt",
        "tool_call_metadata": {"function_name": "execute_bash", "tool_call_id": "t"},
        "extras": {"command": "ls", "metadata": {"exit_code": 0}},
    },
    {
        "id": 4,
        "source": "environment",
        "observation": "agent_state_changed",
        "content": "",
        "extras": {"agent_state": "x"},
    },
    {"id": 5, "source": "agent", "action": "think", "args": {"thought": "Only one."}},
    {"id": 6, "source": "agent", "action": "finish", "args": {"final_thought": "rivers.txt", "outputs": {}}},
]
OPENHANDS_KIT: list[Json] = [
    {
        "kind": "SystemPromptEvent",
        "id": "s",
        "source": "agent",
        "system_prompt": {"text": "You are an agent."},
    },
    {
        "kind": "MessageEvent",
        "id": "q",
        "source": "user",
        "llm_message": {"role": "user", "content": [{"type": "text", "text": "List them."}]},
    },
    {
        "kind": "ActionEvent",
        "id": "a",
        "source": "agent",
        "thought": [{"type": "text", "text": "I look."}],
        "reasoning_content": "Hm.",
        "tool_name": "terminal",
        "tool_call_id": "t",
        "tool_call": {"id": "t", "name": "terminal", "arguments": '{"command": "ls"}'},
        "action": {"kind": "ExecuteBashAction", "command": "ls"},
    },
    {
        "kind": "ObservationEvent",
        "id": "o",
        "source": "environment",
        "tool_name": "terminal",
        "tool_call_id": "t",
        "action_id": "a",
        "observation": {
            "kind": "ExecuteBashObservation",
            "content": [{"type": "text", "text": "rivers.txt"}],
        },
    },
    {
        "kind": "AgentErrorEvent",
        "id": "e",
        "source": "agent",
        "tool_name": "x",
        "tool_call_id": "u",
        "error": "No such tool",
    },
    {"kind": "PauseEvent", "id": "p", "source": "user"},
]


def test_a_trajectory_of_openhands_is_what_was_said_called_and_seen(tmp_path: Path) -> None:
    for value in (OPENHANDS, {"trajectory": OPENHANDS}):
        found = one(OpenHands(), written(tmp_path, value))
        tree = build_tree(found)
        system, question, call, result, thought, answer = tree.messages
        assert (system.role, question.text, answer.text) == ("system", "List them.", "rivers.txt")
        assert call.parts == (TextPart("I look."), ToolCallPart("execute_bash", '{"command":"ls"}', "t"))
        assert result.parts == (ToolResultPart("execute_bash", "rivers.txt", "t"),)
        assert thought.parts == (ReasoningPart("Only one."),)
        assert [node.id for node in found.nodes if node.hidden] == ["0", "4"]
        assert found.nodes[1].extra["args"] == {"image_urls": ["map of rivers"]}
        assert (found.nodes[2].model, found.nodes[2].usage.prompt_tokens) == ("m", 3)
        assert not tree.account.unread


def test_events_of_openhands_kit_are_lines_or_a_list(tmp_path: Path) -> None:
    for path in (
        written(tmp_path, lines(*OPENHANDS_KIT), "events.jsonl"),
        written(tmp_path, OPENHANDS_KIT, "events.json"),
    ):
        tree = build_tree(one(OpenHands(), path))
        system, question, call, result, error = tree.messages
        assert (system.role, question.text) == ("system", "List them.")
        assert call.parts == (
            ReasoningPart("Hm."),
            TextPart("I look."),
            ToolCallPart("terminal", '{"command":"ls"}', "t"),
        )
        assert result.parts == (ToolResultPart("terminal", "rivers.txt", "t"),)
        assert error.parts == (ToolResultPart("x", "No such tool", "u", "No such tool"),)
        assert not tree.account.unread


SWE: Json = {
    "environment": "e",
    "trajectory": [
        {"action": "ls", "observation": "a.py", "response": "I list.", "thought": "I list.", "state": {}},
        {
            "action": "submit",
            "observation": "A diff nobody else has",
            "response": "Done.",
            "thought": "Done.",
        },
    ],
    "history": [
        {"role": "system", "content": "You are a programmer.", "agent": "main"},
        {"role": "user", "content": "An example.", "agent": "main", "is_demo": True},
        {"role": "user", "content": [{"type": "text", "text": "Fix it."}], "agent": "main"},
        {
            "role": "assistant",
            "content": "I list.",
            "thought": "I list.",
            "action": "ls",
            "agent": "main",
            "tool_calls": [
                {
                    "id": "t",
                    "type": "function",
                    "function": {"name": "bash", "arguments": '{"command": "ls"}'},
                }
            ],
        },
        {"role": "tool", "content": "a.py", "agent": "main", "tool_call_ids": ["t"]},
        {"role": "assistant", "content": "Done.", "agent": "main"},
    ],
    "info": {"exit_status": "submitted", "submission": "diff --git"},
}


def test_a_run_of_swe_agent_hides_its_example_and_keeps_what_only_the_trajectory_has(tmp_path: Path) -> None:
    found = one(SWEAgent(), written(tmp_path, SWE, "x.traj"))
    tree = build_tree(found)
    assert [message.text for message in tree.messages if message.role != "tool"] == [
        *("You are a programmer.", "An example.", "Fix it.", "I list.", "Done."),
    ]
    assert [node.hidden for node in found.nodes] == [False, True, False, False, False, False]
    assert tree.messages[4].parts == (ToolResultPart("", "a.py", "t"),)
    assert found.extra["info"]["submission"] == "diff --git"
    assert found.extra["trajectory"] == [{"action": "submit", "observation": "A diff nobody else has"}]


def test_an_old_run_of_swe_agent_is_read_from_its_trajectory(tmp_path: Path) -> None:
    found = one(SWEAgent(), written(tmp_path, {"trajectory": SWE["trajectory"]}))
    assert live(build_tree(found))[:2] == [("assistant", "I list."), ("user", "a.py")]


ATIF_RUN: Json = {
    "schema_version": "ATIF-v1.7",
    "session_id": "s",
    "agent": {"name": "terminus", "version": "2", "model_name": "m"},
    "steps": [
        {"step_id": 1, "source": "system", "message": "You are an agent."},
        {
            "step_id": 2,
            "source": "user",
            "message": [
                {"type": "text", "text": "Count them."},
                {"type": "image", "source": {"media_type": "image/png", "path": "images/1.png"}},
            ],
        },
        {
            "step_id": 3,
            "source": "agent",
            "timestamp": "2026-01-01T00:00:00Z",
            "message": "Counting.",
            "reasoning_content": "Use wc.",
            "tool_calls": [
                {"tool_call_id": "t", "function_name": "bash", "arguments": {"command": "wc"}},
                {"tool_call_id": "u", "function_name": "delegate", "arguments": {}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "t", "content": "7"},
                    {
                        "source_call_id": "u",
                        "content": None,
                        "subagent_trajectory_ref": [{"session_id": "sub"}],
                    },
                ]
            },
            "metrics": {"prompt_tokens": 5, "completion_tokens": 6},
            "extra": {"note": "a retry"},
        },
    ],
    "subagent_trajectories": [
        {
            "schema_version": "ATIF-v1.7",
            "trajectory_id": "sub",
            "agent": {"name": "helper", "version": "1"},
            "steps": [{"step_id": 1, "source": "user", "message": "Help."}],
        }
    ],
}


def test_a_run_in_atif_and_the_run_of_its_sub_agent(tmp_path: Path) -> None:
    main, sub = read(ATIF(), written(tmp_path, ATIF_RUN))
    assert isinstance(main, ParsedConversation) and isinstance(sub, ParsedConversation)
    tree = build_tree(main)
    system, question, call, result = tree.messages
    assert (system.role, question.text) == ("system", "Count them.")
    assert isinstance(question.parts[1], OpaquePart)
    assert call.parts[:3] == (
        ReasoningPart("Use wc."),
        TextPart("Counting."),
        ToolCallPart("bash", '{"command":"wc"}', "t"),
    )
    assert result.parts == (ToolResultPart("bash", "7", "t"),)
    assert main.nodes[-1].extra["extra"] == {"note": "a retry"}
    assert main.nodes[-1].extra["results"] == [{"subagent_trajectory_ref": [{"session_id": "sub"}]}]
    assert (sub.source_id, live(build_tree(sub))) == ("sub", [("user", "Help.")])


def _topic(id: str, *messages: Json) -> Json:
    return {"id": id, "messages": [{"topicId": id, **message} for message in messages]}


ASSISTANTS = {"assistants": [{"id": "as", "prompt": "Be brief.", "topics": [{"id": "t1", "name": "Rivers"}]}]}
CHERRY: Json = {
    "time": 1,
    "version": 5,
    "localStorage": {"persist:cherry-studio": json.dumps({"assistants": json.dumps(ASSISTANTS)})},
    "indexedDB": {
        "files": [{"id": "f1", "ext": ".txt", "origin_name": "rivers.txt"}],
        "topics": [
            _topic(
                "t1",
                {"id": "q", "role": "user", "createdAt": "2026-01-01T00:00:00Z", "blocks": ["b1", "b2"]},
                {
                    "id": "a",
                    "role": "assistant",
                    "askId": "q",
                    "model": {"id": "m", "name": "M"},
                    "useful": True,
                    "usage": {"prompt_tokens": 4},
                    "blocks": ["b3", "b4", "b5"],
                },
                {
                    "id": "b",
                    "role": "assistant",
                    "askId": "q",
                    "model": {"id": "n"},
                    "blocks": ["b6"],
                    "status": "error",
                },
                {"id": "x", "role": "user", "type": "clear", "blocks": []},
                {"id": "r", "role": "user", "blocks": ["b8"]},
            ),
            _topic("t2", {"id": "o", "role": "user", "content": "An old message"}),
        ],
        "message_blocks": [
            {"id": "b1", "messageId": "q", "type": "main_text", "content": "Longest?"},
            {"id": "b2", "messageId": "q", "type": "file", "file": {"id": "f1"}},
            {"id": "b3", "messageId": "a", "type": "thinking", "content": "Hm."},
            {
                "id": "b4",
                "messageId": "a",
                "type": "tool",
                "toolId": "i",
                "toolName": "search",
                "arguments": {"q": "river"},
                "content": {"content": [{"type": "text", "text": "Nile"}]},
            },
            {"id": "b5", "messageId": "a", "type": "main_text", "content": "The Nile."},
            {"id": "b6", "messageId": "b", "type": "error", "error": {"message": "Overloaded"}},
            {"id": "b8", "messageId": "r", "type": "main_text", "content": "Sure?"},
        ],
    },
}


def test_topics_of_cherry_studio_with_answers_of_two_models_and_files(tmp_path: Path) -> None:
    topics = [*CHERRY["indexedDB"]["topics"], _topic("t3")]
    backup = {**CHERRY, "indexedDB": {**CHERRY["indexedDB"], "topics": topics}}
    path = packed(tmp_path, {"data.json": json.dumps(backup), "Data/Files/f1.txt": "Nile, Amazon"})
    rivers, old, empty = read(CherryStudio(), path)
    assert isinstance(rivers, ParsedConversation) and isinstance(old, ParsedConversation)
    assert (rivers.title, rivers.system) == ("Rivers", "Be brief.")
    tree = build_tree(rivers)
    assert [role for role, _ in live(tree)] == ["user", "assistant", "tool", "assistant", "user"]
    question = tree.messages[0]
    assert [part.name for part in question.parts if isinstance(part, AttachmentPart)] == ["rivers.txt"]
    call = tree.messages[1]
    assert call.parts[0] == ReasoningPart("Hm.") and isinstance(call.parts[1], ToolCallPart)
    assert live(tree)[3:] == [("assistant", "The Nile."), ("user", "Sure?")]
    assert [reply.node.failure for reply in tree.failed] == ["Overloaded"]
    assert tree.account.skipped[CLEARED] == 1
    assert live(build_tree(old)) == [("user", "An old message")]
    assert isinstance(empty, ParsedConversation) and empty.nodes == ()


def cursor_database(path: Path, kind: str = "TEXT", *, unread: bool = False) -> Path:
    """A database of Cursor with a chat of several bubbles and an old one with its bubbles inside; with `unread`, also
    an empty one and one that is damaged.
    """
    heads = [{"bubbleId": name, "type": 1 if name == "q" else 2} for name in ("q", "t", "c", "a", "gone")]
    call = {
        "name": "read_file",
        "toolCallId": "i",
        "rawArgs": '{"path": "x"}',
        "result": '{"contents": "Nile"}',
    }
    rows: dict[str, Json] = {
        "composerData:c1": {
            "composerId": "c1",
            "name": "Rivers",
            "createdAt": 1_790_000_000_000,
            "modelConfig": {"modelName": "claude"},
            "fullConversationHeadersOnly": heads,
        },
        "composerData:c2": {"conversation": [{"type": 1, "bubbleId": "o", "text": "An old question"}]},
        "bubbleId:c1:q": {"type": 1, "text": "Longest?", "createdAt": "2026-01-01T00:00:00Z"},
        "bubbleId:c1:t": {"type": 2, "text": "", "thinking": {"text": "Hm."}},
        "bubbleId:c1:c": {"type": 2, "text": "", "toolFormerData": call},
        "bubbleId:c1:a": {
            "type": 2,
            "text": "The Nile.",
            "tokenCount": {"inputTokens": 3, "outputTokens": 4},
        },
        "other:c1": {"type": 2, "text": "no message"},
    }
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value {kind})")
    for key, value in rows.items():
        text = json.dumps(value)
        connection.execute(
            "INSERT INTO cursorDiskKV VALUES (?, ?)", (key, text.encode() if kind == "BLOB" else text)
        )
    if unread:
        connection.execute("INSERT INTO cursorDiskKV VALUES ('composerData:c3', '{\"name\": \"Empty\"}')")
        connection.execute("INSERT INTO cursorDiskKV VALUES ('composerData:c4', '{broken')")
    connection.commit()
    connection.close()
    return path


@pytest.mark.parametrize("kind", ["TEXT", "BLOB"])
def test_a_database_of_cursor_has_its_chats_with_thoughts_and_calls(kind: str, tmp_path: Path) -> None:
    rivers, old = read(Cursor(), cursor_database(tmp_path / "state.vscdb", kind))
    assert isinstance(rivers, ParsedConversation) and isinstance(old, ParsedConversation)
    assert (rivers.source_id, rivers.title) == ("c1", "Rivers")
    tree = build_tree(rivers)
    question, thought, call, result, answer = tree.messages
    assert (question.text, answer.text) == ("Longest?", "The Nile.")
    assert thought.parts == (ReasoningPart("Hm."),)
    assert call.parts == (ToolCallPart("read_file", '{"path":"x"}', "i"),)
    assert result.parts == (ToolResultPart("read_file", '{"contents": "Nile"}', "i"),)
    assert [node.model for node in rivers.nodes] == ["", *["claude"] * 5]
    assert live(build_tree(old)) == [("user", "An old question")]


def test_chats_of_cursor_in_which_nobody_spoke_are_in_the_preview(tmp_path: Path) -> None:
    path, nothing = cursor_database(tmp_path / "state.vscdb", unread=True), "It holds no message."
    with Forky.open(":memory:") as forky:
        found = [(line.title, line.problem) for line in preview(forky, path)]
    assert found[2:] == [("Empty", nothing), ("", nothing)]
