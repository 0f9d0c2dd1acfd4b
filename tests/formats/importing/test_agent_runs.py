"""Runs of agents that were recorded: OpenHands, SWE-agent, ATIF; and the stores of Cursor and Cherry Studio."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from forky_core.conversation.workspace import Workspace
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
from tests.formats.importing.test_trees import live
from tests.formats.sources import PROGRAM_FILES, every, one, packed, program_file, written


def test_a_trajectory_of_openhands_is_what_was_said_called_and_seen(tmp_path: Path) -> None:
    events = program_file("openhands.json")
    for value in (events, {"trajectory": events}):
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
    kit = "openhands-kit.jsonl"
    for path in (PROGRAM_FILES / kit, written(tmp_path, program_file(kit), "events.json")):
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


def test_a_run_of_swe_agent_hides_its_example_and_keeps_what_only_the_trajectory_has() -> None:
    found = one(SWEAgent(), PROGRAM_FILES / "swe-agent.json")
    tree = build_tree(found)
    assert [message.text for message in tree.messages if message.role != "tool"] == [
        *("You are a programmer.", "An example.", "Fix it.", "I list.", "Done."),
    ]
    assert [node.hidden for node in found.nodes] == [False, True, False, False, False, False]
    assert tree.messages[4].parts == (ToolResultPart("", "a.py", "t"),)
    assert found.extra["info"]["submission"] == "diff --git"
    assert found.extra["trajectory"] == [{"action": "submit", "observation": "A diff nobody else has"}]


def test_an_old_run_of_swe_agent_is_read_from_its_trajectory(tmp_path: Path) -> None:
    found = one(SWEAgent(), written(tmp_path, {"trajectory": program_file("swe-agent.json")["trajectory"]}))
    assert live(build_tree(found))[:2] == [("assistant", "I list."), ("user", "a.py")]


def test_a_run_in_atif_and_the_run_of_its_sub_agent() -> None:
    main, sub = every(ATIF(), PROGRAM_FILES / "atif.json")
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


def test_topics_of_cherry_studio_with_answers_of_two_models_and_files(tmp_path: Path) -> None:
    backup = program_file("cherry-studio.json")
    backup["indexedDB"]["topics"].append({"id": "t3", "messages": []})
    path = packed(tmp_path, {"data.json": json.dumps(backup), "Data/Files/f1.txt": "Nile, Amazon"})
    rivers, old, empty = every(CherryStudio(), path)
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
    assert empty.nodes == ()


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
    rivers, old = every(Cursor(), cursor_database(tmp_path / "state.vscdb", kind))
    assert (rivers.source_id, rivers.title) == ("c1", "Rivers")
    tree = build_tree(rivers)
    question, thought, call, result, answer = tree.messages
    assert (question.text, answer.text) == ("Longest?", "The Nile.")
    assert thought.parts == (ReasoningPart("Hm."),)
    assert call.parts == (ToolCallPart("read_file", '{"path":"x"}', "i"),)
    assert result.parts == (ToolResultPart("read_file", '{"contents": "Nile"}', "i"),)
    assert [node.model for node in rivers.nodes] == ["", *["claude"] * 5]
    assert live(build_tree(old)) == [("user", "An old question")]


def test_chats_of_cursor_in_which_nobody_spoke_are_in_the_preview(tmp_path: Path, forky: Workspace) -> None:
    path, nothing = cursor_database(tmp_path / "state.vscdb", unread=True), "It holds no message."
    found = [(line.title, line.problem) for line in preview(forky, path)]
    assert found[2:] == [("Empty", nothing), ("", nothing)]
