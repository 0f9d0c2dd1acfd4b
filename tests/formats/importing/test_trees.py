"""The formats that carry trees, each from a file as short as it can be."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.formats.contract import Importer
from forky_core.formats.importing.landing import import_file
from forky_core.formats.importing.readers.claude_ai import ClaudeAI
from forky_core.formats.importing.readers.grok import Grok
from forky_core.formats.importing.readers.librechat import LibreChat
from forky_core.formats.importing.readers.open_webui import OpenWebUI
from forky_core.formats.importing.readers.session_traces import SessionTraces
from forky_core.formats.tree import ImportedTree, build_tree
from forky_core.model.parts import AttachmentPart, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from tests.formats.sources import PROGRAM_FILES, one, program_file, written


def live(tree: ImportedTree) -> list[tuple[str, str]]:
    """Role and words of each message on the way to what is checked out."""
    by_id = {message.id: message for message in tree.messages}
    at = tree.head
    said: list[tuple[str, str]] = []
    while at is not None:
        said.append((by_id[at].role, by_id[at].text))
        at = by_id[at].parent
    return said[::-1]


def webui_database(path: Path, *, broken: bool = False) -> Path:
    (row,) = program_file("open-webui.json")
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
    ("importer", "file"),
    [
        (ClaudeAI(), "claude-ai.json"),
        (OpenWebUI(), "open-webui.json"),
        (LibreChat(), "librechat.json"),
        (SessionTraces(), "llama.jsonl"),
        (Grok(), "grok.json"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_both_answers_are_kept_and_the_live_one_is_checked_out(importer: Importer, file: str) -> None:
    found = one(importer, PROGRAM_FILES / file)
    tree = build_tree(found)
    assert live(tree) == [("user", "Longest?"), ("assistant", "Nile")]
    assert {message.text for message in tree.messages} == {"Longest?", "Nile", "Amazon"}
    assert (found.source_id, tree.account.adds_up) == ("c", True)


def test_claude_old_exports_are_a_chain_and_results_are_messages_of_the_tool() -> None:
    tree = build_tree(one(ClaudeAI(), PROGRAM_FILES / "claude-ai-chain.json"))
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
        '<details type="tool_calls" done="true" id="c1" name="add" arguments="&quot;{\\&quot;a\\&quot;: 1}&quot;" result="&quot;2&quot;">'
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
        ToolResultPart("add", "2", "c1"),
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


def test_open_webuis_database_is_read_as_its_export(tmp_path: Path, forky: Workspace) -> None:
    database = webui_database(tmp_path / "webui.db", broken=True)
    done = import_file(forky, database)
    assert [problem.label for problem in done.problems] == ["Broken"]
    assert done.account.adds_up
    again = import_file(forky, PROGRAM_FILES / "open-webui.json")
    assert (again.unchanged, again.conversations) == (1, ()), "the export of the same chat is the same chat"
    rows = [str(value) for _, value in forky.store.entries("origin").items()]
    assert not any("ann@example.com" in row or "sk-secret" in row for row in rows)
    assert OpenWebUI.name == "open-webui"
