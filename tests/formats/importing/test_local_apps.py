"""Files of programs that run on one's own machine: LM Studio, opencode, the first Forky, canvas-chat."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from forky_core.formats.importing.readers.lm_studio import LMStudio
from forky_core.formats.importing.readers.node_graphs import FORK, CanvasChat, FirstForky
from forky_core.formats.importing.readers.opencode import OpenCode
from forky_core.formats.tree import build_tree
from forky_core.model.parts import (
    AttachmentPart,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from tests.formats.importing.test_trees import live
from tests.formats.sources import PROGRAM_FILES, every, one, packed, program_file


def test_versions_of_lm_studio_are_siblings_and_the_chat_goes_on_from_the_selected_one() -> None:
    found = one(LMStudio(), PROGRAM_FILES / "lm-studio.json")
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


def test_a_session_of_opencode_with_files_calls_and_an_answer_that_was_stopped() -> None:
    found = one(OpenCode(), PROGRAM_FILES / "opencode.json")
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


def opencode_database(path: Path, *sessions: Mapping[str, Any]) -> sqlite3.Connection:
    """Write exported sessions into a database as opencode keeps it, and leave it open as the program does."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.executescript(
        """
        PRAGMA journal_mode = WAL;
        CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
            time_created INTEGER);
        CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
        CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
        CREATE TABLE credential (id TEXT PRIMARY KEY, value TEXT);
        INSERT INTO credential VALUES ('c', 'a secret of the program');
        """
    )
    for session in sessions:
        info = session["info"]
        row = (info["id"], info.get("parentID"), info.get("directory"), info["title"], "1", 1790000000000)
        connection.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)", row)
        for message in session["messages"]:
            add_to_opencode(connection, info["id"], message)
    return connection


def add_to_opencode(connection: sqlite3.Connection, session: str, message: Mapping[str, Any]) -> None:
    id = message["info"]["id"]
    row = (id, session, 0, json.dumps(message["info"]))
    connection.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
    for number, part in enumerate(message["parts"]):
        name = f"{id}/{number:03}"
        data = json.dumps({key: value for key, value in part.items() if key != "id"})
        connection.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (name, id, session, data))


def test_the_database_of_opencode_says_what_its_exports_say(tmp_path: Path) -> None:
    session = program_file("opencode.json")
    other = {"info": {"id": "ses_2", "title": "Lakes", "parentID": "ses_1"}, "messages": []}
    with closing(opencode_database(tmp_path / "opencode.db", session, other)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        found, lakes = every(OpenCode(), tmp_path / "opencode.db")
    exported = one(OpenCode(), PROGRAM_FILES / "opencode.json")
    assert live(build_tree(found)) == live(build_tree(exported))
    assert (found.source_id, found.session, found.title, found.created) == (
        exported.source_id,
        exported.session,
        exported.title,
        exported.created,
    )
    assert lakes.extra["parentID"] == "ses_1"
    assert "a secret" not in repr(found)


def test_a_line_of_opencode_that_is_no_json_is_kept_as_it_stands(tmp_path: Path) -> None:
    with closing(opencode_database(tmp_path / "opencode.db", program_file("opencode.json"))) as connection:
        connection.execute("UPDATE part SET data = '{broken' WHERE id = 'msg_1/000'")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        found = one(OpenCode(), tmp_path / "opencode.db")
    assert build_tree(found).messages[0].parts[0] == TextPart("{broken")


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
    for id, node in program_file("first-forky.json")["nodes"].items():
        merged = json.dumps(node["merge_metadata"]) if "merge_metadata" in node else None
        row = (id, node["content"], node["role"], node.get("branch_name"), node.get("timestamp"), merged)
        connection.execute("INSERT INTO nodes VALUES (?, 'c', ?, ?, ?, ?, 'message', ?, NULL)", row)
        connection.executemany(
            "INSERT INTO edges VALUES (?, ?)", [(id, child) for child in node["children_ids"]]
        )
    connection.commit()
    connection.close()
    return path


def test_a_file_of_the_first_forky_keeps_branches_merges_and_their_names() -> None:
    found = one(FirstForky(), PROGRAM_FILES / "first-forky.json")
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
    rivers, empty = every(FirstForky(), path)
    assert (rivers.title, rivers.branch, empty.nodes) == ("Rivers", "deep", ())
    tree = build_tree(rivers)
    assert live(tree) == [("user", "Longest?"), ("user", "Deepest?")]
    question = next(message for message in tree.messages if message.text == "Longest?")
    assert [part.name for part in question.parts if isinstance(part, AttachmentPart)] == ["rivers.txt"]


def test_the_nested_file_of_2024_is_read_at_the_node_that_was_checked_out() -> None:
    tree = build_tree(one(FirstForky(), PROGRAM_FILES / "first-forky-2024.json"))
    assert live(tree) == [("system", "Be brief."), ("user", "Longest?"), ("assistant", "The Nile.")]
    assert {message.text for message in tree.messages} >= {"The Amazon."}


def test_cards_of_canvas_chat_are_messages_and_a_synthesis_names_what_it_joins() -> None:
    found = one(CanvasChat(), PROGRAM_FILES / "canvas-chat.json")
    tree = build_tree(found)
    assert live(tree) == [("user", "Longest?"), ("assistant", "The Nile."), ("assistant", "One of both.")]
    assert {message.text for message in tree.messages} >= {"The Amazon.", "Look it up."}
    assert next(node for node in found.nodes if node.id == "s").extra["other_parents"] == ["b"]
    assert any(isinstance(part, AttachmentPart) for message in tree.messages for part in message.parts)
