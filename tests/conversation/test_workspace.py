"""Conversations are found, files are kept, and hostile text is only text."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.conversation.identity import (
    branch_name,
    new_id,
    suggested_name,
    title_from,
    title_line,
    title_of_question,
)
from forky_core.conversation.workspace import Workspace
from forky_core.model.errors import Ambiguous, BadContent, NotFound, NothingToDo
from tests.builders import begun, talk, workspace


def test_a_conversation_is_found_by_the_beginning_of_its_id_on_the_branch_that_moved_last() -> None:
    forky, _ = workspace()
    chat = talk(forky.create("Names"), "a", "b")
    talk(chat.fork("debug"), "c")
    found = forky.conversation(chat.id[:30])
    assert (found.id, found.branch_name) == (chat.id, "debug")
    forky.create("Other")
    with pytest.raises(Ambiguous):
        forky.conversation(chat.id[:2])
    with pytest.raises(NotFound):
        forky.conversation("nothing")
    with pytest.raises(NotFound):
        forky.conversation(chat.id, "no such branch")


def test_the_title_comes_from_the_first_question_and_can_be_changed() -> None:
    chat, _ = begun("# How do I *name* things?\nmore")
    assert chat.title == "How do I *name* things?"
    chat.rename("Naming\nthings")
    assert chat.title == "Naming things"
    with pytest.raises(NothingToDo):
        chat.rename(" \n ")


def test_a_conversation_is_put_into_a_folder_and_taken_out(forky: Workspace) -> None:
    chat = talk(forky.create("Ships"), "Why do ships float?")
    assert chat.put_into(" Deep\nsea ").sentence == "Put the conversation into the folder “Deep sea”."
    assert (chat.view.folder, forky.conversations()[0].folder) == ("Deep sea", "Deep sea")
    with pytest.raises(NothingToDo):
        chat.put_into("Deep sea")
    assert chat.put_into("").sentence == "Took the conversation out of the folder “Deep sea”."
    with pytest.raises(NothingToDo):
        chat.put_into(" ")
    chat.undo()
    assert chat.view.folder == "Deep sea"


def test_files_are_kept_once_and_refused_when_empty_or_enormous(tmp_path: Path, forky: Workspace) -> None:
    (tmp_path / "note.txt").write_text("hello")
    one = forky.attach(tmp_path / "note.txt")
    two = forky.attach(b"hello", media_type="text/plain", name="other.txt")
    assert (one.sha256, one.media_type, one.name) == (two.sha256, "text/plain", "note.txt")
    assert forky.store.blob(one.sha256).content == b"hello"
    with pytest.raises(BadContent, match="empty"):
        forky.attach(b"", name="x")
    with pytest.raises(BadContent, match="MB"):
        forky.attach(bytes(50_000_001), name="x")


@pytest.mark.parametrize(
    "text", ["\x00", "\ud83d", "<script>alert(1)</script>", "\u202eabc", "$x$ :red[y]", "a" * 1_000_000]
)
def test_hostile_text_is_kept_as_text(text: str, forky: Workspace) -> None:
    chat = forky.create(text)
    message = chat.say(f"{text} x")
    message.text.encode()
    assert chat.message(message.id) == message
    assert "\n" not in chat.title and len(chat.title) <= 200
    assert forky.verify().clean


def test_an_empty_message_is_refused(forky: Workspace) -> None:
    with pytest.raises(BadContent, match="nothing to send"):
        forky.create().say(" \n")


def test_names_and_titles_are_made_from_what_is_said() -> None:
    assert suggested_name("How do I merge two branches?", {"merge-two-branches"}) == "merge-two-branches-2"
    assert suggested_name("!!!", ()) == "aside"
    assert suggested_name("日本語の質問", ()) == "日本語の質問"
    assert title_of_question("Hello!\n\nWhy is it slow?") == "Why is it slow?"
    assert title_of_question("Hello!") == "Hello!"
    assert branch_name(" cafe\u0301 ") == "café"
    assert title_from("\n\n> quoted line\nmore") == "quoted line"
    assert title_from("word " * 40).endswith("word…")
    assert title_line("a\u202eb\x07c") == "abc"


def test_ids_sort_by_the_time_they_were_made() -> None:
    ids = [new_id() for _ in range(50)]
    assert len(set(ids)) == 50
    assert all(len(id) == 36 and id[14] == "7" and id[19] in "89ab" for id in ids)
    assert sorted(id[:13] for id in ids) == [id[:13] for id in ids]
