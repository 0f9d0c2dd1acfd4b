"""What leaves in a format with branches comes back as it was: texts, roles, the tree, what was checked out."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import settings as hypothesis_settings

from forky_core.formats.contract import ParsedConversation
from forky_core.formats.exporting.registry import exporter
from forky_core.formats.exporting.sharing import export_value
from forky_core.formats.files.source import opened, sample
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.files import load
from forky_core.formats.forky_file.writing import chat_of
from forky_core.formats.registry import importer_for
from forky_core.formats.tree import ImportedTree, build_tree
from forky_core.model import MessageId
from forky_core.model.hashing import message_id
from forky_core.model.parts import part_from_stored
from tests.builders import talk, workspace
from tests.examples import examples
from tests.formats.exporting.trees import chats, path, rich_chats, shape, told

RICH = hypothesis_settings(suppress_health_check=(HealthCheck.too_slow,))
"""How long a busy machine takes to draw a conversation says nothing about the formats."""


def written(chat: Chat, name: str, folder: str) -> Path:
    to = exporter(name)
    file = Path(folder) / f"chat{to.suffix}"
    file.write_bytes(b"".join(to.write(chat)))
    return file


def imported(file: Path) -> ImportedTree:
    with opened(file) as archive:
        (document,) = archive.documents
        importer = importer_for(sample(document))
        assert importer is not None
        (found,) = importer.read(document, archive.beside)
        assert isinstance(found, ParsedConversation)
        return build_tree(found)


@hypothesis_settings(max_examples=examples(60))
@given(chat=chats())
def test_a_tree_comes_back_from_chatgpts_format(chat: Chat) -> None:
    with TemporaryDirectory() as folder:
        tree = imported(written(chat, "chatgpt", folder))
    back = {message.id: message for message in tree.messages}
    assert shape(back) == shape(chat.messages)
    assert path(back, tree.head) == path(chat.messages, chat.view.branch("main").head)
    assert set(back) == set(chat.messages), "without merges every id is what it was"


def test_markdown_comes_back_with_its_branches() -> None:
    forky, _ = workspace()
    code = "Like this:\n\n```\n## 3. You\n\n---\n\n**Branch “x”**\n```\n\n## 9. Not one of ours"
    one = talk(forky.create("Rivers"), "Longest?", code, "And then?", "---\nThe end.")
    side = talk(one.fork("a side", at=one.path()[0].id), "Really?", "Yes.")
    asked = one.path()[2].id
    one.fork("tried", at=asked)
    with TemporaryDirectory() as folder:
        tree = imported(written(chat_of(forky.store, one.id), "markdown", folder))
        alone = imported(written(export_value(forky.store, side, branch="a side"), "markdown", folder))
    texts = {message.id: message.text for message in tree.messages}
    parents = {texts[message.id]: texts.get(message.parent or MessageId("")) for message in tree.messages}
    assert parents == {
        "Longest?": None,
        code: "Longest?",
        "And then?": code,
        "---\nThe end.": "And then?",
        "Really?": "Longest?",
        "Yes.": "Really?",
    }
    assert {name: texts[tip] for name, tip in tree.branches.items()} == {"a side": "Yes."}
    assert tree.head is not None and (tree.branch, texts[tree.head]) == ("main", "---\nThe end.")
    assert [message.text for message in alone.messages] == ["Longest?", "Really?", "Yes."]
    assert {message.role for message in alone.messages} == {"user", "assistant"}
    assert tree.account.adds_up
    forky.close()


def test_headings_of_a_file_that_a_message_quotes_stay_in_the_message() -> None:
    quoting = "See:\n\n## 2. Assistant\n\n\\## 2. You\n\n---\n\n**Branch “x”**, from message 1\n\n## 3. You"
    forky, _ = workspace()
    with forky, TemporaryDirectory() as folder:
        chat = talk(forky.create("Rivers"), quoting, f"Indeed:\n\n{quoting}", "And then?", "The end.")
        tree = imported(written(chat_of(forky.store, chat.id), "markdown", folder))
        assert [one.text for one in tree.messages] == [one.text for one in chat.path()]


@pytest.mark.parametrize("name", ["forky", "html"])
@hypothesis_settings(max_examples=examples(60))
@given(chat=chats())
def test_forkys_own_file_and_the_page_give_the_same_conversation_back(name: str, chat: Chat) -> None:
    with TemporaryDirectory() as folder:
        back = load(written(chat, name, folder))
    assert back.messages == chat.messages
    assert back.view.branches == chat.view.branches
    assert (back.id, back.title) == (chat.id, chat.title)


@pytest.mark.parametrize("name", ["forky", "html"])
@hypothesis_settings(RICH, max_examples=examples(30))
@given(chat=rich_chats(images=True))
def test_calls_pictures_thoughts_and_names_come_back_from_forkys_own_files(name: str, chat: Chat) -> None:
    with TemporaryDirectory() as folder:
        back = load(written(chat, name, folder))
    assert back.messages == chat.messages
    assert back.blobs == chat.blobs


@hypothesis_settings(RICH, max_examples=examples(40))
@given(chat=rich_chats(images=False))
def test_calls_thoughts_and_names_come_back_from_chatgpts_nodes(chat: Chat) -> None:
    # In ChatGPT's texts these letters begin and end a mark that stands for a link.
    assume(not any(mark in message.text for message in chat.messages.values() for mark in "\ue200\ue203"))
    with TemporaryDirectory() as folder:
        tree = imported(written(chat, "chatgpt", folder))
    assert told({message.id: message for message in tree.messages}) == told(chat.messages)


@hypothesis_settings(max_examples=examples(40))
@given(chat=chats())
def test_llms_database_holds_every_message_under_our_id(chat: Chat) -> None:
    with TemporaryDirectory() as folder:
        database = sqlite3.connect(written(chat, "llm", folder))
        rows = database.execute("SELECT hash, parent_hash, role FROM messages").fetchall()
        parts: dict[str, list[dict[str, str]]] = {}
        for id, kind, text in database.execute(
            "SELECT message_hash, type, text FROM parts ORDER BY message_hash, position"
        ):
            parts.setdefault(id, []).append({"type": kind, "text": text})
        tips = {row[0] for row in database.execute("SELECT tip_message_hash FROM threads")}
        database.close()
    assert {row[0] for row in rows} == set(chat.messages)
    for id, parent, role in rows:
        said = [part_from_stored(part) for part in parts[id]]
        assert id == message_id([parent] if parent else [], role, said)
    heads: set[MessageId | None] = {branch.head for branch in chat.view.branches.values()}
    assert tips == heads
