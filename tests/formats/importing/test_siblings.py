"""Swipes, looms, chunks and the apps whose backups hold forks, each from a file as short as it can be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.formats.contract import Importer
from forky_core.formats.importing.landing import import_file
from forky_core.formats.importing.readers.ai_studio import AIStudio
from forky_core.formats.importing.readers.chatbox import Chatbox
from forky_core.formats.importing.readers.lobe_chat import LobeChat
from forky_core.formats.importing.readers.looms import Loom
from forky_core.formats.importing.readers.silly_tavern import SillyTavern
from forky_core.formats.tree import build_tree
from forky_core.model.parts import (
    AttachmentPart,
    Json,
    OpaquePart,
    ReasoningPart,
    ToolCallPart,
    ToolResultPart,
)
from tests.formats.importing.test_trees import live
from tests.formats.sources import PROGRAM_FILES, one, packed, program_file, written


def tavern(*rows: Json, main: str = "") -> str:
    header = {
        "user_name": "Ann",
        "character_name": "Sage",
        "chat_metadata": {"main_chat": main} if main else {},
    }
    return "\n".join(json.dumps(row) for row in (header, *rows))


ASKED = {"name": "Ann", "is_user": True, "mes": "Longest?", "send_date": "2023-4-21 @20h 02m 47s 124ms"}
SWIPED = {
    "name": "Sage",
    "is_user": False,
    "mes": "Nile",
    "swipe_id": 1,
    "swipes": ["Amazon", "Nil"],
    "swipe_info": [{"send_date": "2023-04-21T20:03:00Z", "extra": {"model": "m"}}, {}],
    "extra": {"reasoning": "Length, not volume."},
}


@pytest.mark.parametrize(
    ("importer", "value", "name"),
    [
        (SillyTavern(), tavern(ASKED, SWIPED), "c.jsonl"),
        (Loom(), program_file("loom.json"), "c.json"),
        (Loom(), program_file("loom-obsidian.json"), "c.json"),
        (AIStudio(), program_file("ai-studio.json"), "c.json"),
        (Chatbox(), program_file("chatbox.json"), "c.json"),
        (LobeChat(), program_file("lobechat.json"), "c.json"),
    ],
)
def test_both_answers_are_kept_and_the_live_one_is_checked_out(
    importer: Importer, value: Json, name: str, tmp_path: Path
) -> None:
    found = one(importer, written(tmp_path, value, name))
    tree = build_tree(found)
    assert live(tree) == [("user", "Longest?"), ("assistant", "Nile")]
    question, first, second = tree.messages
    assert (first.parent, second.parent) == (question.id, question.id)
    assert [first.text, second.text] == ["Amazon", "Nile"]
    assert "secret" not in repr(found)
    assert tree.account.adds_up


def test_the_branch_files_of_a_silly_tavern_chat_become_one_conversation(
    tmp_path: Path, forky: Workspace
) -> None:
    branched = {**SWIPED, "mes": "Amazon", "swipe_id": 0}
    more = {"name": "Ann", "is_user": True, "mes": "Why?"}
    hidden = {"name": "Sage", "is_user": False, "is_system": True, "mes": "Note"}
    path = packed(
        tmp_path,
        {
            "Sage/Rivers.jsonl": tavern(ASKED, SWIPED),
            "Sage/Rivers - Branch #1.jsonl": tavern(ASKED, branched, more, hidden, main="Rivers"),
        },
    )
    done = import_file(forky, path)
    assert len(done.conversations) == 1
    chat = forky.conversation(done.conversations[0])
    assert set(chat.view.branches) == {"main", "Branch #1"}
    assert import_file(forky, path).unchanged == 2
    assert forky.verify().clean


def test_swipes_carry_their_own_dates_models_and_thoughts(tmp_path: Path) -> None:
    asked, amazon, nile = one(SillyTavern(), written(tmp_path, tavern(ASKED, SWIPED), "c.jsonl")).nodes
    assert asked.created == 1_682_107_367_124_000
    assert (amazon.model, amazon.created) == ("m", 1_682_107_380_000_000)
    assert nile.draft is not None
    assert nile.draft.parts[0] == ReasoningPart("Length, not volume.")
    assert nile.draft.name == "Sage"


def test_code_that_ai_studio_ran_is_a_call_and_its_result() -> None:
    found = one(AIStudio(), PROGRAM_FILES / "ai-studio-code.json")
    tree = build_tree(found)
    parts = [part for message in tree.messages for part in message.parts]
    assert isinstance(parts[1], OpaquePart)
    assert parts[2:5] == [
        ReasoningPart("Count."),
        ToolCallPart("code_execution", '{"code":"2+2","language":"PYTHON"}'),
        ToolResultPart("code_execution", "4", exception="OUTCOME_FAILED"),
    ]
    assert isinstance(parts[6], AttachmentPart)
    assert (found.title, tree.account.seen, sum(tree.account.skipped.values())) == ("ai-studio-code", 6, 1)


def test_older_threads_of_a_chatbox_session_are_branches_of_their_own(tmp_path: Path) -> None:
    call = {"type": "tool-call", "toolCallId": "i", "toolName": "w", "args": {"a": 1}, "result": {"b": 2}}
    session = {
        "threads": [{"name": "Before", "messages": [{"id": "o", "role": "user", "content": "Old"}]}],
        "messages": [
            {"id": "q", "role": "user", "content": "New"},
            {"role": "assistant", "contentParts": [call]},
        ],
    }
    tree = build_tree(one(Chatbox(), written(tmp_path, {"session:x": session})))
    by_id = {message.id: message for message in tree.messages}
    assert [by_id[tip].text for tip in tree.branches.values()] == ["Old"]
    assert [role for role, _ in live(tree)] == ["user", "assistant", "tool"]


def test_a_lobe_chat_thread_hangs_below_the_message_it_was_opened_at() -> None:
    tree = build_tree(one(LobeChat(), PROGRAM_FILES / "lobechat-pglite.json"))
    assert [role for role, _ in live(tree)] == ["user", "assistant", "tool"]
    aside = next(message for message in tree.messages if message.text == "Aside")
    assert aside.parent == tree.messages[0].id
    parts = [part for message in tree.messages for part in message.parts]
    assert ToolResultPart("search", "found", "i") in parts
