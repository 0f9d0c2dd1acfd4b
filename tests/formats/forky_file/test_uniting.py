"""Two copies of one conversation, united: as values, and by real `git`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.files import load, save
from forky_core.formats.forky_file.uniting import difference, unite_chats
from forky_core.formats.forky_file.writing import chat_of, part_of, written
from forky_core.model.errors import BadContent
from tests.builders import debugged, talk, texts, workspace
from tests.formats.forky_file.chats import copy_of, value_of

CHECKOUT = Path(__file__).resolve().parents[3]


@pytest.fixture
def base() -> Chat:
    forky, _ = workspace()
    return chat_of(forky.store, debugged(forky).id)


def test_where_only_one_side_went_on_its_log_is_the_log(base: Chat) -> None:
    mine = copy_of(base)
    talk(mine, "More?", "More.")
    newer = value_of(mine)
    assert "".join(written(unite_chats(base, newer).chat)) == "".join(written(newer))
    assert "".join(written(unite_chats(newer, base).chat)) == "".join(written(newer))


def test_branches_that_moved_on_both_sides_become_two(base: Chat) -> None:
    mine, theirs = copy_of(base), copy_of(base)
    talk(mine, "Mine", "m")
    talk(theirs, "Theirs", "t")
    talk(theirs.checkout("debug"), "Only there", "d")
    done = unite_chats(value_of(mine), value_of(theirs))
    assert done.parted == (("main", "main-theirs"),)
    assert done.messages == 4
    landed = copy_of(done.chat)
    assert texts(landed)[-1] == "m"
    assert texts(landed.checkout("main-theirs"))[-1] == "t"
    assert texts(landed.checkout("debug"))[-1] == "d"
    assert landed.history.verify().clean
    assert [one.verb for one in landed.history.operations[-5:]] == ["unite", "ask", "say", "ask", "say"]


def test_uniting_again_changes_nothing(base: Chat) -> None:
    mine, theirs = copy_of(base), copy_of(base)
    talk(mine, "Mine", "m")
    talk(theirs, "Theirs", "t")
    once = unite_chats(value_of(mine), value_of(theirs)).chat
    again = unite_chats(once, value_of(theirs))
    assert (again.messages, again.parted) == (0, ())
    assert dict(again.chat.entries) == dict(once.entries)


def test_a_branch_that_one_side_deleted_and_the_other_moved_stays(base: Chat) -> None:
    mine, theirs = copy_of(base), copy_of(base)
    mine.branches.delete("debug")
    talk(theirs.checkout("debug"), "Still needed", "yes")
    done = unite_chats(value_of(mine), value_of(theirs))
    assert done.chat.view.branches["debug"].head == theirs.branches["debug"].head


def test_files_of_two_conversations_are_not_united(base: Chat) -> None:
    forky, _ = workspace()
    with pytest.raises(BadContent, match="different conversations"):
        unite_chats(base, chat_of(forky.store, debugged(forky).id))


def test_a_difference_names_messages_and_branches(base: Chat) -> None:
    mine = copy_of(base)
    talk(mine, "More?", "More.")
    found = difference(base, value_of(mine))
    assert [message.text for message in found.only_right] == ["More?", "More."]
    assert [key for key, _, _ in found.moved] == ["heads/main"]
    assert difference(base, base).same


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ("git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words),
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def commit(folder: Path, chat: Conversation) -> None:
    save(value_of(chat), folder / "talk.forky.jsonl")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "said something")


def with_the_driver(folder: Path) -> None:
    """Make the folder a repository in which Forky merges conversations."""
    git(folder, "init", "-qb", "main")
    driver = f"{sys.executable} -m forky_core merge-file %A %O %B"
    git(folder, "config", "merge.forky.driver", driver)
    (folder / ".gitattributes").write_text("*.forky.jsonl merge=forky\n")


def test_git_merges_two_peoples_copies_without_a_conflict(base: Chat, tmp_path: Path) -> None:
    with_the_driver(tmp_path)
    mine, theirs = copy_of(base), copy_of(base)
    commit(tmp_path, mine)
    git(tmp_path, "checkout", "-qb", "ana")
    talk(theirs, "Theirs", "t")
    commit(tmp_path, theirs)
    git(tmp_path, "checkout", "-q", "main")
    talk(mine, "Mine", "m")
    commit(tmp_path, mine)
    git(tmp_path, "merge", "-q", "ana", "-m", "both")
    done = load(tmp_path / "talk.forky.jsonl")
    assert set(done.view.branches) == {"main", "debug", "main-theirs"}
    assert "<<<<" not in (tmp_path / "talk.forky.jsonl").read_text("utf-8")


def head_of(file: Path) -> str:
    """The branch that a file says to begin at."""
    rows = map(json.loads, file.read_text("utf-8").splitlines())
    return next(str(row["symref"]) for row in rows if row.get("name") == "HEAD")


@pytest.mark.parametrize("log", [True, False], ids=["whole", "a part"])
def test_after_a_merge_by_git_the_head_of_the_file_is_still_ours(
    base: Chat, log: bool, tmp_path: Path
) -> None:
    """Theirs had moved last, on the same branch and on others; ours is where one was."""
    git(tmp_path, "init", "-qb", "main")
    git(tmp_path, "config", "merge.forky.driver", f"{sys.executable} -m forky_core merge-file %A %O %B")
    (tmp_path / ".gitattributes").write_text("*.forky.jsonl merge=forky\n")
    file = tmp_path / "talk.forky.jsonl"

    def keep(chat: Conversation) -> None:
        whole = value_of(chat)
        tips = {name: branch.head for name, branch in whole.view.branches.items() if branch.head is not None}
        save(whole if log else replace(part_of(whole, tips), begins="debug"), file)
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", "said something")

    mine, theirs = copy_of(base), copy_of(base)
    keep(mine)
    git(tmp_path, "checkout", "-qb", "ana")
    talk(theirs.checkout("debug"), "Theirs", "t")
    theirs.fork("aside")
    keep(theirs)
    git(tmp_path, "checkout", "-q", "main")
    talk(mine.checkout("debug"), "Mine", "m")
    keep(mine)
    assert head_of(file) == "heads/debug"
    git(tmp_path, "merge", "-q", "ana", "-m", "both")
    assert set(load(file).view.branches) == {"main", "debug", "debug-theirs", "aside"}
    assert head_of(file) == "heads/debug"
    git(tmp_path, "checkout", "-q", "ana")
    git(tmp_path, "merge", "-q", "main")
    assert head_of(file) == "heads/debug", "a file that only follows is what it follows"
    landed = copy_of(load(file))
    assert "".join(written(value_of(landed))) == file.read_text("utf-8") or not log


def test_git_diff_of_a_conversation_that_went_on_shows_what_is_new(base: Chat, tmp_path: Path) -> None:
    git(tmp_path, "init", "-qb", "main")
    mine = copy_of(base)
    commit(tmp_path, mine)
    talk(mine, "More?", "More.")
    save(value_of(mine), tmp_path / "talk.forky.jsonl")
    changed = git(tmp_path, "diff", "--numstat").split()
    assert changed[:2] == ["5", "1"], (
        "two messages, two operations and the branch; of the old lines only the branch"
    )


def test_an_archive_carries_the_attachments_as_members(tmp_path: Path) -> None:
    forky: Workspace
    forky, _ = workspace()
    chat = forky.create("Cats")
    chat.ask("What is it?", attachments=[forky.attach(b"\x89PNG\r\n\x1a\n" + bytes(99), name="cat.png")])
    whole = chat_of(forky.store, chat.id)
    save(whole, tmp_path / "cats.forky.zip")
    assert "".join(written(load(tmp_path / "cats.forky.zip"))) == "".join(written(whole))
    first = (tmp_path / "cats.forky.zip").read_bytes()
    save(whole, tmp_path / "cats.forky.zip")
    assert (tmp_path / "cats.forky.zip").read_bytes() == first
