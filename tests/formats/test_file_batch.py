"""Files dropped together: a preview and an account each, one landing, and nothing left where it is stopped."""

from __future__ import annotations

import io
import json
from threading import Event

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.formats.importing import file_import
from forky_core.formats.importing.file_batch import FileBatch
from forky_core.formats.importing.import_record import imports
from forky_core.formats.importing.landing import Imported, import_file
from forky_core.formats.importing.undo_import import undo_import
from tests.builders import talk, workspace
from tests.formats.test_landing import chat
from tests.hangs import HANG


def export(*titles: str) -> bytes:
    return json.dumps([chat(title, title, "x") for title in titles]).encode()


def dropped(forky: Workspace, *contents: bytes) -> FileBatch:
    batch = FileBatch(forky, [(f"{at}.json", io.BytesIO(content)) for at, content in enumerate(contents)])
    batch.wait()
    return batch


def landed(batch: FileBatch) -> FileBatch:
    batch.land()
    batch.wait()
    assert batch.stage == "ended"
    return batch


def titles(forky: Workspace) -> list[str]:
    return sorted(one.title for one in forky.conversations())


def test_each_file_has_its_own_ticks_and_its_own_account(forky: Workspace) -> None:
    batch = dropped(forky, export("a", "b"), export("c"))
    assert batch.stage == "looked"
    assert [len(file.lines) for file in batch.files] == [2, 1]
    batch.files[0].unticked.add(1)
    landed(batch)
    assert titles(forky) == ["b", "c"]
    assert [file.done.account.imported for file in batch.files if file.done] == [2, 2]
    assert len(imports(forky.store)) == 2
    assert batch.share == 1.0


def tavern(name: str, main: str, *said: str) -> tuple[str, io.BytesIO]:
    header = {
        "user_name": "Ann",
        "character_name": "Bo",
        "chat_metadata": {"main_chat": main} if main else {},
    }
    rows = [{"name": "Ann", "is_user": at % 2 == 0, "mes": text} for at, text in enumerate(said)]
    return f"{name}.jsonl", io.BytesIO("\n".join(map(json.dumps, [header, *rows])).encode())


@pytest.mark.parametrize("backwards", [False, True])
def test_loose_branch_files_of_one_chat_become_one_conversation_in_any_order(*, backwards: bool) -> None:
    files = [
        tavern("Talk", "", "a", "b", "c"),
        tavern("Talk - Branch #1", "Talk", "a", "b", "x"),
        tavern("Talk - Branch #1 - Branch #2", "Talk - Branch #1", "a", "b", "x", "y"),
    ]
    forky, _ = workspace()
    for _again in range(2):
        batch = FileBatch(
            forky, [(name, io.BytesIO(file.getvalue())) for name, file in files[:: -1 if backwards else 1]]
        )
        batch.wait()
        landed(batch)
        assert all(file.done and file.done.account.adds_up for file in batch.files)
        (one,) = forky.conversations()
        chat = forky.conversation(one.id)
        found = {name: "".join(m.text for m in chat.checkout(name).path()) for name in chat.branches}
        assert found == {"main": "abc", "Branch #1": "abx", "Branch #2": "abxy"}
    assert len(imports(forky.store)) == 3, "the second time nothing was new"


def test_a_file_that_cannot_be_read_stops_none_of_the_others(forky: Workspace) -> None:
    batch = landed(dropped(forky, b"", export("a"), b"PK\x03\x04 not a zip"))
    assert titles(forky) == ["a"]
    assert [file.stage for file in batch.files] == ["failed", "landed", "failed"]
    assert dropped(forky, b"").stage == "ended", "nothing is there to be ticked"


def test_one_of_them_is_undone_by_itself(forky: Workspace) -> None:
    batch = landed(dropped(forky, export("a"), export("b")))
    assert batch.files[0].done is not None
    undo_import(forky, batch.files[0].done.number)
    assert titles(forky) == ["b"]


def test_the_same_conversation_in_two_files_comes_once(forky: Workspace) -> None:
    batch = landed(dropped(forky, export("a"), export("a")))
    assert titles(forky) == ["a"]
    assert [file.done.unchanged for file in batch.files if file.done] == [0, 1]


def stopped_in_the_second(
    batch: FileBatch, monkeypatch: pytest.MonkeyPatch, meanwhile: object = None
) -> FileBatch:
    """The drop, stopped while its second file was being landed."""
    begun, go_on = Event(), Event()

    def waits(*args: object, **options: object) -> Imported:
        if batch.files[0].done is not None:
            begun.set()
            go_on.wait(HANG)
        return import_file(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(file_import, "import_file", waits)
    batch.land()
    assert begun.wait(HANG)
    if callable(meanwhile):
        meanwhile()
    batch.stop()
    go_on.set()
    batch.wait()
    assert batch.stage == "ended"
    return batch


def test_stopped_in_the_second_nothing_of_the_first_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    forky, _ = workspace()
    batch = stopped_in_the_second(dropped(forky, export("a"), export("b"), export("c")), monkeypatch)
    assert forky.conversations() == () == forky.conversations(trashed=True)
    assert imports(forky.store) == ()
    assert [file.done for file in batch.files] == [None, None, None]
    assert {file.problem for file in batch.files[:2]} == {"The import was stopped; nothing of it was kept."}


def test_what_was_gone_on_with_meanwhile_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    forky, _ = workspace()

    def goes_on() -> None:
        (one,) = forky.conversations()
        talk(forky.conversation(one.id), "And then?")

    batch = stopped_in_the_second(dropped(forky, export("a"), export("b")), monkeypatch, goes_on)
    assert [one.title for one in forky.conversations(trashed=True)] == ["a"]
    assert "is in the trash" in batch.files[0].problem
