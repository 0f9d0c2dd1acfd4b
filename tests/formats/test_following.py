"""A folder of sessions is followed: what programs write into it comes in, also after the app has started again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.formats.importing.folder_follower import FolderFollower
from forky_core.formats.importing.following import Watch
from forky_core.formats.importing.import_record import imports
from forky_core.model.errors import BadContent, NotFound, NothingToDo
from tests.formats.importing.test_local_apps import add_to_opencode, opencode_database
from tests.formats.sources import program_file
from tests.hangs import eventually


def line(number: int, text: str, session: str = "s1") -> str:
    """A line of a session as Claude Code writes it."""
    role = "assistant" if number % 2 == 0 else "user"
    entry = {
        "type": role,
        "uuid": f"{session}-{number}",
        "parentUuid": f"{session}-{number - 1}" if number > 1 else None,
        "sessionId": session,
        "cwd": "/home/ada/shop",
        "message": {"role": role, "content": text},
    }
    return json.dumps(entry) + "\n"


def write(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.writelines(lines)


def said(forky: Workspace) -> list[list[str]]:
    chats = (forky.conversation(one.id) for one in forky.conversations())
    return sorted([message.text for message in chat.path()] for chat in chats)


@contextmanager
def following(forky: Workspace) -> Iterator[FolderFollower]:
    follower = FolderFollower(forky)
    try:
        yield follower
    finally:
        follower.close()


def test_what_is_added_to_a_file_of_a_folder_comes_in(forky: Workspace, tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    write(tmp_path / "shop" / "a.jsonl", line(1, "Why?"), line(2, "Because."))
    write(tmp_path / "notes.json", "{}")
    write(tmp_path / "notes.txt", line(1, "Not this."))
    assert len(list(watch.look(forky, Event()))) == 1
    assert list(watch.look(forky, Event())) == []
    write(tmp_path / "shop" / "a.jsonl", line(3, "And?"))
    write(tmp_path / "shop" / "b.jsonl", line(1, "And this?", "s2"), line(2, "So.", "s2"))
    assert [len(done.conversations) for done in watch.look(forky, Event())] == [1, 1]
    assert said(forky) == [["And this?", "So."], ["Why?", "Because.", "And?"]]
    assert imports(forky.store) == (), "each addition would be an import of its own"


def test_a_folder_is_followed_until_it_is_forgotten_and_across_a_restart(
    forky: Workspace, tmp_path: Path
) -> None:
    write(tmp_path / "a.jsonl", line(1, "Why?"), line(2, "Because."))
    with following(forky) as follower:
        follower.follow(str(tmp_path))
        eventually(lambda: said(forky) == [["Why?", "Because."]])
        eventually(lambda: follower.folders()[0].heard)
    chat = forky.conversation(forky.conversations()[0].id)
    chat.trash()
    forky.purge(chat.id)
    with following(forky) as again:
        write(tmp_path / "b.jsonl", line(1, "Next?", "s2"), line(2, "That.", "s2"))
        eventually(lambda: said(forky) == [["Next?", "That."]])
        again.forget(str(tmp_path.resolve()))
        assert again.folders() == ()
        with pytest.raises(NotFound):
            again.forget(str(tmp_path))


def test_files_that_were_read_before_a_restart_are_not_read_again(forky: Workspace, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", line(1, "Why?"), line(2, "Because."))
    watch = Watch(tmp_path)
    assert len(list(watch.look(forky, Event()))) == 1
    again = Watch(tmp_path, watch.read)
    assert list(again._changed()) == []
    write(tmp_path / "a.jsonl", line(3, "And?"))
    assert len(list(again.look(forky, Event()))) == 1


def test_a_database_is_followed_while_its_program_writes(forky: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    session = program_file("opencode.json")
    first, more = {**session, "messages": session["messages"][:3]}, session["messages"][3:]
    with closing(opencode_database(path, first)) as connection, following(forky) as follower:
        follower.follow(str(path))
        eventually(lambda: len(said(forky)) == 1)
        for message in more:
            add_to_opencode(connection, "ses_1", message)
        eventually(lambda: said(forky)[0][-1] == "And th")
        follower.close()
        again = Watch(path)
        assert [done.conversations for done in again.look(forky, Event())] == [()]
        connection.execute("UPDATE session SET title = 'Other'")
        assert list(again.look(forky, Event())) == [], "it was read a moment ago"
    assert len(said(forky)) == 1 and imports(forky.store) == ()


def test_a_folder_that_is_gone_says_so_and_goes_on_when_it_is_back(forky: Workspace, tmp_path: Path) -> None:
    place, away = tmp_path / "place", tmp_path / "away"
    place.mkdir()
    with following(forky) as follower:
        follower.follow(str(place))
        place.rename(away)
        eventually(lambda: follower.folders()[0].problem)
        write(away / "a.jsonl", line(1, "Why?"), line(2, "Because."))
        away.rename(place)
        eventually(lambda: said(forky) == [["Why?", "Because."]])
        eventually(lambda: not follower.folders()[0].problem)


def test_what_is_no_folder_is_refused_in_a_sentence(forky: Workspace, tmp_path: Path) -> None:
    with following(forky) as follower:
        for path in ("", "  ", str(tmp_path / "none"), __file__):
            with pytest.raises(BadContent, match="no folder"):
                follower.follow(path)
        follower.follow(str(tmp_path))
        with pytest.raises(NothingToDo, match="already"):
            follower.follow(f"{tmp_path}/.")


def test_a_prompt_has_its_place_once_it_is_read_and_a_session_comes_with_its_first_answer(
    forky: Workspace, tmp_path: Path
) -> None:
    watch, queued = Watch(tmp_path), {"type": "queue-operation", "operation": "enqueue", "sessionId": "s1"}

    def adds(*lines: str) -> None:
        write(tmp_path / "a.jsonl", *lines)
        list(watch.look(forky, Event()))

    adds(line(1, "Why?"))
    assert said(forky) == []
    adds(json.dumps({**queued, "content": "And?"}, separators=(",", ":")) + "\n", line(2, "Because."))
    adds(line(3, "And?"))
    adds(line(4, "Also."))
    assert said(forky) == [["Why?", "Because.", "And?", "Also."]]
    [chat] = forky.conversations()
    assert chat.branches == 1
