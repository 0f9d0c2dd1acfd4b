"""Workspaces are opened when they are needed and closed when nobody uses them; nobody who uses one loses it."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import pytest

from forky_core.llm.scripted import Until
from forky_core.model.errors import NotFound, StoreBusy
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.team.roles import Role
from forky_core.workspaces.places import workspace_file
from tests.builders import ScriptedModels, talk, texts
from tests.workspaces.building import Building
from tests.workspaces.conftest import Build


def file_of(here: Building, workspace: str) -> Path:
    return workspace_file(here.folder / "workspaces", workspace)


def test_a_workspace_is_a_file_of_its_own_that_is_made_when_somebody_looks(in_files: Building) -> None:
    here = in_files
    ada = here.person("Ada", Role.OWNER)
    club = here.make("The boat club", ada)
    file = file_of(here, club)
    assert not file.exists() and file.name == f"{club}.duckdb" and "boat" not in str(file)
    chat = talk(here.seen_by(ada, club).create("Boats"), "Which ones float?")
    assert file.exists() and here.others.awake == {club}
    assert here.first.conversations() == () and here.seen_by(ada).conversations() == ()
    with pytest.raises(NotFound):
        here.seen_by(ada).conversation(chat.id)


def test_two_who_ask_at_once_get_the_same_workspace(here: Building) -> None:
    ada = here.person("Ada", Role.OWNER)
    club = here.make("The boat club", ada)
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(here.others.whole(club))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len({id(one) for one in found}) == 1


def test_no_more_files_are_open_than_the_operator_says(build: Build) -> None:
    with build(most=2) as here:
        ada = here.person("Ada", Role.OWNER)
        ids = [here.make(f"Number {number}", ada) for number in range(5)]
        views = [here.seen_by(ada, id) for id in ids]
        chats = [talk(view.create("Boats"), "hello") for view in views]
        assert len(here.others.awake) <= 2
        # Those who hold one whose file was closed go on as if nothing had happened.
        for view, chat in zip(views, chats, strict=True):
            assert texts(talk(view.conversation(chat.id), "hi")) == ["hello", "hi"]
            assert len(here.others.awake) <= 2


def test_a_file_that_is_at_work_is_not_closed_for_another_one(build: Build) -> None:
    with build(most=1, just_now=60.0) as here:
        ada = here.person("Ada", Role.OWNER)
        ids = [here.make(f"Number {number}", ada) for number in range(3)]
        for id in ids:
            talk(here.seen_by(ada, id).create("Boats"), "hello")
        assert here.others.awake == set(ids), "each was used just now"


def test_a_reply_that_is_being_written_keeps_its_workspace_open(build: Build) -> None:
    with build(most=1) as here:
        ada = here.person("Ada", Role.OWNER)
        first, second = here.make("One", ada), here.make("Two", ada)
        chat = here.seen_by(ada, first).create("Boats", model="scripted/one")
        models = here.others.whole(first).models
        assert isinstance(models, ScriptedModels)
        go_on = threading.Event()
        models.one.enqueue(Until(go_on), "Slowly.")
        chat.say("Why do boats float?")
        job = chat.replies.start()
        talk(here.seen_by(ada, second).create("Boats"), "hello")
        here.others.sleep()
        assert first in here.others.awake and second not in here.others.awake
        go_on.set()
        job.wait()
        here.others.sleep()
        assert here.others.awake == frozenset()
        assert texts(here.seen_by(ada, first).conversation(chat.id))[-1] == "Slowly."


def test_a_closed_file_can_be_opened_by_another_program(in_files: Building) -> None:
    here = in_files
    ada = here.person("Ada", Role.OWNER)
    club = here.make("The boat club", ada)
    view = here.seen_by(ada, club)
    chat = talk(view.create("Boats"), "hello")
    with pytest.raises(StoreBusy):
        DuckDBStore.open(file_of(here, club))
    here.others.sleep(idle=60)
    assert here.others.awake == {club}, "it was used within the last minute"
    here.others.sleep()
    assert here.others.awake == frozenset()
    with DuckDBStore.open(file_of(here, club)) as store:
        store.set_setting("from outside", "yes")
    assert view.store.setting("from outside") == "yes" and texts(view.conversation(chat.id)) == ["hello"]


def test_listeners_hear_of_changes_after_the_file_was_closed(here: Building) -> None:
    ada = here.person("Ada", Role.OWNER)
    club = here.make("The boat club", ada)
    heard: list[str] = []
    forget = here.others.hear(heard.append)
    view = here.seen_by(ada, club)
    chat = talk(view.create("Boats"), "hello")
    here.others.sleep()
    heard.clear()
    talk(view.conversation(chat.id), "hi")
    assert set(heard) == {f"{club}/{chat.id}"}
    forget()


def test_what_nobody_holds_is_let_go_of_and_what_somebody_holds_is_never_made_twice(here: Building) -> None:
    ada = here.person("Ada", Role.OWNER)
    club = here.make("The boat club", ada)
    conversation = here.seen_by(ada, club).create("Boats")
    here.others.sleep()
    gc.collect()
    held = here.others.at_hand(club)
    assert held is not None, "a conversation of it is held"
    assert here.others.whole(club) is held
    del held
    talk(conversation, "hello")
    here.others.sleep()
    id = conversation.id
    del conversation
    gc.collect()
    assert here.others.at_hand(club) is None
    assert texts(here.seen_by(ada, club).conversation(id)) == ["hello"]


def test_an_archived_workspace_is_not_found_and_is_whole_when_it_is_opened_again(here: Building) -> None:
    ada = here.person("Ada", Role.OWNER)
    club = here.make("The boat club", ada)
    chat = talk(here.seen_by(ada, club).create("Boats"), "hello")
    here.team.workspaces.archive(club, archived=True, by=ada.id)
    here.others.drop(club)
    with pytest.raises(NotFound):
        here.others.whole(club)
    assert here.others.awake == frozenset()
    here.team.workspaces.archive(club, archived=False, by=ada.id)
    assert texts(here.seen_by(ada, club).conversation(chat.id)) == ["hello"]


def test_a_workspace_that_does_not_exist_leaves_no_file(in_files: Building) -> None:
    here = in_files
    for id in ("0" * 16, "../forky", "main/../..", ""):
        with pytest.raises(NotFound):
            here.others.whole(id)
    assert not (here.folder / "workspaces").exists()
