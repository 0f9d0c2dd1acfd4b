"""A presentation and a replay as files: what they hold, and what they say they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.forky import Forky
from forky_core.formats.exporting.registry import exporter
from forky_core.formats.exporting.sharing import export_value, exported_part, hidden_content, save_as
from forky_core.formats.forky_file.writing import chat_of
from forky_core.formats.importing.landing import import_file
from tests.builders import debugged, talk


def written(forky: Workspace, chat: Conversation, name: str, *, log: bool = False) -> str:
    to = exporter(name)
    return b"".join(to.write(exported_part(chat_of(forky.store, chat.id), to, log=log))).decode()


def test_a_replay_holds_what_was_undone_only_with_its_log(forky: Workspace) -> None:
    chat = talk(forky.create("Ports"), "Which?", "80.")
    chat.say("Never mind the 8443.")
    chat.undo()
    assert "Never mind" not in written(forky, chat, "replay")
    assert "Never mind" in written(forky, chat, "replay", log=True)
    assert "operation log" in hidden_content(
        exported_part(chat_of(forky.store, chat.id), exporter("replay"), log=True)
    )


def test_a_presentation_says_which_branches_it_leaves_out(forky: Workspace) -> None:
    chat = debugged(forky)
    to = exporter("presentation")
    (first, *_) = to.losses(chat_of(forky.store, chat.id))
    assert first == "It steps along “main” alone: 1 other branch only on its map."
    part = export_value(forky.store, chat, branch="debug")
    assert not any("alone" in sentence for sentence in to.losses(part))
    assert "collect_members" in b"".join(to.write(part)).decode()


@pytest.mark.parametrize("name", ["presentation", "replay"])
def test_a_speakers_notes_and_undone_messages_stay_here(forky: Workspace, name: str) -> None:
    chat = talk(forky.create("Ports"), "Which?", "80.")
    chat.note(chat.path()[0].id, "My own words")
    chat.say("Undone")
    chat.undo()
    text = written(forky, chat, name)
    assert "My own words" not in text
    assert "Undone" not in text


def test_notes_come_back_from_forkys_own_file(tmp_path: Path, forky: Workspace) -> None:
    chat = talk(forky.create("Ports"), "Which?", "80.")
    chat.note(chat.path()[0].id, "Say who asked.")
    save_as(chat_of(forky.store, chat.id), exporter("forky"), tmp_path / "chat.forky.jsonl")
    with Forky.open(":memory:") as elsewhere:
        import_file(elsewhere, tmp_path / "chat.forky.jsonl")
        assert elsewhere.conversation(chat.id).view.notes == chat.view.notes != {}
