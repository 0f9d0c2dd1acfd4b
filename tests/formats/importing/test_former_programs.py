"""Files of programs that Forky used to import: each is named, and none is read by a general importer."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.formats.importing.landing import import_file
from forky_core.formats.importing.pieces import NO_LONGER, UNKNOWN
from forky_core.model.parts import Json
from tests.formats.sources import packed, written

SAID: list[Json] = [
    {"id": "q", "role": "user", "content": "Longest?", "text": "Longest?"},
    {"id": "a", "role": "assistant", "content": "Nile", "text": "Nile", "parent_id": "q"},
]
PROMPT = {"message_id": "q", "role": "prompter", "text": "Longest?", "replies": []}
FORMER: tuple[tuple[str, Json], ...] = (
    ("Portable AI Memory", {"schema": "portable-ai-memory-conversation", "id": "c", "messages": SAID}),
    ("Chatbot UI", {"version": 4, "history": [{"id": "h", "name": "n", "messages": SAID, "prompt": "Be."}]}),
    ("TypingMind", {"data": {"chats": [{"chatID": "c", "chatTitle": "Rivers", "messages": SAID}]}}),
    ("TypingMind", {"chatID": "c", "messages": SAID}),
    ("Open Assistant", [{"message_tree_id": "t", "prompt": PROMPT}]),
    ("Open Assistant", [{**one, "message_tree_id": "t"} for one in SAID if isinstance(one, dict)]),
    ("a program for character cards", {"spec": "chara_card_v2", "data": {"first_mes": "Hi"}}),
)


@pytest.mark.parametrize(("program", "value"), FORMER)
def test_a_file_of_a_former_program_is_named_and_nothing_of_it_is_imported(
    program: str, value: Json, tmp_path: Path, forky: Workspace
) -> None:
    done = import_file(forky, written(tmp_path, value))
    assert [problem.why for problem in done.problems] == [NO_LONGER.format(program)]
    assert not done.conversations and not forky.conversations()


def test_what_a_file_of_a_former_program_is_told_to_write_is_read(tmp_path: Path, forky: Workspace) -> None:
    (id,) = import_file(forky, written(tmp_path, [{"messages": SAID}])).conversations
    assert [message.text for message in forky.conversation(id).path()] == ["Longest?", "Nile"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("history.csv", b'Conversation,Time,Author,Message\nRivers,2026-01-01,AI,"Nile"\n'),
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
