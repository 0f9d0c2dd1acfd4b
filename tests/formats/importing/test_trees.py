"""The formats that carry trees, each from a file as short as it can be."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from forky_core.forky import Forky
from forky_core.formats.contract import Importer
from forky_core.formats.importing.landing import import_file
from forky_core.formats.importing.readers.claude_ai import ROOT, ClaudeAI
from forky_core.formats.importing.readers.grok import Grok
from forky_core.formats.importing.readers.librechat import LibreChat
from forky_core.formats.importing.readers.open_webui import OpenWebUI
from forky_core.formats.importing.readers.session_traces import SessionTraces
from forky_core.formats.tree import ImportedTree, build_tree
from forky_core.model.parts import AttachmentPart, Json, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from tests.formats.sources import one, written


def live(tree: ImportedTree) -> list[tuple[str, str]]:
    """Role and words of each message on the way to what is checked out."""
    by_id = {message.id: message for message in tree.messages}
    at = tree.head
    said: list[tuple[str, str]] = []
    while at is not None:
        said.append((by_id[at].role, by_id[at].text))
        at = by_id[at].parent
    return said[::-1]


CLAUDE_TREE = [
    {
        "uuid": "c",
        "name": "Rivers",
        "chat_messages": [
            {"uuid": "q", "sender": "human", "text": "Longest?", "parent_message_uuid": ROOT},
            {
                "uuid": "a",
                "sender": "assistant",
                "text": "Nile",
                "parent_message_uuid": "q",
                "created_at": "2026-03-01T00:00:02Z",
            },
            {
                "uuid": "b",
                "sender": "assistant",
                "text": "Amazon",
                "parent_message_uuid": "q",
                "created_at": "2026-03-01T00:00:01Z",
            },
        ],
    }
]
WEBUI_TREE = [
    {
        "id": "c",
        "title": "Rivers",
        "chat": {
            "history": {
                "currentId": "a",
                "messages": {
                    "q": {
                        "id": "q",
                        "parentId": None,
                        "childrenIds": ["b", "a"],
                        "role": "user",
                        "content": "Longest?",
                    },
                    "a": {"parentId": "q", "role": "assistant", "content": "Nile", "model": "m"},
                    "b": {"parentId": "q", "childrenIds": [], "role": "assistant", "content": "Amazon"},
                },
            }
        },
    }
]
LIBRE_TREE = {
    "conversationId": "c",
    "title": "Rivers",
    "recursive": True,
    "messages": [
        {
            "messageId": "q",
            "isCreatedByUser": True,
            "text": "Longest?",
            "children": [
                {
                    "messageId": "b",
                    "isCreatedByUser": False,
                    "text": "Amazon",
                    "createdAt": "2026-01-01T00:00:01Z",
                },
                {
                    "messageId": "a",
                    "isCreatedByUser": False,
                    "text": "Nile",
                    "createdAt": "2026-01-01T00:00:02Z",
                },
            ],
        }
    ],
}
LLAMA_TREE = """\
{"type":"session","harness":"llama.app","id":"c","name":"Rivers","currNode":"a"}
{"type":"message","message":{"id":"r","type":"root","role":"system","content":"","parent":null}}
{"type":"message","message":{"id":"q","role":"user","content":"Longest?","parent":"r"}}
{"type":"message","message":{"id":"b","role":"assistant","content":"Amazon","parent":"q"}}
{"type":"message","message":{"id":"a","role":"assistant","content":"Nile","parent":"q"}}
"""
GROK_TREE = {
    "conversations": [
        {
            "conversation": {"id": "c", "title": "Rivers", "leaf_response_id": "a"},
            "responses": [
                {"response": {"_id": "q", "sender": "human", "message": "Longest?"}},
                {
                    "response": {
                        "_id": "a",
                        "sender": "ASSISTANT",
                        "message": "Nile",
                        "parent_response_id": "q",
                    }
                },
                {
                    "response": {
                        "_id": "b",
                        "sender": "assistant",
                        "message": "Amazon",
                        "parent_response_id": "q",
                    }
                },
            ],
        }
    ]
}


def webui_database(path: Path, *, broken: bool = False) -> Path:
    (row,) = WEBUI_TREE
    assert isinstance(row, dict)
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE auth (id TEXT, password TEXT)")
        database.execute("CREATE TABLE user (id TEXT, email TEXT, api_key TEXT)")
        database.execute(
            "CREATE TABLE chat (id TEXT, user_id TEXT, title TEXT, chat TEXT, created_at BIGINT)"
        )
        database.execute("INSERT INTO user VALUES ('u', 'ann@example.com', 'sk-secret')")
        given = ("c", "u", "Rivers", json.dumps(row["chat"]), 1_700_000_000)
        database.execute("INSERT INTO chat VALUES (?, ?, ?, ?, ?)", given)
        if broken:
            database.execute("INSERT INTO chat VALUES ('d', 'u', 'Broken', '{', 1700000001)")
    database.close()
    return path


@pytest.mark.parametrize(
    ("importer", "value"),
    [
        (ClaudeAI(), CLAUDE_TREE),
        (OpenWebUI(), WEBUI_TREE),
        (LibreChat(), LIBRE_TREE),
        (SessionTraces(), LLAMA_TREE),
        (Grok(), GROK_TREE),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_both_answers_are_kept_and_the_live_one_is_checked_out(
    importer: Importer, value: Json, tmp_path: Path
) -> None:
    found = one(importer, written(tmp_path, value))
    tree = build_tree(found)
    assert live(tree) == [("user", "Longest?"), ("assistant", "Nile")]
    assert {message.text for message in tree.messages} == {"Longest?", "Nile", "Amazon"}
    assert (found.source_id, tree.account.adds_up) == ("c", True)


def test_claude_old_exports_are_a_chain_and_results_are_messages_of_the_tool(tmp_path: Path) -> None:
    blocks = [
        {"type": "thinking", "thinking": "Search."},
        {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "nile"}},
        {
            "type": "tool_result",
            "tool_use_id": "t1",
            "name": "search",
            "content": [{"type": "text", "text": "6,650 km"}],
        },
        {"type": "text", "text": "6,650 km."},
        {"type": "token_budget"},
    ]
    file = {"file_name": "notes.txt", "extracted_content": "my notes"}
    value = [
        {
            "uuid": "c",
            "name": "",
            "chat_messages": [
                {"uuid": "q", "sender": "human", "text": "How long?", "attachments": [file]},
                {"uuid": "a", "sender": "assistant", "text": "", "content": blocks},
            ],
        }
    ]
    tree = build_tree(one(ClaudeAI(), written(tmp_path, value)))
    question, called, result, answer = tree.messages
    assert isinstance(question.parts[0], AttachmentPart)
    assert called.parts == (ReasoningPart("Search."), ToolCallPart("search", '{"q":"nile"}', "t1"))
    assert (result.role, result.parts) == ("tool", (ToolResultPart("search", "6,650 km", "t1"),))
    assert answer.parts == (TextPart("6,650 km."),)
    assert (tree.account.seen, tree.account.split) == (2, 2)
    assert tree.account.adds_up


def test_open_webui_details_blocks_are_taken_apart(tmp_path: Path) -> None:
    content = (
        '<details type="reasoning" done="true"><summary>Thought</summary>\n&gt; 15 &lt; 17\n</details>\n'
        '<details type="tool_calls" done="true" id="c1" name="add" arguments="{&quot;a&quot;: 1}" result="&quot;2&quot;">'
        "<summary>Tool</summary></details>\nIt is 2."
    )
    value = [{"id": "c", "chat": {"history": {"messages": {"a": {"role": "assistant", "content": content}}}}}]
    parts = [
        part
        for message in build_tree(one(OpenWebUI(), written(tmp_path, value))).messages
        for part in message.parts
    ]
    assert parts == [
        ReasoningPart("15 < 17"),
        ToolCallPart("add", '{"a":1}', "c1"),
        ToolResultPart("add", '"2"', "c1"),
        TextPart("It is 2."),
    ]


def test_open_webui_output_is_preferred_to_the_text(tmp_path: Path) -> None:
    output = [
        {"type": "reasoning", "content": [{"type": "output_text", "text": "Hm."}]},
        {"type": "message", "content": [{"type": "output_text", "text": "255"}]},
    ]
    entry = {"role": "assistant", "content": "<details>…</details>255", "output": output}
    value = [{"id": "c", "chat": {"history": {"messages": {"a": entry}}}}]
    (message,) = build_tree(one(OpenWebUI(), written(tmp_path, value))).messages
    assert message.parts == (ReasoningPart("Hm."), TextPart("255"))


def test_a_broken_pointer_loses_no_message(tmp_path: Path) -> None:
    messages = {
        "a": {"role": "user", "content": "one"},
        "b": {"parentId": "gone", "content": "two"},
        "c": None,
    }
    value = [{"id": "c", "chat": {"history": {"currentId": "nowhere", "messages": messages}}}]
    tree = build_tree(one(OpenWebUI(), written(tmp_path, value)))
    assert {message.text for message in tree.messages} == {"one", "two"}
    assert tree.account.adds_up


def test_open_webuis_database_is_read_as_its_export(tmp_path: Path) -> None:
    database = webui_database(tmp_path / "webui.db", broken=True)
    with Forky.open(":memory:") as forky:
        done = import_file(forky, database)
        assert [problem.label for problem in done.problems] == ["Broken"]
        assert done.account.adds_up
        again = import_file(forky, written(tmp_path, WEBUI_TREE))
        assert (again.unchanged, again.conversations) == (1, ()), (
            "the export of the same chat is the same chat"
        )
        rows = [str(value) for _, value in forky.store.entries("origin").items()]
        assert not any("ann@example.com" in row or "sk-secret" in row for row in rows)
    assert OpenWebUI.name == "open-webui"
