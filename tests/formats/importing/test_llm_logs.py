"""llm's logs.db, both generations, from databases made by its published schema."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from forky_core.conversation.workspace import Workspace
from forky_core.formats.contract import Unreadable
from forky_core.formats.files.source import opened, sample
from forky_core.formats.importing.landing import import_file, preview
from forky_core.formats.importing.pieces import pieces
from forky_core.formats.importing.readers.llm_logs import LlmLogs
from forky_core.formats.tree import build_tree
from forky_core.model.hashing import content_hash
from forky_core.model.parts import AttachmentPart, Json, TextPart, ToolResultPart
from tests.formats.importing.test_trees import live
from tests.formats.sources import every, one, packed, read

PELICAN = "b2:d6b0cd4e7a65ea90423c50fadb3f5704"
PERCY = "b2:0f2c02ad982050b623b7e034199c8c61"
"""The ids that llm's documentation gives these two messages."""

NEW = """
CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT, provider_metadata TEXT);
CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT, tool_name TEXT, text TEXT,
    payload TEXT);
CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT, datetime_utc TEXT);
CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT, model TEXT,
    input_tokens INTEGER, output_tokens INTEGER, datetime_utc TEXT);
CREATE TABLE fragments (id INTEGER PRIMARY KEY, content TEXT);
CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
"""
OLD = """
CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, response TEXT, reasoning TEXT,
    conversation_id TEXT, datetime_utc TEXT, input_tokens INTEGER, output_tokens INTEGER);
CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, output TEXT, tool_call_id TEXT,
    exception TEXT);
CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, arguments TEXT, tool_call_id TEXT);
"""


class Database:
    """A logs.db in the making."""

    def __init__(self, path: Path, *schemas: str) -> None:
        self.path = path
        self.connection = sqlite3.connect(path)
        for schema in schemas:
            self.connection.executescript(schema)

    def add(self, table: str, **row: Json) -> None:
        columns, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
        self.connection.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", list(row.values()))  # noqa: S608

    def message(
        self, role: str, parts: Iterable[Json], parent: str | None = None, stored: Iterable[Json] = ()
    ) -> str:
        """A message with the id llm would give it; `stored` are its parts with references in place of content."""
        parts = list(parts)
        id = content_hash({"parent": parent, "message": {"role": role, "parts": parts}})
        self.add("messages", hash=id, parent_hash=parent, role=role)
        for position, part in enumerate(stored or parts):
            rest = {key: value for key, value in part.items() if key not in ("type", "text")}
            payload = json.dumps(rest) if rest else None
            self.add(
                "parts",
                message_hash=id,
                position=position,
                type=part["type"],
                text=part.get("text"),
                payload=payload,
            )
        return id

    def done(self) -> Path:
        self.connection.commit()
        self.connection.close()
        return self.path


def text(said: str) -> Json:
    return {"type": "text", "text": said}


def threads(path: Path) -> Path:
    """Two threads, one forked from the other, with a call, a fragment and an attachment between them."""
    database = Database(path, NEW, OLD)
    asked = database.message("user", [text("Suggest a name for a pet pelican")])
    percy = database.message("assistant", [text("How about Percy? Pelicans suit a dignified name.")], asked)
    assert (asked, percy) == (PELICAN, PERCY)
    database.add("fragments", id=7, content="a walrus")
    walrus = database.message(
        "user",
        [text("Now one for a walrus")],
        percy,
        [{"type": "text", "text_ref": [{"literal": "Now one for "}, {"fragment": 7}]}],
    )
    picture = b"\x89PNG\r\n\x1a\n"
    sha = hashlib.sha256(picture).hexdigest()
    database.add("attachments", id=sha, type="image/png", content=picture)
    seagull = database.message(
        "user",
        [
            text("And for this?"),
            {"type": "attachment", "attachment": {"id": sha, "type": "image/png"}},
            {"type": "attachment", "attachment": {"id": "0" * 64, "type": "image/jpeg"}},
        ],
        percy,
    )
    database.add("attachments", id="0" * 64, type="image/jpeg", path="/etc/passwd")
    call = {"type": "tool_call", "name": "look", "arguments": {"b": 1, "a": [2]}, "tool_call_id": "t"}
    called = database.message("assistant", [{"type": "reasoning", "text": "Hm"}, call], seagull)
    result = {
        "type": "tool_result",
        "name": "look",
        "output": "a gull",
        "tool_call_id": "t",
        "server_executed": True,
    }
    answered = database.message("tool", [result], called)
    database.add(
        "threads", id="1", name="Pets", tip_message_hash=walrus, datetime_utc="2026-01-01 00:00:00+00:00"
    )
    database.add("threads", id="2", name="gull", tip_message_hash=answered, forked_from="1")
    database.add(
        "turns",
        id="1",
        thread_id="1",
        tip_message_hash=percy,
        model="m",
        input_tokens=5,
        output_tokens=1 << 60,
        datetime_utc="2026-01-01 00:00:00+00:00",
    )
    return database.done()


def test_messages_of_the_content_addressed_generation_keep_their_ids(tmp_path: Path) -> None:
    found = one(LlmLogs(), threads(tmp_path / "logs.db"))
    tree = build_tree(found)
    assert len(tree.messages) == 6
    for origin in tree.origins:
        assert origin.message == origin.node.id
    assert [words for _, words in live(tree)][-1] == "Now one for a walrus"
    assert list(tree.branches) == ["gull"]
    percy = found.nodes[1]
    assert (found.title, percy.model, percy.usage.prompt_tokens) == ("Pets", "m", 5)
    assert percy.usage.completion_tokens is None
    assert isinstance(tree.messages[3].parts[1], AttachmentPart)


def test_threads_land_and_verify_and_a_path_in_a_database_is_never_opened(
    tmp_path: Path, forky: Workspace
) -> None:
    done = import_file(forky, threads(tmp_path / "logs.db"))
    assert len(done.conversations) == 1
    chat = forky.conversation(done.conversations[0])
    assert set(chat.view.branches) == {"main", "gull"}
    assert forky.verify().clean


def responses(path: Path) -> Path:
    database = Database(path, OLD)
    database.add("conversations", id="c", name="Pets", model="m")
    row: Json = {"conversation_id": "c", "model": "m", "datetime_utc": "2025-01-01T00:00:00"}
    database.add("responses", id="1", prompt="Look", system="Be brief.", response="", **row)
    database.add("tool_calls", id=1, response_id="1", name="look", arguments='{"a": 1}', tool_call_id="t")
    database.add("tool_results", id=1, response_id="2", name="look", output="a gull", tool_call_id="t")
    database.add(
        "responses", id="2", prompt="", system="Be brief.", response="A gull.", reasoning="Hm", **row
    )
    database.add("responses", id="3", prompt="Now long", system="Be long.", response="A large gull.", **row)
    database.add("responses", id="4", prompt="Alone", response="Yes")
    return database.done()


def test_responses_of_the_generation_before_are_lines(tmp_path: Path) -> None:
    pets, alone = every(LlmLogs(), responses(tmp_path / "logs.db"))
    messages = build_tree(pets).messages
    assert pets.system == "Be brief."
    assert [message.role for message in messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "system",
        "user",
        "assistant",
    ]
    assert messages[2].parts == (ToolResultPart("look", "a gull", "t"),)
    assert messages[4].parts == (TextPart("Be long."),)
    assert alone.source_id == "response 4"


def test_a_database_in_an_archive_is_read_from_a_copy_that_is_gone_afterwards(
    tmp_path: Path, forky: Workspace
) -> None:
    path = packed(tmp_path, {"backup/logs.db": responses(tmp_path / "logs.db").read_bytes()})
    assert [line.messages for line in preview(forky, path)] == [7, 2]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["export.zip", "logs.db"]


def test_a_thread_brought_forward_is_told_once(tmp_path: Path) -> None:
    path = threads(tmp_path / "logs.db")
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO conversations VALUES ('1', 'Pets', 'm')")
    connection.execute(
        "INSERT INTO responses (id, conversation_id, prompt, response) VALUES ('r', '1', 'a', 'b')"
    )
    connection.commit()
    connection.close()
    assert len(list(read(LlmLogs(), path))) == 1


def test_a_damaged_database_ends_in_a_sentence(tmp_path: Path) -> None:
    path = responses(tmp_path / "logs.db")
    data = bytearray(path.read_bytes())
    data[5000:] = b"\xff" * (len(data) - 5000)
    path.write_bytes(bytes(data))
    with opened(path) as archive:
        assert [type(piece.found) for piece in pieces(archive)] == [Unreadable]


def test_a_view_under_the_name_of_a_table_is_not_read(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "logs.db")
    connection.executescript(
        "CREATE TABLE conversations (id);"
        "CREATE VIEW responses AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT * FROM n;"
    )
    connection.close()
    with opened(tmp_path / "logs.db") as archive:
        assert not LlmLogs().fits(sample(archive.documents[0]))
