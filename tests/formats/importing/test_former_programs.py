"""Files of programs that Forky does not import: each is named, and none is read by a general importer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.formats.importing.landing import import_file
from forky_core.formats.importing.pieces import LISTS, NOT_READ, UNKNOWN
from forky_core.model.parts import Json
from tests.formats.sources import packed, written

SAID: list[Json] = [
    {"id": "q", "role": "user", "content": "Longest?", "text": "Longest?"},
    {"id": "a", "role": "assistant", "content": "Nile", "text": "Nile", "parent_id": "q"},
]
PROMPT = {"message_id": "q", "role": "prompter", "text": "Longest?", "replies": []}
FOREIGN: tuple[tuple[str, Json], ...] = (
    ("Portable AI Memory", {"schema": "portable-ai-memory-conversation", "id": "c", "messages": SAID}),
    ("Chatbot UI", {"version": 4, "history": [{"id": "h", "name": "n", "messages": SAID, "prompt": "Be."}]}),
    ("TypingMind", {"data": {"chats": [{"chatID": "c", "chatTitle": "Rivers", "messages": SAID}]}}),
    ("TypingMind", {"chatID": "c", "messages": SAID}),
    ("Open Assistant", [{"message_tree_id": "t", "prompt": PROMPT}]),
    ("Open Assistant", [{**one, "message_tree_id": "t"} for one in SAID if isinstance(one, dict)]),
    ("a program for character cards", {"spec": "chara_card_v2", "data": {"first_mes": "Hi"}}),
    ("HuggingChat", [{"messages": [{"from": "user", "content": "Hi", "ancestors": []}]}]),
    ("LangSmith", [{"run_type": "llm", "inputs": {"messages": SAID}}]),
    ("OpenAI’s batches", [{"custom_id": "1", "response": {"body": {}}}]),
    ("Alpaca’s training data", [{"instruction": "Translate", "output": "Nile"}]),
    ("Discord", {"guild": {}, "channel": {}, "messages": [{"content": "Hi", "author": {"name": "Eva"}}]}),
    ("Slack", [{"type": "message", "user": "U1", "text": "Hi", "ts": "1767225600.0001"}]),
    ("Microsoft Copilot", "\ufeffConversation,Time,Author,Message\nRivers,2026-01-01,AI,Nile\n"),
    ("Perplexity", '<img src="https://r2cdn.perplexity.ai/logo.png"/>\n\n# Longest?\n\nThe Nile.\n'),
)
WAYS: tuple[tuple[str, Json], ...] = (
    ("opencode export", {"id": "m", "sessionID": "ses_1", "role": "user"}),
    ("sessions", '{"type": "thread.started", "thread_id": "t"}\n{"type": "turn.started"}\n'),
    ("trajectory", {"id": "e", "source": "user", "kind": "MessageEvent", "llm_message": SAID[0]}),
    ("llm logs path", [{"conversation_id": "c", "prompt": "Longest?", "response": "Nile", "model": "m"}]),
    ("Choose JSON", '<html><body><div class="outer-cell mdl-cell">Prompted Longest?</div></body></html>'),
)


@pytest.mark.parametrize(("program", "value"), FOREIGN)
def test_a_file_of_a_foreign_program_is_named_and_nothing_of_it_is_imported(
    program: str, value: Json, tmp_path: Path, forky: Workspace
) -> None:
    done = import_file(forky, written(tmp_path, value))
    assert [problem.why for problem in done.problems] == [NOT_READ.format(program, LISTS)]
    assert not done.conversations and not forky.conversations()


@pytest.mark.parametrize(("way", "value"), WAYS)
def test_a_file_that_another_form_replaces_is_refused_with_the_way_to_that_form(
    way: str, value: Json, tmp_path: Path, forky: Workspace
) -> None:
    (problem,) = import_file(forky, written(tmp_path, value)).problems
    assert "does not read" in problem.why and way in problem.why


def test_a_program_is_named_once_for_all_its_files_in_an_archive(tmp_path: Path, forky: Workspace) -> None:
    days = {f"rivers/{day}.json": json.dumps([{"user": "U1", "text": "Hi", "ts": "1.0"}]) for day in range(3)}
    done = import_file(forky, packed(tmp_path, days))
    assert [problem.why for problem in done.problems] == [NOT_READ.format("Slack", LISTS)]
    assert sum(done.account.notes.values()) == 2, "the other files are named as not read"


def test_what_a_file_of_a_foreign_program_is_told_to_write_is_read(tmp_path: Path, forky: Workspace) -> None:
    (id,) = import_file(forky, written(tmp_path, [{"messages": SAID}])).conversations
    assert [message.text for message in forky.conversation(id).path()] == ["Longest?", "Nile"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("history.csv", b"River,Length\nNile,6650\n"),
        ("card.png", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"),
    ],
)
def test_a_table_or_a_picture_is_of_an_unknown_format(
    name: str, content: bytes, tmp_path: Path, forky: Workspace
) -> None:
    (tmp_path / name).write_bytes(content)
    done = import_file(forky, tmp_path / name)
    assert [problem.why for problem in done.problems] == [UNKNOWN]


def test_a_picture_in_an_archive_is_a_file_beside_the_conversations(tmp_path: Path, forky: Workspace) -> None:
    path = packed(tmp_path, {"a.json": '[{"role":"user","content":"Hi"}]', "b.png": b"\x89PNG\r\n\x1a\n"})
    done = import_file(forky, path)
    assert (len(done.conversations), done.problems, done.account.notes) == (1, (), {})
