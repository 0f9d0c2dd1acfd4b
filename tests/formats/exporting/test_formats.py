"""Each format on a conversation with some of everything: what stands in it, and what is said to be lost."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.exporting.flattening import flattened
from forky_core.formats.exporting.registry import exporter
from forky_core.formats.exporting.sharing import export_value, file_name
from forky_core.formats.exporting.writers.markdown import closed
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.writing import chat_of
from forky_core.model import seal
from forky_core.model.hashing import message_id
from forky_core.model.parts import Draft, TextPart, ToolCallPart, ToolResultPart
from forky_core.text.fences import fenced
from tests.builders import debugged, talk
from tests.formats.exporting.trees import chat_with
from tests.formats.forky_file.chats import with_everything


@pytest.fixture
def chat(forky: Workspace) -> Conversation:
    return with_everything(forky)


def content(chat: Chat, name: str, dialect: str = "") -> bytes:
    return b"".join(exporter(name, dialect).write(chat))


def as_messages(chat: Chat, dialect: str) -> Any:
    return json.loads(content(chat, "messages", dialect))


def called() -> Chat:
    """A question, a call, its result and the answer."""
    ask = seal(Draft("user", (TextPart("What time is it?"),)), ())
    call = seal(Draft("assistant", (TextPart("I look."), ToolCallPart("clock", '{"zone":"UTC"}'))), (ask.id,))
    result = seal(Draft("tool", (ToolResultPart("clock", "15:00"),)), (call.id,))
    answer = seal(Draft("assistant", (TextPart("It is three."),)), (result.id,))
    return chat_with((ask, call, result, answer), answer.id)


def test_what_a_format_loses_is_said_and_a_lossless_one_says_nothing(
    forky: Workspace, chat: Conversation
) -> None:
    whole = chat_of(forky.store, chat.id)
    assert exporter("forky").losses(whole) == ()
    said = "\n".join(exporter("messages", "sharegpt").losses(whole))
    for word in ("merges", "cannot hold branches", "tag", "attachment", "stash", "operations", "undone"):
        assert word in said, word
    assert "cannot hold branches" not in "\n".join(exporter("chatgpt").losses(whole))
    plain = forky.create("Plain")
    talk(plain, "Hello", "Hi")
    assert exporter("messages").losses(chat_of(forky.store, plain.id)) == (
        "The history of 3 operations stays here.",
    )


def test_a_merge_becomes_a_message_and_messages_above_it_keep_their_ids(forky: Workspace) -> None:
    chat = debugged(forky)
    before = set(chat_of(forky.store, chat.id).messages)
    chat.merge(chat.plan_merge("debug", strategy="squash"))
    talk(chat, "Thanks.")
    flat = flattened(chat_of(forky.store, chat.id))
    assert before <= set(flat.messages)
    assert all(len(message.parents) < 2 for message in flat.messages.values())
    for message in flat.messages.values():
        assert message.id == message_id(message.parents, message.role, message.parts, message.name)
    assert flat.forked_from == {"id": chat.id, "name": "Enums"}


def test_openai_one_branch_is_an_object_and_several_are_an_array(forky: Workspace) -> None:
    chat = debugged(forky)
    chat.rules.set(system="Be brief.")
    one = as_messages(export_value(forky.store, chat, branch="main"), "openai")
    roles = [message["role"] for message in one["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant"]
    assert (one["title"], "branch" in one) == ("Enums", False)
    several = as_messages(chat_of(forky.store, chat.id), "openai")
    assert {one["branch"] for one in several} == {"main", "debug"}


def test_calls_have_ids_that_their_results_name() -> None:
    ask, call, result, answer = as_messages(called(), "openai")["messages"]
    assert call["tool_calls"][0]["id"] == result["tool_call_id"] == "call_1"
    assert (ask["role"], answer["content"]) == ("user", "It is three.")


def test_anthropic_puts_results_into_the_users_messages() -> None:
    request = as_messages(called(), "anthropic")
    roles = [message["role"] for message in request["messages"]]
    assert roles == ["user", "assistant", "user", "assistant"]
    (result,) = request["messages"][2]["content"]
    assert (result["type"], result["tool_use_id"]) == ("tool_result", "call_1")
    use = request["messages"][1]["content"][1]
    assert (use["type"], use["input"]) == ("tool_use", {"zone": "UTC"})


def test_sharegpt_has_its_own_names_for_who_speaks() -> None:
    (item,) = as_messages(called(), "sharegpt")
    speakers = ["human", "gpt", "function_call", "observation", "gpt"]
    assert [one["from"] for one in item["conversations"]] == speakers


def test_markdown_has_one_heading_a_message_and_names_branches(forky: Workspace) -> None:
    chat = debugged(forky)
    text = content(chat_of(forky.store, chat.id), "markdown").decode()
    assert len(re.findall(r"^## \d+\. ", text, re.MULTILINE)) == len(chat.visible.messages)
    assert "**Branch “main”**" in text
    assert "**Branch “debug”**, from message 2" in text


def test_code_that_was_cut_off_does_not_swallow_the_rest() -> None:
    assert closed("Look:\n```py\nx = 1").endswith("x = 1\n```")
    assert closed("```\na\n```") == "```\na\n```"
    assert fenced("```\na\n```").startswith("````\n")


def test_llms_turns_say_model_and_tokens(forky: Workspace, chat: Conversation, tmp_path: Path) -> None:
    file = tmp_path / "logs.db"
    file.write_bytes(content(chat_of(forky.store, chat.id), "llm"))
    database = sqlite3.connect(file)
    models = {row[0] for row in database.execute("SELECT model FROM turns")}
    broken = database.execute("PRAGMA foreign_key_check").fetchall()
    (pictures,) = database.execute("SELECT count(*) FROM attachments").fetchone()
    database.close()
    assert models == {"scripted/one", "scripted/two", None}, "whose model nobody knows is a turn, too"
    assert broken == []
    assert pictures == 1


def test_chosen_messages_are_a_conversation_of_their_own(forky: Workspace) -> None:
    chat = debugged(forky)
    first, *_, last = chat.path()
    made = export_value(forky.store, chat, messages=[first.id, last.id])
    assert [message.text for message in made.messages.values()] == [first.text, last.text]
    assert list(made.view.branches) == ["main"]
    assert made.view.branch("main").head == list(made.messages)[-1]
    assert made.forked_from == {"id": chat.id, "name": "Enums"}
    assert made.id != chat.id
    assert made.id == export_value(forky.store, chat, messages=[last.id, first.id]).id


def test_messages_chosen_from_two_branches_keep_both_ends(forky: Workspace) -> None:
    chat = debugged(forky)
    ends = [branch.head for branch in chat.branches.values() if branch.head]
    made = export_value(forky.store, chat, messages=ends)
    assert {branch.head for branch in made.view.branches.values()} == set(made.messages)


def test_a_file_is_called_by_the_title_as_far_as_every_system_can_write_it(forky: Workspace) -> None:
    chat = forky.create("../../etc: “Über” <x>")
    assert file_name(chat.title, exporter("html")) == "etc-Über-x.html"
    assert file_name(forky.create("").title, exporter("markdown")) == "conversation.md"
