"""A file on its way in: looked through, ticked, landed in the background, stopped without a trace."""

from __future__ import annotations

import io
import json
from pathlib import Path

from forky_core.conversation.workspace import Workspace
from forky_core.formats.exporting.registry import exporter
from forky_core.formats.exporting.sharing import save_as
from forky_core.formats.forky_file.writing import chat_of
from forky_core.formats.importing.file_import import FileImport
from forky_core.formats.importing.landing import import_file
from tests.builders import debugged, workspace
from tests.formats.test_landing import chat


def incoming(forky: Workspace, content: bytes, name: str = "conversations.json") -> FileImport:
    found = FileImport(forky, name, io.BytesIO(content))
    found.wait()
    return found


def export(*titles: str) -> bytes:
    return json.dumps([chat(title, title, "x") for title in titles]).encode()


def test_only_what_is_ticked_lands(forky: Workspace) -> None:
    found = incoming(forky, export("one", "two", "three"))
    assert (found.stage, [line.title for line in found.lines]) == ("looked", ["one", "two", "three"])
    assert forky.conversations() == ()
    found.tick(all=False)
    assert found.ticked == []
    found.unticked.discard(2)
    found.land()
    found.wait()
    assert found.stage == "landed"
    assert [one.title for one in forky.conversations()] == ["two"]
    assert found.done is not None and found.done.number == 1


def test_what_was_imported_before_is_marked(forky: Workspace) -> None:
    first = incoming(forky, export("one"))
    first.land()
    first.wait()
    (line,) = incoming(forky, export("one")).lines
    assert line.known is not None


def test_stopped_before_it_lands_nothing_is_there(forky: Workspace) -> None:
    found = incoming(forky, export("one", "two"))
    found.stop()
    found.land()
    found.wait()
    assert found.stage == "stopped"
    assert "nothing of it was kept" in found.problem
    assert forky.conversations() == () == forky.conversations(trashed=True)


def test_what_cannot_be_read_is_a_sentence(forky: Workspace) -> None:
    assert "is empty" in incoming(forky, b"").problem
    damaged = incoming(forky, b"PK\x03\x04 not a zip", "a.zip")
    assert (damaged.stage, "damaged" in damaged.problem) == ("failed", True)


def test_a_forky_file_is_forked(forky: Workspace) -> None:
    source = debugged(forky)
    content = b"".join(exporter("html").write(chat_of(forky.store, source.id)))
    found = incoming(workspace()[0], content, "../../page.html")
    assert found.is_ours
    done = found.fork()
    assert done.conversation != source.id
    assert found.forky.conversation(done.conversation).title == "Enums"


def test_a_program_may_name_a_file_by_a_text(forky: Workspace, tmp_path: Path) -> None:
    saved = str(tmp_path / "saved.md")
    save_as(chat_of(forky.store, debugged(forky).id), exporter("markdown"), saved)
    assert import_file(workspace()[0], saved).account.conversations == 1


def test_the_copy_is_gone_once_it_is_closed(forky: Workspace) -> None:
    found = incoming(forky, export("one"))
    folder = found._folder
    assert folder.exists()
    found.close()
    assert not folder.exists()
