"""Files of programs that run on one's own machine: LM Studio, opencode, the first Forky, canvas-chat."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from forky_core.formats.contract import ParsedConversation
from forky_core.formats.importing.readers.lm_studio import LMStudio
from forky_core.formats.importing.readers.node_graphs import FORK, CanvasChat, FirstForky
from forky_core.formats.importing.readers.opencode import OpenCode
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
from tests.formats.sources import one, packed, read, written

PICTURE = "data:image/png;base64,iVBORw0KGgoAAAAA"


def _step(*content: Json, **more: Json) -> Json:
    return {"type": "contentBlock", "stepIdentifier": "x", "content": list(content), **more}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


LM_STUDIO: Json = {
    "name": "Rivers",
    "createdAt": 1_790_000_000_000,
    "systemPrompt": "Be brief.",
    "lastUsedModel": {"identifier": "qwen3"},
    "messages": [
        {
            "versions": [
                {
                    "type": "singleStep",
                    "role": "user",
                    "content": [
                        _text("Longest?"),
                        {"type": "file", "fileIdentifier": "a.txt", "fileType": "text/plain"},
                    ],
                }
            ],
            "currentlySelected": 0,
        },
        {
            "versions": [
                {"type": "multiStep", "role": "assistant", "steps": [_step(_text("The Amazon."))]},
                {
                    "type": "multiStep",
                    "role": "assistant",
                    "senderInfo": {"senderName": "qwen3"},
                    "steps": [
                        _step(_text("Hm, look."), style={"type": "thinking", "ended": True}),
                        _step(
                            {
                                "type": "toolCallRequest",
                                "callId": 7,
                                "name": "ls",
                                "parameters": {"path": "x"},
                            }
                        ),
                        {"type": "status", "statusState": {"status": "done", "text": "Called ls"}},
                        _step({"type": "toolCallResult", "callId": 7, "content": "rivers.txt"}),
                        _step(
                            _text("The Nile"),
                            genInfo={"stats": {"stopReason": "userStopped", "promptTokensCount": 9}},
                        ),
                    ],
                },
            ],
            "currentlySelected": 1,
        },
        {
            "versions": [{"type": "singleStep", "role": "user", "content": [_text("Sure?")]}],
            "currentlySelected": 0,
        },
    ],
}


def test_versions_of_lm_studio_are_siblings_and_the_chat_goes_on_from_the_selected_one(
    tmp_path: Path,
) -> None:
    found = one(LMStudio(), written(tmp_path, LM_STUDIO))
    tree = build_tree(found)
    assert (found.title, found.system, found.model) == ("Rivers", "Be brief.", "qwen3")
    assert [role for role, _ in live(tree)] == ["user", "assistant", "tool", "assistant", "user"]
    assert [text for _, text in live(tree) if text] == ["Longest?", "The Nile", "Sure?"]
    assert "The Amazon." in {message.text for message in tree.messages}
    call = next(
        message for message in tree.messages if any(isinstance(p, ToolCallPart) for p in message.parts)
    )
    assert call.parts == (ReasoningPart("Hm, look."), ToolCallPart("ls", '{"path":"x"}', "7"))
    result = next(message for message in tree.messages if message.role == "tool")
    assert result.parts == (ToolResultPart("ls", "rivers.txt", "7"),)
    last = next(node for node in found.nodes if node.draft and node.draft.parts == (TextPart("The Nile"),))
    assert (last.status, last.usage.prompt_tokens, last.model) == ("stopped", 9, "qwen3")
    assert last.extra["steps"][0]["statusState"]["text"] == "Called ls"
    assert not tree.account.unread


def _info(id: str, role: str, **more: Json) -> Json:
    return {"id": id, "sessionID": "ses_1", "role": role, "time": {"created": 1_790_000_000_000}, **more}


OPENCODE: Json = {
    "info": {"id": "ses_1", "title": "Rivers", "time": {"created": 1_790_000_000_000}},
    "messages": [
        {
            "info": _info("msg_1", "user", summary={"title": "Ask for a river"}),
            "parts": [
                {"id": "p1", "type": "text", "text": "Longest?"},
                {"id": "p2", "type": "file", "mime": "image/png", "filename": "map.png", "url": PICTURE},
                {
                    "id": "p3",
                    "type": "file",
                    "mime": "text/plain",
                    "filename": "a.txt",
                    "url": "file:///x/a.txt",
                },
            ],
        },
        {
            "info": _info(
                "msg_2",
                "assistant",
                modelID="m",
                providerID="p",
                tokens={"input": 3, "output": 4, "cache": {"read": 1, "write": 2}},
            ),
            "parts": [
                {"id": "p4", "type": "step-start"},
                {"id": "p5", "type": "reasoning", "text": "Hm."},
                {
                    "id": "p6",
                    "type": "tool",
                    "tool": "bash",
                    "callID": "c",
                    "state": {
                        "status": "completed",
                        "input": {"command": "ls"},
                        "output": "rivers.txt",
                        "title": "List files",
                    },
                },
                {
                    "id": "p7",
                    "type": "tool",
                    "tool": "read",
                    "callID": "d",
                    "state": {"status": "error", "input": {"path": "b"}, "error": "No such file"},
                },
                {"id": "p8", "type": "text", "text": "The Nile."},
                {"id": "p9", "type": "patch", "hash": "h", "files": ["a.txt"]},
                {"id": "p10", "type": "unheard-of", "x": "y z"},
            ],
        },
        {
            "info": _info(
                "msg_3", "assistant", error={"name": "MessageAbortedError", "data": {"message": "Aborted."}}
            ),
            "parts": [{"id": "p11", "type": "text", "text": "And th"}],
        },
    ],
}


def test_a_session_of_opencode_with_files_calls_and_an_answer_that_was_stopped(tmp_path: Path) -> None:
    found = one(OpenCode(), written(tmp_path, OPENCODE))
    tree = build_tree(found)
    assert (found.source_id, found.title) == ("ses_1", "Rivers")
    question, call, listed, read_call, failed, answer, stopped = tree.messages
    assert isinstance(question.parts[1], AttachmentPart) and isinstance(question.parts[2], OpaquePart)
    assert call.parts == (ReasoningPart("Hm."), ToolCallPart("bash", '{"command":"ls"}', "c"))
    assert listed.parts == (ToolResultPart("bash", "rivers.txt", "c"),)
    assert read_call.parts == (ToolCallPart("read", '{"path":"b"}', "d"),)
    assert failed.parts == (ToolResultPart("read", "No such file", "d", "No such file"),)
    assert (answer.text, stopped.text) == ("The Nile.", "And th")
    assert [(node.status, node.failure) for node in found.nodes][-1] == ("stopped", "Aborted.")
    assert dict(tree.account.unread) == {"Not understood by Forky: a part of the kind “unheard-of”": 1}


FORKY_FLAT: Json = {
    "root_id": "r",
    "current_node_id": "m",
    "nodes": {
        "r": {"id": "r", "content": "Root", "role": "system", "branch_name": "master", "children_ids": ["q"]},
        "q": {
            "id": "q",
            "content": "Longest?",
            "role": "user",
            "timestamp": "2026-01-01T00:00:01",
            "children_ids": ["a", "f"],
        },
        "a": {"id": "a", "content": "The Nile.", "role": "assistant", "children_ids": ["m"]},
        "f": {"id": "f", "content": "<FORK>", "role": "system", "branch_name": "deep", "children_ids": ["d"]},
        "d": {"id": "d", "content": "Deepest?", "role": "user", "children_ids": ["m"]},
        "m": {
            "id": "m",
            "content": "Both?",
            "role": "user",
            "node_type": "merge",
            "parent_ids": ["a", "d"],
            "children_ids": [],
            "merge_metadata": {"base_id": "q", "conflicts": [{"topic": "a river"}]},
        },
    },
}
FORKY_NESTED: Json = {
    "provider": "anthropic",
    "current_path": [0, 1],
    "tree": {
        "content": "Be brief.",
        "role": "system",
        "children": [
            {
                "content": "Longest?",
                "role": "user",
                "timestamp": "2024-08-12T10:00:01",
                "children": [
                    {"content": "The Amazon.", "role": "assistant", "children": []},
                    {"content": "The Nile.", "role": "assistant", "children": []},
                ],
            }
        ],
    },
}


def first_forky(path: Path) -> Path:
    """A database of the first Forky with a fork, a merge and a file."""
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, current_node_id TEXT, created_at TIMESTAMP);
        CREATE TABLE nodes (id TEXT PRIMARY KEY, conversation_id TEXT, content TEXT, role TEXT, branch_name TEXT,
            timestamp TIMESTAMP, node_type TEXT, merge_metadata TEXT, state_summary_cache TEXT);
        CREATE TABLE edges (parent_id TEXT, child_id TEXT, PRIMARY KEY (parent_id, child_id));
        CREATE TABLE attachments (id TEXT PRIMARY KEY, node_id TEXT, conversation_id TEXT, filename TEXT,
            original_name TEXT, mime_type TEXT);
        INSERT INTO conversations VALUES ('c', 'Rivers', 'd', '2026-01-01');
        INSERT INTO attachments VALUES ('t', 'q', 'c', '1.txt', 'rivers.txt', 'text/plain');
        """
    )
    for id, node in FORKY_FLAT["nodes"].items():
        merged = json.dumps(node["merge_metadata"]) if "merge_metadata" in node else None
        row = (
            id,
            "c",
            node["content"],
            node["role"],
            node.get("branch_name"),
            node.get("timestamp"),
            "message",
            merged,
        )
        connection.execute("INSERT INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)", row)
        connection.executemany(
            "INSERT INTO edges VALUES (?, ?)", [(id, child) for child in node["children_ids"]]
        )
    connection.commit()
    connection.close()
    return path


def test_a_file_of_the_first_forky_keeps_branches_merges_and_their_names(tmp_path: Path) -> None:
    found = one(FirstForky(), written(tmp_path, FORKY_FLAT))
    tree = build_tree(found)
    assert live(tree) == [("user", "Longest?"), ("assistant", "The Nile."), ("user", "Both?")]
    assert set(tree.branches) == {"deep"}
    assert dict(tree.account.skipped) == {FORK: 2}
    merge = next(node for node in found.nodes if node.id == "m")
    assert merge.extra["other_parents"] == ["d"]
    assert merge.extra["merge_metadata"]["conflicts"] == [{"topic": "a river"}]
    assert not tree.account.unread


def test_a_database_of_the_first_forky_has_several_conversations_and_files(tmp_path: Path) -> None:
    database = first_forky(tmp_path / "forky.db")
    connection = sqlite3.connect(database)
    connection.execute("INSERT INTO conversations VALUES ('e', 'Empty', NULL, '2026-01-02')")
    connection.commit()
    connection.close()
    path = packed(tmp_path, {"forky.db": database.read_bytes(), "uploads/1.txt": "Nile, Amazon"})
    rivers, empty = read(FirstForky(), path)
    assert isinstance(rivers, ParsedConversation) and isinstance(empty, ParsedConversation)
    assert (rivers.title, rivers.branch, empty.nodes) == ("Rivers", "deep", ())
    tree = build_tree(rivers)
    assert live(tree) == [("user", "Longest?"), ("user", "Deepest?")]
    question = next(message for message in tree.messages if message.text == "Longest?")
    assert [part.name for part in question.parts if isinstance(part, AttachmentPart)] == ["rivers.txt"]


def test_the_nested_file_of_2024_is_read_at_the_node_that_was_checked_out(tmp_path: Path) -> None:
    tree = build_tree(one(FirstForky(), written(tmp_path, FORKY_NESTED)))
    assert live(tree) == [("system", "Be brief."), ("user", "Longest?"), ("assistant", "The Nile.")]
    assert {message.text for message in tree.messages} >= {"The Amazon."}


def _card(id: str, kind: str, content: str, **more: Json) -> Json:
    return {"id": id, "type": kind, "content": content, "position": {"x": 0, "y": 0}, "created_at": 1, **more}


CANVAS: Json = {
    "version": 1,
    "id": "s",
    "name": "Rivers",
    "nodes": [
        _card("q", "human", "Longest?"),
        _card("a", "ai", "The Nile.", model="m"),
        _card("b", "opinion", "The Amazon.", model="n", title="Another"),
        _card("n", "note", "Look it up."),
        _card("i", "image", "", imageData=PICTURE),
        _card("s", "synthesis", "One of both."),
    ],
    "edges": [
        {"id": "1", "source": "q", "target": "a", "type": "reply"},
        {"id": "2", "source": "q", "target": "b", "type": "opinion"},
        {"id": "3", "source": "a", "target": "s", "type": "synthesis"},
        {"id": "4", "source": "b", "target": "s", "type": "synthesis"},
    ],
}


def test_cards_of_canvas_chat_are_messages_and_a_synthesis_names_what_it_joins(tmp_path: Path) -> None:
    found = one(CanvasChat(), written(tmp_path, CANVAS, "rivers.canvaschat"))
    tree = build_tree(found)
    assert live(tree) == [("user", "Longest?"), ("assistant", "The Nile."), ("assistant", "One of both.")]
    assert {message.text for message in tree.messages} >= {"The Amazon.", "Look it up."}
    assert next(node for node in found.nodes if node.id == "s").extra["other_parents"] == ["b"]
    assert any(isinstance(part, AttachmentPart) for message in tree.messages for part in message.parts)
